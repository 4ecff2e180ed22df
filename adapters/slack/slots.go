package slack

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"parley/adapters"
	"parley/internal/pause"
)

// slotsMax is how many sockets an app has open across all replicas: two, so
// that one hears while the other is being renewed.
const slotsMax = 2

// startSockets opens the app's sockets; with a Locker those that are this
// replica's.
func (r *run) startSockets(parts *sync.WaitGroup) {
	shared := &slots{waits: r.times.second}
	for i := range slotsMax {
		r.health.set(i, adapters.Connecting, "")
		keeper := r.newSocket(i)
		if r.config.Locker == nil {
			parts.Go(func() { keeper.keep(r.ctx) })
			continue
		}
		parts.Go(func() { keeper.share(r.ctx, shared) })
	}
}

// slots is which of the app's sockets this replica has. It takes a second one
// only after it has had the first for a while, so that another replica, if
// there is one, gets it.
type slots struct {
	waits time.Duration
	mu    sync.Mutex
	had   [slotsMax]time.Time // since when; zero: not had
}

// claim notes that slot i is had, or says how long to leave it to others.
func (s *slots) claim(i int) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, since := range s.had {
		if other != i && !since.IsZero() {
			wait = max(wait, s.waits-time.Since(since))
		}
	}
	if wait <= 0 {
		s.had[i] = time.Now()
	}
	return wait
}

func (s *slots) leave(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.had[i] = time.Time{}
}

// lockName is slack:<app>:<slot>, with slots from 1. The app's id stands in its
// app-level token; where it does not, the bot's user id serves.
func (s *socket) lockName() string {
	app := s.Account()
	if parts := strings.Split(s.config.AppToken.Reveal(), "-"); len(parts) == 5 && isID(parts[2]) {
		app = parts[2]
	}
	return "slack:" + app + ":" + strconv.Itoa(s.number+1)
}

// share holds the socket open whenever its slot is this replica's.
func (s *socket) share(ctx context.Context, shared *slots) {
	for ctx.Err() == nil {
		lock, err := s.config.Locker.Lock(ctx, s.lockName(), func() { s.set(adapters.Waiting, "") })
		if err != nil {
			if ctx.Err() == nil {
				s.set(adapters.Deaf, "the store gives no lock: "+s.config.scrub(err.Error()))
				pause.For(ctx, s.times.retry.After(1))
			}
			continue
		}
		if wait := shared.claim(s.number); wait > 0 {
			lock.Unlock()
			pause.For(ctx, wait)
			continue
		}
		s.hold(ctx, lock)
		shared.leave(s.number)
	}
}

// hold keeps the socket until the lock is lost or ctx ends.
func (s *socket) hold(ctx context.Context, lock adapters.Lock) {
	defer lock.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(lock.Context(), cancel)() //nolint:contextcheck // the lock's life is what is watched
	s.keep(ctx)
}
