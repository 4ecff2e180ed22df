package slack

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"parley/adapters"
	"parley/adapters/markdown"
	"parley/internal/secret"
)

var (
	_ adapters.Adapter = (*Adapter)(nil)
	_ adapters.Doctor  = (*Adapter)(nil)
	_ adapters.Roll    = (*Adapter)(nil)
)

// APIURLDefault is Slack's own Web API.
const APIURLDefault = "https://slack.com/api/"

// Limits of one message. Slack does not say what it counts; UTF-16 code units
// are never fewer than characters.
const (
	textMax  = 12_000 // of all markdown blocks of a message together
	plainMax = 4_000  // of the text field, beyond which Slack advises against it
)

// SigningSecretMin is the least length of a signing secret; Slack's have 32
// hexadecimal digits.
const SigningSecretMin = 32

// Config is one app in one workspace. At least one of AppToken and
// SigningSecret is needed to hear anything.
type Config struct {
	BotToken      secret.String // xoxb-…; required
	AppToken      secret.String // xapp-…, with connections:write: Socket Mode
	SigningSecret secret.String // HTTP events: see [Adapter.Webhook]
	// APIURL is the base of the Web API: requests go to APIURL<method>.
	// Empty is APIURLDefault. The socket's address comes from there.
	APIURL string
	// FollowThreads says that it matters in which threads the bot takes part:
	// Slack is asked of those that somebody else began.
	FollowThreads bool
	Logger        *slog.Logger // nil: nothing is logged
	// Transport carries the Web API's requests; nil is one of its own.
	Transport http.RoundTripper
	// Locker shares the app's sockets among replicas; nil is the only replica.
	Locker adapters.Locker
}

// Adapter is one app in one workspace. Create it with [New].
type Adapter struct {
	config  Config
	base    string // of the Web API, with a slash at its end
	logger  *slog.Logger
	http    *http.Client
	times   timing
	now     func() time.Time
	health  *health
	people  *directory
	threads memory[bool] // by [threadID], whether the bot has written there
	bodies  bodies

	me     atomic.Pointer[self] // nil until learned
	active atomic.Pointer[run]  // nil while Run does not hear
}

// self is what auth.test tells of the bot.
type self struct {
	User string // the bot's user id, the account of its surfaces
	Bot  string // the bot's bot id
	Name string // user name, without @
	Team string // id of the workspace
	// Enterprise is the id of the organisation of several workspaces that Team
	// belongs to; empty: to none.
	Enterprise string
}

// New checks the configuration. It does no I/O.
func New(config Config) (*Adapter, error) { return newAdapter(config, defaultTiming()) }

func newAdapter(config Config, times timing) (*Adapter, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	if config.APIURL == "" {
		config.APIURL = APIURLDefault
	}
	parsed, err := url.Parse(config.APIURL)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.RawQuery != "" {
		return nil, fmt.Errorf("slack: the API URL %q is not http(s)://host[/path]", config.scrub(config.APIURL))
	}
	logger := config.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	a := &Adapter{
		config: config,
		base:   strings.TrimSuffix(config.APIURL, "/") + "/",
		logger: logger.With("platform", string(adapters.Slack)),
		http:   newHTTPClient(config.Transport, times.call),
		times:  times,
		now:    time.Now,
		health: newHealth(),
	}
	a.people = newDirectory(a.fetchUser, a.fetchChannel, func() time.Time { return a.now() })
	a.threads.fetch, a.threads.age, a.threads.entries = a.fetchThread, threadAge, map[string]remembered[bool]{}
	a.threads.now = func() time.Time { return a.now() }
	return a, nil
}

func (c Config) check() error {
	switch bot, app := c.BotToken.Reveal(), c.AppToken.Reveal(); {
	case bot == "":
		return errors.New("slack: no bot token is set; copy the one that begins with xoxb- from OAuth & Permissions")
	case strings.HasPrefix(bot, "xapp-"):
		return errors.New("slack: the bot token is an app-level token (xapp-); the bot token begins with xoxb-")
	case strings.HasPrefix(app, "xox"):
		return errors.New("slack: the app token is not an app-level token; that one begins with xapp- and comes from Basic Information")
	case strings.ContainsAny(bot+app, " \t\r\n"):
		return errors.New("slack: a token contains white space; copy it again")
	case app == "" && c.SigningSecret.IsZero():
		return errors.New("slack: the app could not hear anything: set an app token (Socket Mode) or a signing secret (HTTP events)")
	case !c.SigningSecret.IsZero() && len(strings.TrimSpace(c.SigningSecret.Reveal())) < SigningSecretMin:
		return fmt.Errorf("slack: the signing secret has fewer than %d characters; copy it again from Basic Information", SigningSecretMin)
	}
	return nil
}

// Capabilities implements [adapters.Adapter].
func (a *Adapter) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{
		Platform: adapters.Slack, TextMax: textMax, CanLookUp: true,
	}
}

// Account implements [adapters.Adapter].
func (a *Adapter) Account() string {
	if me := a.me.Load(); me != nil {
		return me.User
	}
	return ""
}

// Health implements [adapters.Adapter].
func (a *Adapter) Health() adapters.Health { return a.health.overall() }

// Split implements [adapters.Adapter]. Plain text goes into the text field,
// whose limit is lower.
func (a *Adapter) Split(text string, format adapters.Format) []string {
	if format == adapters.Plain {
		return markdown.SplitPlain(text, plainMax, markdown.SlackEscapedLength)
	}
	return markdown.Split(text, textMax, markdown.SlackLength)
}
