package turns

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"parley/sessions"
)

// Causes with which a running turn's context ends.
var (
	errStopped = errors.New("a person asked to stop")
	errLost    = errors.New("the lease was lost")
)

// leases are the turns that run in this process. One goroutine, run, renews
// them all together, and ends those that were stopped or lost.
//
// A process that was late to renew still holds a turn that nobody else has
// claimed. It must not take the turn over from itself: that would count as one
// attempt more.
type leases struct {
	store sessions.Turns
	warn  func(msg string, err error)

	mu      sync.Mutex
	running map[string]runningTurn // by session
}

type runningTurn struct {
	lease   sessions.Lease
	end     context.CancelCauseFunc
	renewed time.Time
	lost    bool // it was told to end
}

func newLeases(store sessions.Turns, warn func(string, error)) *leases {
	return &leases{store: store, warn: warn, running: map[string]runningTurn{}}
}

// hold registers a claimed turn; end is called when it must not go on. A turn
// of the same session that still runs here has lost its lease to this one.
func (l *leases) hold(lease sessions.Lease, end context.CancelCauseFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if older, found := l.running[lease.Session]; found {
		older.end(errLost)
	}
	l.running[lease.Session] = runningTurn{lease: lease, end: end, renewed: time.Now()}
}

// release forgets a turn that ended. It leaves a newer lease of the same session alone.
func (l *leases) release(lease sessions.Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[lease.Session].lease == lease {
		delete(l.running, lease.Session)
	}
}

// runs reports whether a session's turn runs here and has not lost its lease,
// as far as is known.
func (l *leases) runs(session string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	turn, found := l.running[session]
	return found && !turn.lost
}

// lose ends a turn whose lease is not its own any more.
func (l *leases) lose(turn runningTurn) {
	l.mu.Lock()
	if present, found := l.running[turn.lease.Session]; found && present.lease == turn.lease {
		present.lost = true
		l.running[turn.lease.Session] = present
	}
	l.mu.Unlock()
	turn.end(errLost)
}

func (l *leases) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.running)
}

// check renews a session's lease at once, if its turn runs here, and so ends a
// turn that was asked to stop. Whoever asked may have meant the turn before:
// only the store knows.
func (l *leases) check(ctx context.Context, session string) {
	l.mu.Lock()
	turn, found := l.running[session]
	l.mu.Unlock()
	if found {
		l.renew(ctx, []runningTurn{turn})
	}
}

// stopAll ends every turn.
func (l *leases) stopAll(cause error) {
	for _, turn := range l.snapshot() {
		turn.end(cause)
	}
}

func (l *leases) snapshot() []runningTurn {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]runningTurn, 0, len(l.running))
	for _, turn := range l.running {
		out = append(out, turn)
	}
	return out
}

// run renews until ctx ends.
func (l *leases) run(ctx context.Context) {
	ticker := time.NewTicker(sessions.RenewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			l.renewAll(ctx)
		}
	}
}

// renewAll has until the next renewal, however many calls that takes.
func (l *leases) renewAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sessions.RenewEvery)
	defer cancel()
	for turns := range slices.Chunk(l.snapshot(), sessions.EntriesPerCall) {
		l.renew(ctx, turns)
	}
}

// renew asks for at most EntriesPerCall leases.
func (l *leases) renew(ctx context.Context, turns []runningTurn) {
	asked := time.Now()
	held := make([]sessions.Lease, len(turns))
	for i, turn := range turns {
		held[i] = turn.lease
	}
	results, err := l.store.Renew(ctx, held, sessions.LeaseFor)
	if err != nil {
		l.warn("renewing leases failed; turns whose lease runs out are given up", err)
		l.giveUp(turns)
		return
	}
	var unknown []runningTurn
	for i, result := range results {
		switch {
		case result.Unknown:
			unknown = append(unknown, turns[i])
		case !result.Held:
			l.lose(turns[i])
		case result.Stop:
			turns[i].end(errStopped)
		default:
			l.renewedAt(turns[i].lease, asked)
		}
	}
	if len(unknown) > 0 {
		l.warn("a part of the store does not answer; turns there whose lease runs out are given up", sessions.ErrUnavailable)
		l.giveUp(unknown)
	}
}

func (l *leases) renewedAt(lease sessions.Lease, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if turn, found := l.running[lease.Session]; found && turn.lease == lease {
		turn.renewed = at
		l.running[lease.Session] = turn
	}
}

// giveUp ends the turns whose lease must have run out by now.
func (l *leases) giveUp(turns []runningTurn) {
	for _, turn := range turns {
		if time.Since(turn.renewed) >= sessions.LeaseFor {
			l.lose(turn)
		}
	}
}
