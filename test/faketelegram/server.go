package faketelegram

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Defaults of [Options].
const (
	TokenDefault    = "77:fake-telegram-token"
	BotIDDefault    = 77
	UsernameDefault = "parley_bot"
)

// Options configure a [Server]; the zero value is a bot in privacy mode with
// the default names.
type Options struct {
	Token    string
	BotID    int64
	Username string
	// ReadAllGroupMessages is privacy mode switched off.
	ReadAllGroupMessages bool
	// KeepCalls bounds the log of calls to the newest; 0 keeps all.
	KeepCalls int
	// OnSend is called for every message the bot sends, outside locks, before
	// the bot gets its answer.
	OnSend func(Sent)
	// Now gives message dates; nil is time.Now.
	Now func() time.Time
}

// Server is one bot's Bot API. All methods may be called from any goroutine.
type Server struct {
	options  Options
	http     *httptest.Server
	closing  chan struct{}
	methods  map[string]method
	patterns []entityPattern

	mu         sync.Mutex
	changed    chan struct{} // closed and replaced at every change that someone waits for
	waiters    int
	me         Person
	chats      map[int64]*chatState
	queue      updateQueue
	webhook    string
	commands   map[string]string // by scope, as JSON
	faults     map[string][]Fault
	calls      []Call
	seq        int
	violations []string
}

// New starts a server that ends with the test, which fails if the bot did
// anything the real server does not know.
func New(tb testing.TB, options Options) *Server {
	tb.Helper()
	s := Start(options)
	tb.Cleanup(func() {
		s.Close()
		for _, violation := range s.Violations() {
			tb.Errorf("faketelegram: %s", violation)
		}
	})
	return s
}

// Start starts a server without a test; the caller closes it.
func Start(options Options) *Server {
	if options.Token == "" {
		options.Token = TokenDefault
	}
	if options.BotID == 0 {
		options.BotID = BotIDDefault
	}
	if options.Username == "" {
		options.Username = UsernameDefault
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	s := &Server{
		options:  options,
		closing:  make(chan struct{}),
		changed:  make(chan struct{}),
		me:       Person{ID: options.BotID, IsBot: true, FirstName: "Parley", Username: options.Username},
		chats:    map[int64]*chatState{},
		commands: map[string]string{},
		faults:   map[string][]Fault{},
	}
	s.methods, s.patterns = methods(), entityPatterns()
	s.queue = newUpdateQueue()
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// URL is the base of the API: requests go to URL/bot<token>/<method>.
func (s *Server) URL() string { return s.http.URL }

// Token is the bot's token.
func (s *Server) Token() string { return s.options.Token }

// Bot is the bot itself.
func (s *Server) Bot() Person { return s.me }

// Close ends all hanging requests and the server. Idempotent.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.closing:
	default:
		close(s.closing)
	}
	s.mu.Unlock()
	s.http.CloseClientConnections()
	s.http.Close()
}

// Violations are the things the bot did that no real server knows.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.violations...)
}

// SetReadAllGroupMessages switches privacy mode off or on.
func (s *Server) SetReadAllGroupMessages(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.ReadAllGroupMessages = on
}

// notifyLocked wakes everyone who waits for a change.
func (s *Server) notifyLocked() {
	if s.waiters == 0 {
		return
	}
	close(s.changed)
	s.changed = make(chan struct{})
}
