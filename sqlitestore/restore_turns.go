package sqlitestore

import (
	"parley/sessions/archive"
)

// restoreSession writes record, queue and turn of a session, whose entries
// come behind it.
func (t *tx) restoreSession(b archive.SessionItem) error {
	r, err := t.sessionOf(b)
	if err != nil {
		return err
	}
	if b.Open != nil {
		r.attempts, r.stop, r.leaseUntil = b.Open.Attempts, b.Open.Stop, toMillis(b.ReadyAt)
		r.taken, err = encodeMessages(messagesOf(b.Open.Messages))
	} else {
		r.readyAt = toMillis(b.ReadyAt)
	}
	if err == nil && b.Last != nil {
		r.last, err = encodeMessages(messagesOf(b.Last.Messages))
	}
	if err != nil {
		return err
	}
	if err := t.restoreQueue(r, b.Queue); err != nil {
		return err
	}
	if err := t.saveDetail(r); err != nil {
		return err
	}
	if err := t.saveParticipants(r, b.Record.Participants); err != nil {
		return err
	}
	r.version = b.Record.Version - 1 // saving makes one more
	return t.save(r)
}

// sessionOf is the row of a restored session, inserted unless it is there.
func (t *tx) sessionOf(b archive.SessionItem) (*row, error) {
	r := rowOf(b.Record)
	there, err := t.find(r.id)
	if err != nil {
		return nil, err
	}
	if there != nil {
		r.num, r.log, r.was = there.num, there.log, there.was
	} else if err := t.add(r); err != nil {
		return nil, err
	}
	r.details.Surfaces = b.Record.Surfaces
	r.seq, r.leaf, r.epoch, r.cleared = b.Record.Seq, b.Leaf, b.Record.Epoch, b.Record.Cleared
	r.placed, r.loggedWaiting = b.Placed, len(b.Waiting)
	return r, nil
}

func (t *tx) restoreQueue(r *row, queue []archive.QueuedMessage) error {
	if err := t.put("DELETE FROM queue WHERE session = ?", r.num); err != nil {
		return err
	}
	for _, m := range messagesOf(queue) {
		if err := t.queue(r, m); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) restoreDead(b archive.DeadItem) error {
	r, err := t.restored(b.Letter.Session)
	if err != nil {
		return err
	}
	messages, err := encodeMessages(messagesOf(b.Turn.Messages))
	if err != nil {
		return err
	}
	err = t.put(`INSERT INTO dead (id, session, messages, reason, attempts, at, placed) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		b.Letter.ID, r.num, messages, b.Letter.Reason, b.Letter.Attempts, toMillis(b.Letter.At), b.Placed)
	if err != nil {
		return err
	}
	return t.given("dead", b.Letter.ID)
}

func (t *tx) restoreRow(b archive.RowItem) error {
	var session int64
	if b.Session != "" {
		r, err := t.restored(b.Session)
		if err != nil {
			return err
		}
		session = r.num
	}
	err := t.put("INSERT INTO outbox (id, surface, session, entry, payload, attempt, maybe_sent) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
		b.ID, b.Surface, session, b.Entry, string(b.Payload), b.Attempt, b.MaybeSent)
	if err != nil {
		return err
	}
	if err := t.put("INSERT INTO lanes (surface, nonce, due_at) VALUES (?, '', ?) ON CONFLICT DO NOTHING", b.Surface, t.now); err != nil {
		return err
	}
	return t.given("outbox", b.ID)
}

// given lets no row of a table get a number that another store's row has as
// its id.
func (t *tx) given(table, id string) error {
	num, ok := parseRowID(id)
	if !ok {
		return nil
	}
	return t.put("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", num, table)
}
