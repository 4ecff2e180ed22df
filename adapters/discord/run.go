package discord

import (
	"context"
	"errors"
	"sync"

	"parley/adapters"
)

// shardsMax bounds the connections, whatever Discord recommends.
const shardsMax = 256

// Run connects and hands events to sink until ctx ends. It returns an error
// only when Discord refuses the bot for good.
func (a *Adapter) Run(ctx context.Context, sink adapters.Sink) error {
	defer a.rest.close()
	a.health.reset(adapters.Connecting, "")
	gateway, err := a.meet(ctx)
	if err == nil && ctx.Err() == nil {
		err = a.runShards(ctx, sink, min(max(gateway.Shards, 1), shardsMax))
	}
	if err != nil && ctx.Err() == nil {
		a.health.reset(adapters.Refused, err.Error())
		return err
	}
	a.health.reset(adapters.Connecting, "")
	return nil
}

// runShards runs one goroutine per shard. The first that is refused ends all.
func (a *Adapter) runShards(ctx context.Context, sink adapters.Sink, count int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	var shared gate
	for id := range count {
		s := &shard{a: a, id: id, count: count, gate: &shared, sink: sink, log: a.log.With("account", a.Account(), "shard", id)}
		s.report(adapters.Connecting, "")
		running.Go(func() {
			if err := s.run(ctx); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return nil
}
