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
	"parley/redisstore"
)

// Validate checks every field and how they fit together. It expects defaults
// to be filled in, and returns all problems, or nil.
func (c Config) Validate() Errors {
	var v validator
	v.persona(c)
	v.timezone(c.Timezone)
	v.store(c.Store)
	v.people(c)
	v.oneOf("access.dm", c.Access.DM, DMKnown, DMAnyone)
	v.oneOf("access.groups", c.Access.Groups, GroupsListed, GroupsAnyone)
	v.limits(c.Limits)
	v.sessions(c.Sessions)
	v.schedules(c.Schedules)
	v.heartbeat(c.Heartbeat)
	v.model("models.default", c.Models.Default)
	if c.Models.Small != c.Models.Default { // else it was inherited as a whole
		v.model("models.small", c.Models.Small)
	}
	for _, platform := range c.platforms() {
		platform.check(&v)
	}
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
	case scheme != "sqlite":
		if err := redisstore.CheckURL(s.URL.Reveal()); err != nil {
			v.complain("store.url", "%s", err)
		}
	}
}

func (v *validator) timezone(name string) {
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		v.complain("timezone", "%q is not a time zone; use a name such as Europe/Berlin", name)
	}
}

func (v *validator) people(c Config) {
	v.identities("owners", c.Owners, c.HTTP)
	v.identities("members", c.Members, c.HTTP)
	v.identities("blocked", c.Blocked, c.HTTP)
	for i, identity := range c.Blocked {
		if slices.Contains(c.Owners, identity) || slices.Contains(c.Members, identity) {
			v.complain(fmt.Sprintf("blocked[%d]", i), "%q is an owner or member too; keep one of both", identity)
		}
	}
}

// identities checks what each looks like. A platform that only a channel's
// token speaks for has ids of its own form.
func (v *validator) identities(path string, list []adapters.Identity, h HTTP) {
	var foreign []string
	for _, token := range h.Tokens {
		if token.Scope == ScopeChannel {
			foreign = append(foreign, token.Namespace)
		}
	}
	for i, identity := range list {
		if why := identityProblem(identity, foreign); why != "" {
			v.complain(fmt.Sprintf("%s[%d]", path, i), "%q %s", identity, why)
		}
	}
}

func identityProblem(identity adapters.Identity, foreign []string) string {
	platform, id, found := strings.Cut(string(identity), ":")
	traits := adapters.Platform(platform).Traits()
	if traits.UserForm == "" && slices.Contains(foreign, platform) {
		traits.UserForm, traits.UserHint = `^[^\s[:cntrl:]]+$`, "an id without white space"
	}
	switch {
	case !found || traits.UserForm == "":
		return "is not platform:id; use an id such as telegram:12345, as /whoami prints it"
	case !regexp.MustCompile(traits.UserForm).MatchString(id):
		return fmt.Sprintf("is not an id that stays with its owner: %s needs %s, not a name; send the bot /whoami to see yours", platform, traits.UserHint)
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
	v.token(h, Loopback(host))
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
