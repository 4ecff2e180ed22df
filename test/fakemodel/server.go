package fakemodel

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options say what a Server is.
type Options[Request, Reply any] struct {
	Name string // of the fake, for errors
	Path string // where answers are asked for
	Key  string // the only accepted key
	// Reply answers every valid request that the script does not. It is called
	// from many goroutines.
	Reply func(Request) Reply
	// LogMax is how many calls the log keeps, the newest; 0: 10,000. A
	// negative one keeps none, for benchmarks.
	LogMax int
}

const logMaxDefault = 10_000

// Server is one running fake.
type Server[Request, Reply any] struct {
	*Log[Request]

	options  Options[Request, Reply]
	listener net.Listener
	http     *http.Server
	served   sync.WaitGroup // the accept loop
	active   sync.WaitGroup // handlers
	stop     context.Context
	cancel   context.CancelFunc

	mu     sync.Mutex
	script []Reply
	closed bool
}

// Listen takes a free loopback port. The caller must Serve and then Close.
func Listen[Request, Reply any](options Options[Request, Reply]) (*Server[Request, Reply], error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", options.Name, err)
	}
	if options.LogMax == 0 {
		options.LogMax = logMaxDefault
	}
	s := &Server[Request, Reply]{options: options, listener: listener}
	s.Log = &Log[Request]{name: options.Name, path: options.Path, max: options.LogMax}
	s.stop, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Serve begins to answer requests and returns at once. It is called once.
func (s *Server[Request, Reply]) Serve(routes http.Handler) {
	counted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.begin() {
			panic(http.ErrAbortHandler)
		}
		defer s.active.Done()
		routes.ServeHTTP(w, r)
	})
	s.http = &http.Server{Handler: counted, ReadHeaderTimeout: 10 * time.Second}
	s.served.Go(func() { _ = s.http.Serve(s.listener) })
}

// Address is the server's URL without a path.
func (s *Server[Request, Reply]) Address() string { return "http://" + s.listener.Addr().String() }

// Key is the accepted key.
func (s *Server[Request, Reply]) Key() string { return s.options.Key }

// Close breaks every connection and returns when all goroutines are gone. It
// can be called twice.
func (s *Server[Request, Reply]) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	_ = s.http.Close()
	s.served.Wait()
	s.active.Wait()
}

// Script queues replies: each valid request takes the next one; when there is
// none left, Options.Reply answers.
func (s *Server[Request, Reply]) Script(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, replies...)
}

// begin counts a handler in; false: the server is closed.
func (s *Server[Request, Reply]) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.active.Add(1)
	return true
}

// NextReply takes the reply to a valid request from the script.
func (s *Server[Request, Reply]) NextReply(request Request) Reply {
	s.mu.Lock()
	if len(s.script) > 0 {
		reply := s.script[0]
		s.script = s.script[1:]
		s.mu.Unlock()
		return reply
	}
	s.mu.Unlock()
	return s.options.Reply(request)
}
