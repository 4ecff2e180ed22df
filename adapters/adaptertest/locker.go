package adaptertest

import (
	"context"
	"errors"
	"sync"

	"parley/adapters"
)

// Locker is an adapters.Locker in memory, for one process.
type Locker struct {
	mu    sync.Mutex
	rooms map[string]*room
}

type room struct {
	held chan struct{} // has a token while the lock is held
	data string        // guarded by Locker.mu
}

// NewLocker makes a Locker that holds nothing.
func NewLocker() *Locker { return &Locker{rooms: map[string]*room{}} }

var _ adapters.Locker = (*Locker)(nil)

// Lock waits until nobody holds the lock.
func (l *Locker) Lock(ctx context.Context, name string, busy func()) (adapters.Lock, error) {
	l.mu.Lock()
	r := l.rooms[name]
	if r == nil {
		r = &room{held: make(chan struct{}, 1)}
		l.rooms[name] = r
	}
	l.mu.Unlock()
	select {
	case r.held <- struct{}{}:
	default:
		busy()
		select {
		case r.held <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	life, end := context.WithCancel(ctx)
	return &held{locker: l, room: r, ctx: life, end: end}, nil
}

// Data is the text under a name.
func (l *Locker) Data(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.rooms[name]; r != nil {
		return r.data
	}
	return ""
}

type held struct {
	locker *Locker
	room   *room
	ctx    context.Context
	end    context.CancelFunc
	once   sync.Once
	done   bool // guarded by Locker.mu
}

// Context ends with the context the lock was taken with, or with Unlock.
func (h *held) Context() context.Context { return h.ctx }

// Data is what was last saved.
func (h *held) Data() string {
	h.locker.mu.Lock()
	defer h.locker.mu.Unlock()
	return h.room.data
}

var errLost = errors.New("the lock is not held any more")

// Save keeps the text; it fails after Unlock.
func (h *held) Save(_ context.Context, data string) error {
	h.locker.mu.Lock()
	defer h.locker.mu.Unlock()
	if h.done {
		return errLost
	}
	h.room.data = data
	return nil
}

// Unlock lets the next one have the lock.
func (h *held) Unlock() {
	h.once.Do(func() {
		h.end()
		h.locker.mu.Lock()
		h.done = true
		h.locker.mu.Unlock()
		<-h.room.held
	})
}
