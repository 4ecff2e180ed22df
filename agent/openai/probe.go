package openai

import (
	"context"
	"errors"
	"slices"

	api "github.com/sashabaranov/go-openai"

	"parley/agent"
	"parley/agent/endpoint"
	"parley/sessions"
)

// probeTokens is the longest answer a probe asks for.
const probeTokens = 16

// Probe asks for the list of models, which costs nothing. Where there is none,
// or it does not hold the model (which may be an alias), one tiny completion
// decides.
func (m *Model) Probe(ctx context.Context) error {
	listed, err := m.lists(ctx)
	if listed || err != nil {
		return err
	}
	_, err = m.Complete(ctx, agent.Request{
		Messages:  []agent.Message{{Role: sessions.RoleUser, Text: "ping"}},
		MaxTokens: probeTokens,
	}, nil)
	return err
}

// lists reports whether the endpoint lists the model. An endpoint without a
// list is no error.
func (m *Model) lists(ctx context.Context) (bool, error) {
	whole, call := endpoint.NewExchange(ctx, m.client, m.config.Limits, nil)
	x := &exchange{Exchange: whole}
	defer x.Close()
	list, err := m.api(x).ListModels(call)
	if err == nil {
		return slices.ContainsFunc(list.Models, func(model api.Model) bool { return model.ID == m.config.Model }), nil
	}
	err = m.failure(ctx, x, err)
	if failure, ok := errors.AsType[*agent.ModelError](err); ok && endpoint.Inconclusive(failure.Kind) {
		return false, nil
	}
	return false, err
}
