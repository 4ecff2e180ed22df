package sqlitestore

import (
	"context"
	"errors"

	"parley/sessions"
)

// Delete removes a session. Its entries are gone at once for everybody; the
// file gives them up bit by bit behind it.
func (s *Store) Delete(ctx context.Context, id string) error {
	if err := sessions.CheckID(id); err != nil {
		return err
	}
	err := s.write(ctx, func(t *tx) error {
		r, err := t.load(id)
		if err != nil {
			return err
		}
		if err := r.mayDelete(); err != nil {
			return err
		}
		return t.delete(r)
	})
	if err == nil {
		s.chores.wake()
	}
	return err
}

// Discard deletes a session in which no turn ever ended.
func (s *Store) Discard(ctx context.Context, id string) (discarded bool, err error) {
	if err := sessions.CheckID(id); err != nil {
		return false, err
	}
	discarded, err = written(ctx, s, func(t *tx) (bool, error) {
		r, err := t.find(id)
		if err != nil || r == nil || r.turns > 0 || r.mayDelete() != nil {
			return false, err
		}
		return true, t.delete(r)
	})
	if discarded {
		s.chores.wake()
	}
	return discarded, err
}

// mayDelete refuses a group, and a session that has something to answer.
func (r *row) mayDelete() error {
	if r.kind == sessions.Group {
		return sessions.ErrGroup
	}
	if r.busy() {
		return r.refuse("delete")
	}
	return nil
}

// delete removes a session's rows.
func (t *tx) delete(r *row) error {
	err := t.overwriting(func() error {
		err := errors.Join(t.unbind(r), t.forget(r))
		for _, query := range []string{
			"DELETE FROM participants WHERE session = ?", "DELETE FROM details WHERE session = ?", "DELETE FROM sessions WHERE num = ?",
		} {
			if err == nil {
				_, err = t.exec(query, r.num)
			}
		}
		return err
	})
	t.events = append(t.events, sessions.LiveEvent{Session: r.id, Kind: sessions.LiveStatus})
	return err
}
