package storetest

import (
	"context"
	"encoding/json"
	"fmt"

	"parley/sessions"
)

// Enqueue implements sessions.Outbox; a key counts for ever.
func (m *Memory) Enqueue(_ context.Context, r sessions.EnqueueRequest) (sessions.EnqueueResult, error) {
	defer m.lock()()
	if _, seen := m.posted[r.Key]; seen && r.Key != "" {
		return sessions.EnqueueResult{Duplicate: true}, nil
	}
	m.posted[r.Key] = sessions.PostResult{}
	for _, d := range r.Deliveries {
		m.enqueue(nil, d, nil)
	}
	return sessions.EnqueueResult{Sends: m.takeLanes(r.Deliveries, r.Send)}, nil
}

// enqueue adds a row; s is nil where it belongs to no session.
func (m *Memory) enqueue(s *modelSession, d sessions.NewDelivery, written []sessions.Entry) {
	m.model.enqueue(s, d.Surface, "")
	m.serial++
	rows := m.model.lanes[d.Surface]
	kept := &sessions.Delivery{ID: fmt.Sprint(m.serial), Surface: d.Surface, Payload: d.Payload}
	if s != nil {
		kept.Session = s.id
	}
	if d.Entry >= 0 && d.Entry < len(written) {
		kept.Entry = written[d.Entry].Seq
	}
	rows[len(rows)-1].kept = kept
}

// takeLanes takes the lanes of new rows that are free.
func (m *Memory) takeLanes(rows []sessions.NewDelivery, c *sessions.Claimer) []sessions.Delivery {
	var out []sessions.Delivery
	seen := map[string]bool{}
	for _, row := range rows {
		if seen[row.Surface] {
			continue
		}
		seen[row.Surface] = true
		if c == nil {
			m.wake(sessions.WorkLane, row.Surface, true)
		} else if d, err := m.takeLane(row.Surface, *c); err == nil {
			out = append(out, d)
		}
	}
	return out
}

func (m *Memory) takeLane(lane string, c sessions.Claimer) (sessions.Delivery, error) {
	row, err := m.model.takeLane(lane)
	if err != nil {
		return sessions.Delivery{}, err
	}
	m.serial++
	m.model.hold(lane, sessions.Lane{ID: lane, Nonce: fmt.Sprint(m.serial)})
	m.model.held[lane].until = m.model.now + c.For
	d := *row.kept
	d.Attempt, d.MaybeSent, d.Lane = row.attempt, row.maybeSent, *m.model.held[lane].lane
	return d, nil
}

// Take implements sessions.Outbox.
func (m *Memory) Take(_ context.Context, lane string, c sessions.Claimer) (sessions.Delivery, error) {
	defer m.lock()()
	return m.takeLane(lane, c)
}

// Settle implements sessions.Outbox.
func (m *Memory) Settle(_ context.Context, r sessions.Settlement, c sessions.Claimer) (*sessions.Delivery, error) {
	defer m.lock()()
	lane := r.Delivery.Surface
	hold, rows := m.model.held[lane], m.model.lanes[lane]
	if hold == nil || hold.lane == nil || *hold.lane != r.Delivery.Lane || len(rows) == 0 {
		return nil, sessions.ErrFenced
	}
	m.model.held[lane] = &modelHold{until: m.model.now + r.After}
	if first := rows[0]; r.State == sessions.DeliveryPending {
		first.maybeSent = first.maybeSent || r.MaybeSent
		if r.Uncounted {
			first.attempt--
		}
	} else {
		m.model.lanes[lane] = rows[1:]
		if first.session != nil {
			m.receipt(first.session, r)
		}
	}
	if r.Next {
		if d, err := m.takeLane(lane, c); err == nil {
			return &d, nil
		}
	}
	m.wake(sessions.WorkLane, lane, len(m.model.lanes[lane]) > 0 && r.After <= 0)
	return nil, nil
}

// receipt writes down what became of a row.
func (m *Memory) receipt(s *modelSession, r sessions.Settlement) {
	payload, err := json.Marshal(sessions.DeliveryEntry{
		Delivery: r.Delivery.ID, EntryID: sessions.EntryID(r.Delivery.Entry), Surface: r.Delivery.Surface, State: r.State, MessageIDs: r.MessageIDs, Reason: r.Reason, Attempts: r.Delivery.Attempt,
	})
	if err != nil {
		panic(err) // strings and numbers
	}
	s.add(modelEntry{beside: true, kept: m.kept(sessions.EntryDelivery, payload)})
}

// Idle reports whether nothing is left to do: no message waits, no turn is
// open, no row is to be sent.
func (m *Memory) Idle() bool {
	defer m.lock()()
	for _, s := range m.model.all {
		if s.taken != nil || len(s.queue) > 0 {
			return false
		}
	}
	for _, rows := range m.model.lanes {
		if len(rows) > 0 {
			return false
		}
	}
	return true
}
