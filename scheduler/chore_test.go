package scheduler

import (
	"context"
	"errors"
	"testing"
	"time"

	"parley/sessions"
)

func TestChores(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	left, fails := 250, true
	batches := 0
	chores := &Chores{Store: s.store, Now: s.clock.Now, Done: func(string, int, error) { batches++ }, List: []Chore{{
		Name: "sweep", Every: 10 * time.Minute,
		Do: func(context.Context) (int, bool, error) {
			if fails {
				return 0, false, errors.New("not now")
			}
			n := min(left, 100)
			left -= n
			return n, left > 0, nil
		},
	}}}
	fire := func() {
		t.Helper()
		items, err := s.store.Due(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			timer, err := s.store.Fire(t.Context(), item.Home, item.ID, sessions.Claimer{Owner: "w", For: sessions.LeaseFor})
			if err != nil {
				t.Fatal(err)
			}
			if !chores.Owns(timer) {
				t.Fatalf("timer %+v", timer)
			}
			if err := chores.Fired(t.Context(), timer); err != nil {
				t.Fatal(err)
			}
		}
	}
	tally := func() Tally {
		t.Helper()
		all, err := Tallies(t.Context(), s.store)
		if err != nil {
			t.Fatal(err)
		}
		return all["sweep"]
	}
	for range 2 { // a second replica finds it set up
		if err := chores.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.clock.advance(choreFirst)
	fire()
	if got := tally(); got.Failed != 1 || got.Error != "not now" {
		t.Errorf("after a failure: %+v", got)
	}
	fails = false
	s.clock.advance(choreAgain)
	fire()
	if got := tally(); got.Count != 250 || got.Total != 250 || got.Failed != 0 || got.Error != "" || batches != 4 {
		t.Errorf("after it was done in %d batches: %+v", batches, got)
	}
	fire()
	want(t, "batches", batches, 4)
	s.clock.advance(10 * time.Minute)
	fire()
	if got := tally(); got.Count != 0 || got.Total != 250 {
		t.Errorf("with nothing to do: %+v", got)
	}
	views, _, err := s.book.List(t.Context(), sessions.ScheduleList{Limit: 10})
	if err != nil || len(views) != 0 {
		t.Errorf("people see chores: %v %v", views, err)
	}
	chores.List = nil
	if err := chores.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.clock.advance(day)
	fire()
}
