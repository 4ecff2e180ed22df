package fakeopenai

import (
	"testing"

	"parley/test/fakemodel"
)

// Defaults of a Config.
const (
	KeyDefault   = "sk-fake-0123456789abcdef"
	ModelDefault = "fake-model"
)

// Config says how the server behaves. It is not changed after New.
type Config struct {
	Key    string   // the only accepted key; empty: KeyDefault
	Models []string // that exist; empty: ModelDefault
	// Reply answers every valid chat request that the script does not. Nil:
	// "You said: " and the last message. It is called from many goroutines.
	Reply func(Request) Reply
	// ContextMax is the longest request in characters of all messages; 0: any.
	ContextMax int
	// RefuseStreamOptions makes the server one of those that do not know them.
	RefuseStreamOptions bool
	// NoModelList answers 404 to /models, as small servers do.
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
		c.Reply = func(request Request) Reply { return Text("You said: " + request.Last().Text()) }
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
		Name: "fake openai", Path: chatPath, Key: config.Key, Reply: config.Reply, LogMax: config.LogMax,
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

// URL is the base URL, /v1 included, without a slash at the end.
func (s *Server) URL() string { return s.Address() + "/v1" }
