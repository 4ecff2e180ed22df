package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"parley/adapters"
	"parley/conversations"
	"parley/sessions"
)

// openBodyMax bounds the body that opens or changes a session: its metadata
// or working memory, escaped.
const openBodyMax = 6*sessions.MetadataMax + 16<<10

type openRequest struct {
	ID        string         `json:"id"`
	Surface   string         `json:"surface"`
	Name      string         `json:"name"`
	Agent     string         `json:"agent"`
	User      string         `json:"user"`
	Workspace string         `json:"workspace"`
	Kind      string         `json:"kind"`
	Type      sessions.Type  `json:"type"`
	Metadata  map[string]any `json:"metadata"`
}

// openSession makes a session (201), or reopens the one that is there (200):
// then its metadata is merged, and all else stays.
func (s *Server) openSession(w http.ResponseWriter, r *http.Request) error {
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	var request openRequest
	if err := readOptionalJSON(w, r, openBodyMax, &request); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	who := callerOf(r)
	opening, err := s.opening(ctx, who, request)
	if err != nil {
		return err
	}
	result, err := s.room.Open(ctx, who.Caller, opening, who.kind()+":", key)
	if err != nil {
		return err
	}
	return writeMade(w, result.Record.ID, result.Made, sessionView(result.Record))
}

// opening turns a request into what is asked for.
func (s *Server) opening(ctx context.Context, who caller, request openRequest) (sessions.NewSession, error) {
	opening, surface, err := request.session(who)
	if err != nil {
		return opening, err
	}
	current, err := s.bound(ctx, opening.Surface)
	if err != nil {
		return opening, err
	}
	switch {
	case current.ID == "" && opening.Surface != "" && begunByPeople(surface.Platform):
		return opening, &problemError{Status: http.StatusConflict, Code: "no_session",
			Detail: "Nothing has been said at that surface yet. A conversation on " + string(surface.Platform) + " begins with its first message there."}
	case current.ID != "" && opening.ID != "" && current.ID != opening.ID && request.Surface == "":
		opening.Surface = "" // the place has moved on, and this very session was asked for
	}
	return opening, nil
}

// bound is the current session of a surface, or the zero record.
func (s *Server) bound(ctx context.Context, surface string) (sessions.Record, error) {
	if surface == "" {
		return sessions.Record{}, nil
	}
	record, err := s.config.Store.Bound(ctx, surface)
	if errors.Is(err, sessions.ErrNotFound) {
		return sessions.Record{}, nil
	}
	return record, err
}

// begunByPeople reports whether the gateway itself opens the conversations of
// a platform, with what it alone knows of the place.
func begunByPeople(platform adapters.Platform) bool {
	return platform.Traits().Joined || platform == adapters.Schedule
}

// session is what the request opens. The bare id of a named place is that place.
func (q openRequest) session(who caller) (sessions.NewSession, adapters.Surface, error) {
	var surface adapters.Surface
	opening := sessions.NewSession{ID: q.ID, Surface: q.Surface, UserID: q.User, WorkspaceID: q.Workspace,
		Name: q.Name, Agent: q.Agent, Metadata: q.Metadata}
	if opening.ID != "" {
		if err := conversations.CheckOwnID(who.Caller, opening.ID); err != nil {
			return opening, surface, err
		}
		if named, ok := localSurface(opening.ID); ok && firstSession(opening.ID, named) && opening.Surface == "" {
			opening.Surface = named.Key() // its name is its place
		}
	}
	if opening.Surface != "" {
		var err error
		if surface, err = surfaceOf(opening.Surface); err != nil {
			return opening, surface, err
		}
		if err := who.mayBind(surface); err != nil {
			return opening, surface, err
		}
	}
	opening.Source = q.source(who, opening)
	return opening, surface, q.checkUser(who, &opening)
}

// kind is what the id of a session begins with that nobody has named.
func (c caller) kind() string { return cmp.Or(c.Namespace, string(adapters.API)) }

func (q openRequest) source(who caller, opening sessions.NewSession) sessions.Source {
	platform := platformOf(opening.Surface)
	if platform == "" {
		platform = platformOf(cmp.Or(opening.ID, who.kind()))
	}
	source := sessions.Source{Kind: q.Kind, Interactive: true, Platform: string(platform), Type: q.Type}
	if source.Type == "" {
		source.Type = sessions.Direct
	}
	switch {
	case source.Kind != "":
	case platform.HasReader():
		source.Kind = string(platform)
	case who.Namespace != "":
		source.Kind = "channel"
	default:
		source.Kind = string(adapters.API)
	}
	return source
}

// checkUser makes the local owner the user of a session of the gateway's own
// platforms, unless another is named, and refuses whom the caller may not
// name.
func (q openRequest) checkUser(who caller, opening *sessions.NewSession) error {
	if q.Type != "" && q.Type != sessions.Direct && q.Type != sessions.Group {
		return badRequest("type must be direct or group.")
	}
	if q.User == "" {
		if who.Namespace == "" {
			opening.UserID = string(adapters.Platform(opening.Source.Platform).Owner())
		}
		return nil
	}
	if err := sessions.CheckIdentity(q.User); err != nil {
		return err
	}
	return who.mayBe(adapters.Identity(q.User))
}
