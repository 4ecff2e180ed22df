package api

import (
	"context"

	"parley/conversations"
	"parley/sessions"
)

// Limits of the bodies of what is written into a log by hand.
const (
	noteBodyMax   = 6*TextMax + 16<<10
	customBodyMax = sessions.PayloadMax + 16<<10
)

type noteAnswer struct {
	Session   sessionJSON `json:"session"`
	Entries   []EntryView `json:"entries"` // as written; none of a duplicate
	Duplicate bool        `json:"duplicate,omitempty"`
}

// noted is the answer of a verb that writes into a log.
func (s *Server) noted(result conversations.Result, err error) (any, error) {
	return noteAnswer{Session: sessionView(result.Record), Entries: s.views(result.Entries, false), Duplicate: result.Duplicate}, err
}

type nameRequest struct {
	Name string `json:"name"`
}

// nameSession gives a session a name; the empty name takes it away.
func (s *Server) nameSession(ctx context.Context, a asked, body nameRequest) (any, error) {
	return s.noted(s.room.Name(ctx, a.by, a.id, body.Name, a.key))
}

type labelRequest struct {
	Entry string `json:"entry"`
	Label string `json:"label"` // empty: the entry's label is taken away
}

// labelEntry puts a label on an entry of the tree.
func (s *Server) labelEntry(ctx context.Context, a asked, body labelRequest) (any, error) {
	entry, err := sessions.ParseEntryID(body.Entry)
	if err != nil {
		return nil, err
	}
	if entry == 0 {
		return nil, badRequest("Say which entry, as in {\"entry\": \"e12\"}. GET /v1/sessions/{id}/tree shows them.")
	}
	return s.noted(s.room.Label(ctx, a.by, a.id, entry, body.Label, a.key))
}

type branchRequest struct {
	Entry   leafID `json:"entry"`   // where to go on; null: before the first entry
	Summary string `json:"summary"` // of what was left; empty: none
}

// branchSession moves the leaf to another entry of the tree.
func (s *Server) branchSession(ctx context.Context, a asked, body branchRequest) (any, error) {
	entry, err := body.Entry.seq()
	if err != nil {
		return nil, err
	}
	if entry == nil {
		return nil, badRequest("Say where to go on, as in {\"entry\": \"e12\"}, or {\"entry\": null} for before the first entry.")
	}
	return s.noted(s.room.Branch(ctx, a.by, a.id, *entry, body.Summary, a.key))
}
