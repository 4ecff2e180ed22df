package sqlitestore

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"slices"
	"time"

	"parley/sessions"
)

// Claim takes up a session's open turn, or its first waiting messages.
func (s *Store) Claim(ctx context.Context, request sessions.ClaimRequest) (*sessions.Turn, error) {
	if err := request.Check(); err != nil {
		return nil, err
	}
	return written(ctx, s, func(t *tx) (*sessions.Turn, error) {
		r, err := t.load(request.Session)
		if err != nil {
			return nil, err
		}
		due := r.due()
		if !due.Valid {
			return nil, sessions.ErrNothing
		}
		if due.Int64 > t.now {
			if r.open() && r.nonce != "" {
				return nil, sessions.ErrBusy
			}
			return nil, sessions.ErrNothing
		}
		if !r.open() {
			if err := t.takeQueued(r); err != nil {
				return nil, err
			}
		}
		return t.begin(r, request.Claimer, request.Known)
	})
}

// takeQueued opens a turn with the first waiting messages that go together.
func (t *tx) takeQueued(r *row) error {
	waiting, err := t.queueOf(r, sessions.CollectMax)
	if err != nil {
		return err
	}
	n := together(waiting)
	if _, err := t.exec("DELETE FROM queue WHERE session = ? AND seq <= ?", r.num, waiting[n-1].Seq); err != nil {
		return err
	}
	r.queued -= n
	return t.takeUp(r, waiting[:n])
}

// queueOf are the first messages that wait, at most limit; -1: all.
func (t *tx) queueOf(r *row, limit int) (waiting []message, err error) {
	err = t.each(func(rows *sql.Rows) error {
		var m message
		err := rows.Scan(&m.Seq, &m.Rights, &m.Surface, &m.Alone, &m.SentAt, &m.Sequence)
		waiting = append(waiting, m)
		return err
	}, "SELECT seq, rights, surface, alone, sent_at, sequence FROM queue WHERE session = ? ORDER BY seq LIMIT ?", r.num, limit)
	return waiting, err
}

// together is how many of the first messages go into one turn.
func together(waiting []message) int {
	first := waiting[0]
	if first.Alone {
		return 1
	}
	n := 1
	for n < len(waiting) && !waiting[n].Alone && waiting[n].Rights == first.Rights && waiting[n].Surface == first.Surface {
		n++
	}
	return n
}

// takeUp opens a turn with messages that wait, in the platform's own order.
func (t *tx) takeUp(r *row, messages []message) error {
	slices.SortStableFunc(messages, func(a, b message) int {
		return cmp.Or(cmp.Compare(a.SentAt, b.SentAt), cmp.Compare(a.Sequence, b.Sequence), cmp.Compare(a.Seq, b.Seq))
	})
	for _, m := range messages {
		if err := t.place(r, m.Seq); err != nil {
			return err
		}
	}
	return r.openTurn(messages)
}

// openTurn opens a turn with messages that are in the tree.
func (r *row) openTurn(messages []message) (err error) {
	r.taken, err = encodeMessages(messages)
	r.attempts, r.stop = 0, false
	return err
}

// begin gives the open turn to a claimer, and saves.
func (t *tx) begin(r *row, claimer sessions.Claimer, known sessions.Known) (*sessions.Turn, error) {
	r.epoch++
	r.nonce = rand.Text()
	r.leaseUntil = t.after(claimer.For)
	r.attempts++
	r.status = sessions.StatusRunning
	var err error
	if r.settled, err = t.settledSeq(r); err != nil {
		return nil, err
	}
	if err := t.save(r); err != nil {
		return nil, err
	}
	return t.turn(r, known)
}

// turn is the open turn as its holder sees it.
func (t *tx) turn(r *row, known sessions.Known) (*sessions.Turn, error) {
	record, err := t.record(r)
	if err != nil {
		return nil, err
	}
	turn := &sessions.Turn{
		Lease: sessions.Lease{Session: r.id, Epoch: r.epoch, Nonce: r.nonce}, Record: record, Attempt: r.attempts, Stop: r.stop,
	}
	if turn.Tail, turn.TailFrom, err = t.tail(r, known); err != nil {
		return nil, err
	}
	turn.Taken, err = t.taken(r, turn.Tail)
	return turn, err
}

// tail reads what a caller lacks of the log.
func (t *tx) tail(r *row, known sessions.Known) ([]sessions.Entry, int64, error) {
	from := known.Seq
	if known.Session != r.id || from <= r.cleared || from > r.seq {
		from = 0
	}
	entries, err := t.entries("SELECT "+entryColumns+" FROM entries WHERE log = ? AND seq > ? ORDER BY seq DESC LIMIT ?", r.log, from, sessions.TailMax+1)
	if len(entries) > sessions.TailMax {
		entries, from = entries[:sessions.TailMax], 0
	}
	slices.Reverse(entries)
	return entries, from, err
}

// taken are the entries of the open turn's messages, out of tail where they are there.
func (t *tx) taken(r *row, tail []sessions.Entry) ([]sessions.Entry, error) {
	messages, err := decodeMessages(r.taken)
	if err != nil {
		return nil, err
	}
	out := make([]sessions.Entry, 0, len(messages))
	for _, m := range messages {
		i, ok := slices.BinarySearchFunc(tail, m.Seq, func(e sessions.Entry, seq int64) int { return cmp.Compare(e.Seq, seq) })
		if ok {
			out = append(out, tail[i])
			continue
		}
		entries, err := t.entries("SELECT "+entryColumns+" FROM entries WHERE log = ? AND seq = ?", r.log, m.Seq)
		if err != nil {
			return nil, err
		}
		out = append(out, entries...)
	}
	return out, nil
}

// Renew extends leases.
func (s *Store) Renew(ctx context.Context, leases []sessions.Lease, extend time.Duration) ([]sessions.RenewResult, error) {
	if err := sessions.CheckRenew(leases, extend); err != nil {
		return nil, err
	}
	return written(ctx, s, func(t *tx) ([]sessions.RenewResult, error) {
		results := make([]sessions.RenewResult, len(leases))
		for i, l := range leases {
			var err error
			results[i].Held, err = t.one(`UPDATE sessions SET lease_until = ?1, due_at = ?1
				WHERE id = ?2 AND epoch = ?3 AND nonce = ?4 AND nonce <> '' AND taken <> '' RETURNING stop`,
				[]any{t.after(extend), l.Session, l.Epoch, l.Nonce}, []any{&results[i].Stop})
			if err != nil {
				return nil, err
			}
		}
		return results, nil
	})
}

// Append writes entries of a running turn.
func (s *Store) Append(ctx context.Context, lease sessions.Lease, entries []sessions.NewEntry) ([]sessions.Entry, error) {
	if err := lease.Check(); err != nil {
		return nil, err
	}
	if err := sessions.CheckEntries(entries); err != nil {
		return nil, err
	}
	return written(ctx, s, func(t *tx) ([]sessions.Entry, error) {
		r, err := t.holding(lease)
		if err != nil || len(entries) == 0 {
			return nil, err
		}
		out, err := t.write(r, entries)
		if err != nil {
			return nil, err
		}
		return out, t.save(r)
	})
}

// holding reads the session of a lease that is the present one.
func (t *tx) holding(lease sessions.Lease) (*row, error) {
	r, err := t.find(lease.Session)
	if err == nil && !r.held(lease) {
		err = sessions.ErrFenced
	}
	return r, err
}

// Stop asks the open turn to stop.
func (s *Store) Stop(ctx context.Context, session string) (bool, error) {
	if err := sessions.CheckID(session); err != nil {
		return false, err
	}
	return written(ctx, s, func(t *tx) (bool, error) {
		r, err := t.load(session)
		if err != nil || !r.open() {
			return false, err
		}
		t.stop(r)
		return true, t.save(r)
	})
}

// stop marks the open turn; the row is saved by the caller.
func (t *tx) stop(r *row) {
	r.stop = true
	t.wakes = append(t.wakes, sessions.WorkItem{Kind: sessions.WorkStop, ID: r.id, Due: t.time()})
}
