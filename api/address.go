package api

import (
	"context"
	"errors"
	"strings"

	"parley/adapters"
	"parley/conversations"
	"parley/sessions"
)

// localSurface is the surface that a session id of a named place speaks of:
// web:local:x for web:x and for web:x~random, its later sessions. The second
// result is false for every other id.
func localSurface(id string) (adapters.Surface, bool) {
	platform, name, _ := strings.Cut(id, ":")
	if !adapters.Platform(platform).HasReader() {
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
	held    string // with surface: the session it has to have; empty: any
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
	record, err := s.room.Get(ctx, who.Caller, id)
	gone := errors.Is(err, sessions.ErrNotFound) || err == nil && record.State == sessions.StateExpired
	if gone && named && firstSession(id, surface) {
		return target{surface: surface}, conversations.CheckOwnID(who.Caller, id)
	}
	return target{surface: surface, session: id}, err
}

// saidAt is the target of a message from a place that says which one it is: the
// session that the place has, which has to be the one that is addressed. The
// caller can reach that one.
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
	switch {
	case err != nil || current.ID != "":
	case firstSession(id, surface):
		err = conversations.CheckOwnID(who.Caller, id)
	default:
		err = &sessions.MovedError{Surface: key, Session: sessions.BareID(key)} // what its next message begins
	}
	return target{surface: surface, held: id}, err
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
