package fakeanthropic

import (
	"testing"

	"parley/test/fakemodel"
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
	return c
}

// Call is one HTTP request, as the log keeps it.
type Call = fakemodel.Call[Request]

// Server is one running fake.
type Server struct {
	*fakemodel.Server[Request, Reply]

	config Config
}

// New starts a server on a free loopback port. The caller must Close it.
func New(config Config) (*Server, error) {
	config = config.withDefaults()
	base, err := fakemodel.Listen(fakemodel.Options[Request, Reply]{
		Name: "fake anthropic", Path: messagesPath, Key: config.Key, Reply: config.Reply, LogMax: config.LogMax,
	})
	if err != nil {
		return nil, err
	}
	s := &Server{base, config}
	s.Serve(s.routes())
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
func (s *Server) URL() string { return s.Address() }
