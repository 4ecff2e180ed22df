package bot

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"parley/adapters"
	"parley/sessions"
)

// How long a right is held without renewal, how often it is renewed, and how
// often a replica that waits for it asks.
const (
	lockFor   = sessions.LeaseFor
	lockRenew = sessions.RenewEvery
	lockAsk   = time.Second
)

// Locker gives adapters their exclusive rights out of the store.
type Locker struct {
	Store   sessions.Locks
	Replica string // names this process; unique among replicas
	Log     *slog.Logger
	Metrics *Metrics // nil: the locks are not counted
}

var _ adapters.Locker = (*Locker)(nil)

// Lock waits for the right and then renews it in a goroutine that ends with
// Unlock, with ctx, or when the right is lost.
func (l *Locker) Lock(ctx context.Context, name string, busy func()) (adapters.Lock, error) {
	busy = sync.OnceFunc(busy)
	for {
		held, err := l.ask(ctx, name)
		if err == nil {
			return l.hold(ctx, held), nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, sessions.ErrBusy) {
			busy()
		} else {
			l.Log.Warn("a lock could not be asked for; it is tried again", "lock", name, "error", err)
		}
		wait(ctx, lockAsk)
	}
}

func (l *Locker) ask(ctx context.Context, name string) (sessions.Lock, error) {
	call, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return l.Store.Lock(call, name, sessions.Claimer{Owner: l.Replica, For: lockFor})
}

func (l *Locker) hold(ctx context.Context, held sessions.Lock) *heldLock {
	life, end := context.WithCancel(ctx)
	lock := &heldLock{locker: l, lock: held, life: life, end: end, data: held.Data, done: make(chan struct{})}
	l.Metrics.lockTaken()
	go lock.renew()
	return lock
}

// heldLock is a right and the goroutine that renews it.
type heldLock struct {
	locker *Locker
	lock   sessions.Lock
	life   context.Context
	end    context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended

	mu   sync.Mutex
	data string
}

func (h *heldLock) Context() context.Context { return h.life }

func (h *heldLock) Data() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.data
}

func (h *heldLock) Save(ctx context.Context, data string) error {
	if err := h.locker.Store.SaveLock(ctx, h.lock, data); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.data = data
	return nil
}

// renew keeps the right until the lock's life ends, and ends it when the store
// says it is lost, or has not answered for as long as the right lasts.
func (h *heldLock) renew() {
	defer close(h.done)
	defer h.end()
	gone := false
	defer func() { h.locker.Metrics.lockGone(gone) }()
	ticker := time.NewTicker(lockRenew)
	defer ticker.Stop()
	for renewed := time.Now(); ; {
		select {
		case <-h.life.Done():
			return
		case <-ticker.C:
		}
		asked := time.Now()
		again, err := h.locker.ask(h.life, h.lock.Name)
		lost := err == nil && again.Fence != h.lock.Fence || errors.Is(err, sessions.ErrBusy)
		switch {
		case lost, err != nil && time.Since(renewed) >= lockFor-lockRenew:
			gone = true
			h.locker.Log.Warn("a lock was lost", "lock", h.lock.Name, "error", err)
			return
		case err == nil:
			renewed = asked
		}
	}
}

func (h *heldLock) Unlock() {
	h.end()
	<-h.done
	call, cancel := context.WithTimeout(context.WithoutCancel(h.life), storeTimeout)
	defer cancel()
	if err := h.locker.Store.Unlock(call, h.lock); err != nil && !errors.Is(err, sessions.ErrFenced) {
		h.locker.Log.Warn("a lock could not be given back; it runs out by itself", "lock", h.lock.Name, "error", err)
	}
}

// wait pauses for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
