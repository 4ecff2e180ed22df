package sqlitestore

import (
	"context"

	"parley/sessions"
)

// Clear erases a session's entries. They are gone at once for everybody; the
// file gives them up bit by bit behind it.
func (s *Store) Clear(ctx context.Context, id string) (sessions.Record, error) {
	record, err := s.change(ctx, id, "clear", func(t *tx, r *row) error {
		if r.open() {
			return r.refuse("clear")
		}
		return t.overwriting(func() error { return t.clear(r) })
	})
	if err == nil {
		s.chores.wake()
	}
	return record, err
}

// clear gives the session a new, empty log, and saves.
func (t *tx) clear(r *row) error {
	if err := t.forget(r); err != nil {
		return err
	}
	log, err := t.fence()
	if err != nil {
		return err
	}
	if err := t.quoteNothing(r); err != nil {
		return err
	}
	r.log, r.cleared, r.leaf, r.last = log, r.seq, 0, ""
	r.queued, r.loggedWaiting = 0, 0
	t.events = append(t.events, sessions.LiveEvent{Session: r.id, Kind: sessions.LiveStatus})
	return t.save(r)
}

// forget removes what refers to a session's entries, and leaves the entries
// themselves to be erased.
func (t *tx) forget(r *row) error {
	for _, query := range []string{"DELETE FROM queue WHERE session = ?", "DELETE FROM dead WHERE session = ?"} {
		if _, err := t.exec(query, r.num); err != nil {
			return err
		}
	}
	if _, err := t.exec("DELETE FROM timers WHERE home = ?", r.id); err != nil {
		return err
	}
	_, err := t.exec("INSERT INTO erasures (log, staged) VALUES (?, 0)", r.log)
	return err
}

// quoteNothing removes from the record what it quotes of the entries.
func (t *tx) quoteNothing(r *row) error {
	d, err := t.detail(r)
	if err != nil {
		return err
	}
	r.preview, d.ContextTokens = "", 0
	checked := d.Checkpoint.Seq > 0
	if d.DescriptionSource == sessions.DescriptionFallback || checked && d.DescriptionSource == sessions.DescriptionAgent {
		d.Description, d.DescriptionSource = "", ""
	}
	if checked {
		d.WorkingMemory = ""
	}
	d.Checkpoint = sessions.Checkpoint{Turns: r.turns}
	r.described = d.DescriptionSource != ""
	return t.saveDetail(r)
}
