package redisstore

import (
	"context"
	"errors"

	"parley/sessions"
)

// Delete removes a session.
func (s *Store) Delete(ctx context.Context, id string) error {
	_, err := s.remove(ctx, id, false)
	return err
}

// Discard deletes a session in which no turn ever ended.
func (s *Store) Discard(ctx context.Context, id string) (bool, error) {
	discarded, err := s.remove(ctx, id, true)
	var state *sessions.StateError
	if errors.Is(err, sessions.ErrNotFound) || errors.Is(err, sessions.ErrGroup) || errors.As(err, &state) {
		return false, nil
	}
	return discarded, err
}

func (s *Store) remove(ctx context.Context, id string, unused bool) (bool, error) {
	if err := sessions.CheckID(id); err != nil {
		return false, err
	}
	p := s.of(id)
	code, r, err := s.answer(ctx, p, s.scripts.remove, id, bit(unused), newToken())
	switch {
	case err != nil:
		return false, err
	case code == "nothing":
		return false, nil
	case code != "ok":
		return false, r.refusal(code, "delete")
	}
	s.forwardAll(ctx, p, r.list(), nil)
	return true, r.err
}
