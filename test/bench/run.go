package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Parts of a run.
const (
	partPosts   = "posts"
	partLatency = "latency"
	partTurns   = "turns"
	partTrips   = "trips"
	partLong    = "long"
	partMemory  = "memory"
	partAllocs  = "allocs"
	partShared  = "replicas"
	partBinary  = "binary"
	partMillion = "million"
)

func partNames() []string {
	return []string{partPosts, partLatency, partTurns, partTrips, partLong, partMemory, partAllocs, partShared, partBinary, partMillion}
}

// sizes say how long and how much is measured.
type sizes struct {
	chats      int // chats, or groups, that talk at the same time
	rounds     int // of each loop, alternately; the median counts
	warmFor    time.Duration
	postFor    time.Duration // of one round
	turnFor    time.Duration // of one round
	samples    int           // turns of one round of latency
	trips      int           // messages, and turns, whose store calls are counted
	idleFor    time.Duration // how long calls in the background are counted
	longLog    int           // messages of the long session
	longTries  int           // of each kind, in the long session and in short ones
	shortLogs  int           // sessions that share the tries, so that they stay short
	idle       int           // sessions whose memory is measured
	allocPosts int
	allocTurns int
	starts     int // of the binary
	liveRounds int // messages of each chat to the binary
	shared     int // answers to each chat that replicas share
	crowd      int // sessions among which some are found
	finds      int // of each kind of query
}

func fullSizes() sizes {
	return sizes{
		chats: 200, rounds: 3, warmFor: 1500 * time.Millisecond, postFor: 2 * time.Second, turnFor: 3 * time.Second, samples: 250,
		trips: 400, idleFor: 2 * time.Second, longLog: 100_000, longTries: 300, shortLogs: 20, idle: 4000,
		allocPosts: 4000, allocTurns: 1000, starts: 7, liveRounds: 5, shared: 10, crowd: 1_000_000, finds: 100,
	}
}

// shortSizes prove that the program works.
func shortSizes() sizes {
	return sizes{
		chats: 20, rounds: 1, warmFor: 50 * time.Millisecond, postFor: 50 * time.Millisecond, turnFor: 50 * time.Millisecond, samples: 10,
		trips: 40, idleFor: 1100 * time.Millisecond, longLog: 300, longTries: 10, shortLogs: 2, idle: 50,
		allocPosts: 50, allocTurns: 20, shared: 1, crowd: 4000, finds: 2,
	}
}

func (s sizes) times(factor float64) sizes {
	scaled := func(n *int) { *n = max(1, int(float64(*n)*factor)) }
	for _, n := range []*int{&s.samples, &s.trips, &s.longLog, &s.longTries, &s.idle, &s.allocPosts, &s.allocTurns, &s.crowd} {
		scaled(n)
	}
	for _, d := range []*time.Duration{&s.warmFor, &s.postFor, &s.turnFor} {
		*d = time.Duration(float64(*d) * factor)
	}
	return s
}

// runner is one run.
type runner struct {
	options
	sizes    sizes
	progress io.Writer
	began    time.Time
	program  string // path of the built gateway; empty: it is not built yet
	figures  []figure
}

// perform does the whole run and judges it.
func perform(ctx context.Context, o options, progress io.Writer) (report, error) {
	recorded, err := readRecorded(o.budgets)
	if err != nil {
		return report{}, err
	}
	r := &runner{options: o, sizes: fullSizes(), progress: progress, began: time.Now()}
	if o.short {
		r.sizes = shortSizes()
	}
	r.sizes = r.sizes.times(o.size)
	defer r.remove()
	about := describe(ctx, r.command())
	for _, name := range o.backends {
		if err := r.backend(ctx, name); err != nil {
			return report{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := r.binary(ctx); err != nil {
		return report{}, fmt.Errorf("the built gateway: %w", err)
	}
	if err := r.million(ctx); err != nil {
		return report{}, err
	}
	about.finish()
	return judge(about, r.figures, recorded, o.short), nil
}

func (r *runner) command() string {
	words := []string{"go run ./test/bench"}
	if !slices.Equal(r.backends, backendNames()) {
		words = append(words, "-store", strings.Join(r.backends, ","))
	}
	if !slices.Equal(r.parts, partNames()) {
		words = append(words, "-part", strings.Join(r.parts, ","))
	}
	if r.size != 1 {
		words = append(words, "-size", fmt.Sprint(r.size))
	}
	if r.short {
		words = append(words, "-short")
	}
	return strings.Join(words, " ")
}

// backend measures everything that goes through one store.
func (r *runner) backend(ctx context.Context, name string) error {
	b, err := openBackend(ctx, name)
	if err != nil {
		return err
	}
	defer b.close()
	for _, part := range []struct {
		names []string
		run   func(context.Context, *backend) error
	}{
		{[]string{partMemory}, r.memory}, // first: it wants a store with nothing else in it
		{[]string{partTrips}, r.trips},
		{[]string{partAllocs}, r.allocations},
		{[]string{partPosts}, r.posts},
		{[]string{partLatency, partTurns}, r.turns},
		{[]string{partLong}, r.long},
		{[]string{partShared}, r.replicas},
	} {
		if !slices.ContainsFunc(part.names, r.wants) {
			continue
		}
		r.say("%s: %s", name, strings.Join(part.names, ", "))
		if err := part.run(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(part.names, ", "), err)
		}
	}
	return nil
}

func (r *runner) wants(part string) bool { return slices.Contains(r.parts, part) }

func (r *runner) say(format string, args ...any) {
	fmt.Fprintf(r.progress, "%5.0fs  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

func (r *runner) add(figures ...figure) { r.figures = append(r.figures, figures...) }
