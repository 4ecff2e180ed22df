package bot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"parley/api"
	"parley/scheduler"
	"parley/sessions"
)

// ScheduleAPI is the schedules for whoever holds the gateway's token.
func (b *Bot) ScheduleAPI() api.Schedules { return scheduleAPI{b.schedules.book()} }

type scheduleAPI struct{ book *scheduler.Book }

// Add makes a schedule of the operator's.
func (s scheduleAPI) Add(ctx context.Context, definition json.RawMessage, key string) (any, error) {
	var d scheduler.Definition
	decoder := json.NewDecoder(bytes.NewReader(definition))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return nil, &api.ScheduleError{Why: err.Error()}
	}
	if d.By != "" && d.By != scheduler.ByOperator {
		return nil, &api.ScheduleError{Why: "by: it is always " + scheduler.ByOperator + " here"}
	}
	d.By = scheduler.ByOperator
	d = s.book.InZone(d)
	if d.ID == "" && key != "" {
		sum := sha256.Sum256([]byte(key))
		d.ID = "s-" + hex.EncodeToString(sum[:4])
	}
	view, err := s.book.Add(ctx, d)
	if errors.Is(err, sessions.ErrConflict) && key != "" {
		if there, found := s.book.Get(ctx, d.ID); found == nil && there.By == d.By && there.Prompt == d.Prompt && there.When() == d.WithDefaults().When() {
			return there, nil
		}
	}
	return scheduleAnswer(view, err)
}

// scheduleAnswer keeps the errors apart that are the caller's own.
func scheduleAnswer(view scheduler.View, err error) (any, error) {
	if err == nil {
		return view, nil
	}
	if _, refused := errors.AsType[*scheduler.RefusedError](err); refused {
		return nil, &api.ScheduleError{Why: err.Error()}
	}
	if _, tooMany := errors.AsType[*scheduler.TooManyError](err); tooMany {
		return nil, &api.ScheduleError{Why: err.Error()}
	}
	for _, state := range []error{scheduler.ErrDeclared, scheduler.ErrRuns, scheduler.ErrNotPaused, scheduler.ErrNotActive} {
		if errors.Is(err, state) {
			return nil, &api.ScheduleError{Why: err.Error(), State: true}
		}
	}
	return nil, err
}

// List reads a part of the schedules.
func (s scheduleAPI) List(ctx context.Context, list sessions.ScheduleList) (any, string, error) {
	views, cursor, err := s.book.List(ctx, list)
	return views, cursor, err
}

// Get reads one.
func (s scheduleAPI) Get(ctx context.Context, id string) (any, error) {
	return scheduleAnswer(s.book.Get(ctx, id))
}

// Pause keeps one from firing.
func (s scheduleAPI) Pause(ctx context.Context, id string) (any, error) {
	return scheduleAnswer(s.book.Pause(ctx, id))
}

// Resume lets it fire again.
func (s scheduleAPI) Resume(ctx context.Context, id string) (any, error) {
	return scheduleAnswer(s.book.Resume(ctx, id))
}

// Run fires it now.
func (s scheduleAPI) Run(ctx context.Context, id, key string) (any, error) {
	return scheduleAnswer(s.book.Run(ctx, id, key))
}

// Remove removes it.
func (s scheduleAPI) Remove(ctx context.Context, id string) error {
	_, err := scheduleAnswer(scheduler.View{}, s.book.Remove(ctx, id))
	return err
}

// Runs reads its newest runs.
func (s scheduleAPI) Runs(ctx context.Context, id string, limit int) (any, error) {
	runs, err := s.book.History(ctx, id, limit)
	if err != nil {
		return nil, err
	}
	return runs, nil
}
