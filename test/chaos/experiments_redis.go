package main

import (
	"context"
	"time"

	"parley/test/redistest"
)

// redisAway stops Redis for a while.
func redisAway(ctx context.Context, w *world, r *result, _ int, short bool, stopLoad func()) error {
	away := choose([2]time.Duration{time.Minute, 5 * time.Second}, short)
	if err := pause(ctx, 2*time.Second); err != nil {
		return err
	}
	if err := w.outage(ctx, away, w.backend.redis.Stop); err != nil {
		return err
	}
	r.Runs++
	stopLoad()
	return nil
}

func (w *world) outage(ctx context.Context, away time.Duration, begin func()) error {
	from := time.Now()
	begin()
	if err := pause(ctx, away); err != nil {
		return err
	}
	err := w.backend.redis.Restart()
	w.ledger.disrupted(span{what: "Redis was away", from: from, to: time.Now()})
	return err
}

// redisKills kills Redis and starts it again.
func redisKills(ctx context.Context, w *world, r *result, runs int, short bool, _ func()) error {
	between := choose([2]time.Duration{4 * time.Second, time.Second}, short)
	for range runs {
		if err := pause(ctx, between/2+w.upTo(between)); err != nil {
			return err
		}
		if err := w.outage(ctx, w.upTo(between/4), w.backend.redis.Kill); err != nil {
			return err
		}
		r.Runs++
		w.progress(r, runs)
	}
	return nil
}

// redisFreezes lets Redis keep what it is told and answer late, so that nobody
// knows whether a call took effect. Each third time a replica dies meanwhile.
func redisFreezes(ctx context.Context, w *world, r *result, runs int, _ bool, _ func()) error {
	for range runs {
		if err := pause(ctx, w.lease/8+w.upTo(w.lease/2)); err != nil {
			return err
		}
		from := time.Now()
		w.backend.redis.Pause()
		err := pause(ctx, w.lease/8+w.upTo(w.lease/3))
		w.backend.redis.Resume()
		w.ledger.disrupted(span{what: "Redis was frozen", from: from, to: time.Now()})
		if err != nil {
			return err
		}
		r.Runs++
		w.progress(r, runs)
		if r.Runs%3 != 0 {
			continue
		}
		s := w.slots[w.rng.IntN(len(w.slots))]
		s.life.kill()
		if err := s.start(nil); err != nil {
			return err
		}
	}
	return nil
}

// failWithin bounds the taking over of a dead master's place, and the coming
// back of the dead one as a replica.
const failWithin = 2 * time.Minute

// clusterKills kills one master after another, waits until its replica has
// taken its place, and lets the dead one come back as a replica.
func clusterKills(ctx context.Context, w *world, r *result, runs int, _ bool, _ func()) error {
	for range runs {
		if err := pause(ctx, time.Second+w.upTo(2*time.Second)); err != nil {
			return err
		}
		if err := w.failOver(ctx, w.backend.cluster); err != nil {
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

func (w *world) failOver(ctx context.Context, cluster *redistest.Failover) error {
	ctx, cancel := context.WithTimeout(ctx, failWithin)
	defer cancel()
	leaders := cluster.Leaders(ctx)
	dead := leaders[w.rng.IntN(len(leaders))]
	from := time.Now()
	dead.Kill()
	err := cluster.AwaitLeaders(ctx, dead)
	w.ledger.disrupted(span{what: "a part of Redis was away", from: from, to: time.Now()})
	if err != nil {
		return err
	}
	if err := dead.Restart(); err != nil {
		return err
	}
	return cluster.AwaitWhole(ctx)
}

// safeFailovers kills the master while its replica lags behind, lets the
// replica take its place, and the dead one come back as a replica: until then
// nothing is acknowledged, since nobody else would have it.
func safeFailovers(ctx context.Context, w *world, r *result, runs int, short bool, _ func()) error {
	lag := choose([2]time.Duration{200 * time.Millisecond, 50 * time.Millisecond}, short)
	for range runs {
		w.backend.pair.Link.Delay(lag)
		if err := pause(ctx, time.Second+w.upTo(2*time.Second)); err != nil {
			return err
		}
		if err := w.replaceMaster(ctx); err != nil {
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

func (w *world) replaceMaster(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, failWithin)
	defer cancel()
	from := time.Now()
	err := w.backend.pair.FailOver(ctx)
	if err == nil {
		err = w.backend.pair.ComeBack(ctx)
	}
	w.ledger.disrupted(span{what: "Redis changed its master", from: from, to: time.Now()})
	return err
}
