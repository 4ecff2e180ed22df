package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"parley/conversations"
)

// copyTimeout bounds the copying of a session, which may be long.
const copyTimeout = 10 * time.Minute

type forkRequest struct {
	Entry   leafID `json:"entry"` // where the copy ends; null: before the first entry; missing: the leaf
	ID      string `json:"id"`    // empty: one is drawn
	Surface string `json:"surface"`
	Name    string `json:"name"` // empty: the source's
}

// forkSession copies a branch into a new session.
func (s *Server) forkSession(w http.ResponseWriter, r *http.Request) error {
	var body forkRequest
	if err := readOptionalJSON(w, r, noteBodyMax, &body); err != nil {
		return err
	}
	entry, err := body.Entry.seq()
	if err != nil {
		return err
	}
	place, err := placeOf(body.Surface)
	if err != nil {
		return err
	}
	return copying(w, r, func(ctx context.Context, a asked) (conversations.Result, error) {
		return s.room.Fork(ctx, a.by, a.id, conversations.ForkRequest{Entry: entry, ID: body.ID, Name: body.Name, Place: place}, a.key)
	})
}

type resumeRequest struct {
	Surface string `json:"surface"` // attach it as well
}

// resumeSession takes a session up again, on a surface where one is named. An
// expired one is forked.
func (s *Server) resumeSession(w http.ResponseWriter, r *http.Request) error {
	var body resumeRequest
	if err := readOptionalJSON(w, r, noteBodyMax, &body); err != nil {
		return err
	}
	place, err := placeOf(body.Surface)
	if err != nil {
		return err
	}
	return copying(w, r, func(ctx context.Context, a asked) (conversations.Result, error) {
		return s.room.Resume(ctx, a.by, a.id, place, false, a.key)
	})
}

// placeOf is the surface that a request names, if it names one.
func placeOf(key string) (conversations.Place, error) {
	if key == "" {
		return conversations.Place{}, nil
	}
	_, err := surfaceOf(key)
	return conversations.There(key), err
}

// copying answers a request that may copy a long log, and so make a session.
func copying(w http.ResponseWriter, r *http.Request, do func(ctx context.Context, a asked) (conversations.Result, error)) error {
	a, err := askedOf(w, r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), copyTimeout)
	defer cancel()
	// Only a connection knows deadlines; a recorder in a test does not.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(copyTimeout + writeTimeout))
	result, err := do(ctx, a)
	if err != nil {
		return err
	}
	return writeMade(w, result.Record.ID, result.Made, attachedAnswer{Session: sessionView(result.Record), Previous: result.Previous})
}

// writeMade answers 201 with the address of a session that was made, else 200.
func writeMade(w http.ResponseWriter, id string, made bool, answer any) error {
	if !made {
		return writeJSON(w, http.StatusOK, answer)
	}
	w.Header().Set("Location", "/v1/sessions/"+url.PathEscape(id))
	return writeJSON(w, http.StatusCreated, answer)
}
