package discord

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"parley/adapters"
)

// keeper stores the position of a shard's session: a little later than it
// moves, at most every timing.flush. What is stored may lag, never lead.
type keeper struct {
	lock   adapters.Lock
	log    *slog.Logger
	times  timing
	shards int
	dirty  chan struct{} // has a token when there is something new
	many   chan struct{} // has a token when there is much

	mu      sync.Mutex
	current *session
	moves   int // since the last time it was stored
	savedOf *session
	saved   int64 // the position of savedOf that is stored at least
}

// flushMoves is after how many moves the position is stored without waiting.
const flushMoves = 100

func newKeeper(lock adapters.Lock, log *slog.Logger, times timing, shards int) *keeper {
	return &keeper{lock: lock, log: log, times: times, shards: shards, dirty: make(chan struct{}, 1), many: make(chan struct{}, 1)}
}

// moved says that the position may have changed.
func (k *keeper) moved() {
	k.mu.Lock()
	k.moves++
	much := k.moves == flushMoves
	k.mu.Unlock()
	signal(k.dirty)
	if much {
		signal(k.many)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// keep makes s the session whose position is stored, at once; nil: there is
// none.
func (k *keeper) keep(s *session) {
	k.mu.Lock()
	k.current = s
	k.mu.Unlock()
	k.moved()
	signal(k.many)
}

// position is up to where the session's events are taken and that is stored:
// only from there on a successor can do without Discord. 0 without a session,
// and until one is stored for the first time.
func (k *keeper) position() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil || k.savedOf != k.current {
		return 0
	}
	return k.saved
}

func (k *keeper) stored(s *session, seq int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.savedOf, k.saved = s, seq
}

func (k *keeper) session() *session {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.current
}

// run stores until ctx ends, and then once more. A position that could not be
// stored is tried again with the next one; the old one only means that more is
// replayed.
func (k *keeper) run(ctx context.Context) {
	saved := k.lock.Data()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-k.dirty:
			k.linger(ctx)
			if !k.save(ctx, &saved) {
				k.moved()
			}
		}
	}
	k.save(context.WithoutCancel(ctx), &saved)
}

// linger lets moves gather.
func (k *keeper) linger(ctx context.Context) {
	timer := time.NewTimer(k.times.flush)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-k.many:
	}
}

func (k *keeper) save(ctx context.Context, saved *string) bool {
	k.mu.Lock()
	k.moves = 0
	k.mu.Unlock()
	session := k.session()
	var seq int64 // not beyond what is encoded
	if session != nil {
		_, seq = session.marks.position()
	}
	data := session.encode(k.shards)
	if data == *saved {
		k.stored(session, seq)
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, k.times.save)
	defer cancel()
	if err := k.lock.Save(ctx, data); err != nil {
		if k.lock.Context().Err() == nil {
			k.log.Warn("the position in Discord's events could not be stored; more would be replayed after a restart", "error", err)
		}
		return false
	}
	*saved = data
	k.stored(session, seq)
	return true
}

// soleLock is the lock of a gateway that is the only replica: held at once,
// and forgotten with the process.
type soleLock struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu   sync.Mutex
	data string
}

func newSoleLock(ctx context.Context) *soleLock {
	ctx, cancel := context.WithCancel(ctx)
	return &soleLock{ctx: ctx, cancel: cancel}
}

// Context ends with Unlock or with the context the lock was made with.
func (l *soleLock) Context() context.Context { return l.ctx }

// Data is the text that was last saved.
func (l *soleLock) Data() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.data
}

// Save keeps the text in memory.
func (l *soleLock) Save(_ context.Context, data string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = data
	return nil
}

// Unlock ends the lock.
func (l *soleLock) Unlock() { l.cancel() }
