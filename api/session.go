package api

import (
	"context"
	"encoding/json"
	"net/http"

	"parley/sessions"
)

// getSession answers with a session's record.
func (s *Server) getSession(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, err := s.reach(ctx, r)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, sessionView(record))
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
	patch := sessions.Patch{WorkingMemory: q.WorkingMemory.value, Agent: q.Agent.value, Metadata: q.Metadata}
	if q.Description.value != nil {
		patch.Description = &sessions.Description{Text: *q.Description.value, Source: sessions.DescriptionUser}
	}
	return patch
}

// patchSession changes a record. A new name is an entry of the log as well.
func (s *Server) patchSession(w http.ResponseWriter, r *http.Request) error {
	var request patchRequest
	if err := readPatch(w, r, openBodyMax, &request); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, err := s.reach(ctx, r)
	if err != nil {
		return err
	}
	if record, err = s.change(ctx, record, request); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, sessionView(record))
}

func (s *Server) change(ctx context.Context, record sessions.Record, request patchRequest) (sessions.Record, error) {
	patch := request.patch()
	name := request.Name.value
	if name == nil || *name == record.Name {
		return s.config.Store.Update(ctx, record.ID, patch)
	}
	note, err := naming(record.ID, *name)
	if err != nil {
		return record, err
	}
	patch.Name = name
	note.Patch = patch
	result, err := s.config.Store.Note(ctx, note)
	return result.Record, err
}

type deletedAnswer struct {
	Deleted bool `json:"deleted"`
}

// deleteSession removes a session for good. With ?unused=1 it removes only one
// that was opened by hand and in which no turn ever ended; deleted says
// whether it did.
func (s *Server) deleteSession(w http.ResponseWriter, r *http.Request) error {
	values, err := queryOf(r, "unused")
	if err != nil {
		return err
	}
	unused, err := flag(values, "unused")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, err := s.reach(ctx, r)
	if err != nil {
		return err
	}
	answer := deletedAnswer{Deleted: true}
	if unused {
		answer.Deleted, err = s.config.Store.Discard(ctx, record.ID)
	} else {
		err = s.config.Store.Delete(ctx, record.ID)
	}
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, answer)
}
