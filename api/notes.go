package api

import (
	"context"
	"net/http"
	"strings"

	"parley/sessions"
)

// Limits of what is written into a log by hand.
const (
	noteBodyMax    = 6*TextMax + 16<<10
	customBodyMax  = sessions.PayloadMax + 16<<10
	labelMax       = 200 // bytes
	sessionNameMax = sessions.KeyMax
)

type noteAnswer struct {
	Session   sessionJSON `json:"session"`
	Entries   []EntryView `json:"entries"` // as written; none of a duplicate
	Duplicate bool        `json:"duplicate,omitempty"`
}

// write notes entries in the session of a request, once per Idempotency-Key,
// and answers with them.
func (s *Server) write(ctx context.Context, w http.ResponseWriter, r *http.Request, purpose string, note sessions.NoteRequest) error {
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	note.Key = callerOf(r).digest(purpose, key)
	result, err := s.config.Store.Note(ctx, note)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, noteAnswer{
		Session: sessionView(result.Record), Entries: s.views(result.Entries, false), Duplicate: result.Duplicate})
}

type nameRequest struct {
	Name string `json:"name"`
}

// nameSession gives a session a name, and says so in the log. The empty name
// takes it away.
func (s *Server) nameSession(w http.ResponseWriter, r *http.Request) error {
	var request nameRequest
	if err := readJSON(w, r, noteBodyMax, &request); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, err := s.reach(ctx, r)
	if err != nil {
		return err
	}
	note, err := naming(record.ID, request.Name)
	if err != nil {
		return err
	}
	return s.write(ctx, w, r, "name", note)
}

// naming is the note that names a session.
func naming(session, name string) (sessions.NoteRequest, error) {
	if len(name) > sessionNameMax || strings.ContainsFunc(name, isControl) {
		return sessions.NoteRequest{}, badRequest("A name is one line of at most 512 bytes.")
	}
	entry, err := sessions.NewNote(sessions.EntrySessionName, sessions.SessionName{Name: name})
	return sessions.NoteRequest{Session: session, Entries: []sessions.NewEntry{entry}, Patch: sessions.Patch{Name: &name}}, err
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

type labelRequest struct {
	Entry string `json:"entry"`
	Label string `json:"label"` // empty: the entry's label is taken away
}

// labelEntry puts a label on an entry of the tree.
func (s *Server) labelEntry(w http.ResponseWriter, r *http.Request) error {
	var request labelRequest
	if err := readJSON(w, r, noteBodyMax, &request); err != nil {
		return err
	}
	if len(request.Label) > labelMax || strings.ContainsFunc(request.Label, isControl) {
		return badRequest("A label is one line of at most 200 bytes.")
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, err := s.reach(ctx, r)
	if err != nil {
		return err
	}
	if _, err := s.inTree(ctx, record, request.Entry); err != nil {
		return err
	}
	entry, err := sessions.NewNote(sessions.EntryLabel, sessions.Label{TargetID: request.Entry, Label: request.Label})
	if err != nil {
		return err
	}
	return s.write(ctx, w, r, "labels", sessions.NoteRequest{Session: record.ID, Entries: []sessions.NewEntry{entry}})
}

// inTree finds an entry that has its place in the tree, by id.
func (s *Server) inTree(ctx context.Context, record sessions.Record, id string) (int64, error) {
	seq, err := sessions.ParseEntryID(id)
	if err != nil {
		return 0, err
	}
	if seq == 0 {
		return 0, badRequest("Say which entry, as in {\"entry\": \"e12\"}. GET /v1/sessions/{id}/tree shows them.")
	}
	if seq <= record.Cleared || seq > record.Seq {
		return 0, entryProblem(id)
	}
	entries, err := s.config.Store.Range(ctx, record.ID, seq, seq)
	if err != nil {
		return 0, err
	}
	if len(entries) != 1 || entries[0].Waiting || !entries[0].Type.InTree() {
		return 0, entryProblem(id)
	}
	return seq, nil
}

func entryProblem(id string) error {
	return &problemError{Status: http.StatusNotFound, Code: "no_entry",
		Detail: "There is no entry " + shorten(id) + " in the tree of this session. GET /v1/sessions/{id}/tree shows those there are."}
}
