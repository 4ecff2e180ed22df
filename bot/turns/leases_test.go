package turns

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/sessions"
)

// renewals answers Renew from a function; nothing else is called.
type renewals struct {
	sessions.Turns
	mu    sync.Mutex
	reply func(sessions.Lease) (sessions.RenewResult, error)
	calls int
}

func (r *renewals) Renew(_ context.Context, held []sessions.Lease, _ time.Duration) ([]sessions.RenewResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if err := sessions.CheckRenew(held, time.Second); err != nil {
		return nil, err
	}
	out := make([]sessions.RenewResult, len(held))
	for i, lease := range held {
		result, err := r.reply(lease)
		if err != nil {
			return nil, err
		}
		out[i] = result
	}
	return out, nil
}

func runLeases(t *testing.T, reply func(sessions.Lease) (sessions.RenewResult, error)) (*leases, *renewals, context.Context) {
	t.Helper()
	store := &renewals{reply: reply}
	l := newLeases(store, func(string, error) {})
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go l.run(ctx)
	return l, store, ctx
}

func TestLeasesAreRenewedInOneCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store, _ := runLeases(t, func(sessions.Lease) (sessions.RenewResult, error) { return sessions.RenewResult{Held: true}, nil })
		for _, session := range []string{"a", "b", "c"} {
			_, end := context.WithCancelCause(t.Context())
			l.hold(sessions.Lease{Session: session}, end)
		}
		<-time.After(3*sessions.RenewEvery + time.Second)
		store.mu.Lock()
		defer store.mu.Unlock()
		if store.calls != 3 {
			t.Fatalf("%d calls in three periods", store.calls)
		}
	})
}

func TestALostOrStoppedLeaseEndsItsTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, _, _ := runLeases(t, func(lease sessions.Lease) (sessions.RenewResult, error) {
			return sessions.RenewResult{Held: lease.Session != "lost", Stop: lease.Session == "stopped"}, nil
		})
		causes := map[string]error{"lost": errLost, "stopped": errStopped, "fine": nil}
		contexts := map[string]context.Context{}
		for session := range causes {
			ctx, end := context.WithCancelCause(t.Context())
			l.hold(sessions.Lease{Session: session}, end)
			contexts[session] = ctx
		}
		<-time.After(sessions.RenewEvery + time.Second)
		for session, want := range causes {
			if got := context.Cause(contexts[session]); !errors.Is(got, want) {
				t.Fatalf("%s: ended by %v, want %v", session, got, want)
			}
		}
	})
}

func TestAStoreThatIsAwayEndsTurnsOnlyWhenTheirLeaseHasRunOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, _, _ := runLeases(t, func(sessions.Lease) (sessions.RenewResult, error) {
			return sessions.RenewResult{}, sessions.ErrUnavailable
		})
		ctx, end := context.WithCancelCause(t.Context())
		l.hold(sessions.Lease{Session: "a"}, end)
		<-time.After(sessions.LeaseFor - time.Second)
		if ctx.Err() != nil {
			t.Fatal("ended while the lease still held")
		}
		<-time.After(sessions.RenewEvery + time.Second)
		if !errors.Is(context.Cause(ctx), errLost) {
			t.Fatal("the turn goes on without a lease")
		}
	})
}

// A part of the store that is away ends the turns that it keeps, and no others.
func TestAPartOfTheStoreThatIsAwayEndsItsOwnTurnsOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, _, _ := runLeases(t, func(lease sessions.Lease) (sessions.RenewResult, error) {
			away := lease.Session == "away"
			return sessions.RenewResult{Held: !away, Unknown: away}, nil
		})
		contexts := map[string]context.Context{}
		for _, session := range []string{"here", "away"} {
			ctx, end := context.WithCancelCause(t.Context())
			l.hold(sessions.Lease{Session: session}, end)
			contexts[session] = ctx
		}
		<-time.After(sessions.LeaseFor - time.Second)
		if contexts["away"].Err() != nil {
			t.Fatal("ended while the lease still held")
		}
		<-time.After(sessions.RenewEvery + time.Second)
		if !errors.Is(context.Cause(contexts["away"]), errLost) || contexts["here"].Err() != nil {
			t.Fatalf("away: %v, here: %v", context.Cause(contexts["away"]), contexts["here"].Err())
		}
	})
}

func TestReleaseLeavesANewerLeaseAlone(t *testing.T) {
	t.Parallel()
	l := newLeases(nil, nil)
	older, newer := sessions.Lease{Session: "s", Epoch: 1}, sessions.Lease{Session: "s", Epoch: 2}
	l.hold(older, func(error) {})
	l.hold(newer, func(error) {})
	l.release(older)
	if l.count() != 1 {
		t.Fatal("the newer lease is gone")
	}
	l.release(newer)
	if l.count() != 0 {
		t.Fatal("the lease is still held")
	}
}

// More turns than one call of the store takes are renewed in several.
func TestManyLeasesAreAllRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, _, _ := runLeases(t, func(sessions.Lease) (sessions.RenewResult, error) { return sessions.RenewResult{Held: true}, nil })
		var held []context.Context
		for i := range 2*sessions.EntriesPerCall + 1 {
			ctx, end := context.WithCancelCause(t.Context())
			l.hold(sessions.Lease{Session: fmt.Sprint(i)}, end)
			held = append(held, ctx)
		}
		<-time.After(2*sessions.LeaseFor + time.Second)
		for i, ctx := range held {
			if ctx.Err() != nil {
				t.Fatalf("turn %d was given up: %v", i, context.Cause(ctx))
			}
		}
	})
}

// A hint to stop may come when the turn it was meant for has ended and the
// next one runs.
func TestALateStopLeavesTheNextTurnAlone(t *testing.T) {
	t.Parallel()
	for _, stop := range []bool{true, false} {
		l := newLeases(&renewals{reply: func(sessions.Lease) (sessions.RenewResult, error) {
			return sessions.RenewResult{Held: true, Stop: stop}, nil
		}}, nil)
		ctx, end := context.WithCancelCause(t.Context())
		l.hold(sessions.Lease{Session: "s", Epoch: 2}, end)
		l.check(t.Context(), "s")
		l.check(t.Context(), "another")
		if stopped := errors.Is(context.Cause(ctx), errStopped); stopped != stop {
			t.Errorf("stopped: %t, want %t", stopped, stop)
		}
	}
}

// Whoever claims a session anew knows that the turn before has lost its lease.
func TestANewerLeaseEndsTheTurnOfTheOlder(t *testing.T) {
	t.Parallel()
	l := newLeases(nil, nil)
	ctx, end := context.WithCancelCause(t.Context())
	l.hold(sessions.Lease{Session: "s", Epoch: 1}, end)
	l.hold(sessions.Lease{Session: "s", Epoch: 2}, func(error) {})
	if !errors.Is(context.Cause(ctx), errLost) {
		t.Fatal("the older turn goes on")
	}
}
