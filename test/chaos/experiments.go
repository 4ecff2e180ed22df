package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/internal/fault"
)

// experiment is one way to disrupt, and what it must not do.
type experiment struct {
	name   string
	about  string   // for the page
	stores []string // it makes sense on
	runs   [2]int   // how many disruptions: full, short
	rate   [2]float64
	long   bool // at the lease of production in the full form
	sick   bool // nobody but the experiment talks in the first chat
	outage bool // nothing is answered for long
	clock  bool // some gateways have a wrong clock
	alone  bool // it judges times: nothing else runs beside it
	parked int  // turns it is to park
	// drained is how soon after its end all is to be answered; judged in the
	// full form only. 0: not judged.
	drained time.Duration
	run     func(ctx context.Context, w *world, r *result, runs int, short bool, stopLoad func()) error
}

const chatsDefault = 60

// experiments are all there are.
func experiments() []experiment {
	both, redis := []string{onSQLite, onRedis}, []string{onRedis}
	all := []experiment{
		{name: "kill", about: "random kill -9 of a replica under load", stores: both, runs: [2]int{200, 8}, rate: [2]float64{100, 20}, run: kills},
		{name: "kill full-lease", about: "the same at the lease of production", stores: redis, runs: [2]int{20, 0}, rate: [2]float64{100, 20}, long: true, run: kills},
	}
	for _, point := range fault.Points() {
		all = append(all, experiment{
			name: "kill " + strings.ReplaceAll(string(point), " ", "-"), about: "kill -9 at the point \"" + string(point) + "\"",
			stores: both, runs: [2]int{50, 3}, rate: [2]float64{40, 20},
			run: func(ctx context.Context, w *world, r *result, runs int, _ bool, _ func()) error {
				return killsAt(ctx, w, r, runs, point)
			},
		})
	}
	for _, point := range []fault.Point{fault.AfterClaim, fault.MidModel, fault.BeforeSend, fault.AfterSendBeforeReceipt} {
		all = append(all, experiment{
			name: "stop " + strings.ReplaceAll(string(point), " ", "-"), about: "SIGSTOP at the point \"" + string(point) + "\" for 3 lease times, then SIGCONT",
			stores: redis, runs: [2]int{20, 1}, rate: [2]float64{20, 15},
			run: func(ctx context.Context, w *world, r *result, runs int, _ bool, _ func()) error {
				return stopsAt(ctx, w, r, runs, point)
			},
		})
	}
	return append(all,
		experiment{name: "stop", about: "SIGSTOP of a replica for 3 lease times, then SIGCONT", stores: redis, runs: [2]int{4, 2}, rate: [2]float64{100, 20}, long: true, run: stops},
		experiment{name: "rolling", about: "each replica stopped cleanly and started again, under load", stores: both, runs: [2]int{20, 3}, rate: [2]float64{100, 20}, long: true, run: rolls},
		experiment{name: "redis-away", about: "Redis stopped for 60 s under load", stores: redis, runs: [2]int{1, 1}, rate: [2]float64{100, 20}, long: true, outage: true, drained: 30 * time.Second, run: redisAway},
		experiment{name: "redis-kill", about: "kill -9 of Redis (appendfsync always) under load", stores: redis, runs: [2]int{20, 3}, rate: [2]float64{100, 20}, long: true, drained: 30 * time.Second, run: redisKills},
		experiment{name: "cluster-kill", about: "kill -9 of a master of a Redis Cluster; its replica takes its place", stores: []string{onCluster}, runs: [2]int{6, 1}, rate: [2]float64{50, 15}, long: true, drained: 30 * time.Second, run: clusterKills},
		experiment{name: "safe-failover", about: "kill -9 of a master whose replica lags, in safe mode; a Sentinel lets the replica take its place", stores: []string{onSentinel}, runs: [2]int{6, 1}, rate: [2]float64{50, 15}, long: true, drained: 30 * time.Second, run: safeFailovers},
		experiment{name: "clock", about: "one replica's clock an hour ahead or behind, and now and then a kill", stores: redis, runs: [2]int{12, 2}, rate: [2]float64{50, 15}, clock: true, run: clocks},
		experiment{name: "redis-slow", about: "Redis frozen for up to a third of a lease, again and again, and a replica killed now and then", stores: redis, runs: [2]int{60, 5}, rate: [2]float64{100, 20}, run: redisFreezes},
		experiment{name: "storm", about: "one platform after another answers 429 for 60 s", stores: both, runs: [2]int{3, 1}, rate: [2]float64{50, 15}, long: true, alone: true, run: storm},
		experiment{name: "hang", about: "the model never answers in one chat", stores: both, runs: [2]int{1, 1}, rate: [2]float64{50, 15}, long: true, sick: true, alone: true, run: hang},
		experiment{name: "siege", about: "stalled bodies, unsigned webhooks, event streams that nobody reads, wrong tokens, costly answers and a flood of guests at gateways that may have 256 MiB", stores: both, runs: [2]int{1, 1}, rate: [2]float64{20, 10}, alone: true, run: siege},
		experiment{name: "poison", about: "a message whose turn kills whoever runs it, until it is parked", stores: both, runs: [2]int{1, 1}, rate: [2]float64{20, 15}, sick: true, parked: 1, run: poisons},
	)
}

// choose is the element for the full or the short form.
func choose[T any](pair [2]T, short bool) T {
	if short {
		return pair[1]
	}
	return pair[0]
}

// killsTogether is how many replicas die before what they left can be ended:
// a turn that dies three times is rightly given up, and that is not what is
// looked at here.
const killsTogether = 2

// kills kills one replica after another, at random times.
func kills(ctx context.Context, w *world, r *result, runs int, _ bool, _ func()) error {
	for r.Runs < runs {
		for range min(killsTogether, runs-r.Runs) {
			if err := pause(ctx, 100*time.Millisecond+w.upTo(w.lease)); err != nil {
				return err
			}
			s := w.slots[w.rng.IntN(len(w.slots))]
			s.life.kill()
			r.Runs++
			if err := s.start(nil); err != nil {
				return err
			}
			w.progress(r, runs)
		}
		if err := w.settle(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) upTo(d time.Duration) time.Duration { return time.Duration(w.rng.Int64N(int64(d))) }

func (w *world) progress(r *result, runs int) {
	if every := max(1, runs/10); r.Runs%every == 0 {
		w.report("%d of %d", r.Runs, runs)
	}
}

// passesMax: a life dies at the latest at this pass of its point.
const passesMax = 12

// armedWithin bounds the waiting for an armed process to pass its point.
const armedWithin = 90 * time.Second

// killsAt starts replicas that kill themselves at a point. After a death its
// turns are ended by a life without a plan: a turn that dies three times is
// rightly given up, and that is not what is looked at here.
func killsAt(ctx context.Context, w *world, r *result, runs int, point fault.Point) error {
	for r.Runs < runs {
		if err := w.restartAll(func(s *slot) error { return s.startArmed(point, fault.Kill) }); err != nil {
			return err
		}
		dead, err := w.firstOf(ctx, (*life).gone)
		if err != nil {
			return fmt.Errorf("nobody died at %q: %w", point, err)
		}
		r.Runs++
		if err := dead.start(nil); err != nil {
			return err
		}
		if err := w.disarm(dead); err != nil {
			return err
		}
		if err := w.settle(ctx); err != nil {
			return err
		}
		w.progress(r, runs)
	}
	return nil
}

// disarm replaces the lives that still have a plan by lives without one.
func (w *world) disarm(but *slot) error {
	for _, s := range w.slots {
		if s == but {
			continue
		}
		if err := s.life.stop(); err != nil {
			return err
		}
		if err := s.start(nil); err != nil {
			return err
		}
	}
	return nil
}

// restartAll stops the lives cleanly that are of the other kind, armed or not,
// and starts them anew.
func (w *world) restartAll(start func(*slot) error) error {
	for _, s := range w.slots {
		if err := s.life.stop(); err != nil {
			return err
		}
		if err := start(s); err != nil {
			return err
		}
	}
	return nil
}

func (s *slot) startArmed(point fault.Point, action string) error {
	return s.start(&fault.Plan{Point: point, Pass: 1 + s.world.rng.Int64N(passesMax), Action: action})
}

// firstOf waits until something holds for the life of a slot.
func (w *world) firstOf(ctx context.Context, holds func(*life) bool) (*slot, error) {
	ctx, cancel := context.WithTimeout(ctx, armedWithin+4*w.lease)
	defer cancel()
	for {
		for _, s := range w.slots {
			if holds(s.life) {
				return s, nil
			}
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// leasesStopped is for how many leases a replica is stopped.
const leasesStopped = 3

// stops stops one replica after another for longer than its leases.
func stops(ctx context.Context, w *world, r *result, runs int, _ bool, _ func()) error {
	for range runs {
		if err := pause(ctx, w.lease/2+w.upTo(w.lease)); err != nil {
			return err
		}
		s := w.slots[w.rng.IntN(len(w.slots))]
		s.life.freeze()
		err := pause(ctx, leasesStopped*w.lease)
		s.life.thaw(w.ledger)
		if err != nil {
			return err
		}
		r.Runs++
		w.progress(r, runs)
	}
	return pause(ctx, w.lease)
}

// stopsAt lets a replica stop itself at a point, and go on after its leases
// are over.
func stopsAt(ctx context.Context, w *world, r *result, runs int, point fault.Point) error {
	for range runs {
		for _, s := range w.slots {
			s.life.kill()
			if err := s.startArmed(point, fault.Stop); err != nil {
				return err
			}
		}
		s, err := w.firstOf(ctx, (*life).frozen)
		if err != nil {
			return fmt.Errorf("nobody stopped at %q: %w", point, err)
		}
		s.life.noteFrozen()
		if err = w.thawLater(ctx); err != nil {
			return err
		}
		if err := w.endStops(); err != nil {
			return err
		}
		if err := w.settle(ctx); err != nil {
			return err
		}
		r.Runs++
		w.progress(r, runs)
	}
	return nil
}

// endStops replaces the lives that stop themselves: whoever is still armed
// would do so later.
func (w *world) endStops() error {
	for _, s := range w.slots {
		s.life.kill()
		if err := s.start(nil); err != nil {
			return err
		}
	}
	return nil
}

// thawLater waits for some leases, and lets everybody go on who has stopped by
// then, sooner or later.
func (w *world) thawLater(ctx context.Context) error {
	var err error
	for end := time.Now().Add(leasesStopped * w.lease); err == nil && time.Now().Before(end); {
		err = pause(ctx, 10*time.Millisecond)
		for _, s := range w.slots {
			s.life.noteFrozen()
		}
	}
	for _, s := range w.slots {
		if s.life.frozen() {
			s.life.thaw(w.ledger)
		}
	}
	if err != nil {
		return err
	}
	return pause(ctx, w.lease)
}

// rolls stops and starts one replica after another, cleanly.
func rolls(ctx context.Context, w *world, r *result, runs int, _ bool, _ func()) error {
	for i := range runs {
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
		s := w.slots[i%len(w.slots)]
		if err := s.life.stop(); err != nil {
			return err
		}
		r.Runs++
		if err := s.start(nil); err != nil {
			return err
		}
		w.progress(r, runs)
	}
	return nil
}

// clockOff is how far a clock is wrong.
const clockOff = time.Hour

// clocks lets one replica begin a life with a clock that is far ahead, then one
// that is far behind. Each third time it dies by kill -9.
func clocks(ctx context.Context, w *world, r *result, runs int, _ bool, _ func()) error {
	for range runs {
		s := w.slots[r.Runs%len(w.slots)]
		for _, other := range w.slots {
			other.clock = 0
		}
		s.clock = clockOff * time.Duration(1-2*(r.Runs/len(w.slots)%2))
		if err := w.restartAll(func(s *slot) error { return s.start(nil) }); err != nil {
			return err
		}
		if err := pause(ctx, w.lease+w.upTo(w.lease)); err != nil {
			return err
		}
		if r.Runs++; r.Runs%3 == 0 {
			s.life.kill()
			if err := s.start(nil); err != nil {
				return err
			}
		}
		if err := w.settle(ctx); err != nil {
			return err
		}
		w.progress(r, runs)
	}
	return nil
}
