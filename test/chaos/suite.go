package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// experimentMax bounds one experiment.
const experimentMax = 40 * time.Minute

// job is one experiment on one store.
type job struct {
	experiment experiment
	store      string
	build      variant
	seed       uint64
}

// variant is how a gateway is built.
type variant struct {
	long  bool // the lease of production
	clock bool // with a wall clock that can be wrong
}

func (v variant) String() string {
	name := "gateway-short"
	if v.long {
		name = "gateway-full"
	}
	if v.clock {
		name += "-clock"
	}
	return name
}

// suite runs what was asked for, a few at a time.
func suite(ctx context.Context, o options, progress io.Writer) (report, error) {
	if o.seed == 0 {
		o.seed = rand.Uint64N(1_000_000) + 1
	}
	folder, err := os.MkdirTemp("", "parley-chaos-")
	if err != nil {
		return report{}, err
	}
	all := jobs(o)
	say := &announcer{out: progress, began: time.Now()}
	say.line("seed %d, %d experiments, logs in %s", o.seed, len(all), folder)
	binaries, err := build(ctx, folder, all)
	if err != nil {
		return report{}, err
	}
	say.line("the gateway is built")
	results := make([]result, len(all))
	run := func(i int) {
		j := all[i]
		name := fmt.Sprintf("%02d-%s-%s", i, strings.ReplaceAll(j.experiment.name, " ", "-"), j.store)
		results[i] = perform(ctx, o, j, binaries[j.build], filepath.Join(folder, name), say)
	}
	err = inOrder(ctx, all, o, run)
	r := report{about: describe(ctx, o), results: results, took: time.Since(say.began), folder: folder}
	if err == nil && r.violated() == 0 && !o.keep {
		r.folder = ""
		err = os.RemoveAll(folder)
	}
	return r, err
}

// inOrder runs jobs a few at a time, and then one by one those that judge
// times, which the short form does not.
func inOrder(ctx context.Context, all []job, o options, run func(i int)) error {
	var group errgroup.Group
	group.SetLimit(o.parallel)
	var alone []int
	for i, j := range all {
		if j.experiment.alone && !o.short {
			alone = append(alone, i)
			continue
		}
		group.Go(func() error {
			run(i)
			return ctx.Err()
		})
	}
	err := group.Wait()
	for _, i := range alone {
		if err == nil {
			run(i)
			err = ctx.Err()
		}
	}
	return err
}

func jobs(o options) []job {
	var out []job
	for _, e := range experiments() {
		if !slices.Contains(o.experiments, e.name) || o.count == 0 && choose(e.runs, o.short) == 0 {
			continue
		}
		for _, store := range e.stores {
			if slices.Contains(o.stores, store) {
				long := o.lease == leaseFull || o.lease == leaseOwn && e.long && !o.short
				out = append(out, job{experiment: e, store: store, build: variant{long: long, clock: e.clock}, seed: o.seed + uint64(len(out))})
			}
		}
	}
	return out
}

// build makes the gateways that the jobs need.
func build(ctx context.Context, folder string, all []job) (map[variant]string, error) {
	binaries := map[variant]string{}
	for _, j := range all {
		if binaries[j.build] != "" {
			continue
		}
		path := filepath.Join(folder, j.build.String())
		arguments, err := j.build.arguments(ctx, folder)
		if err != nil {
			return nil, err
		}
		command := exec.CommandContext(ctx, "go", append(arguments, "-o", path, "parley/cmd/gateway")...)
		if out, err := command.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("the gateway does not build: %w\n%s", err, out)
		}
		binaries[j.build] = path
	}
	return binaries, nil
}

// arguments are those of the go command.
func (v variant) arguments(ctx context.Context, folder string) ([]string, error) {
	tags := "faults,shortlease"
	if v.long {
		tags = "faults"
	}
	arguments := []string{"build", "-tags", tags}
	if !v.clock {
		return arguments, nil
	}
	overlay, err := wrongClock(ctx, folder)
	return append(arguments, "-overlay", overlay), err
}

// leaseOf is the length of a lease of the two builds.
func leaseOf(long bool) time.Duration {
	if long {
		return 12 * time.Second
	}
	return 2 * time.Second
}

// perform runs one experiment from an empty store to its verdict.
func perform(ctx context.Context, o options, j job, binary, folder string, say *announcer) result {
	ctx, cancel := context.WithTimeout(ctx, experimentMax)
	defer cancel()
	e := j.experiment
	name := e.name + " on " + j.store
	r := result{Experiment: e.name, Store: j.store, Seed: j.seed, Lease: leaseOf(j.build.long).String()}
	w, err := newWorld(worldOptions{
		name: e.name, store: j.store, platforms: o.platforms, folder: folder, binary: binary, lease: leaseOf(j.build.long), chats: chatsDefault, seed: j.seed,
		report: func(format string, args ...any) { say.line(name+": "+format, args...) },
	})
	if err == nil {
		err = w.experience(ctx, &r, e, o)
	}
	if err != nil {
		r.violate("it could not be run to its end: %v", err)
	}
	if !r.ok() && w != nil && w.backend != nil && w.backend.redis != nil {
		if err := w.backend.redis.Save(filepath.Join(folder, "redis")); err != nil {
			r.violate("the store could not be kept: %v", err)
		}
	}
	if w != nil {
		w.close()
	}
	say.line("%s: %s", name, r.summary())
	return r
}

// experience puts the world under load, disrupts it, and concludes.
func (w *world) experience(ctx context.Context, r *result, e experiment, o options) error {
	if err := w.startAll(); err != nil {
		return err
	}
	if err := w.awaitHearing(ctx); err != nil {
		return err
	}
	var spared []*chat
	if e.sick {
		spared = w.chats()[:1]
	}
	stopLoad := sync.OnceFunc(w.load(ctx, choose(e.rate, o.short), e.outage, spared...))
	defer stopLoad()
	runs := int(math.Ceil(o.scale * float64(choose(e.runs, o.short))))
	if o.count > 0 {
		runs = o.count
	}
	if err := e.run(ctx, w, r, runs, o.short, stopLoad); err != nil {
		stopLoad()
		return errors.Join(err, w.conclude(ctx, r, e.parked))
	}
	stopLoad()
	err := w.conclude(ctx, r, e.parked)
	if limit := e.drained; !o.short && limit > 0 && r.Drained > limit.Seconds() {
		r.violate("what had gathered was answered in %.1f s, not within %s", r.Drained, limit)
	}
	return err
}

// announcer shows progress.
type announcer struct {
	mu    sync.Mutex
	out   io.Writer
	began time.Time
}

func (a *announcer) line(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprintf(a.out, "%7s  %s\n", time.Since(a.began).Round(100*time.Millisecond), fmt.Sprintf(format, args...))
}
