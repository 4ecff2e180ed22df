package storetest

import (
	"context"
	"fmt"
	"slices"

	"parley/sessions"
)

// Get implements sessions.Records.
func (m *Memory) Get(_ context.Context, id string) (sessions.Record, error) {
	defer m.lock()()
	if s := m.model.all[id]; s != nil {
		return m.record(s), nil
	}
	return sessions.Record{}, sessions.ErrNotFound
}

// Rotate implements sessions.Records, without Key and Deliveries.
func (m *Memory) Rotate(_ context.Context, r sessions.RotateRequest) (sessions.RotateResult, error) {
	defer m.lock()()
	var out sessions.RotateResult
	if old := m.model.bound[r.New.Surface]; old != nil {
		out.Old = old.id
		old.suspended, old.hidden, old.stop = true, true, old.taken != nil
	}
	out.Record = m.record(m.open(r.New.Surface, r.New))
	return out, nil
}

// Append implements sessions.Turns.
func (m *Memory) Append(_ context.Context, l sessions.Lease, entries []sessions.NewEntry) ([]sessions.Entry, error) {
	defer m.lock()()
	s := m.held(l)
	if s == nil {
		return nil, sessions.ErrFenced
	}
	return m.write(s, entries), nil
}

// Stop implements sessions.Turns.
func (m *Memory) Stop(_ context.Context, id string) (bool, error) {
	defer m.lock()()
	s := m.model.all[id]
	if s == nil {
		return false, sessions.ErrNotFound
	}
	s.stop = s.taken != nil
	m.wake(sessions.WorkStop, id, s.stop)
	return s.stop, nil
}

// Again implements sessions.Turns, without Key.
func (m *Memory) Again(_ context.Context, r sessions.AgainRequest) (*sessions.Turn, bool, error) {
	defer m.lock()()
	s := m.model.all[r.Session]
	switch {
	case s == nil:
		return nil, false, sessions.ErrNotFound
	case !m.model.again(s):
		return nil, false, sessions.ErrNothing
	case r.Claim == nil:
		return nil, false, nil
	}
	return m.begin(s, *r.Claim, r.Known), false, nil
}

// deadID names a dead letter.
func (d modelDead) id() string { return fmt.Sprint(d.session.id, d.taken) }

// DeadLetters implements sessions.Turns.
func (m *Memory) DeadLetters(_ context.Context, limit int) ([]sessions.DeadLetter, error) {
	defer m.lock()()
	var out []sessions.DeadLetter
	for _, d := range slices.Backward(m.model.dead) {
		out = append(out, sessions.DeadLetter{ID: d.id(), Session: d.session.id, Messages: d.taken})
	}
	return out[:min(limit, len(out))], nil
}

// Replay implements sessions.Turns.
func (m *Memory) Replay(_ context.Context, id string) error {
	defer m.lock()()
	for _, d := range m.model.dead {
		if d.id() == id {
			m.model.replay(d)
			return nil
		}
	}
	return sessions.ErrNotFound
}
