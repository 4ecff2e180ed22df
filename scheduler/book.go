package scheduler

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/sessions"
)

// Book is how people make, see and change schedules.
type Book struct {
	Store sessions.Schedules
	World World
	Now   func() time.Time // nil: time.Now
	// Zone is the IANA name of the zone of schedules that name none; empty:
	// UTC. What is stored keeps the zone that it was made with.
	Zone string
}

// InZone gives a definition that names no time zone the book's.
func (b *Book) InZone(d Definition) Definition {
	d.Timezone = orElse(d.Timezone, b.Zone)
	return d
}

// View is a schedule as people see it.
type View struct {
	Definition

	Status    Status      `json:"status"`
	Reason    string      `json:"reason,omitempty"`
	Next      []time.Time `json:"next,omitempty"` // the coming times, in the schedule's zone
	Waiting   int         `json:"waiting,omitempty"`
	Failures  int         `json:"failures,omitempty"`
	Run       *Run        `json:"run,omitempty"`
	Last      *Run        `json:"last,omitempty"`
	CreatedAt time.Time   `json:"created_at"`
}

func (e *entry) view() View {
	return View{
		Definition: e.plan.Definition, Status: e.state.Status, Reason: e.state.Reason, Next: e.plan.NextTimes(e.state, e.now),
		Waiting: len(e.state.Pending), Failures: e.state.Failures, Run: e.state.Run, Last: e.state.Last, CreatedAt: e.stored.CreatedAt,
	}
}

// Conditions of a Book. sessions.ErrNotFound: there is no such schedule;
// sessions.ErrConflict: one of that id exists.
var (
	ErrDeclared  = errors.New("this schedule is declared in the configuration file; change it there")
	ErrRuns      = errors.New("a run of this schedule is going on or waiting; try again when it has ended")
	ErrNotPaused = errors.New("this schedule is neither paused nor disabled")
	ErrNotActive = errors.New("this schedule is not active")
)

// MaxPerMaker bounds how many schedules one person makes, ByOperator aside.
const MaxPerMaker = 100

// TooManyError refuses one more schedule of a maker.
type TooManyError struct{ By string }

// Error says what to do.
func (e *TooManyError) Error() string {
	return fmt.Sprintf("%s has %d schedules already; remove one first", e.By, MaxPerMaker)
}

// Add makes a schedule. Without an id it gets one. *RefusedError,
// *TooManyError, sessions.ErrConflict.
func (b *Book) Add(ctx context.Context, d Definition) (View, error) {
	d = b.InZone(d)
	drawn := d.ID == ""
	for range 8 {
		if drawn {
			d.ID = "s-" + strings.ToLower(rand.Text()[:6])
		}
		view, err := b.add(ctx, d)
		if !drawn || !errors.Is(err, sessions.ErrConflict) {
			return view, err
		}
	}
	return View{}, sessions.ErrConflict
}

func (b *Book) add(ctx context.Context, d Definition) (View, error) {
	now, err := b.admit(ctx, d)
	if err != nil {
		return View{}, err
	}
	if err := d.Check(b.World, now); err != nil {
		return View{}, err
	}
	return b.create(ctx, d, now)
}

// create stores a checked definition. Its times begin at the store's time,
// which is known once it is stored; should this process die in between, the
// timer, which is due, does the same.
func (b *Book) create(ctx context.Context, d Definition, now time.Time) (View, error) {
	plan, err := NewPlan(d)
	if err != nil {
		return View{}, err
	}
	e := &entry{plan: plan, state: State{Status: Active}, now: now}
	definition, err := json.Marshal(plan.Definition)
	if err != nil {
		return View{}, err
	}
	state, err := json.Marshal(e.state)
	if err != nil {
		return View{}, err
	}
	if e.stored, err = b.Store.SaveSchedule(ctx, sessions.ScheduleChange{ID: d.ID, By: d.By, Definition: definition, State: state, Due: now}); err != nil {
		return View{}, err
	}
	e.now = e.stored.ReadAt
	e.state = plan.begin(e.now)
	change, err := e.change(nil)
	if err != nil {
		return View{}, err
	}
	if _, err = b.Store.SaveSchedule(ctx, change); errors.Is(err, sessions.ErrConflict) {
		return b.Get(ctx, d.ID) // its timer was quicker
	}
	return e.view(), err
}

// admit bounds what a maker makes, and tells the store's time, or this
// machine's where nothing of theirs is there yet.
func (b *Book) admit(ctx context.Context, d Definition) (time.Time, error) {
	bounded := d.By != ByOperator && d.By != ByConfig
	limit := 1
	if bounded {
		limit = MaxPerMaker
	}
	part, _, err := b.Store.ListSchedules(ctx, sessions.ScheduleList{By: d.By, Limit: limit})
	switch {
	case err != nil:
		return time.Time{}, err
	case bounded && len(part) >= MaxPerMaker:
		return time.Time{}, &TooManyError{d.By}
	case len(part) > 0:
		return part[0].ReadAt, nil
	}
	return b.now(), nil
}

// now is this machine's time, for what only has to be about right: whether a
// one-shot is past, and where the coming times begin.
func (b *Book) now() time.Time {
	if b.Now != nil {
		return b.Now()
	}
	return time.Now()
}

// Get reads a schedule. sessions.ErrNotFound.
func (b *Book) Get(ctx context.Context, id string) (View, error) {
	e, err := b.load(ctx, id)
	if err != nil {
		return View{}, err
	}
	return e.view(), nil
}

// load refuses what cannot be an id as what is not there.
func (b *Book) load(ctx context.Context, id string) (*entry, error) {
	if CheckID(id) != nil {
		return nil, sessions.ErrNotFound
	}
	return load(ctx, b.Store, id)
}

// List reads a part of the schedules, of one maker or all, without the
// gateway's own. See sessions.Schedules. One that cannot be read is shown as
// disabled, with why.
func (b *Book) List(ctx context.Context, list sessions.ScheduleList) ([]View, string, error) {
	part, cursor, err := b.Store.ListSchedules(ctx, list)
	if err != nil {
		return nil, "", err
	}
	views := make([]View, 0, len(part))
	for _, stored := range part {
		if stored.By == ByGateway {
			continue
		}
		e, err := read(stored)
		if err != nil {
			views = append(views, View{Definition: Definition{ID: stored.ID, By: stored.By}, Status: Disabled, Reason: err.Error(), CreatedAt: stored.CreatedAt})
			continue
		}
		views = append(views, e.view())
	}
	return views, cursor, nil
}

// History reads the newest runs, newest first.
func (b *Book) History(ctx context.Context, id string, limit int) ([]Run, error) {
	if CheckID(id) != nil {
		return nil, sessions.ErrNotFound
	}
	records, err := b.Store.ScheduleRuns(ctx, id, limit)
	if err != nil {
		return nil, err
	}
	runs := make([]Run, len(records))
	for i, record := range records {
		if err := json.Unmarshal(record.Body, &runs[i]); err != nil {
			return nil, fmt.Errorf("the run %s of schedule %s cannot be read: %w", record.ID, id, err)
		}
	}
	return runs, nil
}

// Remove removes a schedule with its history. What its session said stays.
// ErrDeclared.
func (b *Book) Remove(ctx context.Context, id string) error {
	e, err := b.load(ctx, id)
	if err != nil {
		return err
	}
	if e.stored.By == ByConfig {
		return ErrDeclared
	}
	return b.Store.RemoveSchedule(ctx, id)
}
