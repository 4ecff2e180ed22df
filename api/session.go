package api

import (
	"context"
	"encoding/json"
	"net/http"

	"parley/sessions"
)

// getSession answers with a session's record.
func (s *Server) getSession(ctx context.Context, a asked) (any, error) {
	record, err := s.room.Get(ctx, a.by, a.id)
	return sessionView(record), err
}

// word is a text of a patch: missing leaves what is there, null empties it.
type word struct{ value *string }

// UnmarshalJSON reads a string or null.
func (t *word) UnmarshalJSON(data []byte) error {
	t.value = new(string)
	return json.Unmarshal(data, t.value)
}

// patchRequest is a JSON merge patch (RFC 7396) of what may be changed.
type patchRequest struct {
	Name          word           `json:"name"`
	Description   word           `json:"description"`
	WorkingMemory word           `json:"working_memory"`
	Agent         word           `json:"agent"`
	Metadata      map[string]any `json:"metadata"` // merged key by key; null removes its key
}

func (q patchRequest) patch() sessions.Patch {
	patch := sessions.Patch{Name: q.Name.value, WorkingMemory: q.WorkingMemory.value, Agent: q.Agent.value, Metadata: q.Metadata}
	if q.Description.value != nil {
		patch.Description = &sessions.Description{Text: *q.Description.value, Source: sessions.DescriptionUser}
	}
	return patch
}

// patchSession changes a record. A new name is an entry of the log as well.
func (s *Server) patchSession(w http.ResponseWriter, r *http.Request) error {
	var body patchRequest
	if err := readPatch(w, r, openBodyMax, &body); err != nil {
		return err
	}
	return s.onSession(func(ctx context.Context, a asked) (any, error) {
		return seen(s.room.Patch(ctx, a.by, a.id, body.patch(), a.key))
	})(w, r)
}
