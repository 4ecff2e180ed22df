package sqlitestore

import (
	"context"
	"fmt"
	"reflect"

	"parley/sessions"
)

// Note writes entries outside of turns.
func (s *Store) Note(ctx context.Context, request sessions.NoteRequest) (sessions.NoteResult, error) {
	if err := request.Check(); err != nil {
		return sessions.NoteResult{}, err
	}
	return written(ctx, s, func(t *tx) (sessions.NoteResult, error) { return t.noteDown(request) })
}

func (t *tx) noteDown(request sessions.NoteRequest) (result sessions.NoteResult, err error) {
	r, err := t.load(request.Session)
	if err != nil {
		return result, err
	}
	seen, err := t.seen(request.Key)
	if err != nil {
		return result, err
	}
	if seen {
		result.Duplicate = true
		result.Record, err = t.record(r)
		return result, err
	}
	if err := t.mayNote(r, request); err != nil {
		return result, err
	}
	if err := t.remember(r.id, request.Key, sessions.DedupeFor, r.num, r.seq+1); err != nil {
		return result, err
	}
	if result.Entries, err = t.writeNotes(r, request.Entries); err != nil {
		return result, err
	}
	if !reflect.ValueOf(request.Patch).IsZero() {
		if err := t.patch(r, request.Patch); err != nil {
			return result, err
		}
	}
	if err := t.save(r); err != nil {
		return result, err
	}
	result.Record, err = t.record(r)
	return result, err
}

// busy reports whether what enters the tree now would come between a turn and
// what it answers.
func (r *row) busy() bool { return r.open() || r.queued > 0 }

// mayNote refuses a note that the session's state, or its leaf, does not allow.
func (t *tx) mayNote(r *row, request sessions.NoteRequest) error {
	if r.state == sessions.StateExpired || request.Steers() && r.busy() {
		return r.refuse("write a note")
	}
	if request.IfVersion != nil && *request.IfVersion != r.version {
		return sessions.ErrConflict
	}
	if request.IfLeaf == nil || *request.IfLeaf == r.leaf {
		return nil
	}
	if *request.IfLeaf == 0 {
		return sessions.ErrConflict
	}
	there, err := t.one("SELECT 1 FROM entries WHERE log = ? AND seq = ?", []any{r.log, *request.IfLeaf}, []any{new(int)})
	switch {
	case err != nil:
		return err
	case there:
		return sessions.ErrConflict
	}
	return sessions.ErrNotFound
}

// writeNotes writes entries behind the leaf, or where the session is busy,
// those that stand in the tree as waiting.
func (t *tx) writeNotes(r *row, entries []sessions.NewEntry) ([]sessions.Entry, error) {
	if !r.busy() {
		return t.write(r, entries)
	}
	out := make([]sessions.Entry, 0, len(entries))
	for _, e := range entries {
		payload, err := e.Body()
		if err != nil {
			return nil, fmt.Errorf("encode an entry: %w", err)
		}
		entry, err := t.insert(r, e.Type, payload, 0, e.Type.InTree())
		if err != nil {
			return nil, err
		}
		if entry.Waiting {
			r.loggedWaiting++
		}
		out = append(out, entry)
	}
	return out, nil
}
