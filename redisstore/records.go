package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/sessions"
)

// now is the present day, for ids only.
func (s *Store) now() time.Time { return time.Now().Add(s.config.Offset()) }

// dedupeFor is how long a dedupe key counts, in milliseconds.
const dedupeFor = int64(sessions.DedupeFor / time.Millisecond)

// answer runs a script whose answer begins with a code.
func (s *Store) answer(ctx context.Context, p partition, sc *script, values ...any) (string, *reply, error) {
	val, err := s.run(ctx, p, sc, values...)
	if err != nil {
		return "", nil, err
	}
	r := read(val)
	code := r.text()
	return code, r, r.err
}

// refusal is the error of the codes that mean the same in every script.
func (r *reply) refusal(code, attempted string) error {
	switch code {
	case "missing", "gone":
		return sessions.ErrNotFound
	case "target":
		return &targetError{}
	case "taken":
		return sessions.ErrConflict
	case "group":
		return sessions.ErrGroup
	case "busy":
		return sessions.ErrBusy
	case "nothing":
		return sessions.ErrNothing
	case "fenced":
		return sessions.ErrFenced
	case "full":
		return sessions.ErrQueueFull
	case "metadata":
		return &sessions.InvalidError{What: "metadata", Why: "together with what is there it would be too long"}
	case "blob":
		return &blobError{}
	case "state":
		return &sessions.StateError{Session: r.text(), State: sessions.State(r.text()), Status: sessions.Status(r.text()), Attempted: attempted}
	}
	return errReply
}

// targetError: a leaf was to move to what is not in the tree.
type targetError struct{}

func (*targetError) Error() string { return "the leaf's target is no entry of this session's tree" }
func (*targetError) Unwrap() error { return sessions.ErrNotFound }

// blobError: a payload that was sent before the script has gone since.
type blobError struct{}

func (*blobError) Error() string { return "a payload was lost on the way: try again" }
func (*blobError) Unwrap() error { return sessions.ErrUnavailable }

// Open creates or reopens a session.
func (s *Store) Open(ctx context.Context, request sessions.NewSession) (sessions.Record, bool, error) {
	if err := request.Check(); err != nil {
		return sessions.Record{}, false, err
	}
	p := s.ofSurface(request.Surface)
	if request.Surface == "" {
		p = s.of(request.ID)
	}
	record, created, target, err := s.openIn(ctx, p, request)
	if err != nil || target == "" {
		return record, created, err
	}
	record, _, err = s.reopen(ctx, target, request)
	var state *sessions.StateError
	if err == nil || !errors.Is(err, sessions.ErrNotFound) && !errors.As(err, &state) {
		return record, false, err
	}
	// That session has ended; its surface, which is at home here, is to be free.
	if _, err := s.apply(ctx, "o:"+request.Surface, []step{{newToken(), "unbind", target}}, nil); err != nil {
		return sessions.Record{}, false, err
	}
	record, created, target, err = s.openIn(ctx, p, request)
	if target != "" {
		err = fmt.Errorf("surface is being moved: %w", sessions.ErrUnavailable)
	}
	return record, created, err
}

// openIn opens at the surface's home. moved is the session of another
// partition that the surface is bound to: then nothing was done.
func (s *Store) openIn(ctx context.Context, p partition, request sessions.NewSession) (record sessions.Record, created bool, moved string, err error) {
	made, err := coldOf(request, request.Surface)
	if err != nil {
		return sessions.Record{}, false, "", err
	}
	bare, random := s.idsFor(request)
	code, r, err := s.opened(ctx, p, request, request.Surface, bare, random, made)
	switch {
	case err != nil:
		return sessions.Record{}, false, "", err
	case code == "moved":
		return sessions.Record{}, false, r.text(), r.err
	case code != "ok":
		return sessions.Record{}, false, "", r.refusal(code, "open")
	}
	created = r.flag()
	record, err = r.list().record()
	return record, created, "", err
}

// reopen merges the metadata into a session that is there.
func (s *Store) reopen(ctx context.Context, id string, request sessions.NewSession) (sessions.Record, bool, error) {
	request.ID = id
	code, r, err := s.opened(ctx, s.of(id), request, "", "", "", "")
	if err != nil {
		return sessions.Record{}, false, err
	}
	if code != "ok" {
		return sessions.Record{}, false, r.refusal(code, "open")
	}
	created := r.flag()
	record, err := r.list().record()
	return record, created, err
}

func (s *Store) opened(ctx context.Context, p partition, request sessions.NewSession, surface, bare, random, made string) (string, *reply, error) {
	patch, err := patchArgs(sessions.Patch{Metadata: request.Metadata})
	if err != nil {
		return "", nil, err
	}
	args := append([]any{request.ID, surface, bare, random, request.UserID, made, sessions.MetadataMax}, patch...)
	return s.answer(ctx, p, s.scripts.open, args...)
}

// idsFor are the ids a new session may get if none is wanted.
func (s *Store) idsFor(request sessions.NewSession) (bare, random string) {
	if request.ID != "" || request.Surface == "" {
		return "", ""
	}
	return sessions.BareID(request.Surface), drawID(request.Surface, s.now(), len(s.parts))
}

// Get reads a record.
func (s *Store) Get(ctx context.Context, id string) (sessions.Record, error) {
	if err := sessions.CheckID(id); err != nil {
		return sessions.Record{}, err
	}
	return s.recordOf(ctx, s.of(id), s.scripts.get, "get", id)
}

// recordOf runs a script that answers with a record.
func (s *Store) recordOf(ctx context.Context, p partition, sc *script, attempted string, values ...any) (sessions.Record, error) {
	code, r, err := s.answer(ctx, p, sc, values...)
	switch {
	case err != nil:
		return sessions.Record{}, err
	case code == "moved":
		return s.Get(ctx, r.text())
	case code != "ok":
		return sessions.Record{}, r.refusal(code, attempted)
	}
	return r.list().record()
}

// Bound reads the record of a surface's current session.
func (s *Store) Bound(ctx context.Context, surface string) (sessions.Record, error) {
	if err := sessions.CheckKey("surface", surface); err != nil {
		return sessions.Record{}, err
	}
	return s.recordOf(ctx, s.ofSurface(surface), s.scripts.bound, "get", surface)
}

// Update changes a record.
func (s *Store) Update(ctx context.Context, id string, patch sessions.Patch) (sessions.Record, error) {
	if err := sessions.CheckID(id); err != nil {
		return sessions.Record{}, err
	}
	if err := patch.Check(); err != nil {
		return sessions.Record{}, err
	}
	args, err := patchArgs(patch)
	if err != nil {
		return sessions.Record{}, err
	}
	return s.recordOf(ctx, s.of(id), s.scripts.update, "update", append([]any{id, sessions.MetadataMax}, args...)...)
}

// Rotate gives a surface a new session.
func (s *Store) Rotate(ctx context.Context, request sessions.RotateRequest) (sessions.RotateResult, error) {
	if err := request.Check(); err != nil {
		return sessions.RotateResult{}, err
	}
	surface := request.New.Surface
	p := s.ofSurface(surface)
	made, err := coldOf(request.New, surface)
	if err != nil {
		return sessions.RotateResult{}, err
	}
	rows, err := s.rowArgs(ctx, p, request.Deliveries, false)
	if err != nil {
		return sessions.RotateResult{}, err
	}
	bare, random := s.idsFor(request.New)
	args := append([]any{surface, request.Key, dedupeFor, request.New.ID, bare, random, request.New.UserID, made, newToken()}, rows...)
	code, r, err := s.answer(ctx, p, s.scripts.rotate, append(args, claimMillis(request.Send), newToken(), request.Held)...)
	switch {
	case err != nil:
		return sessions.RotateResult{}, err
	case code == "dup":
		return sessions.RotateResult{Duplicate: true}, nil
	case code == "elsewhere":
		return sessions.RotateResult{}, errors.Join(&sessions.MovedError{Surface: surface, Session: r.text()}, r.err)
	case code != "ok":
		return sessions.RotateResult{}, r.refusal(code, "rotate")
	}
	return s.rotated(ctx, p, r)
}

func (s *Store) rotated(ctx context.Context, p partition, r *reply) (result sessions.RotateResult, err error) {
	result.Old = r.text()
	if result.Record, err = r.list().record(); err != nil {
		return result, err
	}
	if result.Sends, err = s.deliveries(ctx, r.list()); err != nil {
		return result, err
	}
	s.forwardAll(ctx, p, r.list(), nil)
	return result, r.err
}
