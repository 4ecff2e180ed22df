package telegram

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"parley/adapters"
	"parley/adapters/markdown"
	"parley/internal/secret"
)

var (
	_ adapters.Adapter          = (*Adapter)(nil)
	_ adapters.Typer            = (*Adapter)(nil)
	_ adapters.CommandRegistrar = (*Adapter)(nil)
	_ adapters.Doctor           = (*Adapter)(nil)
	_ adapters.Roll             = (*Adapter)(nil)
)

// APIURLDefault is Telegram's own Bot API server.
const APIURLDefault = "https://api.telegram.org"

// TextMax is the longest text of one message, in UTF-16 code units, counted
// after its formatting has been parsed.
const TextMax = 4096

// typingFor is how long Telegram shows a typing indicator.
const typingFor = 5 * time.Second

// Config is one bot's account.
type Config struct {
	Token secret.String // from @BotFather; required
	// APIURL is the base of the Bot API: requests go to APIURL/bot<token>/<method>.
	// Empty is APIURLDefault.
	APIURL string
	Logger *slog.Logger // required
	// Transport carries the requests; nil is one of its own.
	Transport http.RoundTripper
	// Locker lets one replica at a time receive, which is all that Telegram
	// allows; nil is the only replica.
	Locker adapters.Locker
	// Wait pauses between attempts: until d has passed or ctx has ended, whose
	// error it then returns. nil waits on the system's clock.
	Wait func(ctx context.Context, d time.Duration) error
}

// Adapter is one bot. Create it with [New].
type Adapter struct {
	client *client
	logger *slog.Logger
	locker adapters.Locker
	wait   func(ctx context.Context, d time.Duration) error
	health *health
	self   atomic.Pointer[self] // nil until learned
}

// self is what getMe tells of the bot.
type self struct {
	ID        int64  `json:"id"`
	Username  string `json:"username"`
	FirstName string `json:"first_name"`
	ReadsAll  bool   `json:"can_read_all_group_messages"`
}

func (s *self) account() string { return strconv.FormatInt(s.ID, 10) }

// New checks the configuration. It does no I/O.
func New(config Config) (*Adapter, error) {
	if config.Logger == nil {
		return nil, errors.New("telegram: Config.Logger is required")
	}
	if !regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`).MatchString(config.Token.Reveal()) {
		return nil, errors.New("telegram: the token does not look like 123456:ABC-def; copy it again from @BotFather")
	}
	if config.APIURL == "" {
		config.APIURL = APIURLDefault
	}
	base, err := url.Parse(config.APIURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.RawQuery != "" {
		return nil, fmt.Errorf("telegram: the API URL %q is not http(s)://host[/path]", config.Token.Scrub(config.APIURL))
	}
	if config.Wait == nil {
		config.Wait = wait
	}
	return &Adapter{
		client: newClient(config.Token, strings.TrimSuffix(config.APIURL, "/"), config.Transport),
		logger: config.Logger.With("platform", string(adapters.Telegram)),
		locker: config.Locker,
		wait:   config.Wait,
		health: newHealth(),
	}, nil
}

// Capabilities implements [adapters.Adapter].
func (a *Adapter) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{
		Platform: adapters.Telegram, TextMax: TextMax, TypingFor: typingFor,
	}
}

// Account implements [adapters.Adapter].
func (a *Adapter) Account() string {
	if me := a.self.Load(); me != nil {
		return me.account()
	}
	return ""
}

// Health implements [adapters.Adapter].
func (a *Adapter) Health() adapters.Health { return a.health.get() }

// Split implements [adapters.Adapter].
func (a *Adapter) Split(text string, format adapters.Format) []string {
	if format == adapters.Plain {
		return markdown.SplitPlain(text, TextMax, markdown.UTF16Length)
	}
	return markdown.Split(text, TextMax, measure)
}

// shortSource is a source, in bytes, that fits whatever is in it but a table:
// nothing else shows more than 16 times its length (an indented line).
const shortSource = TextMax / 16

// Telegram's budgets of one message besides its text. Formatting beyond
// entitiesMax vanishes without a word; a message whose formatting takes more
// than some 9,500 bytes, addresses included, is refused.
const (
	entitiesMax    = 100
	entityBytesMax = 8000
)

// measure is how much of a message a source takes, in parts of TextMax: of its
// text, its pieces of formatting, or their bytes, whichever is the most. That
// of a short one is not worked out.
func measure(source string) int {
	if len(source) <= shortSource && !strings.Contains(source, "|") {
		return len(source)
	}
	size := markdown.MeasureTelegram(source)
	return max(size.Units, share(size.Entities, entitiesMax), share(size.EntityBytes, entityBytesMax))
}

// share is how many of TextMax units n of most are, rounded up.
func share(n, most int) int { return (n*TextMax + most - 1) / most }
