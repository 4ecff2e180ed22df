package api

import (
	"context"
	"net/http"

	"parley/sessions/view"
)

type feedAnswer struct {
	Session string `json:"session"`
	// Items are those of one page of the log, in its order. One whose id was
	// there before takes that one's place: a tool call that has its result.
	Items   []view.FeedItem `json:"items"`
	After   int64           `json:"after,omitempty"`  // as in entriesAnswer
	Before  int64           `json:"before,omitempty"` // as in entriesAnswer
	Newest  int64           `json:"newest"`
	Cleared int64           `json:"cleared,omitempty"`
}

// getFeed answers with what people watch of a page of the log, from any seq.
func (s *Server) getFeed(w http.ResponseWriter, r *http.Request) error {
	page, err := pageOf(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, err := s.room.Get(ctx, callerOf(r).Caller, r.PathValue("id"))
	if err != nil {
		return err
	}
	entries, after, before, err := s.window(ctx, record, page)
	if err != nil {
		return err
	}
	answer := feedAnswer{Session: record.ID, Items: []view.FeedItem{}, After: after, Before: before,
		Newest: record.Seq, Cleared: record.Cleared}
	for _, entry := range entries {
		answer.Items = append(answer.Items, view.Feed(entry, s.config.Shown)...)
	}
	return writeJSON(w, http.StatusOK, answer)
}
