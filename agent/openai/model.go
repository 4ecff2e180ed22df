package openai

import (
	"net/http"
	"sync/atomic"

	api "github.com/sashabaranov/go-openai"

	"parley/agent"
	"parley/agent/endpoint"
)

// Model asks one model of one endpoint.
type Model struct {
	config  Config
	judge   endpoint.Judge
	client  *http.Client
	noUsage atomic.Bool // the endpoint refuses stream_options: learned once, kept
}

var (
	_ agent.Model  = (*Model)(nil)
	_ agent.Prober = (*Model)(nil)
)

// New checks config and does no I/O. The error lists every problem.
func New(config Config) (*Model, error) {
	if err := config.Complete(provider()); err != nil {
		return nil, err
	}
	return &Model{
		config: config,
		judge:  endpoint.NewJudge(provider(), config),
		client: endpoint.NewClient(config.Transport, config.Connect),
	}, nil
}

// Name is the configured model name.
func (m *Model) Name() string { return m.config.Model }

// Close drops idle connections. Calls that run are not disturbed.
func (m *Model) Close() { m.client.CloseIdleConnections() }

// api is the library's client for one exchange.
func (m *Model) api(via *exchange) *api.Client {
	settings := api.DefaultConfig(m.config.APIKey.Reveal())
	settings.BaseURL = m.config.BaseURL
	settings.HTTPClient = via
	return api.NewClientWithConfig(settings)
}
