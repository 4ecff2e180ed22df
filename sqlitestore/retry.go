package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"

	"parley/sessions"
)

// bury makes the open turn a dead letter.
func (t *tx) bury(r *row, reason string) error {
	_, err := t.exec("INSERT INTO dead (session, messages, reason, attempts, at, placed) VALUES (?, ?, ?, ?, ?, ?)",
		r.num, r.taken, sessions.ReasonOf(reason), r.attempts, t.now, r.placed)
	return err
}

// Again runs the last turn once more.
func (s *Store) Again(ctx context.Context, request sessions.AgainRequest) (*sessions.Turn, bool, error) {
	if err := request.Check(); err != nil {
		return nil, false, err
	}
	duplicate := false
	turn, err := written(ctx, s, func(t *tx) (turn *sessions.Turn, err error) {
		turn, duplicate, err = t.again(request)
		return turn, err
	})
	if err != nil {
		return nil, false, err
	}
	return turn, duplicate, nil
}

func (t *tx) again(request sessions.AgainRequest) (turn *sessions.Turn, duplicate bool, err error) {
	r, err := t.load(request.Session)
	if err != nil {
		return nil, false, err
	}
	if seen, err := t.seen(request.Key); err != nil || seen {
		return nil, seen, err
	}
	if r.open() || r.queued > 0 || r.state == sessions.StateExpired {
		return nil, false, r.refuse("run the last turn again")
	}
	if r.last == "" {
		return nil, false, sessions.ErrNothing
	}
	if err := t.remember(r.id, request.Key, sessions.DedupeFor, r.num, 0); err != nil {
		return nil, false, err
	}
	if _, err := t.exec("DELETE FROM dead WHERE session = ? AND messages = ?", r.num, r.last); err != nil {
		return nil, false, err
	}
	r.revive(t.now, true)
	if err := t.rewind(r, r.last); err != nil {
		return nil, false, err
	}
	if request.Claim == nil {
		return nil, false, t.save(r)
	}
	turn, err = t.begin(r, *request.Claim, request.Known)
	return turn, false, err
}

// rewind opens a turn once more that ended, with the leaf at its newest message.
func (t *tx) rewind(r *row, messages string) error {
	list, err := decodeMessages(messages)
	if err != nil {
		return err
	}
	target := list[len(list)-1].Seq
	if r.leaf != target {
		payload := fmt.Appendf(nil, `{"target_id":%q,"reason":"retry"}`, sessions.EntryID(target))
		if _, err := t.write(r, []sessions.NewEntry{{Type: sessions.EntryLeaf, Target: target, Payload: payload}}); err != nil {
			return err
		}
	}
	r.taken, r.attempts, r.stop, r.nonce, r.leaseUntil = messages, 0, false, "", t.now
	return nil
}

// DeadLetters lists parked turns.
func (s *Store) DeadLetters(ctx context.Context, limit int) ([]sessions.DeadLetter, error) {
	if err := sessions.CheckList(limit); err != nil {
		return nil, err
	}
	return read(ctx, s, func(t *tx) ([]sessions.DeadLetter, error) {
		var letters []sessions.DeadLetter
		var damaged error
		err := t.each(func(rows *sql.Rows) error {
			var l sessions.DeadLetter
			var at int64
			var messages string
			if err := rows.Scan(&l.ID, &l.Session, &messages, &l.Reason, &l.Attempts, &at); err != nil {
				return err
			}
			list, err := decodeMessages(messages)
			if err != nil {
				damaged = err
			}
			l.At, l.Messages = fromMillis(at), seqs(list)
			letters = append(letters, l)
			return nil
		}, "SELECT coalesce(d.id, CAST(d.num AS TEXT)), s.id, d.messages, d.reason, d.attempts, d.at FROM dead d CROSS JOIN sessions s ON s.num = d.session ORDER BY d.at DESC, d.num DESC LIMIT ?", limit)
		if err == nil {
			err = damaged
		}
		return letters, err
	})
}

// letter is a row of the table dead.
type letter struct {
	session, placed int64
	messages        string
}

// exhume reads a dead letter and removes it.
func (t *tx) exhume(id string) (l letter, err error) {
	num, _ := parseRowID(id)
	found, err := t.one(`DELETE FROM dead WHERE num = coalesce((SELECT num FROM dead WHERE id = ?1), ?2) AND (id IS NULL OR id = ?1)
		RETURNING session, placed, messages`, []any{id, num}, []any{&l.session, &l.placed, &l.messages})
	if err == nil && !found {
		err = sessions.ErrNotFound
	}
	return l, err
}

// Replay makes a parked turn due again.
func (s *Store) Replay(ctx context.Context, id string) error {
	return s.write(ctx, func(t *tx) error {
		l, err := t.exhume(id)
		if err != nil {
			return err
		}
		r, err := t.findNum(l.session)
		if err != nil || r == nil {
			return notFound(err)
		}
		if r.state == sessions.StateExpired {
			return r.refuse("replay a dead letter")
		}
		if !r.open() && r.queued == 0 && r.placed == l.placed {
			err = t.rewind(r, l.messages)
		} else {
			err = t.repost(r, l.messages)
		}
		if err != nil {
			return err
		}
		return t.save(r)
	})
}

// repost writes messages anew and puts them at the end of the queue.
func (t *tx) repost(r *row, messages string) error {
	list, err := decodeMessages(messages)
	if err != nil {
		return err
	}
	if r.queued == 0 {
		r.readyAt = t.now
	}
	for _, m := range list {
		entries, err := t.entries("SELECT "+entryColumns+" FROM entries WHERE log = ? AND seq = ?", r.log, m.Seq)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if _, err := t.insert(r, e.Type, e.Payload, 0, true); err != nil {
				return err
			}
			m.Seq = r.seq
			if err := t.queue(r, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// DropDead forgets a parked turn.
func (s *Store) DropDead(ctx context.Context, id string) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exhume(id)
		return err
	})
}
