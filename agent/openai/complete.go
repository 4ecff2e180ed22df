package openai

import (
	"context"
	"errors"
	"io"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"parley/agent"
	"parley/agent/endpoint"
)

// Complete answers request in one streamed call. An endpoint that refuses to be
// asked for token counts is asked once more without, and not again for them.
func (m *Model) Complete(ctx context.Context, request agent.Request, onText func(string)) (agent.Answer, error) {
	if len(request.Messages) == 0 {
		return agent.Answer{}, endpoint.Permanent(agent.KindRefused, "the request holds no message")
	}
	withUsage := !m.noUsage.Load()
	answer, err := m.stream(ctx, request, withUsage, onText)
	if !withUsage || !refusesUsage(err) {
		return answer, err
	}
	answer, err = m.stream(ctx, request, false, onText)
	if failure, ok := errors.AsType[*agent.ModelError](err); !ok || failure.Kind != agent.KindRefused {
		m.noUsage.Store(true)
	}
	return answer, err
}

func refusesUsage(err error) bool {
	failure, ok := errors.AsType[*agent.ModelError](err)
	return ok && failure.Kind == agent.KindRefused && strings.Contains(failure.Reason, "stream_options")
}

// stream is one HTTP exchange.
func (m *Model) stream(ctx context.Context, request agent.Request, withUsage bool, onText func(string)) (agent.Answer, error) {
	x, call := m.newExchange(ctx)
	defer x.Close()
	g := gatherer{onText: onText}
	err := m.receive(call, x, &g, m.chatRequest(request, withUsage))
	answer := g.answer(m.config.Model)
	if err == nil {
		x.events.lines.Drain(x.Watchdog)
		return answer, g.verdict()
	}
	err = m.failure(ctx, x, err)
	if failure, ok := errors.AsType[*agent.ModelError](err); ok {
		failure.Started = g.started
	}
	return answer, err
}

// receive gathers the stream's events. Nil: the answer is complete.
func (m *Model) receive(call context.Context, x *exchange, g *gatherer, request api.ChatCompletionRequest) error {
	stream, err := m.api(x).CreateChatCompletionStream(call, request)
	if err != nil {
		return err
	}
	for {
		event, err := stream.RecvRaw()
		if errors.Is(err, io.EOF) {
			return x.ended(g)
		}
		if err != nil {
			return err
		}
		if err := g.take(event); err != nil {
			return err
		}
	}
}

// ended judges the end of a body: a stream is complete when it says so itself
// or has given a reason to finish.
func (x *exchange) ended(g *gatherer) error {
	if x.events.done || g.finish != "" {
		return nil
	}
	return io.ErrUnexpectedEOF
}

// exchange is one HTTP request whose answer may be a stream.
type exchange struct {
	*endpoint.Exchange

	events *eventBody // nil until a stream begins
}

// newExchange begins an exchange for a stream and gives the context it runs
// under. The caller must Close it.
func (m *Model) newExchange(ctx context.Context) (*exchange, context.Context) {
	x := &exchange{}
	var call context.Context
	x.Exchange, call = endpoint.NewExchange(ctx, m.client, m.config.Limits, func(body io.ReadCloser) io.ReadCloser {
		x.events = newEventBody(body, x.Heard)
		return x.events
	})
	return x, call
}
