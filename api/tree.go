package api

import (
	"context"
	"net/http"

	"parley/sessions"
)

type treeAnswer struct {
	Session string `json:"session"`
	sessions.Tree
}

// getTree answers with the newest part of a session's tree.
func (s *Server) getTree(w http.ResponseWriter, r *http.Request) error {
	values, err := queryOf(r, "limit")
	if err != nil {
		return err
	}
	limit, err := number("limit", values.Get("limit"), sessions.TreeDefault)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, err := s.reach(ctx, r)
	if err != nil {
		return err
	}
	tree, err := sessions.ReadTree(ctx, s.config.Store, record, int(min(limit, sessions.TreeMax)), s.config.Shown)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, treeAnswer{record.ID, tree})
}
