package due

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"parley/bot/life"
	"parley/sessions"
)

// hints is a store in which nothing is due, and that gives the test's hints.
type hints chan sessions.WorkItem

func (hints) Due(context.Context, int) ([]sessions.WorkItem, error)     { return nil, nil }
func (h hints) Wakes(context.Context) (<-chan sessions.WorkItem, error) { return h, nil }
func turn(id string) sessions.WorkItem                                  { return sessions.WorkItem{Kind: sessions.WorkTurn, ID: id} }

// run runs a Finder on hints until the test ends.
func run(t *testing.T, take func(item sessions.WorkItem)) hints {
	t.Helper()
	h, log := make(hints), slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	f := New(Config{
		Store: h, Life: life.New(log), Log: log, Changed: func(string) {},
		Take: func(_ context.Context, item sessions.WorkItem) error { take(item); return nil },
	})
	go f.Run(ctx)
	return h
}

// A burst of hints begins no more than may be taken at once.
func TestHintsAreTakenAFewAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int64
		let := make(chan struct{})
		h := run(t, func(sessions.WorkItem) {
			most.Store(max(most.Load(), running.Add(1)))
			<-let
			running.Add(-1)
		})
		for i := range 4 * Parallel {
			h <- turn(fmt.Sprint(i))
		}
		synctest.Wait()
		close(let)
		synctest.Wait()
		if n := most.Load(); n != Parallel {
			t.Fatalf("%d were being taken at once", n)
		}
	})
}

// A hint that comes while its item is being taken may tell of something newer:
// the item is looked at once more, and never twice at once.
func TestAHintWhileItsItemIsTakenLooksOnceMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running, took atomic.Int64
		let := make(chan struct{})
		h := run(t, func(sessions.WorkItem) {
			if running.Add(1) > 1 {
				t.Error("taken twice at once")
			}
			<-let
			running.Add(-1)
			took.Add(1)
		})
		for range 3 {
			h <- turn("a")
		}
		synctest.Wait()
		close(let)
		synctest.Wait()
		if n := took.Load(); n != 2 {
			t.Fatalf("taken %d times", n)
		}
	})
}

// crowded is a store with more due than one look sees, of which nothing can be
// taken.
type crowded struct{ hints }

func (crowded) Due(_ context.Context, limit int) ([]sessions.WorkItem, error) {
	items := make([]sessions.WorkItem, limit)
	for i := range items {
		items[i] = turn(fmt.Sprint(i))
	}
	return items, nil
}

// What cannot be taken is not asked for again at once, and does not hide what
// is due behind it.
func TestALookBehindWhatCannotBeTaken(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	f := New(Config{
		Store: crowded{}, Life: life.New(log), Log: log,
		Take: func(context.Context, sessions.WorkItem) error { return sessions.ErrBusy },
	})
	limit := limitMin
	for range 2 {
		pause, next := f.look(t.Context(), limit)
		if pause != Every || next != min(2*limit, sessions.ListMax) {
			t.Fatalf("after %d: %d in %s", limit, next, pause)
		}
		limit = next
	}
}
