package api

import (
	"context"
	"net/http"
	"net/url"

	"parley/adapters"
	"parley/sessions"
)

// sessionJSON is a record as the API shows it.
type sessionJSON struct {
	sessions.Record
	Leaf string `json:"leaf,omitempty"`
}

func sessionView(record sessions.Record) sessionJSON {
	return sessionJSON{Record: record, Leaf: record.LeafID()}
}

type foundAnswer struct {
	Sessions []sessionJSON `json:"sessions"` // the newest activity first
	// Next continues: ask again with ?cursor=. Empty: this was all.
	Next string `json:"next,omitempty"`
}

// findSessions answers with a page of the sessions that match every filter
// that is given.
func (s *Server) findSessions(w http.ResponseWriter, r *http.Request) error {
	values, query, err := findQuery(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	page, err := s.room.Find(ctx, callerOf(r).Caller, query)
	if err != nil {
		return err
	}
	answer := foundAnswer{Sessions: make([]sessionJSON, 0, len(page.Records)), Next: page.Next}
	for _, record := range page.Records {
		answer.Sessions = append(answer.Sessions, sessionView(record))
	}
	linkNext(w, r, values, page.Next)
	return writeJSON(w, http.StatusOK, answer)
}

func findQuery(r *http.Request) (url.Values, sessions.Query, error) {
	var query sessions.Query
	values, err := queryOf(r, "user", "participant", "workspace", "state…", "surface", "type", "active_after", "limit", "cursor")
	if err != nil {
		return values, query, err
	}
	query = sessions.Query{
		UserID: values.Get("user"), Participant: values.Get("participant"), WorkspaceID: values.Get("workspace"),
		Surface: values.Get("surface"), Type: sessions.Type(values.Get("type")), Cursor: values.Get("cursor"),
	}
	for _, state := range values["state"] {
		query.States = append(query.States, sessions.State(state))
	}
	if query.ActiveAfter, err = instant("active_after", values.Get("active_after")); err != nil {
		return values, query, err
	}
	limit, err := number("limit", values.Get("limit"), 0)
	query.Limit = int(min(limit, sessions.ListMax+1))
	if err == nil {
		err = query.Check()
	}
	return values, query, err
}

// linkNext names the next page's address in a Link header.
func linkNext(w http.ResponseWriter, r *http.Request, values url.Values, cursor string) {
	if cursor == "" {
		return
	}
	values.Set("cursor", cursor)
	w.Header().Set("Link", "<"+r.URL.Path+"?"+values.Encode()+`>; rel="next"`)
}

// surfaceOf reads a surface's key.
func surfaceOf(key string) (adapters.Surface, error) {
	surface, err := adapters.ParseSurface(key)
	if err != nil {
		return surface, badRequest("The surface " + err.Error() + ". /whoami prints the key of the place it is said in.")
	}
	return surface, nil
}
