package fakeslack

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Defaults of [Options].
const (
	BotTokenDefault      = "xoxb-100-200-fakebottoken"
	AppTokenDefault      = "xapp-1-A0FAKE-300-fakeapptoken"
	SigningSecretDefault = "0123456789abcdef0123456789abcdef"
	TeamDefault          = "T0TEAM"
	BotUserDefault       = "U0BOT"
	BotIDDefault         = "B0BOT"
	BotNameDefault       = "parley"
	AppID                = "A0FAKE"
)

// Options configure a [Server]; the zero value is an app with every scope it
// could need.
type Options struct {
	BotToken, AppToken, SigningSecret string
	Team, BotUser, BotID, BotName     string
	// Scopes of the bot token; nil is all that the methods here need.
	Scopes []string
	// AppScopes of the app-level token; nil is connections:write.
	AppScopes []string
	// Redeliver is how long an acknowledgement is waited for; 0 is 3 s.
	Redeliver time.Duration
	// Retries are the pauses before a request that was not answered with 2xx is
	// sent again; nil is 0, 100 ms, 500 ms.
	Retries []time.Duration
	// Ping is the pause between the pings on a socket; 0 is 1 s.
	Ping time.Duration
	// KeepCalls bounds the log of calls to the newest; 0 keeps all.
	KeepCalls int
	// OnSend is called for every message the bot posts, outside locks, before
	// the bot gets its answer.
	OnSend func(Sent)
	// Sticky keeps what concerns one channel on one socket, while it is open,
	// and sends the next message of a channel when the one before was
	// acknowledged: an order that Slack does not promise, for tests of order.
	Sticky bool
	// Now gives message times; nil is time.Now.
	Now func() time.Time
}

// Server is one app in one workspace. All methods may be called from any
// goroutine.
type Server struct {
	options Options
	http    *httptest.Server
	client  *http.Client
	closing chan struct{}
	work    sync.WaitGroup
	sockets *Sockets

	mu         sync.Mutex
	changed    chan struct{} // closed and replaced at every change that someone waits for
	waiters    int
	people     map[string]*User
	channels   map[string]*channel
	lastTS     int64
	serial     int
	faults     map[string][]Fault
	calls      []Call
	seq        int
	violations []string
	requestURL string // where events are posted; empty: sockets
	pending    []*envelope
	past       []*envelope // the newest, acknowledged or not
	revoked    bool        // the bot token
	appRevoked bool        // the app-level token
}

// New starts a server that ends with the test, which fails if the app did
// anything Slack does not know.
func New(tb testing.TB, options Options) *Server {
	tb.Helper()
	s := Start(options)
	tb.Cleanup(func() {
		s.Close()
		for _, violation := range s.Violations() {
			tb.Errorf("fakeslack: %s", violation)
		}
	})
	return s
}

// Start starts a server without a test; the caller closes it.
func Start(options Options) *Server {
	s := &Server{
		options:  options.withDefaults(),
		client:   &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{}},
		closing:  make(chan struct{}),
		changed:  make(chan struct{}),
		people:   map[string]*User{},
		channels: map[string]*channel{},
		faults:   map[string][]Fault{},
	}
	s.sockets = newSockets(s)
	s.people[s.options.BotUser] = &User{server: s, ID: s.options.BotUser, Name: s.options.BotName}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{method}", s.serve)
	mux.HandleFunc("/link/", s.sockets.serve)
	s.http = httptest.NewServer(mux)
	s.work.Go(s.redeliver)
	return s
}

func (o Options) withDefaults() Options {
	for value, fallback := range map[*string]string{
		&o.BotToken: BotTokenDefault, &o.AppToken: AppTokenDefault, &o.SigningSecret: SigningSecretDefault,
		&o.Team: TeamDefault, &o.BotUser: BotUserDefault, &o.BotID: BotIDDefault, &o.BotName: BotNameDefault,
	} {
		if *value == "" {
			*value = fallback
		}
	}
	if o.Scopes == nil {
		o.Scopes = slices.Sorted(maps.Keys(allScopes()))
	}
	if o.AppScopes == nil {
		o.AppScopes = []string{"connections:write"}
	}
	if o.Redeliver == 0 {
		o.Redeliver = 3 * time.Second
	}
	if o.Retries == nil {
		o.Retries = []time.Duration{0, 100 * time.Millisecond, 500 * time.Millisecond}
	}
	if o.Ping == 0 {
		o.Ping = time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// URL is the base of the Web API, with a slash at its end.
func (s *Server) URL() string { return s.http.URL + "/api/" }

// BotToken is the bot's token.
func (s *Server) BotToken() string { return s.options.BotToken }

// AppToken is the app-level token.
func (s *Server) AppToken() string { return s.options.AppToken }

// SigningSecret signs requests.
func (s *Server) SigningSecret() string { return s.options.SigningSecret }

// BotUser is the bot's user id.
func (s *Server) BotUser() string { return s.options.BotUser }

// Sockets are the app's open sockets and what happens to them.
func (s *Server) Sockets() *Sockets { return s.sockets }

// Close ends everything. Idempotent.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.closing:
		s.mu.Unlock()
		return
	default:
		close(s.closing)
	}
	s.mu.Unlock()
	s.sockets.closeAll()
	s.http.CloseClientConnections()
	s.http.Close()
	s.work.Wait()
	s.client.CloseIdleConnections()
}

// Violations are the things the app did that Slack does not know.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.violations...)
}

// AllowViolations forgets the violations so far, for tests that mean them.
func (s *Server) AllowViolations() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violations = nil
}

func (s *Server) violateLocked(format string, args ...any) {
	s.violations = append(s.violations, fmt.Sprintf(format, args...))
}

// RevokeBotToken makes Slack refuse the bot token from now on.
func (s *Server) RevokeBotToken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = true
}

// RevokeAppToken makes Slack refuse the app-level token from now on.
func (s *Server) RevokeAppToken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.appRevoked = true
}

// SetScopes changes what the bot token may do.
func (s *Server) SetScopes(scopes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.Scopes = scopes
}

// notifyLocked wakes everyone who waits for a change.
func (s *Server) notifyLocked() {
	if s.waiters == 0 {
		return
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// nextTSLocked is a new timestamp, later than all before.
func (s *Server) nextTSLocked() string {
	s.lastTS = max(s.lastTS+1, s.options.Now().UnixMicro())
	return fmt.Sprintf("%d.%06d", s.lastTS/1_000_000, s.lastTS%1_000_000)
}

// nextIDLocked is a new id with a prefix, such as Ev.
func (s *Server) nextIDLocked(prefix string) string {
	s.serial++
	return fmt.Sprintf("%s%08d", prefix, s.serial)
}

func hasAny(have []string, scopes string) bool {
	for scope := range strings.SplitSeq(scopes, "|") {
		if scope == "" || slices.Contains(have, scope) {
			return true
		}
	}
	return false
}
