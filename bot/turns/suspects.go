package turns

import (
	"errors"
	"sync"
	"time"

	"parley/sessions"
)

// How turns that may be poison are kept apart.
const (
	// apartFor is how long a last attempt waits before it begins: by then the
	// others that were claimed in the same look are handed back.
	apartFor = 250 * time.Millisecond
	// keepOutFor is how long it keeps others out. What kills a process does so
	// soon; what is only slow must not hold others up.
	keepOutFor = sessions.LeaseFor
	// suspectPause is how long a turn that was handed back is left to others.
	suspectPause = time.Second
)

// errCrowded hands a turn back: another is at its last attempt here.
var errCrowded = errors.New("another turn is at its last attempt here")

// suspects lets one turn at a time be at its last attempt in this process. A
// message that kills the process takes every turn with it that runs here, and
// whatever died together is claimed together again; if their last attempts ran
// side by side, all of them would be parked for the one.
type suspects struct {
	mu      sync.Mutex
	session string    // that is at its last attempt; empty: none
	until   time.Time // when it no longer keeps others out
	later   map[string]time.Time
}

func newSuspects() *suspects { return &suspects{later: map[string]time.Time{}} }

// enter reports whether a session's last attempt may begin now. If not, the
// session is left alone here for a while.
func (s *suspects) enter(session string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, pause := range s.later {
		if now.After(pause) {
			delete(s.later, other)
		}
	}
	if s.session != "" && s.session != session && now.Before(s.until) {
		s.later[session] = now.Add(suspectPause)
		return false
	}
	s.session, s.until = session, now.Add(keepOutFor)
	return true
}

// leave ends a last attempt.
func (s *suspects) leave(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == session {
		s.session = ""
	}
}

// waits reports whether a session was handed back just now.
func (s *suspects) waits(session string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.later[session])
}
