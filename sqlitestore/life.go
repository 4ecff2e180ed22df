package sqlitestore

import (
	"context"
	"slices"

	"parley/sessions"
)

// Touch counts as activity.
func (s *Store) Touch(ctx context.Context, id string) (sessions.Record, error) {
	return s.change(ctx, id, "touch", func(t *tx, r *row) error {
		r.revive(t.now, true)
		return t.save(r)
	})
}

// change runs an operation on a session that is not expired, and reads what it
// left. The operation saves what it changes.
func (s *Store) change(ctx context.Context, id, attempted string, run func(t *tx, r *row) error) (sessions.Record, error) {
	if err := sessions.CheckID(id); err != nil {
		return sessions.Record{}, err
	}
	return written(ctx, s, func(t *tx) (sessions.Record, error) {
		r, err := t.load(id)
		if err != nil {
			return sessions.Record{}, err
		}
		if r.state == sessions.StateExpired {
			return sessions.Record{}, r.refuse(attempted)
		}
		if err := run(t, r); err != nil {
			return sessions.Record{}, err
		}
		return t.record(r)
	})
}

// Attach makes a session the current one of a surface.
func (s *Store) Attach(ctx context.Context, request sessions.AttachRequest) (sessions.Record, string, error) {
	if err := request.Check(); err != nil {
		return sessions.Record{}, "", err
	}
	previous := ""
	record, err := written(ctx, s, func(t *tx) (record sessions.Record, err error) {
		record, previous, err = t.attachFree(request)
		return record, err
	})
	if err != nil {
		return sessions.Record{}, "", err
	}
	return record, previous, nil
}

// attachFree takes the surface off the session it has, and attaches it.
func (t *tx) attachFree(request sessions.AttachRequest) (record sessions.Record, previous string, err error) {
	if record, err = t.whole(t.find(request.Session)); err != nil {
		return record, "", err
	}
	if err := sessions.CheckAttach(record, request); err != nil {
		return record, "", err
	}
	r, err := t.load(request.Session)
	if err != nil {
		return record, "", err
	}
	bound, err := t.findBound(request.Surface)
	if err != nil {
		return record, "", err
	}
	moves := bound == nil || bound.num != r.num
	if moves {
		if previous, err = t.moveSurface(bound, r, request.Surface); err != nil {
			return record, "", err
		}
	}
	if request.Revive {
		r.revive(t.now, true)
	}
	if moves || request.Revive {
		if err := t.save(r); err != nil {
			return record, "", err
		}
	}
	record, err = t.record(r)
	return record, previous, err
}

// moveSurface takes a surface off one session, if it has one, and gives it to
// another, whose row is saved by the caller.
func (t *tx) moveSurface(from, to *row, surface string) (previous string, err error) {
	if from != nil {
		previous = from.id
		if err := t.detach(from, surface); err != nil {
			return "", err
		}
		if err := t.save(from); err != nil {
			return "", err
		}
	}
	if err := t.attach(to, surface); err != nil {
		return "", err
	}
	return previous, t.saveDetail(to)
}

// Detach takes a surface off a session.
func (s *Store) Detach(ctx context.Context, id, surface string) (sessions.Record, error) {
	if err := sessions.CheckKey("surface", surface); err != nil {
		return sessions.Record{}, err
	}
	return s.change(ctx, id, "detach", func(t *tx, r *row) error {
		d, err := t.detail(r)
		if err != nil || !slices.Contains(d.Surfaces, surface) {
			return err
		}
		if err := t.detach(r, surface); err != nil {
			return err
		}
		return t.save(r)
	})
}

// Leave takes a user off a session's participants.
func (s *Store) Leave(ctx context.Context, id, user string) (sessions.Record, error) {
	if err := sessions.CheckID(id); err != nil {
		return sessions.Record{}, err
	}
	if err := sessions.CheckKey("user id", user); err != nil {
		return sessions.Record{}, err
	}
	return written(ctx, s, func(t *tx) (sessions.Record, error) {
		r, err := t.load(id)
		if err != nil {
			return sessions.Record{}, err
		}
		if user, err = t.userOf(user); err != nil {
			return sessions.Record{}, err
		}
		gone, err := t.exec("DELETE FROM participants WHERE session = ? AND user_id = ?", r.num, user)
		if err == nil && gone > 0 {
			err = t.save(r)
		}
		if err != nil {
			return sessions.Record{}, err
		}
		return t.record(r)
	})
}

// Expire ends a session for good.
func (s *Store) Expire(ctx context.Context, id string) (sessions.Record, error) {
	if err := sessions.CheckID(id); err != nil {
		return sessions.Record{}, err
	}
	return written(ctx, s, func(t *tx) (sessions.Record, error) {
		r, err := t.load(id)
		if err != nil {
			return sessions.Record{}, err
		}
		if r.state != sessions.StateExpired {
			if err := t.expire(r); err != nil {
				return sessions.Record{}, err
			}
		}
		return t.record(r)
	})
}

// expire frees the surfaces, asks an open turn to stop, and saves.
func (t *tx) expire(r *row) error {
	if err := t.unbind(r); err != nil {
		return err
	}
	r.details.Surfaces = nil
	if err := t.saveDetail(r); err != nil {
		return err
	}
	r.setState(sessions.StateExpired, t.now)
	r.status = sessions.StatusInactive
	if r.open() {
		t.stop(r)
	}
	return t.save(r)
}

// unbind frees all surfaces of a session; its details still name them.
func (t *tx) unbind(r *row) error {
	d, err := t.detail(r)
	if err != nil {
		return err
	}
	for _, surface := range d.Surfaces {
		if _, err := t.exec("DELETE FROM bindings WHERE surface = ?", surface); err != nil {
			return err
		}
	}
	return nil
}
