package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"parley/sessions"
)

type customRequest struct {
	Type     sessions.EntryType `json:"type"` // custom_info or custom_message
	Name     string             `json:"name"` // whose it is: a word of the program's own
	Text     string             `json:"text"` // custom_message: what people see
	ForModel bool               `json:"for_model"`
	Data     json.RawMessage    `json:"data"`
	// ParentID writes only while this entry is the leaf; null: the root.
	ParentID leafID `json:"parent_id"`
}

// leafID is an entry id of a request. given tells null from missing.
type leafID struct {
	given bool
	id    string
}

// UnmarshalJSON reads an id or null.
func (l *leafID) UnmarshalJSON(data []byte) error {
	l.given = true
	return json.Unmarshal(data, &l.id)
}

func (q customRequest) note(session string) (sessions.NoteRequest, error) {
	switch {
	case q.Type != sessions.EntryCustomInfo && q.Type != sessions.EntryCustomMessage:
		return sessions.NoteRequest{}, badRequest("type must be custom_info or custom_message.")
	case q.Type == sessions.EntryCustomMessage && q.Text == "":
		return sessions.NoteRequest{}, badRequest("A custom_message needs a text.")
	case q.Type == sessions.EntryCustomInfo && (q.Text != "" || q.ForModel):
		return sessions.NoteRequest{}, badRequest("A custom_info has data, which nobody is shown. For text, and for_model, write a custom_message.")
	case len(q.Text) > TextMax:
		return sessions.NoteRequest{}, tooLargeProblem(TextMax)
	case len(q.Name) > labelMax:
		return sessions.NoteRequest{}, badRequest("name may have at most 200 bytes.")
	}
	var payload any = sessions.CustomInfo{Name: q.Name, Data: q.Data}
	if q.Type == sessions.EntryCustomMessage {
		payload = sessions.CustomMessage{Name: q.Name, Text: q.Text, ForModel: q.ForModel, Data: q.Data}
	}
	entry, err := sessions.NewNote(q.Type, payload)
	return sessions.NoteRequest{Session: session, Entries: []sessions.NewEntry{entry}}, err
}

// postCustom writes an entry of an outside program behind the leaf.
func (s *Server) postCustom(w http.ResponseWriter, r *http.Request) error {
	var request customRequest
	if err := readJSON(w, r, customBodyMax, &request); err != nil {
		return err
	}
	note, err := request.note(r.PathValue("id"))
	if err != nil {
		return err
	}
	if request.ParentID.given {
		leaf, err := sessions.ParseEntryID(request.ParentID.id)
		if err != nil {
			return err
		}
		note.IfLeaf = &leaf
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	if _, err := s.reach(ctx, r); err != nil {
		return err
	}
	return parentProblem(s.write(ctx, w, r, "custom", note), request.ParentID.id)
}

// parentProblem says what of parent_id did not fit.
func parentProblem(err error, parent string) error {
	switch {
	case errors.Is(err, sessions.ErrConflict):
		return &problemError{Status: http.StatusConflict, Code: "leaf",
			Detail: "The conversation does not stand at parent_id any more. Read the session's leaf, and write behind that."}
	case errors.Is(err, sessions.ErrNotFound) && parent != "":
		return entryProblem(parent)
	}
	return err
}
