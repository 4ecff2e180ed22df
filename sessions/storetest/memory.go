package storetest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"parley/sessions"
)

// Memory is the model itself as a store: what a gateway needs of one to take
// messages in, run their turns and send the answers, exactly as the model says,
// in memory and at no cost. Tests that look at very many orders of events use
// it. Whatever else is asked goes to the store it is made with, which knows none
// of its sessions. A session's log and queue are the model's; of
// its record only what the model knows and its source are filled in.
type Memory struct {
	sessions.Store // the rest

	now   func() time.Time
	began time.Time

	mu      sync.Mutex
	model   *model
	posted  map[string]sessions.PostResult // by key
	sources map[string]sessions.Source     // by session
	settled map[string]int64               // by session: what the present turn's holder was left with
	epochs  map[string]int64
	serial  int64
	wakes   []chan sessions.WorkItem
}

// keptEntry is what of an entry the model does not look at.
type keptEntry struct {
	kind    sessions.EntryType
	payload json.RawMessage
	at      time.Time
}

// NewMemory is an empty store with a clock; rest answers what it does not.
func NewMemory(now func() time.Time, rest sessions.Store) *Memory {
	return &Memory{Store: rest, now: now, began: now(), model: newModel(), posted: map[string]sessions.PostResult{}, sources: map[string]sessions.Source{}, settled: map[string]int64{}, epochs: map[string]int64{}}
}

// lock takes the store for one operation and brings the model's time up.
func (m *Memory) lock() func() {
	m.mu.Lock()
	m.model.now = m.now().Sub(m.began)
	return m.mu.Unlock
}

func (m *Memory) kept(kind sessions.EntryType, payload json.RawMessage) *keptEntry {
	return &keptEntry{kind: kind, payload: payload, at: m.now().UTC().Truncate(time.Millisecond)}
}

// Post implements sessions.Turns.
func (m *Memory) Post(_ context.Context, r sessions.PostRequest) (sessions.PostResult, error) {
	defer m.lock()()
	if before, seen := m.posted[r.Key]; seen && r.Key != "" {
		before.Outcome, before.Turn = sessions.PostDuplicate, nil
		return before, nil
	}
	s, created := m.model.bound[r.Surface], false
	if r.Session != "" {
		if s = m.model.all[r.Session]; s == nil {
			return sessions.PostResult{}, sessions.ErrNotFound
		}
	}
	if s == nil {
		s, created = m.open(r.Surface, r.New), true
	}
	r.Message.Surface, r.Message.Triggered = r.Surface, r.Trigger
	entry, err := sessions.NewMessage(r.Message)
	if err != nil {
		return sessions.PostResult{}, err
	}
	e := modelEntry{rights: r.Rights, surface: r.Surface, alone: r.Alone, sent: r.Message.SentAt.Truncate(time.Millisecond), order: r.Message.Sequence, kept: m.kept(entry.Type, entry.Payload)}
	out := sessions.PostResult{Session: s.id, Created: created, Outcome: m.model.post(s, e, r.Trigger, r.Claim != nil, r.Debounce), Seq: int64(len(s.log))}
	m.posted[r.Key] = out
	switch out.Outcome {
	case sessions.PostClaimed:
		out.Turn = m.begin(s, *r.Claim, r.Known)
	case sessions.PostQueued:
		m.wake(sessions.WorkTurn, s.id, m.model.due(s))
	}
	return out, nil
}

func (m *Memory) open(surface string, n sessions.NewSession) *modelSession {
	m.serial++
	s := &modelSession{id: fmt.Sprintf("memory:%d", m.serial), fresh: true}
	m.model.all[s.id], m.model.bound[surface], m.sources[s.id] = s, s, n.Source
	return s
}

// begin gives the open turn away.
func (m *Memory) begin(s *modelSession, c sessions.Claimer, known sessions.Known) *sessions.Turn {
	m.epochs[s.id]++
	m.serial++
	l := sessions.Lease{Session: s.id, Epoch: m.epochs[s.id], Nonce: fmt.Sprint(m.serial)}
	m.model.begin(s, l)
	s.until = m.model.now + c.For
	from, newest := known.Seq, int64(len(s.log))
	if known.Session != s.id || from > newest || newest-from > sessions.TailMax {
		from = 0
	}
	turn := &sessions.Turn{Lease: l, Record: m.record(s), Attempt: s.attempts, TailFrom: from, Stop: s.stop, Tail: m.entries(s, max(from, newest-sessions.TailMax)+1, newest)}
	for _, seq := range s.taken {
		turn.Taken = append(turn.Taken, m.entry(s, seq))
	}
	m.settled[s.id] = settledOf(turn)
	return turn
}

func (m *Memory) entry(s *modelSession, seq int64) sessions.Entry {
	e := &s.log[seq-1]
	if e.kept == nil { // the model moved the leaf
		e.kept = m.kept(sessions.EntryLeaf, json.RawMessage("{}"))
	}
	return sessions.Entry{Seq: seq, Parent: e.parent, Waiting: e.waiting, Time: e.kept.at, Type: e.kept.kind, Payload: e.kept.payload}
}

func (m *Memory) entries(s *modelSession, from, to int64) []sessions.Entry {
	var out []sessions.Entry
	for seq := max(from, 1); seq <= min(to, int64(len(s.log))); seq++ {
		out = append(out, m.entry(s, seq))
	}
	return out
}

func (m *Memory) record(s *modelSession) sessions.Record {
	state, status := s.life()
	return sessions.Record{
		ID: s.id, Source: m.sources[s.id], State: state, Status: status, MessageCount: s.messages, TurnCount: s.turns,
		Seq: int64(len(s.log)), Leaf: s.leaf, Epoch: m.epochs[s.id], Queued: len(s.queue),
	}
}

// Bound implements sessions.Records.
func (m *Memory) Bound(_ context.Context, surface string) (sessions.Record, error) {
	defer m.lock()()
	if s := m.model.bound[surface]; s != nil {
		return m.record(s), nil
	}
	return sessions.Record{}, sessions.ErrNotFound
}

// Range implements sessions.Log.
func (m *Memory) Range(_ context.Context, session string, from, to int64) ([]sessions.Entry, error) {
	defer m.lock()()
	s := m.model.all[session]
	if s == nil {
		return nil, sessions.ErrNotFound
	}
	return m.entries(s, from, min(to, max(from, 1)+sessions.EntriesPerCall-1)), nil
}

// Claim implements sessions.Turns.
func (m *Memory) Claim(_ context.Context, r sessions.ClaimRequest) (*sessions.Turn, error) {
	defer m.lock()()
	s := m.model.all[r.Session]
	if s == nil {
		return nil, sessions.ErrNotFound
	}
	if err := m.model.claim(s); err != nil {
		return nil, err
	}
	return m.begin(s, r.Claimer, r.Known), nil
}

// held is the session of a lease that is the present one.
func (m *Memory) held(l sessions.Lease) *modelSession {
	if s := m.model.all[l.Session]; s != nil && s.lease != nil && *s.lease == l {
		return s
	}
	return nil
}

// Renew implements sessions.Turns.
func (m *Memory) Renew(_ context.Context, leases []sessions.Lease, extend time.Duration) ([]sessions.RenewResult, error) {
	defer m.lock()()
	out := make([]sessions.RenewResult, len(leases))
	for i, l := range leases {
		if s := m.held(l); s != nil {
			s.until = m.model.now + extend
			out[i] = sessions.RenewResult{Held: true, Stop: s.stop}
		}
	}
	return out, nil
}

// write adds entries behind the leaf.
func (m *Memory) write(s *modelSession, entries []sessions.NewEntry) []sessions.Entry {
	out := make([]sessions.Entry, len(entries))
	for i, e := range entries {
		out[i] = m.entry(s, s.add(modelEntry{beside: !e.Type.InTree(), kept: m.kept(e.Type, e.Payload)}))
	}
	return out
}

// Commit implements sessions.Turns.
func (m *Memory) Commit(_ context.Context, r sessions.CommitRequest) (sessions.CommitResult, error) {
	defer m.lock()()
	s := m.held(r.Lease)
	if s == nil {
		return sessions.CommitResult{}, sessions.ErrFenced
	}
	out := sessions.CommitResult{Entries: m.write(s, r.Entries)}
	for _, d := range r.Deliveries {
		m.enqueue(s, d, out.Entries)
	}
	out.Sends = m.takeLanes(r.Deliveries, r.Send)
	if ended := m.model.end(s, r.Outcome, r.After); ended && r.Next != nil && m.model.claim(s) == nil {
		out.Next = m.begin(s, *r.Next, sessions.Known{Session: s.id, Seq: m.settled[s.id]})
	}
	m.wake(sessions.WorkTurn, s.id, s.lease == nil && m.model.due(s))
	return out, nil
}

// Due implements sessions.Work.
func (m *Memory) Due(_ context.Context, limit int) ([]sessions.WorkItem, error) {
	defer m.lock()()
	var out []sessions.WorkItem
	for id, s := range m.model.all {
		if m.model.due(s) {
			out = append(out, sessions.WorkItem{Kind: sessions.WorkTurn, ID: id, Due: m.now()})
		}
	}
	for surface, rows := range m.model.lanes {
		if len(rows) > 0 && m.model.held[surface].until <= m.model.now {
			out = append(out, sessions.WorkItem{Kind: sessions.WorkLane, ID: surface, Due: m.now()})
		}
	}
	slices.SortFunc(out, func(a, b sessions.WorkItem) int { return cmp.Compare(a.ID, b.ID) })
	return sessions.EachKind(out, limit), nil
}

// wake hints at work, if there is any.
func (m *Memory) wake(kind sessions.WorkKind, id string, due bool) {
	for _, w := range m.wakes {
		if !due {
			return
		}
		select {
		case w <- sessions.WorkItem{Kind: kind, ID: id}:
		default:
		}
	}
}

// wakesMax is how many hints a slow reader keeps.
const wakesMax = 16

// Wakes implements sessions.Work.
func (m *Memory) Wakes(ctx context.Context) (<-chan sessions.WorkItem, error) {
	defer m.lock()()
	w := make(chan sessions.WorkItem, wakesMax)
	m.wakes = append(m.wakes, w)
	context.AfterFunc(ctx, func() {
		defer m.lock()()
		m.wakes = slices.DeleteFunc(m.wakes, func(other chan sessions.WorkItem) bool { return other == w })
		close(w)
	})
	return w, nil
}
