package leaselock

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/adapters"
	"parley/sessions"
)

// office is a store's one lock.
type office struct {
	mu sync.Mutex
	answer

	locks, unlocked, taken, gone, lost atomic.Int64
}

// answer is how the store answers. A test changes it.
type answer struct {
	slow  time.Duration // how long it takes
	err   error         // instead of the lock
	fence int64
	saved string
}

func (o *office) now() answer {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.answer
}

func (o *office) set(change func(*answer)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.answer)
}

func (o *office) Lock(ctx context.Context, name string, c sessions.Claimer) (sessions.Lock, error) {
	o.locks.Add(1)
	now := o.now()
	select {
	case <-ctx.Done():
		return sessions.Lock{}, ctx.Err()
	case <-time.After(now.slow):
	}
	return sessions.Lock{Name: name, Owner: c.Owner, Fence: now.fence, Data: now.saved}, now.err
}

func (o *office) SaveLock(_ context.Context, _ sessions.Lock, data string, _ time.Duration) error {
	o.set(func(a *answer) { a.saved = data })
	return nil
}

func (o *office) Unlock(context.Context, sessions.Lock) error {
	o.unlocked.Add(1)
	return nil
}

func (o *office) LockTaken() { o.taken.Add(1) }

func (o *office) LockGone(lost bool) {
	o.gone.Add(1)
	if lost {
		o.lost.Add(1)
	}
}

func (o *office) locker() *Locker {
	return &Locker{Store: o, Replica: "a", Log: slog.New(slog.DiscardHandler), Count: o}
}

func inBubble(t *testing.T, o *office, test func(t *testing.T, lock adapters.Lock)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		lock, err := o.locker().Lock(t.Context(), "telegram:1", func() {})
		if err != nil {
			t.Fatal(err)
		}
		test(t, lock)
	})
}

func TestARightIsRenewedUntilItIsGivenBack(t *testing.T) {
	t.Parallel()
	o := &office{answer: answer{saved: "offset 7"}}
	inBubble(t, o, func(t *testing.T, lock adapters.Lock) {
		if lock.Data() != "offset 7" {
			t.Errorf("data %q", lock.Data())
		}
		if err := lock.Save(t.Context(), "offset 8"); err != nil || lock.Data() != "offset 8" {
			t.Errorf("saved %q, %v", lock.Data(), err)
		}
		<-time.After(10 * heldFor)
		if lock.Context().Err() != nil || o.locks.Load() < int64(10*heldFor/renewEvery) {
			t.Errorf("%v after %d renewals", lock.Context().Err(), o.locks.Load())
		}
		lock.Unlock()
		if lock.Context().Err() == nil || o.unlocked.Load() != 1 || o.gone.Load() != 1 || o.lost.Load() != 0 {
			t.Error("given back, and not ended")
		}
	})
}

func TestARightThatAnotherTookEnds(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(*answer){
		"busy":           func(a *answer) { a.err = sessions.ErrBusy },
		"had in between": func(a *answer) { a.fence++ },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &office{}
			inBubble(t, o, func(t *testing.T, lock adapters.Lock) {
				o.set(take)
				<-time.After(renewEvery)
				synctest.Wait()
				if lock.Context().Err() == nil || o.lost.Load() != 1 {
					t.Error("it is still held")
				}
			})
		})
	}
}

// The time counts from when the store was asked, which is the earliest at
// which it can have begun there.
func TestARightEndsBeforeTheStoreMayGiveItToAnother(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]time.Duration{"quick": 0, "slow": callFor - time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o, asked := &office{answer: answer{slow: slow}}, time.Now()
				lock, err := o.locker().Lock(t.Context(), "telegram:1", func() {})
				if err != nil {
					t.Fatal(err)
				}
				o.set(func(a *answer) { a.err, a.slow = sessions.ErrUnavailable, time.Hour })
				<-lock.Context().Done()
				if held := time.Since(asked); held > heldFor || o.lost.Load() != 1 {
					t.Errorf("ended after %v, which is later than %v", held, heldFor)
				}
			})
		})
	}
}

func TestWhoWaitsForARightIsToldOnceAndGetsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, told := &office{answer: answer{err: sessions.ErrBusy}}, 0
		go func() {
			<-time.After(5 * askEvery)
			o.set(func(a *answer) { a.err = nil })
		}()
		lock, err := o.locker().Lock(t.Context(), "telegram:1", func() { told++ })
		if err != nil || told != 1 {
			t.Fatalf("told %d times, %v", told, err)
		}
		lock.Unlock()
		o.set(func(a *answer) { a.err = sessions.ErrUnavailable })
		ctx, cancel := context.WithTimeout(t.Context(), 3*askEvery)
		defer cancel()
		if _, err := o.locker().Lock(ctx, "telegram:1", func() {}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after the wait: %v", err)
		}
	})
}
