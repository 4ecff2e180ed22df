package redisstore

import (
	"context"

	"parley/sessions"
)

// Touch counts as activity.
func (s *Store) Touch(ctx context.Context, id string) (sessions.Record, error) {
	if err := sessions.CheckID(id); err != nil {
		return sessions.Record{}, err
	}
	return s.recordOf(ctx, s.of(id), s.scripts.touch, "touch", id)
}

// Attach makes a session the current one of a surface. Where the surface is at
// home in another partition, its binding there is what counts, and the session
// follows by a step of its own: a failure in between is finished by Due.
func (s *Store) Attach(ctx context.Context, request sessions.AttachRequest) (sessions.Record, string, error) {
	if err := request.Check(); err != nil {
		return sessions.Record{}, "", err
	}
	p := s.ofSurface(request.Surface)
	mine := p == s.of(request.Session)
	if !mine {
		record, err := s.Get(ctx, request.Session)
		if err == nil {
			err = sessions.CheckAttach(record, request)
		}
		if err != nil {
			return sessions.Record{}, "", err
		}
	}
	code, r, err := s.answer(ctx, p, s.scripts.attach, request.Surface, request.Session, bit(mine), bit(request.Group),
		bit(request.Revive), newToken())
	if err != nil {
		return sessions.Record{}, "", err
	}
	if code != "ok" {
		return sessions.Record{}, "", r.refusal(code, "attach")
	}
	previous := r.text()
	s.forwardAll(ctx, p, r.list(), nil)
	if r.err != nil {
		return sessions.Record{}, "", r.err
	}
	record, err := s.Get(ctx, request.Session)
	return record, previous, err
}

// Detach takes a surface off a session.
func (s *Store) Detach(ctx context.Context, id, surface string) (sessions.Record, error) {
	request := sessions.AttachRequest{Session: id, Surface: surface}
	if err := request.Check(); err != nil {
		return sessions.Record{}, err
	}
	p := s.ofSurface(surface)
	mine := p == s.of(id)
	if !mine {
		record, err := s.Get(ctx, id)
		if err != nil {
			return sessions.Record{}, err
		}
		if record.State == sessions.StateExpired {
			return sessions.Record{}, &sessions.StateError{Session: id, State: record.State, Status: record.Status, Attempted: "detach"}
		}
	}
	code, r, err := s.answer(ctx, p, s.scripts.detach, surface, id, bit(mine), newToken())
	if err != nil {
		return sessions.Record{}, err
	}
	if code != "ok" {
		return sessions.Record{}, r.refusal(code, "detach")
	}
	s.forwardAll(ctx, p, r.list(), nil)
	if r.err != nil {
		return sessions.Record{}, r.err
	}
	return s.Get(ctx, id)
}

// Leave takes a user off a session's participants.
func (s *Store) Leave(ctx context.Context, id, user string) (sessions.Record, error) {
	if err := sessions.CheckID(id); err != nil {
		return sessions.Record{}, err
	}
	if err := sessions.CheckKey("user id", user); err != nil {
		return sessions.Record{}, err
	}
	return s.recordOf(ctx, s.of(id), s.scripts.leave, "leave", id, user)
}

// Expire ends a session for good.
func (s *Store) Expire(ctx context.Context, id string) (sessions.Record, error) {
	if err := sessions.CheckID(id); err != nil {
		return sessions.Record{}, err
	}
	p := s.of(id)
	code, r, err := s.answer(ctx, p, s.scripts.expire, id, newToken())
	if err != nil {
		return sessions.Record{}, err
	}
	if code != "ok" {
		return sessions.Record{}, r.refusal(code, "expire")
	}
	record, err := r.list().record()
	if err != nil {
		return sessions.Record{}, err
	}
	s.forwardAll(ctx, p, r.list(), nil)
	return record, r.err
}
