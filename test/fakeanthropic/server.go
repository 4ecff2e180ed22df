package fakeanthropic

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Defaults of a Config.
const (
	KeyDefault   = "sk-ant-fake-0123456789abcdef"
	ModelDefault = "claude-fake"
)

// Config says how the server behaves. It is not changed after New.
type Config struct {
	Key    string   // the only accepted key; empty: KeyDefault
	Models []string // that exist; empty: ModelDefault
	// Reply answers every valid request that the script does not. Nil:
	// "You said: " and the last message. It is called from many goroutines.
	Reply func(Request) Reply
	// ContextMax is the longest request in characters of all messages; 0: any.
	ContextMax int
	// TokensMax is the highest max_tokens; 0: any.
	TokensMax int
	// NoModelList answers 404 to /v1/models, as proxies do.
	NoModelList bool
	// LogMax is how many calls the log keeps, the newest; 0: 10,000. A
	// negative one keeps none, for benchmarks.
	LogMax int
}

const logMaxDefault = 10_000

func (c Config) withDefaults() Config {
	if c.Key == "" {
		c.Key = KeyDefault
	}
	if len(c.Models) == 0 {
		c.Models = []string{ModelDefault}
	}
	if c.Reply == nil {
		c.Reply = func(request Request) Reply { return Text("You said: " + request.Last().Content.Text()) }
	}
	if c.LogMax == 0 {
		c.LogMax = logMaxDefault
	}
	return c
}

// Server is one running fake.
type Server struct {
	config Config
	http   *http.Server
	url    string
	served sync.WaitGroup // the accept loop
	active sync.WaitGroup // handlers
	stop   context.Context
	cancel context.CancelFunc
	log    callLog

	mu     sync.Mutex
	script []Reply
	closed bool
}

// New starts a server on a free loopback port. The caller must Close it.
func New(config Config) (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("fake anthropic: %w", err)
	}
	s := &Server{config: config.withDefaults(), url: "http://" + listener.Addr().String()}
	s.stop, s.cancel = context.WithCancel(context.Background())
	s.log.max = s.config.LogMax
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	s.served.Go(func() { _ = s.http.Serve(listener) })
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

// URL is the base URL, without /v1 and without a slash at the end.
func (s *Server) URL() string { return s.url }

// Key is the accepted key.
func (s *Server) Key() string { return s.config.Key }

// Close breaks every connection and returns when all goroutines are gone. It
// can be called twice.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	_ = s.http.Close()
	s.served.Wait()
	s.active.Wait()
}

// Script queues replies: each valid request takes the next one; when
// there is none left, Config.Reply answers.
func (s *Server) Script(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, replies...)
}

// begin counts a handler in; false: the server is closed.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.active.Add(1)
	return true
}

func (s *Server) nextReply(request Request) Reply {
	s.mu.Lock()
	if len(s.script) > 0 {
		reply := s.script[0]
		s.script = s.script[1:]
		s.mu.Unlock()
		return reply
	}
	s.mu.Unlock()
	return s.config.Reply(request)
}
