package checkpoints

import (
	"sync"
	"time"
)

// watchedMax bounds how many sessions are watched. With more, all are
// forgotten: their timers are set once more.
const watchedMax = 10_000

// idleWatch is what this process knows of the idle timers of sessions, so that
// one is not set with every message. A timer that was set is there until its
// time at least, unless its session is cleared.
type idleWatch struct {
	mu    sync.Mutex
	known map[string]watched
}

type watched struct {
	set        time.Time // the timer was set at this time or later
	cleared    int64     // Record.Cleared, as far as a turn has told
	unprompted int       // messages since then that asked for no answer
}

func newIdleWatch() *idleWatch { return &idleWatch{known: map[string]watched{}} }

// answered notes a turn and reports whether the idle timer is to be set.
func (w *idleWatch) answered(session string, cleared int64, now time.Time, idle time.Duration) (arm bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known, found := w.known[session]
	if found && now.Sub(known.set) < idle && known.cleared == cleared {
		return false
	}
	w.keep(session, watched{set: now, cleared: cleared, unprompted: known.unprompted})
	return true
}

// heard notes a message that asked for no answer. It reports whether the idle
// timer is to be set, and whether there were so many that it is due now.
func (w *idleWatch) heard(session string, now time.Time, limits Rules) (arm, full bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known, found := w.known[session]
	known.unprompted++
	if full = known.unprompted >= limits.Unprompted; full {
		known.unprompted = 0
	}
	if arm = !found || now.Sub(known.set) >= limits.Idle; arm || full {
		known.set = now
	}
	w.keep(session, known)
	return arm, full
}

// forget: whether the timer of a session is set is not known any more.
func (w *idleWatch) forget(session string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.known, session)
}

func (w *idleWatch) keep(session string, known watched) {
	if _, found := w.known[session]; !found && len(w.known) >= watchedMax {
		clear(w.known)
	}
	w.known[session] = known
}
