package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/adapters"
)

var (
	telegramToken = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`)
	discordToken  = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`)
	slackToken    = regexp.MustCompile(`^(xoxb|xapp)-[A-Za-z0-9-]+$`)
)

// signingSecretMin is the least length of a Slack signing secret that is not a
// mistake; Slack's have 32 characters.
const signingSecretMin = 32

// Validate checks every field and how they fit together. It expects defaults
// to be filled in, and returns all problems, or nil.
func (c Config) Validate() Errors {
	var v validator
	v.store(c.Store)
	v.people(c)
	v.oneOf("access.dm", c.Access.DM, DMKnown, DMAnyone)
	v.oneOf("access.groups", c.Access.Groups, GroupsListed, GroupsAnyone)
	v.sessions(c.Sessions)
	v.schedules(c.Schedules)
	v.heartbeat(c.Heartbeat)
	v.model("models.default", c.Models.Default)
	if c.Models.Small != c.Models.Default { // else it was inherited as a whole
		v.model("models.small", c.Models.Small)
	}
	v.telegram(c.Telegram)
	v.discord(c.Discord)
	v.slack(c.Slack)
	v.http(c.HTTP)
	v.oneOf("log.level", c.Log.Level, LevelDebug, LevelInfo, LevelWarn, LevelError)
	v.oneOf("log.format", c.Log.Format, FormatAuto, FormatText, FormatJSON)
	return v.problems
}

type validator struct{ problems Errors }

func (v *validator) complain(path, format string, args ...any) {
	v.problems = append(v.problems, Problem{Path: path, What: fmt.Sprintf(format, args...)})
}

// oneOf checks a word against those allowed, all of one string type.
func (v *validator) oneOf(path string, value any, allowed ...any) {
	if slices.Contains(allowed, value) {
		return
	}
	words := make([]string, len(allowed))
	for i, word := range allowed {
		words[i] = fmt.Sprint(word)
	}
	v.complain(path, "%q is not possible; use %s", value, strings.Join(words, " or "))
}

// StoreSchemes are the kinds of store there are.
func StoreSchemes() []string {
	return []string{"sqlite", "redis", "rediss", "redis+sentinel", "redis+cluster"}
}

func (v *validator) store(s Store) {
	scheme, rest, found := strings.Cut(s.URL.Reveal(), "://")
	switch {
	case !found || !slices.Contains(StoreSchemes(), scheme):
		v.complain("store.url", "%q names no kind of store; use %s://…", s.URL, strings.Join(StoreSchemes(), "://…, "))
	case rest == "":
		v.complain("store.url", "%q names no place; use %s://FILE or HOST:PORT", s.URL, scheme)
	}
}

func (v *validator) people(c Config) {
	v.identities("owners", c.Owners)
	v.identities("members", c.Members)
	v.identities("blocked", c.Blocked)
	for i, identity := range c.Blocked {
		if slices.Contains(c.Owners, identity) || slices.Contains(c.Members, identity) {
			v.complain(fmt.Sprintf("blocked[%d]", i), "%q is an owner or member too; keep one of both", identity)
		}
	}
}

func (v *validator) identities(path string, list []adapters.Identity) {
	for i, identity := range list {
		if why := identityProblem(identity); why != "" {
			v.complain(fmt.Sprintf("%s[%d]", path, i), "%q %s", identity, why)
		}
	}
}

// identityForms are the immutable user ids of each platform: what they look
// like, and how to say it.
func identityForms() map[adapters.Platform][2]string {
	name := [2]string{`^[A-Za-z0-9._~-]+$`, "a name of letters, digits and ._~-"}
	return map[adapters.Platform][2]string{
		adapters.Telegram: {`^[1-9][0-9]{0,18}$`, "a user's number"},
		adapters.Discord:  {`^[1-9][0-9]{0,19}$`, "a user's number"},
		adapters.Slack:    {`^[UW][A-Z0-9]+$`, "a member id such as U012AB3CD"},
		adapters.Web:      name,
		adapters.CLI:      name,
		adapters.API:      name,
	}
}

func identityProblem(identity adapters.Identity) string {
	platform, id, found := strings.Cut(string(identity), ":")
	form, known := identityForms()[adapters.Platform(platform)]
	switch {
	case !found || !known:
		return "is not platform:id; use an id such as telegram:12345, as /whoami prints it"
	case !regexp.MustCompile(form[0]).MatchString(id):
		return fmt.Sprintf("is not an id that stays with its owner: %s needs %s, not a name; send the bot /whoami to see yours", platform, form[1])
	}
	return ""
}

// Bounds of times that are mistakes.
const (
	ageMin      = Duration(time.Minute)
	debounceMax = Duration(time.Minute)
)

func (v *validator) sessions(s Sessions) {
	v.oneOf("sessions.queue", s.Queue, QueueCollect, QueueFollowup)
	v.age("sessions.stale_after", *s.StaleAfter)
	v.age("sessions.expire_after", s.ExpireAfter)
	v.age("sessions.max_age", s.MaxAge)
	if s.Debounce > debounceMax {
		v.complain("sessions.debounce", "%s would keep people waiting; use at most %s", s.Debounce, debounceMax)
	}
}

func (v *validator) age(path string, age Duration) {
	if age != 0 && age < ageMin {
		v.complain(path, "%s is too short; use at least %s, or 0 for never", age, ageMin)
	}
}

func (v *validator) model(path string, m Model) {
	v.oneOf(path+".provider", m.Provider, ProviderOpenAI, ProviderAnthropic, ProviderDemo)
	if strings.ContainsAny(m.Name, " \t\r\n") {
		v.complain(path+".name", "%q has white space in it; use the provider's own name of the model", m.Name)
	}
	if m.Provider == ProviderDemo {
		if m.BaseURL != "" || !m.APIKey.IsZero() {
			v.complain(path, "the demo model has neither base_url nor api_key; set provider: openai or anthropic to use them")
		}
		return
	}
	if m.BaseURL != "" {
		v.webAddress(path+".base_url", m.BaseURL)
	}
	if m.APIKey.IsZero() && m.Provider == ProviderOpenAI && sameAddress(m.BaseURL, OpenAIBaseDefault) {
		v.complain(path+".api_key", "is missing; set OPENAI_API_KEY, or base_url for a server that needs no key")
	}
	if m.APIKey.IsZero() && m.Provider == ProviderAnthropic && sameAddress(m.BaseURL, AnthropicBaseDefault) {
		v.complain(path+".api_key", "is missing; set ANTHROPIC_API_KEY, or base_url for a server that needs no key")
	}
}

func (v *validator) telegram(t Telegram) {
	if t.Mode != TelegramPolling {
		v.complain("telegram.mode", "%q is not possible; this version of the gateway only knows polling", t.Mode)
	}
	v.webAddress("telegram.api_url", t.APIURL)
	if !t.Token.IsZero() && !telegramToken.MatchString(t.Token.Reveal()) {
		v.complain("telegram.token", "does not look like a token of @BotFather (digits, a colon, letters); copy it again")
	}
}

func (v *validator) discord(d Discord) {
	v.webAddress("discord.api_url", d.APIURL)
	if !d.Token.IsZero() && !discordToken.MatchString(d.Token.Reveal()) {
		v.complain("discord.token", "does not look like a bot's token (three parts with dots between, without the word Bot); copy it again from the developer portal, page Bot")
	}
}

// slack checks that the app could hear and speak, and that no token stands in
// another's place.
func (v *validator) slack(s Slack) {
	v.webAddress("slack.api_url", s.APIURL)
	if !s.On() {
		return
	}
	if s.BotToken.IsZero() {
		v.complain("slack.bot_token", "is missing; set SLACK_BOT_TOKEN to the Bot User OAuth Token (xoxb-…) from OAuth & Permissions")
	} else {
		v.slackToken("slack.bot_token", s.BotToken.Reveal(), "xoxb-", "the Bot User OAuth Token from OAuth & Permissions")
	}
	if s.AppToken.IsZero() && s.SigningSecret.IsZero() {
		v.complain("slack.app_token", "is missing, so Slack could not be heard; set SLACK_APP_TOKEN (Socket Mode), or SLACK_SIGNING_SECRET for events over HTTP")
	}
	if !s.AppToken.IsZero() {
		v.slackToken("slack.app_token", s.AppToken.Reveal(), "xapp-", "an app-level token with connections:write from Basic Information")
	}
	if secret := s.SigningSecret.Reveal(); secret != "" && len(secret) < signingSecretMin {
		v.complain("slack.signing_secret", "is shorter than a signing secret; copy it again from Basic Information")
	}
}

func (v *validator) slackToken(path, token, prefix, what string) {
	if !strings.HasPrefix(token, prefix) || !slackToken.MatchString(token) {
		v.complain(path, "does not look like one that begins with %s; use %s", prefix, what)
	}
}

func (v *validator) webAddress(path string, address URL) {
	parsed, err := url.Parse(address.Reveal())
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		v.complain(path, "%q is not an address such as https://example.org", address)
	}
}

func (v *validator) http(h HTTP) {
	host, port, err := net.SplitHostPort(h.Listen)
	if err != nil {
		v.complain("http.listen", "%q is not HOST:PORT; use for example %s", h.Listen, ListenDefault)
		return
	}
	if number, err := strconv.Atoi(port); err != nil || number < 0 || number > 65535 {
		v.complain("http.listen", "%q is not a port; use a number from 0 to 65535", port)
	}
	if !Loopback(host) && h.Token.IsZero() {
		v.complain("http.listen", "%s can be reached from other machines; set http.token (GATEWAY_TOKEN), or listen on 127.0.0.1", h.Listen)
	}
	if strings.ContainsAny(h.Token.Reveal(), " \t\r\n") {
		v.complain("http.token", "has white space in it")
	}
	v.hosts(h.Hosts)
	v.tokens(h)
}

// Loopback reports whether a host can only be reached from this machine. A
// name other than localhost is taken for one that others can reach.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
