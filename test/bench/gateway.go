package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"runtime/pprof"
	"time"

	"parley/adapters"
	"parley/agent"
	"parley/bot"
	"parley/cmd/gateway/logging"
	"parley/routing"
	"parley/sessions"
)

// answerWithin is how long anything that is waited for may take.
const answerWithin = 20 * time.Second

var errLate = fmt.Errorf("no answer within %s", answerWithin)

// running is a loop of either kind that can be stopped.
type running struct {
	cancel context.CancelFunc
	ended  chan error
}

// tagged runs a loop in a goroutine; a CPU profile shows its work, and that of
// all it starts, under the tag loop=name.
func tagged(ctx context.Context, name string, loop func(ctx context.Context) error) running {
	ctx, cancel := context.WithCancel(ctx)
	r := running{cancel: cancel, ended: make(chan error, 1)}
	go pprof.Do(ctx, pprof.Labels("loop", name), func(ctx context.Context) { r.ended <- loop(ctx) })
	return r
}

// stop ends the loop and waits for it. It may be called once.
func (r running) stop() error {
	r.cancel()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(2 * answerWithin):
		return errors.New("a loop does not end")
	}
}

// startBot runs the gateway's core as the program does: it logs as JSON, to
// nowhere, and lets everybody talk to it.
func startBot(ctx context.Context, replica string, store sessions.Store, adapter adapters.Adapter, model agent.Model) (running, error) {
	b, err := bot.New(bot.Config{
		Store: store, Adapters: []adapters.Adapter{adapter}, Model: model, Replica: replica,
		Policy: routing.Policy{Access: routing.Access{DM: routing.DMAnyone, Groups: routing.GroupsAnyone}, OwnerAlways: true},
		Log:    logging.New(io.Discard, logging.Options{JSON: true}),
	})
	if err != nil {
		return running{}, err
	}
	return tagged(ctx, "gateway", b.Run), nil
}

// lab is the gateway on a stub platform with an instant model: what remains
// is the gateway itself and its store.
type lab struct {
	events
	running
	store *counted
	sink  adapters.Sink
}

func startLab(ctx context.Context, store sessions.Store) (*lab, error) {
	l := &lab{store: newCounted(store)}
	l.last.Store(time.Now().UnixMicro()) // ids of their own on a store that was used before
	platform := stub{sinks: make(chan adapters.Sink, 1)}
	var err error
	if l.running, err = startBot(ctx, rand.Text(), l.store, platform, instant{}); err != nil {
		return nil, err
	}
	select {
	case l.sink = <-platform.sinks:
		return l, nil
	case <-time.After(answerWithin):
		return nil, errors.Join(errLate, l.stop())
	}
}

// inLab runs work in a lab.
func inLab(ctx context.Context, store sessions.Store, work func(l *lab) error) error {
	l, err := startLab(ctx, store)
	if err != nil {
		return err
	}
	return errors.Join(work(l), l.stop())
}

// turn is one message and all that it causes, receipt included. Only one may
// be under way.
func (l *lab) turn(ctx context.Context, event adapters.Event) error {
	drain(l.store.settled)
	if err := l.sink(ctx, event); err != nil {
		return err
	}
	return await(ctx, l.store.settled)
}

func await(ctx context.Context, signal <-chan struct{}) error {
	late := time.NewTimer(answerWithin)
	defer late.Stop()
	select {
	case <-signal:
		return nil
	case <-late.C:
		return errLate
	case <-ctx.Done():
		return ctx.Err()
	}
}

// settles waits until so many receipts were stored in all.
func (l *lab) settles(ctx context.Context, want int64) error {
	for l.store.settles.Load() < want {
		if err := await(ctx, l.store.settled); err != nil {
			return fmt.Errorf("%d of %d turns ended: %w", l.store.settles.Load(), want, err)
		}
	}
	return nil
}

// pause waits for so long.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
