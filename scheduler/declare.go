package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"parley/sessions"
)

// Declare makes the schedules of the configuration file exactly these: new
// ones are made, changed ones changed, missing ones removed. What is as it was
// stays undisturbed. A pause by a person stays as well, and so does the zone
// of one whose definition names none. Its problems do not
// keep the others back; the error names them all.
func (b *Book) Declare(ctx context.Context, definitions []Definition) error {
	old, err := b.all(ctx, ByConfig)
	if err != nil {
		return err
	}
	var problems []error
	for _, d := range definitions {
		d.By = ByConfig
		delete(old, d.ID)
		if err := b.declare(ctx, d); err != nil {
			problems = append(problems, fmt.Errorf("schedule %s: %w", d.ID, err))
		}
	}
	for id := range old {
		if err := b.Store.RemoveSchedule(ctx, id); err != nil && !errors.Is(err, sessions.ErrNotFound) {
			problems = append(problems, fmt.Errorf("schedule %s could not be removed: %w", id, err))
		}
	}
	return errors.Join(problems...)
}

func (b *Book) all(ctx context.Context, by string) (map[string]bool, error) {
	out, cursor := map[string]bool{}, ""
	for {
		part, next, err := b.Store.ListSchedules(ctx, sessions.ScheduleList{By: by, Limit: sessions.ListMax, Cursor: cursor})
		if err != nil {
			return nil, err
		}
		for _, stored := range part {
			out[stored.ID] = true
		}
		if cursor = next; next == "" {
			return out, nil
		}
	}
}

// declare makes or changes one.
func (b *Book) declare(ctx context.Context, d Definition) error {
	if err := CheckID(d.ID); err != nil {
		return err
	}
	for range changesMax {
		err := b.declareOnce(ctx, d)
		if !errors.Is(err, sessions.ErrConflict) {
			return err
		}
	}
	return sessions.ErrConflict
}

func (b *Book) declareOnce(ctx context.Context, d Definition) error {
	stored, err := b.Store.Schedule(ctx, d.ID)
	if errors.Is(err, sessions.ErrNotFound) {
		d = b.InZone(d)
		if err := d.Check(b.World, b.now()); err != nil {
			return err
		}
		_, err := b.create(ctx, d, b.now())
		return err
	}
	if err != nil {
		return err
	}
	if stored.By != ByConfig {
		return fmt.Errorf("a schedule of this id was made by %s; remove it or choose another id", orElse(stored.By, "somebody else"))
	}
	e, err := read(stored)
	if err != nil {
		if err := b.Store.RemoveSchedule(ctx, d.ID); err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return err
		}
		return sessions.ErrConflict // another version wrote it: it is made anew
	}
	d.Timezone = orElse(d.Timezone, e.plan.Timezone)
	return b.redefine(ctx, e, d)
}

// redefine gives a schedule another definition. Its times begin anew only
// where they are others.
func (b *Book) redefine(ctx context.Context, e *entry, d Definition) error {
	plan, err := NewPlan(d)
	if err != nil {
		return err
	}
	if reflect.DeepEqual(plan.Definition, e.plan.Definition) {
		return nil
	}
	retimed := !plan.sameTiming(e.plan.Definition)
	if err := d.checkChanged(b.World, e.now, retimed); err != nil {
		return err
	}
	if retimed {
		fresh := plan.begin(e.now)
		e.state.Anchor, e.state.Next, e.state.Pending = fresh.Anchor, fresh.Next, nil
		if e.state.Status == Finished {
			e.state.Status = Active
		}
	}
	e.plan = plan
	change, err := e.change(nil)
	if err != nil {
		return err
	}
	if change.Definition, err = json.Marshal(plan.Definition); err != nil {
		return err
	}
	_, err = b.Store.SaveSchedule(ctx, change)
	return err
}

// CheckDeclared is Check for what stands in a file for long: a one-shot may be
// past.
func (d Definition) CheckDeclared(world World) error {
	return d.checkChanged(world, time.Now(), false)
}

// checkChanged is Check, but a one-shot whose time was kept may be past.
func (d Definition) checkChanged(world World, now time.Time, retimed bool) error {
	if timing, err := d.parseTiming(); err == nil && !retimed && !timing.at.IsZero() {
		now = timing.at.Add(-time.Second)
	}
	return d.Check(world, now)
}
