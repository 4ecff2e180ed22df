package anthropic

import (
	"context"
	"errors"
	"io"

	api "github.com/anthropics/anthropic-sdk-go/v2"

	"parley/agent"
	"parley/agent/endpoint"
)

// Complete answers request in one streamed call.
func (m *Model) Complete(ctx context.Context, request agent.Request, onText func(string)) (agent.Answer, error) {
	params := m.params(request)
	if len(params.Messages) == 0 {
		return agent.Answer{}, endpoint.Permanent(agent.KindRefused, "the request holds no message")
	}
	x, call := m.newStream(ctx)
	defer x.Close()
	g := gatherer{onText: onText}
	err := m.receive(call, x, &g, params)
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
func (m *Model) receive(call context.Context, x *exchange, g *gatherer, params api.MessageNewParams) error {
	client := m.api(x)
	stream := client.Messages.NewStreaming(call, params)
	for stream.Next() {
		if err := g.take(stream.Current()); err != nil {
			return err
		}
		if g.ended {
			return nil
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	if g.stop == "" {
		return io.ErrUnexpectedEOF
	}
	return nil
}
