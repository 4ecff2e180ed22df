package api

import (
	"context"

	"parley/conversations"
)

type attachedAnswer struct {
	Session  sessionJSON `json:"session"`
	Previous string      `json:"previous,omitempty"` // the session the surface had
}

// attachSurface makes a session the current one of a surface.
func (s *Server) attachSurface(ctx context.Context, a asked) (any, error) {
	surface, err := surfaceOf(a.r.PathValue("key"))
	if err != nil {
		return nil, err
	}
	result, err := s.room.Attach(ctx, a.by, a.id, conversations.There(surface.Key()))
	return attachedAnswer{Session: sessionView(result.Record), Previous: result.Previous}, err
}

// detachSurface takes a surface off a session: the next message there begins
// another.
func (s *Server) detachSurface(ctx context.Context, a asked) (any, error) {
	surface, err := surfaceOf(a.r.PathValue("key"))
	if err != nil {
		return nil, err
	}
	return seen(s.room.Detach(ctx, a.by, a.id, surface.Key()))
}
