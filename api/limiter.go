package api

import (
	"sync"
	"time"
)

// Limits of failed sign-ins.
const (
	FailuresMax   = 10
	FailuresIn    = time.Minute
	LockedOutFor  = 5 * time.Minute
	limiterMaxLen = 4096 // addresses remembered
)

// limiter counts failures per address and locks out who has too many. Its
// memory is bounded: when it is full, the address that has been quiet longest
// is forgotten.
type limiter struct {
	now func() time.Time

	mu      sync.Mutex
	remotes map[string]failures
}

type failures struct {
	since  time.Time // of the first failure counted
	count  int
	locked time.Time // until when; zero: not
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, remotes: map[string]failures{}}
}

// locked is how long an address is locked out still; 0: it is not.
func (l *limiter) locked(remote string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, l.remotes[remote].locked.Sub(l.now()))
}

// fail counts one failure, and reports whether it was the one too many.
func (l *limiter) fail(remote string) (lockedOut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	f, known := l.remotes[remote]
	if !known && len(l.remotes) >= limiterMaxLen {
		l.forget(now)
	}
	if now.Sub(f.since) >= FailuresIn {
		f = failures{since: now, locked: f.locked}
	}
	f.count++
	if lockedOut = f.count >= FailuresMax; lockedOut {
		f = failures{since: now, locked: now.Add(LockedOutFor)}
	}
	l.remotes[remote] = f
	return lockedOut
}

// forget drops what no longer matters, or, if everything does, the oldest.
func (l *limiter) forget(now time.Time) {
	oldest, at := "", now
	for remote, f := range l.remotes {
		if now.Sub(f.since) >= FailuresIn && !f.locked.After(now) {
			delete(l.remotes, remote)
			continue
		}
		if !f.since.After(at) {
			oldest, at = remote, f.since
		}
	}
	if len(l.remotes) >= limiterMaxLen {
		delete(l.remotes, oldest)
	}
}
