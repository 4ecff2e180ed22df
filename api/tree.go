package api

import (
	"context"

	"parley/sessions/view"
)

type treeAnswer struct {
	Session string `json:"session"`
	view.Tree
}

// getTree answers with the newest part of a session's tree.
func (s *Server) getTree(ctx context.Context, a asked) (any, error) {
	values, err := queryOf(a.r, "limit")
	if err != nil {
		return nil, err
	}
	limit, err := number("limit", values.Get("limit"), view.TreeDefault)
	if err != nil {
		return nil, err
	}
	tree, err := s.room.Tree(ctx, a.by, a.id, int(min(limit, view.TreeMax)))
	return treeAnswer{a.id, tree}, err
}
