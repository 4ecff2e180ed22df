package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/sessions"
)

// Chore is something the gateway itself does from time to time. It is a
// schedule of ByGateway without a prompt: one for all replicas, and whoever
// finds it due does it.
type Chore struct {
	Name  string // of letters and dashes
	Every time.Duration
	// Do does a batch of it, and returns to how many things it was done and
	// whether there is more.
	Do func(ctx context.Context) (count int, more bool, err error)
}

// choreID is what the ids of chores begin with. No other schedule's does.
const choreID = "gateway."

// Times of chores.
const (
	// choreFirst is when a chore is due after it was seen for the first time.
	choreFirst = time.Minute
	// choreAgain is the pause after a failure.
	choreAgain = 5 * time.Minute
	// choreTakes is how long one firing goes on with batches; the rest is due
	// at once, for anybody.
	choreTakes = 5 * time.Second
)

// Tally is what a chore has done so far: the state of its schedule, and in
// the record of each time that it was not nothing.
type Tally struct {
	Every  string    `json:"every"`
	At     time.Time `json:"at,omitzero"` // the last time
	Count  int       `json:"count"`       // to how many things it was done then
	Total  int64     `json:"total"`       // since ever
	Failed int       `json:"failed,omitempty"`
	Error  string    `json:"error,omitempty"` // of the last time
}

// Chores do what is due of a list.
type Chores struct {
	Store interface {
		sessions.Schedules
		FinishTimer(ctx context.Context, timer sessions.Timer) error
	}
	List []Chore
	Now  func() time.Time // for how long a firing goes on
	// Done hears of each batch.
	Done func(name string, count int, err error)
}

// Ensure sets the timers of chores that have none yet, and ends those of the
// chores that are not on the list.
func (c *Chores) Ensure(ctx context.Context) error {
	old, err := (&Book{Store: c.Store}).all(ctx, ByGateway)
	if err != nil {
		return err
	}
	for _, chore := range c.List {
		id := choreID + chore.Name
		if !old[id] {
			if err := c.make(ctx, id, chore); err != nil {
				return err
			}
		}
		delete(old, id)
	}
	for id := range old {
		if err := c.Store.RemoveSchedule(ctx, id); err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (c *Chores) make(ctx context.Context, id string, chore Chore) error {
	state, err := json.Marshal(Tally{Every: chore.Every.String()})
	if err != nil {
		return err
	}
	made, err := c.Store.SaveSchedule(ctx, sessions.ScheduleChange{ID: id, By: ByGateway, Definition: json.RawMessage("{}"), State: state, Due: c.Now().Add(choreFirst)})
	if errors.Is(err, sessions.ErrConflict) {
		return nil // another replica was quicker
	}
	if err != nil {
		return err
	}
	// Once more by the store's own clock.
	_, err = c.Store.SaveSchedule(ctx, sessions.ScheduleChange{ID: id, Version: made.Version, Due: made.ReadAt.Add(choreFirst)})
	if errors.Is(err, sessions.ErrConflict) {
		return nil
	}
	return err
}

// Owns reports whether a fired timer is a chore's.
func (c *Chores) Owns(timer sessions.Timer) bool {
	return strings.HasPrefix(timer.Home, sessions.ScheduleHome(choreID))
}

// Fired does the chore whose timer fired. What it does is done in steps that
// may be repeated, so of two replicas that do it at once one has less to do.
func (c *Chores) Fired(ctx context.Context, timer sessions.Timer) error {
	id := strings.TrimPrefix(timer.Home, sessions.ScheduleHome(""))
	stored, err := c.Store.Schedule(ctx, id)
	if err != nil && !errors.Is(err, sessions.ErrNotFound) {
		return err
	}
	chore, found := c.find(id)
	if err != nil || !found {
		if err := c.Store.FinishTimer(ctx, timer); !errors.Is(err, sessions.ErrFenced) {
			return err
		}
		return nil
	}
	var tally Tally
	if err := json.Unmarshal(stored.State, &tally); err != nil {
		return fmt.Errorf("the state of %s cannot be read: %w", id, err)
	}
	return c.do(ctx, chore, stored, tally)
}

func (c *Chores) find(id string) (Chore, bool) {
	for _, chore := range c.List {
		if choreID+chore.Name == id {
			return chore, true
		}
	}
	return Chore{}, false
}

func (c *Chores) do(ctx context.Context, chore Chore, stored sessions.Schedule, tally Tally) error {
	tally.Every, tally.At, tally.Count, tally.Error = chore.Every.String(), stored.ReadAt, 0, ""
	due := stored.ReadAt.Add(chore.Every)
	began := c.Now()
	for more := true; more; {
		var count int
		var err error
		count, more, err = chore.Do(ctx)
		tally.Count, tally.Total = tally.Count+count, tally.Total+int64(count)
		c.Done(chore.Name, count, err)
		if err != nil {
			tally.Failed, tally.Error = tally.Failed+1, cut(err.Error())
			due = stored.ReadAt.Add(min(choreAgain, chore.Every))
			break
		}
		tally.Failed = 0
		if more && c.Now().Sub(began) > choreTakes {
			due = stored.ReadAt
			break
		}
	}
	return c.save(ctx, stored, tally, due)
}

func (c *Chores) save(ctx context.Context, stored sessions.Schedule, tally Tally, due time.Time) error {
	state, err := json.Marshal(tally)
	if err != nil {
		return err
	}
	change := sessions.ScheduleChange{ID: stored.ID, Version: stored.Version, State: state, Due: due}
	if tally.Count > 0 || tally.Error != "" {
		change.Runs = []sessions.ScheduleRun{{ID: tally.At.UTC().Format(runForm), At: tally.At, Body: state}}
	}
	if _, err := c.Store.SaveSchedule(ctx, change); !errors.Is(err, sessions.ErrConflict) {
		return err
	}
	return nil // another replica did it too
}

// Tallies reads what the chores have done, by name.
func Tallies(ctx context.Context, store sessions.Schedules) (map[string]Tally, error) {
	part, _, err := store.ListSchedules(ctx, sessions.ScheduleList{By: ByGateway, Limit: sessions.ListMax})
	if err != nil {
		return nil, err
	}
	out := map[string]Tally{}
	for _, stored := range part {
		var tally Tally
		if err := json.Unmarshal(stored.State, &tally); err != nil {
			return nil, fmt.Errorf("the state of %s cannot be read: %w", stored.ID, err)
		}
		out[strings.TrimPrefix(stored.ID, choreID)] = tally
	}
	return out, nil
}
