package api

import (
	"context"
	"errors"
	"net/http"

	"parley/sessions"
)

// DeadLettersMax is how many dead letters are listed at most.
const DeadLettersMax = sessions.ListMax

type deadLettersAnswer struct {
	DeadLetters []sessions.DeadLetter `json:"dead_letters"` // the newest first
}

func (s *Server) listDeadLetters(w http.ResponseWriter, r *http.Request) error {
	values, err := queryOf(r, "limit")
	if err != nil {
		return err
	}
	limit, err := number("limit", values.Get("limit"), DeadLettersMax)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	letters, err := s.config.Store.DeadLetters(ctx, int(min(limit, DeadLettersMax+1)))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, deadLettersAnswer{append([]sessions.DeadLetter{}, letters...)})
}

// replayDeadLetter has a parked turn run once more. Sent again it finds no
// such dead letter, so nothing is replayed twice.
func (s *Server) replayDeadLetter(w http.ResponseWriter, r *http.Request) error {
	return s.settleDead(w, r, s.config.Store.Replay)
}

// dropDeadLetter forgets a parked turn.
func (s *Server) dropDeadLetter(w http.ResponseWriter, r *http.Request) error {
	return s.settleDead(w, r, s.config.Store.DropDead)
}

func (s *Server) settleDead(w http.ResponseWriter, r *http.Request, settle func(context.Context, string) error) error {
	id := r.PathValue("id")
	if err := sessions.CheckKey("dead letter id", id); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	err := settle(ctx, id)
	if errors.Is(err, sessions.ErrNotFound) {
		return &problemError{Status: http.StatusNotFound, Code: "not_found",
			Detail: "There is no such dead letter; it may have been replayed or dropped. GET /v1/deadletters lists those there are."}
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
