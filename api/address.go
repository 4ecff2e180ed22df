package api

import (
	"context"
	"errors"
	"strings"

	"parley/adapters"
	"parley/sessions"
)

// localSurface is the surface that a session id of a named place speaks of:
// web:local:x for web:x and for web:x~random, its later sessions. The second
// result is false for every other id.
func localSurface(id string) (adapters.Surface, bool) {
	platform, name, _ := strings.Cut(id, ":")
	switch adapters.Platform(platform) {
	case adapters.Web, adapters.CLI, adapters.API:
	default:
		return adapters.Surface{}, false
	}
	name, _, _ = strings.Cut(name, "~")
	surface, err := adapters.ParseSurface(platform + ":" + adapters.Local + ":" + name)
	return surface, err == nil && surface.Thread == ""
}

// firstSession reports whether id is what the first session of its surface is
// called, so that a message may bring it into being.
func firstSession(id string, surface adapters.Surface) bool {
	return sessions.BareID(surface.Key()) == id
}

// target is where a message for a session id goes.
type target struct {
	surface adapters.Surface
	session string // empty: the surface's current session, made if there is none
}

// resolve finds the target of a message addressed to a session id. The id of
// a named place's current session means the place, and so does its bare id
// while there is no such session yet, or it has expired; every other id means that very session, which has to exist. The
// caller has to be able to reach it either way.
func (s *Server) resolve(ctx context.Context, who caller, id string) (target, error) {
	if err := errors.Join(sessions.CheckID(id), who.mayName(id)); err != nil {
		return target{}, err
	}
	surface, named := localSurface(id)
	if named {
		current, err := s.config.Store.Bound(ctx, surface.Key())
		switch {
		case err == nil && current.ID == id:
			return target{surface: surface}, nil
		case err != nil && !errors.Is(err, sessions.ErrNotFound):
			return target{}, err
		}
	} else {
		surface = adapters.Surface{Platform: adapters.API, Account: adapters.Local, Chat: id}
	}
	record, err := s.reachID(ctx, who, id)
	gone := errors.Is(err, sessions.ErrNotFound) || err == nil && record.State == sessions.StateExpired
	if gone && named && firstSession(id, surface) {
		return target{surface: surface}, nil
	}
	return target{surface: surface, session: id}, err
}

// saidAt is the target of a message for a session, from a place that says which
// one it is: so a page or a terminal that has taken up another place's
// conversation stays itself. The caller can reach the session.
func (s *Server) saidAt(ctx context.Context, who caller, id, key string) (target, error) {
	surface, err := surfaceOf(key)
	if err == nil {
		err = who.mayBind(surface)
	}
	if err != nil {
		return target{}, err
	}
	if _, named := localSurface(sessions.BareID(key)); !named {
		return target{}, badRequest("A message is said at a place of the gateway's own, such as web:local:phone or cli:local:main. Say for whom in \"sender\".")
	}
	current, err := s.bound(ctx, key)
	if err != nil {
		return target{}, err
	}
	if current.ID == id || current.ID == "" && firstSession(id, surface) {
		return target{surface: surface}, nil
	}
	return target{surface: surface, session: id}, nil
}

// currentSession is the record of a named surface's current session, or, with
// an id and nothing else, of the one its first message will make.
func (s *Server) currentSession(ctx context.Context, surface adapters.Surface) (sessions.Record, error) {
	record, err := s.config.Store.Bound(ctx, surface.Key())
	if errors.Is(err, sessions.ErrNotFound) {
		return sessions.Record{ID: sessions.BareID(surface.Key())}, nil
	}
	return record, err
}
