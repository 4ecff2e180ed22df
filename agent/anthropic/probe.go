package anthropic

import (
	"context"
	"errors"

	api "github.com/anthropics/anthropic-sdk-go/v2"

	"parley/agent"
	"parley/agent/endpoint"
	"parley/sessions"
)

// probeTokens is the longest answer a probe asks for.
const probeTokens = 16

// Probe asks for the model's description, which costs nothing. Where there is
// none, one tiny completion decides.
func (m *Model) Probe(ctx context.Context) error {
	described, err := m.describes(ctx)
	if described || err != nil {
		return err
	}
	_, err = m.Complete(ctx, agent.Request{
		Messages:  []agent.Message{{Role: sessions.RoleUser, Text: "ping"}},
		MaxTokens: probeTokens,
	}, nil)
	return err
}

// describes reports whether the endpoint knows the model. An endpoint that
// describes none is no error.
func (m *Model) describes(ctx context.Context) (bool, error) {
	x, call := m.newExchange(ctx)
	defer x.Close()
	client := m.api(x)
	info, err := client.Models.Get(call, m.config.Model, api.ModelGetParams{})
	if err == nil {
		return info.ID != "", nil
	}
	err = m.failure(ctx, x, err)
	if failure, ok := errors.AsType[*agent.ModelError](err); ok && endpoint.Inconclusive(failure.Kind) {
		return false, nil
	}
	return false, err
}
