package metrics

import (
	"context"
	"strings"
	"time"

	"parley/agent"
)

// Model is the model with its calls counted.
func (m *Metrics) Model(model agent.Model) agent.Model { return observedModel{model, m} }

// observedModel counts the calls of a model. It is no agent.Prober, whatever
// the model is: a probe is no call.
type observedModel struct {
	agent.Model
	metrics *Metrics
}

// Complete is the model's, counted.
func (o observedModel) Complete(ctx context.Context, request agent.Request, onText func(string)) (agent.Answer, error) {
	began := time.Now()
	answer, err := o.Model.Complete(ctx, request, onText)
	o.metrics.modelTook.Observe(time.Since(began).Seconds())
	o.metrics.modelCalls.inc(modelResult(ctx, answer, err))
	if answer.Tokens != nil {
		o.metrics.tokens.at(tokensRead).Add(float64(max(0, answer.Tokens.Prompt)))
		o.metrics.tokens.at(tokensWritten).Add(float64(max(0, answer.Tokens.Completion)))
	}
	return answer, err
}

func modelResult(ctx context.Context, answer agent.Answer, err error) agent.ErrorKind {
	switch {
	case err != nil && ctx.Err() != nil:
		return modelEnded
	case err != nil:
		return agent.AsModelError(err).Kind
	case strings.TrimSpace(answer.Text) == "" && len(answer.ToolCalls) == 0:
		return agent.KindEmpty
	}
	return modelOK
}
