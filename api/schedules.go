package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"parley/sessions"
)

// Schedules is what the API asks of the schedules. What it answers with is
// written as JSON, as openapi.json describes it. Besides *ScheduleError all
// methods return what sessions.Store returns.
type Schedules interface {
	// Add makes a schedule from a definition. The same key once more finds the
	// one that was made; an empty one is always new.
	Add(ctx context.Context, definition json.RawMessage, key string) (schedule any, err error)
	List(ctx context.Context, list sessions.ScheduleList) (part any, cursor string, err error)
	Get(ctx context.Context, id string) (schedule any, err error)
	Pause(ctx context.Context, id string) (schedule any, err error)
	Resume(ctx context.Context, id string) (schedule any, err error)
	// Run fires it now, once per key.
	Run(ctx context.Context, id, key string) (schedule any, err error)
	Remove(ctx context.Context, id string) error
	Runs(ctx context.Context, id string, limit int) (runs any, err error)
}

// ScheduleError is a wish that cannot be granted: the definition is refused,
// or, with State, the schedule is not in a state for it.
type ScheduleError struct {
	Why   string // one line
	State bool
}

// Error is the reason.
func (e *ScheduleError) Error() string { return e.Why }

// Limits of what is asked about schedules.
const (
	scheduleBodyMax  = 128 << 10 // bytes
	schedulesDefault = 100
	runsDefault      = 20
	schedulePathMax  = 64
)

func (s *Server) scheduleRoutes() []route {
	return []route{
		{"GET /v1/schedules", forOwner, s.listSchedules},
		{"POST /v1/schedules", forOwner, s.addSchedule},
		{"GET /v1/schedules/{id}", forOwner, s.schedule(Schedules.Get)},
		{"DELETE /v1/schedules/{id}", forOwner, s.removeSchedule},
		{"POST /v1/schedules/{id}/pause", forOwner, s.schedule(Schedules.Pause)},
		{"POST /v1/schedules/{id}/resume", forOwner, s.schedule(Schedules.Resume)},
		{"POST /v1/schedules/{id}/run", forOwner, s.runSchedule},
		{"GET /v1/schedules/{id}/runs", forOwner, s.scheduleRuns},
	}
}

// schedule is the handler of what needs no more than the schedule's id.
func (s *Server) schedule(do func(Schedules, context.Context, string) (any, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		return s.aboutSchedule(w, r, func(ctx context.Context, id string) (any, error) { return do(s.config.Schedules, ctx, id) })
	}
}

// aboutSchedule answers with what is done to, or read of, one schedule.
func (s *Server) aboutSchedule(w http.ResponseWriter, r *http.Request, do func(ctx context.Context, id string) (any, error)) error {
	id := r.PathValue("id")
	switch {
	case s.config.Schedules == nil:
		return errors.ErrUnsupported
	case len(id) > schedulePathMax:
		return noScheduleProblem()
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	value, err := do(ctx, id)
	if err != nil {
		return scheduleProblem(err)
	}
	if value == nil {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return writeJSON(w, http.StatusOK, value)
}

type schedulesAnswer struct {
	Schedules any    `json:"schedules"`
	Next      string `json:"next,omitempty"` // the cursor of the part behind this one
}

func (s *Server) listSchedules(w http.ResponseWriter, r *http.Request) error {
	values, err := queryOf(r, "by", "cursor", "limit")
	if err != nil {
		return err
	}
	limit, err := number("limit", values.Get("limit"), schedulesDefault)
	if err != nil {
		return err
	}
	return s.aboutSchedule(w, r, func(ctx context.Context, _ string) (any, error) {
		part, next, err := s.config.Schedules.List(ctx, sessions.ScheduleList{
			By: values.Get("by"), Cursor: values.Get("cursor"), Limit: int(min(limit, sessions.ListMax+1)),
		})
		return schedulesAnswer{part, next}, err
	})
}

func (s *Server) addSchedule(w http.ResponseWriter, r *http.Request) error {
	if s.config.Schedules == nil {
		return errors.ErrUnsupported
	}
	var definition json.RawMessage
	if err := readJSON(w, r, scheduleBodyMax, &definition); err != nil {
		return err
	}
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	made, err := s.config.Schedules.Add(ctx, definition, callerOf(r).digest("schedule", key))
	if err != nil {
		return scheduleProblem(err)
	}
	return writeJSON(w, http.StatusCreated, made)
}

func (s *Server) runSchedule(w http.ResponseWriter, r *http.Request) error {
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	key = callerOf(r).digest("schedule_run", key)
	return s.aboutSchedule(w, r, func(ctx context.Context, id string) (any, error) { return s.config.Schedules.Run(ctx, id, key) })
}

func (s *Server) removeSchedule(w http.ResponseWriter, r *http.Request) error {
	return s.aboutSchedule(w, r, func(ctx context.Context, id string) (any, error) { return nil, s.config.Schedules.Remove(ctx, id) })
}

type runsAnswer struct {
	Runs any `json:"runs"` // the newest first
}

func (s *Server) scheduleRuns(w http.ResponseWriter, r *http.Request) error {
	values, err := queryOf(r, "limit")
	if err != nil {
		return err
	}
	limit, err := number("limit", values.Get("limit"), runsDefault)
	if err != nil {
		return err
	}
	return s.aboutSchedule(w, r, func(ctx context.Context, id string) (any, error) {
		runs, err := s.config.Schedules.Runs(ctx, id, int(min(limit, sessions.ListMax+1)))
		return runsAnswer{runs}, err
	})
}

// scheduleProblem says of what is missing or taken that it is a schedule.
func scheduleProblem(err error) error {
	wrong, is := errors.AsType[*ScheduleError](err)
	switch {
	case is && wrong.State:
		return &problemError{Status: http.StatusConflict, Code: "schedule_state", Detail: "This is not possible now: " + wrong.Why + "."}
	case is:
		return &problemError{Status: http.StatusBadRequest, Code: "schedule_refused", Detail: "The schedule was not taken: " + wrong.Why + "."}
	case errors.Is(err, sessions.ErrNotFound):
		return noScheduleProblem()
	case errors.Is(err, sessions.ErrConflict):
		return &problemError{Status: http.StatusConflict, Code: "conflict",
			Detail: "A schedule of this id exists already, or was changed meanwhile. Choose another id, or read it and try again."}
	}
	return err
}

func noScheduleProblem() error {
	return &problemError{Status: http.StatusNotFound, Code: "not_found", Detail: "There is no such schedule. GET /v1/schedules lists those there are."}
}
