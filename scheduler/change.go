package scheduler

import (
	"context"
	"errors"
	"time"

	"parley/sessions"
)

// changesMax is how often a change is tried anew because something else
// changed the schedule meanwhile.
const changesMax = 20

// update changes a schedule's state by a pure function, again and again until
// nobody came in between.
func (b *Book) update(ctx context.Context, id string, change func(e *entry) error) (View, error) {
	for range changesMax {
		e, err := b.load(ctx, id)
		if err != nil {
			return View{}, err
		}
		if err := change(e); err != nil {
			return View{}, err
		}
		save, err := e.change(nil)
		if err != nil {
			return View{}, err
		}
		_, err = b.Store.SaveSchedule(ctx, save)
		if !errors.Is(err, sessions.ErrConflict) {
			return e.view(), err
		}
	}
	return View{}, sessions.ErrConflict
}

// Pause keeps a schedule from firing. A run that goes on ends as it would.
// ErrNotActive.
func (b *Book) Pause(ctx context.Context, id string) (View, error) {
	return b.update(ctx, id, func(e *entry) error { return e.plan.pause(&e.state) })
}

// Resume lets it fire again, from now on: what was planned in a pause is not
// made up for, but a one-shot's only time is. ErrNotPaused.
func (b *Book) Resume(ctx context.Context, id string) (View, error) {
	return b.update(ctx, id, func(e *entry) error { return e.plan.resume(&e.state, e.now) })
}

// Run fires a schedule now, whatever its status. The same key once more
// changes nothing; an empty one is always new. ErrRuns.
func (b *Book) Run(ctx context.Context, id, key string) (View, error) {
	return b.update(ctx, id, func(e *entry) error {
		if key != "" && e.state.Asked == key {
			return nil
		}
		e.state.Asked = key
		return e.plan.runNow(&e.state, e.now)
	})
}

func (p *Plan) pause(s *State) error {
	if s.Status != Active {
		return ErrNotActive
	}
	s.Status, s.Pending = Paused, nil
	return nil
}

func (p *Plan) resume(s *State, now time.Time) error {
	if s.Status != Paused && s.Status != Disabled {
		return ErrNotPaused
	}
	s.Status, s.Reason, s.Failures = Active, "", 0
	if p.timing.at.IsZero() {
		s.Next = p.timing.Next(s.Anchor, now)
		return nil
	}
	// The one-shot that failed for good is tried again; one whose time passed
	// unseen is missed.
	if last := s.Last; s.Run == nil && s.Next.IsZero() && last != nil && last.Outcome == Failed && !last.Manual {
		again := *last
		again.Outcome, again.Error, again.EndedAt = "", "", time.Time{}
		again.retry()
		s.Run, s.Last = &again, nil
	}
	return nil
}

// runNow makes a firing of this second, or of the first one after it that no
// run was planned for.
func (p *Plan) runNow(s *State, now time.Time) error {
	if s.Run != nil || len(s.Pending) > 0 {
		return ErrRuns
	}
	at := now.UTC().Truncate(time.Second)
	if s.Last != nil && !at.After(s.Last.Planned) {
		at = s.Last.Planned.Add(time.Second)
	}
	if at.Equal(s.Next) {
		at = at.Add(-time.Second)
		if s.Last != nil && !at.After(s.Last.Planned) {
			return ErrRuns
		}
	}
	s.Pending = []Firing{{At: at, Manual: true}}
	return nil
}
