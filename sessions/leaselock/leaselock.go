package leaselock

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"parley/adapters"
	"parley/internal/pause"
	"parley/sessions"
)

// How long a right is held without renewal, how often it is renewed, how often
// a replica that waits for it asks, and how long the store may take to answer.
const (
	heldFor    = sessions.LeaseFor
	renewEvery = sessions.RenewEvery
	askEvery   = time.Second
	callFor    = sessions.LeaseFor / 4
)

// Locker gives adapters their exclusive rights out of the store.
type Locker struct {
	Store   sessions.Locks
	Replica string // names this process; unique among replicas
	Log     *slog.Logger
	Count   Counter // nil: the locks are not counted
}

// Counter is told of the rights held here, from any goroutine.
type Counter interface {
	LockTaken()
	LockGone(lost bool) // lost: another replica has it, or it ran out
}

var _ adapters.Locker = (*Locker)(nil)

// Lock waits for the right and then renews it in a goroutine that ends with
// Unlock, with ctx, or when the right is lost.
func (l *Locker) Lock(ctx context.Context, name string, busy func()) (adapters.Lock, error) {
	busy = sync.OnceFunc(busy)
	for {
		asked := time.Now()
		held, err := l.ask(ctx, name)
		if err == nil {
			return l.hold(ctx, held, asked), nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, sessions.ErrBusy) {
			busy()
		} else {
			l.Log.Warn("a lock could not be asked for; it is tried again", "lock", name, "error", err)
		}
		pause.For(ctx, askEvery)
	}
}

func (l *Locker) ask(ctx context.Context, name string) (sessions.Lock, error) {
	call, cancel := context.WithTimeout(ctx, callFor)
	defer cancel()
	return l.Store.Lock(call, name, sessions.Claimer{Owner: l.Replica, For: heldFor})
}

// hold begins a right that was asked for then: its time counts from there.
func (l *Locker) hold(ctx context.Context, held sessions.Lock, asked time.Time) *heldLock {
	life, end := context.WithCancel(ctx)
	lock := &heldLock{locker: l, lock: held, life: life, end: end, data: held.Data, done: make(chan struct{})}
	if l.Count != nil {
		l.Count.LockTaken()
	}
	go lock.renew(asked)
	return lock
}

func (l *Locker) gone(lost bool) {
	if l.Count != nil {
		l.Count.LockGone(lost)
	}
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
	if err := h.locker.Store.SaveLock(ctx, h.lock, data, 0); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.data = data
	return nil
}

// renew keeps the right until the lock's life ends, and ends it when the store
// says it is lost, or has not answered for as long as the right lasts.
func (h *heldLock) renew(renewed time.Time) {
	defer close(h.done)
	defer h.end()
	gone := false
	defer func() { h.locker.gone(gone) }()
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-h.life.Done():
			return
		case <-ticker.C:
		}
		asked := time.Now()
		again, err := h.locker.ask(h.life, h.lock.Name)
		lost := err == nil && again.Fence != h.lock.Fence || errors.Is(err, sessions.ErrBusy)
		switch {
		case lost, err != nil && time.Since(renewed) >= heldFor-renewEvery:
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
	call, cancel := context.WithTimeout(context.WithoutCancel(h.life), callFor)
	defer cancel()
	if err := h.locker.Store.Unlock(call, h.lock); err != nil && !errors.Is(err, sessions.ErrFenced) {
		h.locker.Log.Warn("a lock could not be given back; it runs out by itself", "lock", h.lock.Name, "error", err)
	}
}
