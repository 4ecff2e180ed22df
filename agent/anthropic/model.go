package anthropic

import (
	"net/http"

	api "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"parley/agent"
	"parley/agent/endpoint"
)

// Model asks one model of one endpoint.
type Model struct {
	config Config
	judge  endpoint.Judge
	client *http.Client
}

var (
	_ agent.Model  = (*Model)(nil)
	_ agent.Prober = (*Model)(nil)
)

// New checks config and does no I/O. The error lists every problem.
func New(config Config) (*Model, error) {
	config.BaseURL = trimBaseURL(config.BaseURL)
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

// api is the library's client for one exchange. Trying again is the caller's.
func (m *Model) api(via *exchange) api.Client {
	options := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithBaseURL(m.config.BaseURL),
		option.WithHTTPClient(via),
		option.WithMaxRetries(0),
	}
	if !m.config.APIKey.IsZero() {
		options = append(options, option.WithAPIKey(m.config.APIKey.Reveal()))
	}
	return api.NewClient(options...)
}
