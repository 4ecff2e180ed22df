package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"parley/adapters"
	"parley/conversations"
	"parley/internal/secret"
	"parley/people"
	"parley/sessions"
)

// Defaults and limits of a [Server].
const (
	HeartbeatDefault = 15 * time.Second // between comments on a quiet event stream
	writeTimeout     = 30 * time.Second // for one answer that is not a stream
	storeTimeout     = 10 * time.Second // for one reading of the store
)

// Limits bound what callers can hold. Zero fields mean the defaults.
type Limits struct {
	Connections int           // open at one time, half of them by one address; 0: ConnectionsDefault
	Head        time.Duration // for a request's head to arrive; 0: 10 s
	Body        time.Duration // for its body, or a piece of an import; 0: 15 s
}

// ConnectionsDefault is how many connections may be open at one time.
const ConnectionsDefault = 1024

func (l Limits) withDefaults() Limits {
	return Limits{
		Connections: cmp.Or(max(l.Connections, 0), ConnectionsDefault),
		Head:        cmp.Or(max(l.Head, 0), 10*time.Second),
		Body:        cmp.Or(max(l.Body, 0), 15*time.Second),
	}
}

// Config is what a [Server] is made of.
type Config struct {
	Store      sessions.Store
	Operations Operations
	Schedules  Schedules    // nil: there are no such addresses
	Drafts     Drafts       // nil: who comes in the middle of an answer gets what is written from then on
	People     *people.Room // nil: those of Store, of whom no configuration says anything
	// Doctor looks at everything from inside the running gateway, for at most
	// as long as ctx. Nil: there is no such address.
	Doctor func(ctx context.Context) []Check
	// Token is the owner's bearer token. Required. The keys of the browser's
	// cookies are derived from it: a new token signs every browser out, and
	// the same token after a restart keeps them signed in.
	Token secret.String
	// Tokens are accepted besides Token. No two are the same.
	Tokens []Token
	// Local says that nobody configured a token and that the server listens on
	// loopback only. Then only loopback names are accepted in Host.
	Local bool
	// Open says that, with Local, opening the chat page on this machine is
	// signing in, and that metrics and health tell everything there. A
	// forwarder that hides itself then lets in whoever it serves.
	Open bool
	// Hosts are the names (without port) accepted in the Host header, besides
	// the loopback names. Empty without Local: every name.
	Hosts []string
	// Shown gives the text of an answer as people may see it, without silence
	// markers, and whether nothing of it may be shown. Required.
	Shown func(text string) (shown string, silent bool)
	Page  Page
	// Version is shown by /v1/me.
	Version string
	// Logger may not be nil. No message text and no query reaches it.
	Logger *slog.Logger
	// Metrics answers /metrics, after the caller was let in. Nil: there is
	// no such address.
	Metrics http.Handler
	Limits  Limits
	// Heartbeat is the longest silence on an event stream; 0: HeartbeatDefault.
	Heartbeat time.Duration
	Now       func() time.Time // nil: time.Now
}

// Drafts know the answers that are being written.
type Drafts interface {
	// SoFar is the answer being written in a session, from its beginning;
	// false: none is, or nobody here knows.
	SoFar(session string) (sessions.LiveEvent, bool)
}

// Page is what the chat page tells of the bot.
type Page struct {
	Bot      string // its name; empty: Parley
	Model    string // the model's name
	Demo     bool   // the model is the offline demo
	Hint     string // one line on what to do next; empty with Demo: how to connect a model
	Commands []adapters.CommandInfo
	Ideas    []string // first messages that are offered; empty: two that suit any model
}

// Server is the HTTP face, an [http.Handler]. Make it with [New].
type Server struct {
	config  Config
	mux     *http.ServeMux
	gate    *gate
	origin  *http.CrossOriginProtection
	pages   *pages
	render  *renderer
	room    *conversations.Room
	streams *streams

	connections *connections
	ended       chan struct{} // closed by end
	end         func()
}

// New checks the configuration and makes a server. It starts nothing.
func New(config Config) (*Server, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	pages, err := newPages()
	if err != nil {
		return nil, fmt.Errorf("api: the embedded pages: %w", err)
	}
	ended := make(chan struct{})
	s := &Server{
		config:  config,
		mux:     http.NewServeMux(),
		gate:    newGate(config),
		origin:  http.NewCrossOriginProtection(),
		pages:   pages,
		render:  newRenderer(),
		room:    roomOf(config),
		streams: newStreams(),

		connections: newConnections(config.Limits.Connections),
		ended:       ended,
		end:         sync.OnceFunc(func() { close(ended) }),
	}
	s.routes()
	return s, nil
}

// roomOf is where the sessions of a running gateway are handled.
func roomOf(config Config) *conversations.Room {
	return &conversations.Room{Store: config.Store, Now: config.Now, Log: config.Logger, Stopper: config.Operations.Stop,
		Noter: func(ctx context.Context, session string) (bool, sessions.NoteResult, error) {
			made, err := config.Operations.Checkpoint(ctx, session)
			return made.Made, sessions.NoteResult{Record: made.Record, Entries: made.Entries}, err
		}}
}

func (c Config) check() error {
	switch {
	case c.Store == nil, c.Operations == nil, c.Logger == nil, c.Shown == nil:
		return errors.New("api: Store, Operations, Logger and Shown are required")
	case c.Token.IsZero():
		return errors.New("api: a token is required; make a random one where none is configured")
	}
	return checkTokens(c)
}

func (c Config) withDefaults() Config {
	c.Limits = c.Limits.withDefaults()
	if c.Heartbeat <= 0 {
		c.Heartbeat = HeartbeatDefault
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.People == nil {
		c.People = &people.Room{Store: c.Store}
	}
	if c.Page.Bot == "" {
		c.Page.Bot = "Parley"
	}
	if len(c.Page.Ideas) == 0 {
		c.Page.Ideas = []string{"What can you do?", "/help"}
	}
	if c.Page.Hint == "" && c.Page.Demo {
		c.Page.Hint = "This is the offline demo model. Set OPENAI_API_KEY or ANTHROPIC_API_KEY and start again to talk to a real one."
	}
	return c
}

// Close ends every event stream and every waiting request. Idempotent. [Server.Serve]
// does it by itself.
func (s *Server) Close() { s.end() }

// Mount serves a pattern of [http.ServeMux] by a handler that does its own
// authentication, such as a platform's webhook. Call it before serving. It
// panics, as the mux does, on a pattern that is wrong or taken.
func (s *Server) Mount(pattern string, handler http.Handler) {
	s.mux.Handle(pattern, handler)
}

// LoginLink makes a link below base (as in http://127.0.0.1:8080) that signs
// one browser in, once, within [LoginLinkFor]. It is a secret: print it to the
// owner, never log it.
func (s *Server) LoginLink(base string) string {
	return trimSlash(base) + "/login?code=" + s.gate.codes.issue()
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := time.Now()
	// Only a connection knows deadlines; a recorder in a test does not.
	_ = http.NewResponseController(w).SetWriteDeadline(started.Add(writeTimeout))
	if r.ContentLength != 0 { // holds also where nobody reads the body, or only later
		_ = http.NewResponseController(w).SetReadDeadline(started.Add(s.config.Limits.Body))
	}
	out := &response{ResponseWriter: w}
	defer s.finish(out, r, started)
	secureHeaders(out.Header())
	handler, pattern := s.mux.Handler(r)
	if pattern == "" {
		s.unrouted(out, r, handler)
		return
	}
	s.mux.ServeHTTP(out, r)
}

// finish logs the request, and turns a panic of a handler into a 500.
func (s *Server) finish(out *response, r *http.Request, started time.Time) {
	if cause := recover(); cause != nil {
		if err, isError := cause.(error); isError && errors.Is(err, http.ErrAbortHandler) {
			panic(cause)
		}
		s.config.Logger.Error("http handler panicked", "route", r.Pattern, "cause", cause)
		if out.status == 0 {
			writeProblem(out, internalProblem())
		}
	}
	s.config.Logger.Debug("http", "method", r.Method, "route", r.Pattern, "status", out.status, "took", time.Since(started))
}

// unrouted answers what no pattern matches with a problem, keeping the mux's
// verdict: not found, method not allowed (with Allow), or its redirect.
func (s *Server) unrouted(w http.ResponseWriter, r *http.Request, verdict http.Handler) {
	probe := &probe{header: http.Header{}}
	verdict.ServeHTTP(probe, r)
	switch probe.status {
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", probe.header.Get("Allow"))
		writeProblem(w, &problemError{Status: probe.status, Code: "method_not_allowed",
			Detail: "This address answers " + probe.header.Get("Allow") + " only."})
	case http.StatusNotFound:
		writeProblem(w, &problemError{Status: probe.status, Code: "not_found",
			Detail: "There is nothing at this address. GET /v1/openapi.json lists what there is."})
	default:
		s.mux.ServeHTTP(w, r)
	}
}

// probe takes in an answer's head and forgets its body.
type probe struct {
	header http.Header
	status int
}

// Header is what the handler fills.
func (p *probe) Header() http.Header { return p.header }

// WriteHeader notes the status.
func (p *probe) WriteHeader(status int) { p.status = status }

// Write forgets.
func (p *probe) Write(body []byte) (int, error) { return len(body), nil }

// response remembers the status for the log.
type response struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes and passes on the status.
func (r *response) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write notes the implied status and passes on the body.
func (r *response) Write(body []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(body)
}

// Unwrap lets http.ResponseController find the connection.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }
