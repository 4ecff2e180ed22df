package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"parley/sessions"
)

// model is the contract once more, as simple as it can be: one caller at a
// time, everything in plain slices, nothing durable. It says what a store has
// to answer.
type model struct {
	now   time.Duration // only what was advanced: the rest is short against it
	seen  map[string]bool
	all   map[string]*modelSession
	bound map[string]*modelSession // by surface
	lanes map[string][]*modelRow   // by surface
	held  map[string]*modelHold    // by surface
	dead  []modelDead              // newest last
	users map[string]*modelUser    // by identity
}

type modelSession struct {
	id        string
	log       []modelEntry // the entry with seq n is at n-1
	leaf      int64
	queue     []int64
	readyAt   time.Duration
	taken     []int64 // of the open turn; nil: none
	attempts  int
	lease     *sessions.Lease // nil: given back
	until     time.Duration   // when the open turn may be claimed
	stop      bool
	last      []int64
	suspended bool
	fresh     bool // no message yet
	hidden    bool // inactive
	turns     int64
	messages  int64
	placed    int64 // entries that ever entered the tree
	modelLife
}

type modelEntry struct {
	text    string
	parent  int64
	waiting bool
	beside  bool // not in the tree
	rights  string
	surface string
	alone   bool
	sent    time.Time
	order   int64      // among those of one time
	kept    *keptEntry // only in Memory
}

type modelRow struct {
	text      string
	session   *modelSession
	attempt   int
	maybeSent bool
	kept      *sessions.Delivery // only in Memory
}

type modelHold struct {
	lane  *sessions.Lane // nil: free
	until time.Duration
}

type modelDead struct {
	session *modelSession
	taken   []int64
	placed  int64
}

func newModel() *model {
	return &model{
		seen: map[string]bool{}, all: map[string]*modelSession{}, bound: map[string]*modelSession{},
		lanes: map[string][]*modelRow{}, held: map[string]*modelHold{}, users: map[string]*modelUser{},
	}
}

func (s *modelSession) add(e modelEntry) int64 {
	s.log = append(s.log, e)
	seq := int64(len(s.log))
	if !e.waiting && !e.beside {
		s.place(seq)
	}
	return seq
}

func (s *modelSession) place(seq int64) {
	s.placed++
	s.log[seq-1].parent, s.log[seq-1].waiting, s.leaf = s.leaf, false, seq
}

// post stores a message and tells its outcome; claimed turns are opened with lease.
func (m *model) post(s *modelSession, e modelEntry, trigger, claim bool, debounce time.Duration) sessions.PostOutcome {
	s.messages++
	s.at = m.now
	s.fresh, s.suspended, s.hidden = false, false, s.hidden && !s.suspended && !trigger
	e.waiting = trigger || s.taken != nil || len(s.queue) > 0
	seq := s.add(e)
	if !trigger {
		return sessions.PostLogged
	}
	s.queue = append(s.queue, seq)
	s.readyAt = m.now + debounce
	if !claim || debounce > 0 || s.taken != nil {
		return sessions.PostQueued
	}
	s.takeUp()
	return sessions.PostClaimed
}

// takeUp opens a turn with what waits and goes together.
func (s *modelSession) takeUp() {
	first := s.log[s.queue[0]-1]
	n := 1
	for n < len(s.queue) && n < sessions.CollectMax && !first.alone {
		e := s.log[s.queue[n]-1]
		if e.alone || e.rights != first.rights || e.surface != first.surface {
			break
		}
		n++
	}
	s.taken, s.queue = slices.Clone(s.queue[:n]), slices.Clone(s.queue[n:])
	slices.SortFunc(s.taken, func(a, b int64) int {
		return cmp.Or(s.log[a-1].sent.Compare(s.log[b-1].sent), cmp.Compare(s.log[a-1].order, s.log[b-1].order), cmp.Compare(a, b))
	})
	for _, seq := range s.taken {
		s.place(seq)
	}
	s.attempts, s.stop = 0, false
}

// begin gives the open turn away.
func (m *model) begin(s *modelSession, l sessions.Lease) {
	s.attempts++
	s.lease, s.until, s.hidden = &l, m.now+lease, false
}

// claim opens or reopens a turn, or says why not.
func (m *model) claim(s *modelSession) error {
	switch {
	case s.taken != nil && s.until > m.now && s.lease != nil:
		return sessions.ErrBusy
	case s.taken != nil && s.until > m.now, s.taken == nil && len(s.queue) == 0, s.taken == nil && s.readyAt > m.now:
		return sessions.ErrNothing
	case s.taken == nil:
		s.takeUp()
	}
	return nil
}

// dueAt reports whether there is a turn to claim.
func (m *model) due(s *modelSession) bool {
	if s.taken != nil {
		return s.until <= m.now
	}
	return len(s.queue) > 0 && s.readyAt <= m.now
}

// end ends the lease of the open turn; it tells whether the turn ended too.
func (m *model) end(s *modelSession, outcome sessions.Outcome, after time.Duration) bool {
	s.lease = nil
	s.hidden = s.suspended || s.expired
	switch outcome {
	case sessions.Again:
		s.until = m.now + after
		return false
	case sessions.HandBack:
		s.until = m.now + after
		s.attempts--
		return false
	case sessions.Park:
		m.dead = append(m.dead, modelDead{s, s.taken, s.placed})
	case sessions.Done:
		s.turns++
	}
	s.last, s.taken, s.stop = s.taken, nil, false
	for i, e := range s.log {
		if e.waiting && !slices.Contains(s.queue, int64(i+1)) {
			s.place(int64(i + 1))
		}
	}
	return true
}

// rewind opens a turn again that ended.
func (m *model) rewind(s *modelSession, taken []int64) {
	if target := taken[len(taken)-1]; s.leaf != target {
		s.add(modelEntry{text: "leaf", beside: true})
		s.leaf = target
	}
	s.taken, s.attempts, s.stop, s.lease, s.until = taken, 0, false, nil, m.now
}

// again is /retry.
func (m *model) again(s *modelSession) (ok bool) {
	if s.taken != nil || len(s.queue) > 0 || s.last == nil || s.expired {
		return false
	}
	m.dead = slices.DeleteFunc(m.dead, func(d modelDead) bool { return d.session == s && slices.Equal(d.taken, s.last) })
	m.touch(s)
	m.rewind(s, s.last)
	return true
}

// replay makes the newest dead letter due.
func (m *model) replay(d modelDead) {
	m.dead = slices.DeleteFunc(m.dead, func(x modelDead) bool { return x.session == d.session && slices.Equal(x.taken, d.taken) })
	s := d.session
	if s.taken == nil && len(s.queue) == 0 && s.placed == d.placed {
		m.rewind(s, d.taken)
		return
	}
	if len(s.queue) == 0 {
		s.readyAt = m.now
	}
	for _, seq := range d.taken {
		e := s.log[seq-1]
		e.parent, e.waiting = 0, true
		s.queue = append(s.queue, s.add(e))
	}
}

// takeLane gives a lane's first row away, or says why not.
func (m *model) takeLane(surface string) (*modelRow, error) {
	rows, hold := m.lanes[surface], m.held[surface]
	switch {
	case len(rows) == 0:
		return nil, sessions.ErrNothing
	case hold.until > m.now && hold.lane != nil:
		return nil, sessions.ErrBusy
	case hold.until > m.now:
		return nil, sessions.ErrNothing
	}
	rows[0].attempt++
	rows[0].maybeSent = rows[0].maybeSent || hold.lane != nil
	return rows[0], nil
}

func (m *model) hold(surface string, lane sessions.Lane) {
	m.held[surface] = &modelHold{&lane, m.now + lease}
}

func (m *model) enqueue(s *modelSession, surface, text string) {
	if len(m.lanes[surface]) == 0 {
		m.held[surface] = &modelHold{until: m.now}
	}
	m.lanes[surface] = append(m.lanes[surface], &modelRow{text: text, session: s})
}

// record is what of a record the model knows, as text to compare.
func (s *modelSession) record() string {
	state, status := s.life()
	return fmt.Sprintf("%s/%s seq %d leaf %d queued %d messages %d turns %d", state, status, len(s.log), s.leaf, len(s.queue), s.messages, s.turns)
}

func (s *modelSession) life() (sessions.State, sessions.Status) {
	state, status := sessions.StateActive, sessions.StatusIdle
	switch {
	case s.expired:
		state = sessions.StateExpired
	case s.suspended:
		state = sessions.StateSuspended
	case s.fresh:
		state = sessions.StateCreated
	}
	switch {
	case s.hidden:
		status = sessions.StatusInactive
	case s.lease != nil:
		status = sessions.StatusRunning
	}
	return state, status
}

func recordText(r sessions.Record) string {
	return fmt.Sprintf("%s/%s seq %d leaf %d queued %d messages %d turns %d", r.State, r.Status, r.Seq, r.Leaf, r.Queued, r.MessageCount, r.TurnCount)
}
