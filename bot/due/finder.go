package due

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"parley/bot/life"
	"parley/internal/guard"
	"parley/sessions"
)

// How work is looked for.
const (
	// Every is the pause between two looks at the due set.
	Every = 250 * time.Millisecond
	// Parallel is how many items are being taken at once.
	Parallel = 16
	// limitMin is how much is looked at. While nothing of that can be taken,
	// because other processes have it or this one is full, it is more, up to
	// sessions.ListMax: what comes behind must not wait for it.
	limitMin = 256
	// storePause is how long the search rests after the store failed.
	storePause = 2 * time.Second
)

// Store is what a Finder reads.
type Store interface {
	Due(ctx context.Context, limit int) ([]sessions.WorkItem, error)
	Wakes(ctx context.Context) (<-chan sessions.WorkItem, error)
}

// Config is what a Finder is made of. Everything is required.
type Config struct {
	Store Store
	Life  *life.Life
	Log   *slog.Logger
	// Take claims an item and sets it going. It makes one call of the store, or
	// a few for a timer. sessions.ErrBusy, ErrNothing and ErrNotFound: there is
	// nothing to be taken now.
	Take func(ctx context.Context, item sessions.WorkItem) error
	// Changed says that what is known of an identity is out of date.
	Changed func(identity string)
}

// Finder takes what is due.
type Finder struct {
	Config
	inFlight *inFlight
}

// New makes a Finder that looks for nothing yet.
func New(config Config) *Finder { return &Finder{Config: config, inFlight: newInFlight()} }

// Run takes what is due until ctx ends.
func (f *Finder) Run(ctx context.Context) {
	var hints <-chan sessions.WorkItem
	timer := time.NewTimer(0)
	defer timer.Stop()
	for limit := limitMin; ; {
		select {
		case <-ctx.Done():
			return
		case item, open := <-hints:
			if !open {
				hints = nil // until the next look
				continue
			}
			f.hinted(ctx, item)
		case <-timer.C:
			if hints == nil {
				hints = f.subscribe(ctx)
			}
			var pause time.Duration
			pause, limit = f.look(ctx, limit)
			timer.Reset(pause)
		}
	}
}

func (f *Finder) subscribe(ctx context.Context) <-chan sessions.WorkItem {
	hints, err := f.Store.Wakes(ctx)
	if err != nil && ctx.Err() == nil {
		f.Log.Warn("no hints of work; it is found by looking every "+Every.String(), "error", err)
	}
	return hints
}

// hinted takes an item that a hint names. While Parallel others are being
// taken it waits; after Every the next look finds the item.
func (f *Finder) hinted(ctx context.Context, item sessions.WorkItem) {
	if item.Kind == sessions.WorkWho {
		f.Changed(item.ID)
		return
	}
	wait, end := context.WithTimeout(ctx, Every)
	defer end()
	f.begin(ctx, wait, item, true, func(bool) {})
}

// look takes what is due, at most limit, and returns when to look again and at
// how much.
func (f *Finder) look(ctx context.Context, limit int) (pause time.Duration, next int) {
	call, cancel := life.Bounded(ctx)
	items, err := f.Store.Due(call, limit)
	cancel()
	if err != nil {
		if ctx.Err() == nil {
			f.Log.Error("the store does not answer; work goes on when it is back", "error", err)
		}
		return storePause, limitMin
	}
	taken := f.takeAll(ctx, items)
	switch {
	case !full(items, limit):
		return Every, limitMin
	case taken > 0:
		return 0, limit
	default:
		return Every, min(2*limit, sessions.ListMax)
	}
}

// full reports whether more of a kind may be due than was looked at.
func full(items []sessions.WorkItem, limit int) bool {
	seen := map[sessions.WorkKind]int{}
	for _, item := range items {
		seen[item.Kind]++
	}
	for _, n := range seen {
		if n >= limit {
			return true
		}
	}
	return false
}

// takeAll takes items and returns how many it could take until the next look is
// due. What takes longer goes on.
func (f *Finder) takeAll(ctx context.Context, items []sessions.WorkItem) (taken int) {
	look, end := context.WithTimeout(ctx, Every)
	defer end()
	results := make(chan bool, len(items))
	begun := 0
	for _, item := range items {
		if f.begin(ctx, look, item, false, func(ok bool) { results <- ok }) {
			begun++
		}
	}
	for range begun {
		select {
		case ok := <-results:
			if ok {
				taken++
			}
		case <-look.Done():
			return taken
		}
	}
	return taken
}

// begin takes an item in a goroutine of its own, once there is a slot for it,
// and reports whether it is the one that does. wait ends the waiting.
func (f *Finder) begin(ctx, wait context.Context, item sessions.WorkItem, hinted bool, done func(taken bool)) bool {
	if !f.inFlight.begin(item, hinted) {
		return false
	}
	select {
	case f.inFlight.slots <- struct{}{}:
	case <-wait.Done():
		for f.inFlight.end(item) { // the next look finds it
		}
		return false
	}
	f.Life.Spawn(func() {
		defer func() { <-f.inFlight.slots }()
		taken := false
		for again := true; again; again = f.inFlight.end(item) {
			guard.Safely(f.Log, "due work", func() { taken = f.take(ctx, item) || taken })
		}
		done(taken)
	})
	return true
}

// take claims one item and reports whether it could.
func (f *Finder) take(ctx context.Context, item sessions.WorkItem) bool {
	if ctx.Err() != nil {
		return false
	}
	call, cancel := life.Detached(ctx)
	defer cancel()
	err := f.Take(call, item)
	nothing := errors.Is(err, sessions.ErrBusy) || errors.Is(err, sessions.ErrNothing) || errors.Is(err, sessions.ErrNotFound)
	if err != nil && !nothing && ctx.Err() == nil {
		f.Log.Error("due work could not be taken; it is tried again", "kind", item.Kind, "id", item.ID, "error", err)
	}
	return err == nil
}
