package storetest

import (
	"slices"
	"time"

	"parley/sessions"
)

// modelLife is what of a modelSession turns do not touch.
type modelLife struct {
	kind         sessions.Type
	workspace    string
	user         string
	participants []string
	surfaces     []string
	at           time.Duration // when it was last active
	expired      bool
	cleared      int64 // entries up to this are gone
}

// modelUser is one person.
type modelUser struct {
	identities []string
	role       string
}

func (s *modelSession) busy() bool { return s.taken != nil || len(s.queue) > 0 }

// touch counts as activity.
func (m *model) touch(s *modelSession) {
	s.at = m.now
	s.fresh, s.suspended, s.hidden = false, false, false
}

// heard makes a speaker a participant.
func (s *modelSession) heard(user string) {
	if user == "" {
		return
	}
	if s.user == "" {
		s.user = user
	}
	if !slices.Contains(s.participants, user) {
		s.participants = append(s.participants, user)
	}
}

// bind gives a surface a session and returns the one it had; nil takes the
// surface's session away.
func (m *model) bind(surface string, s *modelSession) *modelSession {
	old := m.bound[surface]
	if old == s {
		return nil
	}
	delete(m.bound, surface)
	if old != nil {
		old.surfaces = slices.DeleteFunc(old.surfaces, func(x string) bool { return x == surface })
	}
	if s != nil {
		m.bound[surface] = s
		s.surfaces = append(s.surfaces, surface)
	}
	return old
}

func (m *model) free(s *modelSession) {
	for _, surface := range slices.Clone(s.surfaces) {
		m.bind(surface, nil)
	}
}

// expire ends a session for good.
func (m *model) expire(s *modelSession) {
	if s.expired {
		return
	}
	m.free(s)
	s.expired, s.suspended, s.fresh, s.hidden = true, false, false, true
	s.stop = s.taken != nil
}

// remove deletes a session, or says why not.
func (m *model) remove(s *modelSession) (refused bool) {
	if s.kind == sessions.Group || s.busy() {
		return true
	}
	m.free(s)
	m.forgetDead(s)
	delete(m.all, s.id)
	return false
}

func (m *model) forgetDead(s *modelSession) {
	m.dead = slices.DeleteFunc(m.dead, func(d modelDead) bool { return d.session == s })
}

// clear erases the entries.
func (m *model) clear(s *modelSession) {
	for i := range s.log {
		s.log[i].waiting = false
	}
	s.cleared, s.leaf, s.queue, s.last = int64(len(s.log)), 0, nil, nil
	m.forgetDead(s)
}

// stale are the sessions that a rule would change.
func (m *model) stale(rule sessions.SweepRule, age time.Duration) (out []*modelSession) {
	for _, s := range m.all {
		fits := false
		switch rule {
		case sessions.SweepSuspend:
			fits = !s.suspended && !s.expired
		case sessions.SweepExpire:
			fits = s.suspended
		case sessions.SweepDelete:
			fits = s.kind == sessions.Direct
		}
		if fits && !s.busy() && m.now-s.at > age {
			out = append(out, s)
		}
	}
	return out
}

// sweep does what a rule says to one session.
func (m *model) sweep(rule sessions.SweepRule, s *modelSession) {
	switch rule {
	case sessions.SweepSuspend:
		s.suspended, s.hidden, s.fresh = true, true, false
	case sessions.SweepExpire:
		m.expire(s)
	case sessions.SweepDelete:
		m.remove(s)
	}
}

// inTree reports whether an entry has a place in the tree.
func (s *modelSession) inTree(seq int64) bool {
	if seq <= s.cleared || seq > int64(len(s.log)) {
		return false
	}
	e := s.log[seq-1]
	return !e.waiting && !e.beside
}

// note writes what is not of a turn: steering moves the leaf to a target.
func (s *modelSession) note(texts []string, steer bool, target int64) {
	waits := s.busy()
	if steer {
		s.add(modelEntry{text: string(sessions.EntryLeaf), beside: true})
		s.leaf = target
	}
	for _, text := range texts {
		beside := !sessions.EntryType(text).InTree()
		s.add(modelEntry{text: text, beside: beside, waiting: waits && !beside})
	}
}

// who is the user of an identity.
func (m *model) who(identity string) *modelUser {
	if u := m.users[identity]; u != nil {
		return u
	}
	u := &modelUser{identities: []string{identity}}
	m.users[identity] = u
	return u
}

// link makes two users one and rewrites the sessions of the second.
func (m *model) link(to, from *modelUser) {
	hers, his := to.identities[0], from.identities[0]
	to.identities = append(to.identities, from.identities...)
	for _, identity := range from.identities {
		m.users[identity] = to
	}
	for _, s := range m.all {
		if s.user == his {
			s.user = hers
		}
		participants := s.participants
		s.participants = nil
		for _, p := range participants {
			if p == his {
				p = hers
			}
			if !slices.Contains(s.participants, p) {
				s.participants = append(s.participants, p)
			}
		}
	}
}

// finds reports whether a query finds a session, but for its Surface.
func (s *modelSession) finds(q sessions.Query, now, within time.Duration) bool {
	state, _ := s.life()
	return (q.UserID == "" || q.UserID == s.user) && (q.Participant == "" || slices.Contains(s.participants, q.Participant)) &&
		(q.WorkspaceID == "" || q.WorkspaceID == s.workspace) && (q.Type == "" || q.Type == s.kind) &&
		(len(q.States) == 0 || slices.Contains(q.States, state)) && (q.ActiveAfter.IsZero() || now-s.at < within)
}
