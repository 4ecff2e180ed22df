package wiring

import (
	"fmt"

	"parley/agent"
	"parley/agent/anthropic"
	"parley/agent/demo"
	"parley/agent/openai"
	"parley/cmd/gateway/config"
)

// NewModel makes the client of a configured model.
func NewModel(m config.Model) (agent.Model, error) {
	switch m.Provider {
	case config.ProviderDemo:
		return demo.New(demo.Options{}), nil
	case config.ProviderOpenAI:
		return usable(openai.New(openai.Config{BaseURL: m.BaseURL.Reveal(), APIKey: m.APIKey, Model: m.Name}))
	case config.ProviderAnthropic:
		return usable(anthropic.New(anthropic.Config{BaseURL: m.BaseURL.Reveal(), APIKey: m.APIKey, Model: m.Name}))
	}
	return nil, fmt.Errorf("there is no provider %q", m.Provider)
}

// usable makes a failed model none at all.
func usable[M agent.Model](model M, err error) (agent.Model, error) {
	if err != nil {
		return nil, fmt.Errorf("the model cannot be used: %w", err)
	}
	return model, nil
}

// ModelRemedy names what a model is set up with.
func ModelRemedy(m config.Model) string {
	if m.Provider == config.ProviderAnthropic {
		return "check models.default (ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL)"
	}
	return "check models.default (OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL)"
}

// ConnectModel is how a newcomer goes on with a real model.
const ConnectModel = "Set OPENAI_API_KEY or ANTHROPIC_API_KEY (or OPENAI_BASE_URL for a server of your own) and start again to talk to a real model."
