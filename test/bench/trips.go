package main

import (
	"context"
	"errors"
	"time"
)

// tripsWarm is how many messages and turns go before those that are counted:
// sessions, connections and scripts are there afterwards.
const tripsWarm = 10

// trips counts how often the store is asked for one message and for one turn,
// one at a time: on Redis at the connection, on SQLite at the store's methods.
func (r *runner) trips(ctx context.Context, b *backend) error {
	if b.server == nil {
		return inLab(ctx, b.store, func(l *lab) error { return r.countTrips(ctx, b.name, l, l.store.counts) })
	}
	p, err := newProxy(b.server.Addr())
	if err != nil {
		return err
	}
	defer p.close()
	store, err := openRedisStore(ctx, p.url())
	if err != nil {
		return err
	}
	err = inLab(ctx, store, func(l *lab) error { return r.countTrips(ctx, b.name, l, p.counts) })
	return errors.Join(err, store.Close())
}

func (r *runner) countTrips(ctx context.Context, name string, l *lab, counts func() tally) error {
	post := func() error { return l.sink(ctx, l.inGroup(0, false)) }
	turn := func() error { return l.turn(ctx, l.inGroup(1, true)) }
	for range tripsWarm {
		if err := errors.Join(post(), turn()); err != nil {
			return err
		}
	}
	idle, err := observeIdle(ctx, r.sizes.idleFor, counts)
	if err != nil {
		return err
	}
	posts, err := tripsOf(r.sizes.trips, idle, counts, post)
	if err != nil {
		return err
	}
	turns, err := tripsOf(r.sizes.trips, idle, counts, turn)
	if err != nil {
		return err
	}
	r.add(newFigure(name, measurePostTrips, posts, 1), newFigure(name, measureTurnTrips, turns, 1))
	return nil
}

// background are the kinds of what the gateway asks with nothing to do, and how
// often a second.
type background map[string]float64

func observeIdle(ctx context.Context, during time.Duration, counts func() tally) (background, error) {
	before, began := counts(), time.Now()
	if err := pause(ctx, during); err != nil {
		return nil, err
	}
	out := background{}
	for kind, n := range counts().minus(before) {
		if n > 0 {
			out[kind] = float64(n) / time.Since(began).Seconds()
		}
	}
	return out, nil
}

// tripsOf is the round trips of one of n.
func tripsOf(n int, idle background, counts func() tally, one func() error) (float64, error) {
	before, began := counts(), time.Now()
	for range n {
		if err := one(); err != nil {
			return 0, err
		}
	}
	return idle.takenOff(counts().minus(before), n, time.Since(began)) / float64(n), nil
}

// takenOff is a tally of n messages without the background of so long a time.
// What is asked in the background comes in bursts and cannot be told apart one
// by one: it counts as soon as there is more of it than the background
// explains by half of the messages.
func (b background) takenOff(t tally, n int, during time.Duration) float64 {
	sum := 0.0
	for kind, asked := range t {
		surplus := float64(asked) - b[kind]*during.Seconds()
		if b[kind] == 0 || surplus > float64(n)/2+b[kind] {
			sum += surplus
		}
	}
	return sum
}
