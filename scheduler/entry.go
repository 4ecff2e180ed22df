package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"parley/sessions"
)

// entry is a schedule as it was read, and as it is being changed.
type entry struct {
	stored sessions.Schedule
	plan   *Plan
	state  State
	now    time.Time // the store's, when it was read
}

func load(ctx context.Context, store sessions.Schedules, id string) (*entry, error) {
	stored, err := store.Schedule(ctx, id)
	if err != nil {
		return nil, err
	}
	return read(stored)
}

// read decodes a stored schedule.
func read(stored sessions.Schedule) (*entry, error) {
	e := &entry{stored: stored, now: stored.ReadAt}
	var definition Definition
	if err := json.Unmarshal(stored.Definition, &definition); err != nil {
		return nil, fmt.Errorf("schedule %s cannot be read: %w", stored.ID, err)
	}
	definition.ID, definition.By = stored.ID, stored.By
	if err := json.Unmarshal(stored.State, &e.state); err != nil {
		return nil, fmt.Errorf("the state of schedule %s cannot be read: %w", stored.ID, err)
	}
	var err error
	e.plan, err = NewPlan(definition)
	if err != nil {
		return nil, fmt.Errorf("schedule %s cannot be read: %w", stored.ID, err)
	}
	return e, nil
}

// change is what has to be saved: the state, the timer that goes with it, and
// the records of runs.
func (e *entry) change(runs []Run) (sessions.ScheduleChange, error) {
	state, err := json.Marshal(e.state)
	if err != nil {
		return sessions.ScheduleChange{}, err
	}
	out := sessions.ScheduleChange{ID: e.stored.ID, Version: e.stored.Version, State: state, Due: e.plan.wake(&e.state, e.now)}
	for _, run := range lastOfEach(runs) {
		body, err := json.Marshal(run)
		if err != nil {
			return out, err
		}
		out.Runs = append(out.Runs, sessions.ScheduleRun{ID: run.ID(), At: run.Planned, Body: body})
	}
	return out, nil
}

// lastOfEach keeps the newest record of each run, and of all at most as many
// as one call writes.
func lastOfEach(runs []Run) []Run {
	var out []Run
	at := map[string]int{}
	for _, run := range runs {
		if i, found := at[run.ID()]; found {
			out[i] = run
			continue
		}
		at[run.ID()] = len(out)
		out = append(out, run)
	}
	return out[max(0, len(out)-sessions.ScheduleRunsMax):]
}
