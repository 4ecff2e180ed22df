package api

import (
	"context"
	"net/http"

	"parley/adapters"
	"parley/sessions"
)

type attachedAnswer struct {
	Session  sessionJSON `json:"session"`
	Previous string      `json:"previous,omitempty"` // the session the surface had
}

// attachSurface makes a session the current one of a surface.
func (s *Server) attachSurface(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, surface, err := s.surfaceAt(ctx, r)
	if err != nil {
		return err
	}
	answer, err := s.attach(ctx, callerOf(r), record, surface, false)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, answer)
}

// detachSurface takes a surface off a session: the next message there begins
// another.
func (s *Server) detachSurface(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, surface, err := s.surfaceAt(ctx, r)
	if err != nil {
		return err
	}
	if record, err = s.config.Store.Detach(ctx, record.ID, surface.Key()); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, sessionView(record))
}

// surfaceAt reads the session and the surface that a request names.
func (s *Server) surfaceAt(ctx context.Context, r *http.Request) (sessions.Record, adapters.Surface, error) {
	surface, err := surfaceOf(r.PathValue("key"))
	if err == nil {
		err = callerOf(r).mayBind(surface)
	}
	if err != nil {
		return sessions.Record{}, surface, err
	}
	record, err := s.reach(ctx, r)
	return record, surface, err
}

// attach binds a surface, whose present session the caller has to be able to
// reach as well.
func (s *Server) attach(ctx context.Context, who caller, record sessions.Record, surface adapters.Surface, revive bool) (attachedAnswer, error) {
	current, err := s.bound(ctx, surface.Key())
	if err != nil {
		return attachedAnswer{}, err
	}
	if current.ID != "" {
		if err := sessions.Reach(current, who.Caller); err != nil {
			return attachedAnswer{}, err
		}
	}
	attached, previous, err := s.config.Store.Attach(ctx, sessions.AttachRequest{
		Session: record.ID, Surface: surface.Key(), Group: isGroup(surface, current), Revive: revive})
	if err != nil {
		return attachedAnswer{}, err
	}
	return attachedAnswer{Session: sessionView(attached), Previous: previous}, nil
}

// isGroup says whether many people talk on a surface. On the gateway's own
// platforms nobody but the owner does; on every other the conversation that is
// there tells, and without one it is taken for a group: a direct conversation
// must not show up among strangers.
func isGroup(surface adapters.Surface, current sessions.Record) bool {
	if localOwner(surface.Platform) != "" || surface.Platform == adapters.Schedule {
		return false
	}
	return current.Source.Type != sessions.Direct
}
