package sqlitestore

import (
	"context"

	"parley/sessions"
)

// Rotate gives a surface a new session.
func (s *Store) Rotate(ctx context.Context, request sessions.RotateRequest) (sessions.RotateResult, error) {
	if err := request.Check(); err != nil {
		return sessions.RotateResult{}, err
	}
	return written(ctx, s, func(t *tx) (sessions.RotateResult, error) { return t.rotate(request) })
}

func (t *tx) rotate(request sessions.RotateRequest) (result sessions.RotateResult, err error) {
	if seen, err := t.seen(request.Key); err != nil || seen {
		return sessions.RotateResult{Duplicate: seen}, err
	}
	surface := request.New.Surface
	old, err := t.findBound(surface)
	if err != nil {
		return result, err
	}
	if err := movedTo(old, surface, request.Held); err != nil {
		return result, err
	}
	if old != nil {
		result.Old = old.id
		if err := t.replace(old, surface); err != nil {
			return result, err
		}
	}
	r, err := t.create(request.New, surface)
	if err != nil {
		return result, err
	}
	if err := t.remember(surface, request.Key, sessions.DedupeFor, r.num, 0); err != nil {
		return result, err
	}
	if result.Sends, err = t.enqueue(r, request.Deliveries, nil, request.Send); err != nil {
		return result, err
	}
	result.Record, err = t.record(r)
	return result, err
}

// replace unbinds and suspends a surface's session and asks its turn to stop.
func (t *tx) replace(old *row, surface string) error {
	if err := t.detach(old, surface); err != nil {
		return err
	}
	if old.state != sessions.StateExpired {
		old.setState(sessions.StateSuspended, t.now)
	}
	old.status = sessions.StatusInactive
	if old.open() {
		t.stop(old)
	}
	return t.save(old)
}

// seen reports whether a dedupe key counts still. The empty key never does.
func (t *tx) seen(key string) (bool, error) {
	if key == "" {
		return false, nil
	}
	var until int64
	found, err := t.one("SELECT until FROM dedupe WHERE key = ?", []any{key}, []any{&until})
	return found && until > t.now, err
}
