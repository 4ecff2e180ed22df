package sqlitestore

import (
	"context"
	"slices"

	"parley/sessions"
)

// Open creates or reopens a session.
func (s *Store) Open(ctx context.Context, request sessions.NewSession) (sessions.Record, bool, error) {
	if err := request.Check(); err != nil {
		return sessions.Record{}, false, err
	}
	created := false
	record, err := written(ctx, s, func(t *tx) (record sessions.Record, err error) {
		record, created, err = t.open(request)
		return record, err
	})
	if err != nil {
		return sessions.Record{}, false, err
	}
	return record, created, nil
}

func (t *tx) open(request sessions.NewSession) (record sessions.Record, created bool, err error) {
	r, bound, err := t.wanted(request)
	if err != nil {
		return record, false, err
	}
	if r == nil {
		if bound != nil {
			return record, false, sessions.ErrConflict
		}
		if r, err = t.create(request, request.Surface); err != nil {
			return record, false, err
		}
		record, err = t.record(r)
		return record, true, err
	}
	if r.state == sessions.StateExpired {
		return record, false, r.refuse("open")
	}
	if err = t.reopen(r, bound, request); err != nil {
		return record, false, err
	}
	record, err = t.record(r)
	return record, false, err
}

// wanted finds the session that is meant, if it is there, and the present one
// of the surface.
func (t *tx) wanted(request sessions.NewSession) (r, bound *row, err error) {
	if request.Surface != "" {
		if bound, err = t.findBound(request.Surface); err != nil {
			return nil, nil, err
		}
	}
	if request.ID == "" {
		return bound, bound, nil
	}
	r, err = t.find(request.ID)
	return r, bound, err
}

// reopen merges metadata and attaches a free surface, if there is anything to do.
func (t *tx) reopen(r, bound *row, request sessions.NewSession) error {
	attach := request.Surface != "" && bound == nil
	if bound != nil && bound.num != r.num {
		return sessions.ErrConflict
	}
	if !attach && len(request.Metadata) == 0 {
		return nil
	}
	if attach {
		if err := t.attach(r, request.Surface); err != nil {
			return err
		}
	}
	if err := t.patch(r, sessions.Patch{Metadata: request.Metadata}); err != nil {
		return err
	}
	return t.save(r)
}

// create makes a session, bound to surface if that is not empty.
func (t *tx) create(request sessions.NewSession, surface string) (*row, error) {
	id, err := t.pickID(request.ID, surface)
	if err != nil {
		return nil, err
	}
	user := request.UserID
	if user != "" {
		if user, err = t.userOf(user); err != nil {
			return nil, err
		}
	}
	r := &row{
		id: id, state: sessions.StateCreated, status: sessions.StatusIdle, userID: user, workspaceID: request.WorkspaceID,
		createdAt: t.now, activeAt: t.now, kind: typeOf(request.Source),
	}
	if err := t.add(r); err != nil {
		return nil, err
	}
	r.details = &details{
		Source: request.Source, Name: request.Name, Agent: request.Agent,
		Metadata: sessions.MergeMetadata(nil, request.Metadata),
	}
	if surface != "" {
		if err := t.attach(r, surface); err != nil {
			return nil, err
		}
	}
	if err := t.saveDetail(r); err != nil {
		return nil, err
	}
	return r, t.join(r, user, 0)
}

// add inserts the row of a session that is at rest, with a number that no other
// ever had, and unless it has a log, a new one.
func (t *tx) add(r *row) (err error) {
	if r.num, err = t.fence(); err != nil {
		return err
	}
	if r.log == 0 {
		r.log = r.num
	}
	r.was = r.now()
	_, err = t.exec(`INSERT INTO sessions (num, id, state, status, user_id, workspace_id, created_at, active_at, changed_at, seq, leaf, epoch, version, messages, turns,
		preview, described, queued, logged_waiting, ready_at, taken, last, attempts, stop, nonce, lease_until, settled, log, cleared, placed, type)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, '', '', 0, 0, '', 0, 0, ?, 0, ?, ?)`,
		r.num, r.id, r.state, r.status, r.userID, r.workspaceID, r.createdAt, r.activeAt, r.changedAt, r.seq, r.leaf, r.epoch, r.version, r.messages, r.turns,
		r.preview, r.described, r.log, r.placed, r.kind)
	return err
}

// typeOf is the type by which a session is found.
func typeOf(source sessions.Source) sessions.Type {
	if source.Type != sessions.Direct && source.Type != sessions.Group {
		return ""
	}
	return source.Type
}

// pickID is the id asked for, or the surface's bare id, or a drawn one.
// ErrConflict: the one asked for is taken.
func (t *tx) pickID(id, surface string) (string, error) {
	wanted := id
	if wanted == "" {
		wanted = sessions.BareID(surface)
	}
	if wanted != "" {
		taken, err := t.exists(wanted)
		if err != nil || !taken {
			return wanted, err
		}
		if id != "" {
			return "", sessions.ErrConflict
		}
	}
	prefix := sessions.IDPrefix(surface, t.time())
	for {
		drawn := sessions.DrawID(prefix, nil)
		if taken, err := t.exists(drawn); err != nil || !taken {
			return drawn, err
		}
	}
}

func (t *tx) exists(id string) (bool, error) {
	var num int64
	return t.one("SELECT num FROM sessions WHERE id = ?", []any{id}, []any{&num})
}

// attach binds a free surface to the session; its details are saved by the caller.
func (t *tx) attach(r *row, surface string) error {
	d, err := t.detail(r)
	if err != nil {
		return err
	}
	d.Surfaces = append(d.Surfaces, surface)
	_, err = t.exec("INSERT INTO bindings (surface, session) VALUES (?, ?)", surface, r.num)
	return err
}

// detach unbinds a surface from its session and saves the details.
func (t *tx) detach(r *row, surface string) error {
	d, err := t.detail(r)
	if err != nil {
		return err
	}
	d.Surfaces = slices.DeleteFunc(d.Surfaces, func(s string) bool { return s == surface })
	if _, err := t.exec("DELETE FROM bindings WHERE surface = ?", surface); err != nil {
		return err
	}
	return t.saveDetail(r)
}

// Get reads a record.
func (s *Store) Get(ctx context.Context, id string) (sessions.Record, error) {
	if err := sessions.CheckID(id); err != nil {
		return sessions.Record{}, err
	}
	return read(ctx, s, func(t *tx) (sessions.Record, error) { return t.whole(t.find(id)) })
}

// Bound reads the record of a surface's current session.
func (s *Store) Bound(ctx context.Context, surface string) (sessions.Record, error) {
	if err := sessions.CheckKey("surface", surface); err != nil {
		return sessions.Record{}, err
	}
	return read(ctx, s, func(t *tx) (sessions.Record, error) { return t.whole(t.findBound(surface)) })
}

// whole is the record of a row that was looked for.
func (t *tx) whole(r *row, err error) (sessions.Record, error) {
	if err == nil && r == nil {
		err = sessions.ErrNotFound
	}
	if err != nil {
		return sessions.Record{}, err
	}
	return t.record(r)
}

// Update changes a record.
func (s *Store) Update(ctx context.Context, id string, patch sessions.Patch) (sessions.Record, error) {
	if err := sessions.CheckID(id); err != nil {
		return sessions.Record{}, err
	}
	if err := patch.Check(); err != nil {
		return sessions.Record{}, err
	}
	return written(ctx, s, func(t *tx) (sessions.Record, error) {
		r, err := t.load(id)
		if err != nil {
			return sessions.Record{}, err
		}
		if r.state == sessions.StateExpired {
			return sessions.Record{}, r.refuse("update")
		}
		if err := t.patch(r, patch); err != nil {
			return sessions.Record{}, err
		}
		if err := t.save(r); err != nil {
			return sessions.Record{}, err
		}
		return t.record(r)
	})
}
