package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"parley/sessions"
)

const entryColumns = "seq, parent, waiting, time, type, payload"

// insert writes an entry under the next seq. The row is saved by the caller.
func (t *tx) insert(r *row, kind sessions.EntryType, payload []byte, parent int64, waiting bool) (sessions.Entry, error) {
	r.seq++
	_, err := t.exec("INSERT INTO entries (log, seq, parent, waiting, time, type, payload) VALUES (?, ?, ?, ?, ?, ?, ?)",
		r.log, r.seq, parent, waiting, t.now, kind, string(payload))
	return sessions.Entry{Seq: r.seq, Parent: parent, Waiting: waiting, Time: t.time(), Type: kind, Payload: payload}, err
}

// write writes new entries behind the leaf.
func (t *tx) write(r *row, entries []sessions.NewEntry) ([]sessions.Entry, error) {
	out := make([]sessions.Entry, 0, len(entries))
	for _, e := range entries {
		payload, err := e.Body()
		if err != nil {
			return nil, fmt.Errorf("encode an entry: %w", err)
		}
		parent := int64(0)
		if e.Type.InTree() {
			parent = r.leaf
		}
		if e.Type == sessions.EntryLeaf {
			if err := t.checkTarget(r, e.Target); err != nil {
				return nil, err
			}
		}
		entry, err := t.insert(r, e.Type, payload, parent, false)
		if err != nil {
			return nil, err
		}
		out = append(out, entry)
		r.moveLeaf(e, entry.Seq)
	}
	return out, nil
}

func (r *row) moveLeaf(e sessions.NewEntry, seq int64) {
	switch {
	case e.Type == sessions.EntryLeaf:
		r.leaf = e.Target
	case e.Type.InTree():
		r.grow(seq)
	}
}

// grow makes an entry that enters the tree the leaf.
func (r *row) grow(seq int64) {
	r.leaf = seq
	r.placed++
}

// checkTarget refuses what is not in the session's tree.
func (t *tx) checkTarget(r *row, target int64) error {
	if target == 0 {
		return nil
	}
	var kind sessions.EntryType
	var waiting bool
	found, err := t.one("SELECT type, waiting FROM entries WHERE log = ? AND seq = ?", []any{r.log, target}, []any{&kind, &waiting})
	if err == nil && (!found || waiting || !kind.InTree()) {
		err = sessions.ErrNotFound
	}
	return err
}

// place gives an entry that waits its place behind the leaf.
func (t *tx) place(r *row, seq int64) error {
	_, err := t.exec("UPDATE entries SET parent = ?, waiting = 0 WHERE log = ? AND seq = ?", r.leaf, r.log, seq)
	r.grow(seq)
	return err
}

// placeLogged gives all logged messages that wait their place.
func (t *tx) placeLogged(r *row) error {
	if r.loggedWaiting == 0 {
		return nil
	}
	waiting, err := t.waitingLogged(r)
	if err != nil {
		return err
	}
	for _, seq := range waiting {
		if err := t.place(r, seq); err != nil {
			return err
		}
	}
	r.loggedWaiting = 0
	return nil
}

// waitingLogged are the entries that wait and are not in the queue.
func (t *tx) waitingLogged(r *row) (waiting []int64, err error) {
	err = t.each(func(rows *sql.Rows) error {
		var seq int64
		err := rows.Scan(&seq)
		waiting = append(waiting, seq)
		return err
	}, `SELECT seq FROM entries e WHERE log = ? AND waiting AND NOT EXISTS (SELECT 1 FROM queue q WHERE q.session = ? AND q.seq = e.seq) ORDER BY seq`, r.log, r.num)
	return waiting, err
}

// settledSeq is up to which seq all entries have their place.
func (t *tx) settledSeq(r *row) (int64, error) {
	if r.queued == 0 && r.loggedWaiting == 0 {
		return r.seq, nil
	}
	var first sql.NullInt64
	_, err := t.one("SELECT min(seq) FROM entries WHERE log = ? AND waiting", []any{r.log}, []any{&first})
	if !first.Valid {
		return r.seq, err
	}
	return first.Int64 - 1, err
}

// entries reads entries with a query that yields entryColumns.
func (t *tx) entries(query string, args ...any) ([]sessions.Entry, error) {
	var out []sessions.Entry
	err := t.each(func(rows *sql.Rows) error {
		e, err := scanEntry(rows)
		out = append(out, e)
		return err
	}, query, args...)
	return out, err
}

// scanEntry reads the entryColumns of a row.
func scanEntry(rows *sql.Rows) (e sessions.Entry, err error) {
	var at int64
	var payload string
	err = rows.Scan(&e.Seq, &e.Parent, &e.Waiting, &at, &e.Type, &payload)
	e.Time, e.Payload = fromMillis(at), json.RawMessage(payload)
	return e, err
}

// Range reads entries by seq.
func (s *Store) Range(ctx context.Context, session string, from, to int64) ([]sessions.Entry, error) {
	if err := sessions.CheckID(session); err != nil {
		return nil, err
	}
	return read(ctx, s, func(t *tx) ([]sessions.Entry, error) {
		var log int64
		found, err := t.one("SELECT log FROM sessions WHERE id = ?", []any{session}, []any{&log})
		if err != nil || !found {
			return nil, notFound(err)
		}
		return t.entries("SELECT "+entryColumns+" FROM entries WHERE log = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?",
			log, from, to, sessions.EntriesPerCall)
	})
}

func notFound(err error) error {
	if err == nil {
		return sessions.ErrNotFound
	}
	return err
}
