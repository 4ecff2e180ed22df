package slack

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"parley/adapters"
	"parley/internal/lanes"
	"parley/internal/pause"
)

// errBusy: more events wait for the sink than may.
var errBusy = errors.New("too many events wait for the store")

// run is one call of Run: what hears, and how what is heard gets to the sink.
// Its goroutines are the sockets', the lanes', and the one that looks again
// whether the bot token still holds; all end with ctx.
type run struct {
	*Adapter
	sink   adapters.Sink
	ctx    context.Context
	refuse context.CancelCauseFunc
	lanes  *lanes.Lanes
	doubts chan struct{} // of one: the bot token may have been revoked

	waiting waiting
}

// Run implements [adapters.Adapter].
func (a *Adapter) Run(ctx context.Context, sink adapters.Sink) error {
	a.health.set(account, adapters.Connecting, "")
	if err := a.learn(ctx); err != nil {
		return a.end(ctx, err)
	}
	within, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	r := &run{Adapter: a, sink: sink, ctx: within, refuse: refuse, lanes: lanes.New(within, sinksMax, waitingMax), doubts: make(chan struct{}, 1)}
	a.active.Store(r)
	defer a.active.Store(nil)
	var parts sync.WaitGroup
	if !a.config.AppToken.IsZero() {
		r.startSockets(&parts)
	}
	parts.Go(r.settleDoubts)
	a.health.set(account, adapters.Hearing, "")
	a.logger.Info("slack: connected as "+a.me.Load().Name, "account", a.Account(), "workspace", a.me.Load().Team)
	<-within.Done()
	parts.Wait()
	r.lanes.Wait()
	return a.end(ctx, context.Cause(within))
}

// end is what Run returns: an error only for refused credentials.
func (a *Adapter) end(ctx context.Context, err error) error {
	if refused, ok := errors.AsType[*refusedError](err); ok && ctx.Err() == nil {
		a.health.set(account, adapters.Refused, refused.problem)
		return refused
	}
	a.health.set(account, adapters.Connecting, "")
	return nil
}

// learn asks who the bot is until Slack answers.
func (a *Adapter) learn(ctx context.Context) error {
	for try := 1; ; try++ {
		me, _, err := a.identify(ctx)
		if err == nil {
			a.me.Store(me)
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if problem := remedy(refusal(err), false); problem != "" {
			return &refusedError{problem: problem}
		}
		problem := "Slack's API does not answer: " + err.Error()
		a.health.set(account, adapters.Deaf, problem)
		a.logger.Warn("slack: cannot sign in, trying again", "error", err)
		pause.For(ctx, max(a.times.retry.After(try), waitFor(err)))
	}
}

// doubt asks for the bot token to be checked.
func (a *Adapter) doubt() {
	if r := a.active.Load(); r != nil {
		select {
		case r.doubts <- struct{}{}:
		default:
		}
	}
}

// settleDoubts ends the run when the bot token has been refused.
func (r *run) settleDoubts() {
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.doubts:
		}
		_, _, err := r.identify(r.ctx)
		if problem := remedy(refusal(err), false); problem != "" {
			r.refuse(&refusedError{problem: problem})
			return
		}
		pause.For(r.ctx, r.times.opens)
	}
}

// take brings one delivery to the sink, behind those of its surface that came
// before, and never blocks. done is called once, soon or later: with nil when
// the delivery may be acknowledged. A delivery that comes again while it still
// waits is not offered twice.
func (r *run) take(in incoming, done func(error)) {
	rough, err := normalize(in, facts{me: *r.me.Load()})
	if err != nil {
		r.logUnused(rough.kind, err)
		done(nil)
		return
	}
	if !r.waiting.join(rough.delivery, done) {
		return
	}
	added := r.lanes.Add(rough.events[0].Surface.Key(), func(ctx context.Context) {
		r.waiting.finish(rough.delivery, r.deliver(ctx, in))
	})
	if !added {
		r.waiting.finish(rough.delivery, errBusy)
	}
}

// logUnused notes a delivery that goes no further; it is acknowledged, because
// it would be the same the next time.
func (r *run) logUnused(kind string, err error) {
	level := slog.LevelInfo
	switch {
	case errors.Is(err, errNoUse):
		level = slog.LevelDebug
	case !errors.Is(err, errUnknownKind), kind == "app_rate_limited": // Slack drops events
		level = slog.LevelWarn
	}
	const kindMax = 80
	r.logger.Log(r.ctx, level, "slack: event not used", "kind", kind[:min(len(kind), kindMax)], "reason", err)
	if kind == "tokens_revoked" || kind == "app_uninstalled" {
		r.doubt()
	}
}

// deliver offers a delivery to the sink until it is taken or the run ends. It
// goes on longer than Slack waits, because Slack gives up on an event after a
// few minutes.
func (r *run) deliver(ctx context.Context, in incoming) error {
	for try := 1; ; try++ {
		var err error
		if !r.lanes.Within(ctx, func() { err = r.offer(ctx, in) }) {
			return ctx.Err()
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		if try == 1 {
			r.logger.Warn("slack: event not taken, offering it again", "error", err)
		}
		pause.For(ctx, r.times.offer.After(try))
	}
}

func (r *run) offer(ctx context.Context, in incoming) error {
	ctx, cancel := context.WithTimeout(ctx, r.times.take)
	defer cancel()
	normal, err := normalize(in, r.lookUp(ctx, in))
	if err != nil {
		r.logUnused(normal.kind, err)
		return nil
	}
	for _, event := range normal.events {
		if err := r.sink(ctx, event); err != nil {
			return err
		}
	}
	return nil
}

// lookUp gathers the names a delivery refers to, as far as they can be had in
// the time that an acknowledgement leaves.
func (r *run) lookUp(ctx context.Context, in incoming) facts {
	ctx, cancel := context.WithTimeout(ctx, r.times.lookup)
	defer cancel()
	around := facts{me: *r.me.Load(), now: r.now().UTC(), users: map[string]string{}, channels: map[string]channel{}}
	found := namedIn(in)
	for _, id := range found.users {
		if name := r.people.users.get(ctx, id); name != "" {
			around.users[id] = name
		}
	}
	for _, id := range found.channels {
		around.channels[id] = r.people.channels.get(ctx, id)
	}
	if id := threadID(found.thread, around.me.User); id != "" && r.config.FollowThreads {
		around.inThread = r.threads.get(ctx, id)
	}
	return around
}

// since is for logs.
func since(t time.Time) time.Duration { return time.Since(t).Round(time.Millisecond) }
