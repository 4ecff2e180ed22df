package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"parley/adapters"
	"parley/agent"
	"parley/agent/openai"
)

// newSubject builds a scene and a loop for it.
func newSubject(chats int, build func(adapter timed, model *openai.Model) (running, chan struct{}, error)) (*subject, error) {
	s, err := newScene(chats, 0)
	if err != nil {
		return nil, err
	}
	base := time.Now()
	adapter, err := s.adapter(base)
	model, modelErr := s.client()
	if err = errors.Join(err, modelErr); err != nil {
		s.close()
		return nil, err
	}
	loop, over, err := build(adapter, model)
	if err != nil {
		s.close()
		return nil, err
	}
	return &subject{running: loop, scene: s, base: base, over: over}, nil
}

// startGateway is the gateway on a scene of its own.
func startGateway(ctx context.Context, b *backend, chats int) (*subject, error) {
	return newSubject(chats, func(adapter timed, model *openai.Model) (running, chan struct{}, error) {
		store := newCounted(b.store)
		loop, err := startBot(ctx, "bench", store, adapter, model)
		return loop, store.settled, err
	})
}

// startRaw is the raw limit on a scene of its own: take, write once, ask the
// model, send.
func startRaw(ctx context.Context, b *backend, chats int) (*subject, error) {
	return newSubject(chats, func(adapter timed, model *openai.Model) (running, chan struct{}, error) {
		l := &rawLoop{raw: b.raw, adapter: adapter, model: model, over: make(chan struct{}, 1)}
		return tagged(ctx, "raw", l.run), l.over, nil
	})
}

// rawLoop answers without session, order and history.
type rawLoop struct {
	raw     rawWriter
	adapter timed
	model   *openai.Model
	over    chan struct{}
	answers sync.WaitGroup
}

func (l *rawLoop) run(ctx context.Context) error {
	err := l.adapter.Run(ctx, l.take)
	l.answers.Wait()
	l.model.Close()
	return err
}

func (l *rawLoop) take(ctx context.Context, event adapters.Event) error {
	value, err := json.Marshal(event)
	if err != nil {
		return err
	}
	if err := l.raw.write(ctx, event.ID, value); err != nil {
		return err
	}
	l.answers.Go(func() { l.answer(context.WithoutCancel(ctx), event) })
	return nil
}

// answer asks and sends. What fails gets no answer, which ends the measurement.
func (l *rawLoop) answer(ctx context.Context, event adapters.Event) {
	request := agent.Request{System: "You are a helpful assistant.", Messages: []agent.Message{{Role: "user", Text: event.Text}}}
	answer, err := l.model.Complete(ctx, request, nil)
	if err != nil {
		return
	}
	out := adapters.Outgoing{Surface: event.Surface, Text: answer.Text, Format: adapters.Markdown}
	if _, err := l.adapter.Send(ctx, out); err == nil {
		tell(l.over)
	}
}
