package fakediscord

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Defaults of a Config.
const (
	TokenDefault     = "fake-discord-token.0123456789.abcdefghijklmnop"
	HeartbeatDefault = 41250 * time.Millisecond
	CallbackDefault  = 3 * time.Second
	identifiesPerDay = 1000
)

// Flags of the application.
const (
	FlagMessageContent        = 1 << 18
	FlagMessageContentLimited = 1 << 19
)

// Config says how the server behaves. It is not changed after New.
type Config struct {
	Token     string        // the only accepted one, without "Bot"; empty: TokenDefault
	BotName   string        // empty: "parley"
	Heartbeat time.Duration // interval told in hello; 0: HeartbeatDefault
	Shards    int           // recommended; 0: 1
	// NoContentIntent is an application without the message content intent.
	NoContentIntent bool
	// PerChannel is how many messages a channel takes in Window; 0: any number.
	PerChannel int
	Window     time.Duration
	// Identifies is how many are left today; 0: 1000, below 0: none.
	Identifies int
	// ResetAfter is when the budget is full again; 0: a day.
	ResetAfter time.Duration
	// CallbackFor is how long the first answer to an interaction may take; 0: CallbackDefault.
	CallbackFor time.Duration
}

func (c Config) withDefaults() Config {
	if c.Token == "" {
		c.Token = TokenDefault
	}
	if c.BotName == "" {
		c.BotName = "parley"
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = HeartbeatDefault
	}
	if c.Identifies == 0 {
		c.Identifies = identifiesPerDay
	}
	if c.ResetAfter == 0 {
		c.ResetAfter = 24 * time.Hour
	}
	if c.CallbackFor == 0 {
		c.CallbackFor = CallbackDefault
	}
	c.Shards = max(c.Shards, 1)
	return c
}

// Server is one running fake.
type Server struct {
	config Config
	http   *http.Server
	host   string
	active sync.WaitGroup
	stop   context.Context
	cancel context.CancelFunc
	log    callLog
	bot    User
	app    string

	mu           sync.Mutex
	world        world
	sessions     map[string]*session
	sockets      map[*socket]bool
	interactions map[string]*interaction // by token
	faults       []*fault
	buckets      map[string]bucket // by channel
	identifies   int               // left
	withhold     bool
	closed       bool // accepts no sockets
	revoked      bool
	lastID       int64
	commands     []Command
}

// New starts a server on a free loopback port. The caller must Close it.
func New(config Config) (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("fake discord: %w", err)
	}
	s := &Server{config: config.withDefaults(), host: listener.Addr().String()}
	s.stop, s.cancel = context.WithCancel(context.Background())
	s.sessions, s.sockets = map[string]*session{}, map[*socket]bool{}
	s.buckets = map[string]bucket{}
	s.interactions, s.world = map[string]*interaction{}, newWorld()
	s.identifies = max(s.config.Identifies, 0)
	s.bot = User{ID: s.id(), Name: s.config.BotName, Bot: true}
	s.app = s.id()
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	s.active.Go(func() { _ = s.http.Serve(listener) })
	return s, nil
}

// Start is New for a test, which fails if there is no port, and closes the
// server at its end.
func Start(tb testing.TB, config Config) *Server {
	tb.Helper()
	s, err := New(config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// URL is what DISCORD_API_URL is set to.
func (s *Server) URL() string { return "http://" + s.host + apiPath }

// Token is the accepted token.
func (s *Server) Token() string { return s.config.Token }

// Bot is the bot's own user.
func (s *Server) Bot() User { return s.bot }

// App is the application's id, which is not the bot's.
func (s *Server) App() string { return s.app }

// Close breaks every connection and returns when all goroutines are gone. It
// can be called twice.
func (s *Server) Close() {
	s.cancel()
	s.KillTCP()
	_ = s.http.Close()
	s.active.Wait()
}

// Revoke makes the token one that Discord does not accept, from now on and for
// open connections too.
func (s *Server) Revoke() {
	s.mu.Lock()
	s.revoked = true
	s.mu.Unlock()
	s.CloseGateway(4004)
}

const epoch = 1420070400000 // ms, of Discord's ids

// id makes a new id; ids rise.
func (s *Server) id() string { return s.idAt(time.Now()) }

func (s *Server) idAt(at time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idLocked(at)
}

func (s *Server) idLocked(at time.Time) string {
	s.lastID = max(s.lastID+1, (at.UnixMilli()-epoch)<<22)
	return strconv.FormatInt(s.lastID, 10)
}

func encode(value any) json.RawMessage {
	data, err := json.Marshal(value)
	if err != nil {
		panic("the fake's own data can be encoded: " + err.Error())
	}
	return data
}
