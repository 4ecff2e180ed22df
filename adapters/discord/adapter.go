package discord

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"parley/adapters"
	"parley/adapters/markdown"
	"parley/internal/secret"
)

// APIURLDefault is Discord's own REST endpoint, version included.
const APIURLDefault = "https://discord.com/api/v10"

// apiVersion is the version of the gateway's protocol.
const apiVersion = "10"

// Limits of the platform.
const (
	textMax   = 2000             // of one message; Discord does not say in what, so the larger count
	typingFor = 10 * time.Second // one typing indicator
)

// Config is what an [Adapter] needs.
type Config struct {
	Token  secret.String
	APIURL string // empty: APIURLDefault; its /gateway/bot answer names the socket
	// RoleMentions says that a mention of any role the bot has is one of the
	// bot. Its own role, which Discord made for it, always is.
	RoleMentions bool
	Locker       adapters.Locker // nil: this is the only replica, and sessions end with the process
	Logger       *slog.Logger    // nil: nothing is logged
}

// Adapter is one Discord bot.
type Adapter struct {
	log     *slog.Logger
	token   secret.String
	locker  adapters.Locker
	rest    *restClient
	pace    *pace
	seals   sealer
	times   timing
	health  health
	places  directory
	roles   roles
	anyRole bool                    // every role of the bot names it
	gateway atomic.Pointer[url.URL] // what the API named last; nil until then

	mu sync.RWMutex
	me identity // guarded by mu; zero until learned
}

// identity is who the bot is on the platform.
type identity struct {
	user string // the bot's user id
	app  string // the application's id
	name string // the user name, without @
}

var (
	_ adapters.Adapter          = (*Adapter)(nil)
	_ adapters.Typer            = (*Adapter)(nil)
	_ adapters.Doctor           = (*Adapter)(nil)
	_ adapters.Roll             = (*Adapter)(nil)
	_ adapters.CommandRegistrar = (*Adapter)(nil)
)

// New makes an adapter. It does no I/O.
func New(config Config) (*Adapter, error) { return newAdapter(config, defaultTiming()) }

func newAdapter(config Config, times timing) (*Adapter, error) {
	if config.Token.IsZero() {
		return nil, errors.New("discord: no token is set; copy it from the Bot page of the developer portal")
	}
	if strings.ContainsAny(config.Token.Reveal(), " \t\r\n") {
		return nil, errors.New(`discord: the token contains white space; give it without the word "Bot"`)
	}
	base := strings.TrimRight(config.APIURL, "/")
	if base == "" {
		base = APIURLDefault
	}
	if parsed, err := url.Parse(base); err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return nil, fmt.Errorf("discord: the API URL %q is not an http or https address", config.Token.Scrub(base))
	}
	log := config.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	a := &Adapter{
		log: log.With("platform", adapters.Discord), token: config.Token, locker: config.Locker,
		rest: newRESTClient(base, config.Token), pace: newPace(), seals: newSealer(config.Token), times: times,
	}
	a.places.fetch, a.roles.fetch, a.anyRole = a.fetchPlace, a.fetchRoles, config.RoleMentions
	a.health.set(adapterPart, adapters.Connecting, "")
	return a, nil
}

// Capabilities says what Discord can do, and this adapter with it.
func (a *Adapter) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{
		Platform: adapters.Discord, TextMax: textMax, TypingFor: typingFor, IdempotentKey: true,
	}
}

// Account is the bot's user id.
func (a *Adapter) Account() string { return a.self().user }

func (a *Adapter) self() identity {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.me
}

// Health is the worst of what the shards report.
func (a *Adapter) Health() adapters.Health { return a.health.overall() }

// Split cuts text into parts of one message each.
func (a *Adapter) Split(text string, format adapters.Format) []string {
	if format == adapters.Plain {
		return markdown.SplitPlain(text, textMax, markdown.DiscordPlainLength)
	}
	return markdown.Split(text, textMax, markdown.DiscordLength)
}
