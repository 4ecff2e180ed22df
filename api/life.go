package api

import (
	"context"
	"net/http"

	"parley/sessions"
)

// touchSession counts as activity: a suspended session is active again.
func (s *Server) touchSession(w http.ResponseWriter, r *http.Request) error {
	return s.alter(w, r, s.config.Store.Touch)
}

// expireSession ends a session for good.
func (s *Server) expireSession(w http.ResponseWriter, r *http.Request) error {
	return s.alter(w, r, s.config.Store.Expire)
}

// alter carries out a change that may be made again without harm, and answers
// with the record.
func (s *Server) alter(w http.ResponseWriter, r *http.Request, change func(context.Context, string) (sessions.Record, error)) error {
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, err := s.reach(ctx, r)
	if err == nil {
		record, err = change(ctx, record.ID)
	}
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, sessionView(record))
}

type clearedAnswer struct {
	sessionJSON
	Duplicate bool `json:"duplicate,omitempty"`
}

// clearSession erases the log for good and keeps the record.
func (s *Server) clearSession(w http.ResponseWriter, r *http.Request) error {
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, err := s.reach(ctx, r)
	if err != nil {
		return err
	}
	_, duplicate, err := s.once(ctx, record.ID, callerOf(r).digest("clear", key), func() (bool, error) {
		record, err = s.config.Store.Clear(ctx, record.ID)
		return true, err
	})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, clearedAnswer{sessionView(record), duplicate})
}

type stopAnswer struct {
	Stopping  bool `json:"stopping"` // false: no turn ran
	Duplicate bool `json:"duplicate,omitempty"`
}

// postStop asks the running turn to stop. A key keeps a request that is sent
// again from stopping a later turn.
func (s *Server) postStop(w http.ResponseWriter, r *http.Request) error {
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	record, err := s.reach(ctx, r)
	if err != nil {
		return err
	}
	var answer stopAnswer
	answer.Stopping, answer.Duplicate, err = s.once(ctx, record.ID, callerOf(r).digest("stop", key), func() (bool, error) {
		return s.config.Operations.Stop(ctx, record.ID)
	})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, answer)
}
