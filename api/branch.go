package api

import (
	"context"
	"errors"
	"net/http"

	"parley/sessions"
)

type branchRequest struct {
	Entry   leafID `json:"entry"`   // where to go on; null: before the first entry
	Summary string `json:"summary"` // of what was left; empty: none
}

// branchSession moves the leaf to another entry of the tree, so that the
// conversation goes on from there. What was left stays in the log.
func (s *Server) branchSession(w http.ResponseWriter, r *http.Request) error {
	var request branchRequest
	if err := readJSON(w, r, noteBodyMax, &request); err != nil {
		return err
	}
	switch {
	case !request.Entry.given:
		return badRequest("Say where to go on, as in {\"entry\": \"e12\"}, or {\"entry\": null} for before the first entry.")
	case len(request.Summary) > TextMax:
		return tooLargeProblem(TextMax)
	}
	target, err := sessions.ParseEntryID(request.Entry.id)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, err := s.reach(ctx, r)
	if err != nil {
		return err
	}
	note := sessions.NoteRequest{Session: record.ID, Entries: []sessions.NewEntry{{Type: sessions.EntryLeaf, Target: target}}}
	if request.Summary != "" {
		summary, err := sessions.NewNote(sessions.EntryBranchSummary, sessions.BranchSummary{FromID: record.LeafID(), Summary: request.Summary})
		if err != nil {
			return err
		}
		note.Entries = append(note.Entries, summary)
		note.IfLeaf = &record.Leaf // what is summarised is what is left
	}
	err = s.write(ctx, w, r, "branch", note)
	if errors.Is(err, sessions.ErrNotFound) && target > 0 {
		return entryProblem(request.Entry.id)
	}
	return err
}
