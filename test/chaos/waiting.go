package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// waiting remembers which answers were seen, so that each is looked at once.
type waiting struct {
	read  map[*chat]int // texts of the bot that were looked at
	shown map[int]bool  // numbers in them
	asked int           // messages of the ledger before which all are answered
}

// open is how many messages that were said up to a time and ask for an answer
// are shown none. It is called by one goroutine.
func (w *world) open(until time.Time) int {
	at := &w.waiting
	if at.read == nil {
		at.read, at.shown = map[*chat]int{}, map[int]bool{}
	}
	for _, c := range w.chats() {
		texts := c.platform.shown(c)
		for _, text := range texts[min(at.read[c], len(texts)):] {
			for _, n := range numbersIn(text) {
				at.shown[n] = true
			}
		}
		at.read[c] = len(texts)
	}
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	answered := func(s *said) bool { return !s.triggers || s.special || at.shown[s.number] }
	for at.asked < len(w.ledger.said) && answered(w.ledger.said[at.asked]) {
		at.asked++
	}
	open := 0
	for _, s := range w.ledger.said[at.asked:] {
		if !s.at.After(until) && !answered(s) {
			open++
		}
	}
	return open
}

const (
	lookEvery  = 200 * time.Millisecond
	reportWait = 10 * time.Second
	// stuckAfter is how long, besides a few leases, nothing may be answered of
	// what is open. How long all of it takes says how fast the machine is, and
	// what failed a few times is tried again after minutes only.
	stuckAfter = 150 * time.Second
)

var errNotDrained = errors.New("what was said is not answered")

// settle waits until all that was said by now is answered.
func (w *world) settle(ctx context.Context) error {
	now := time.Now()
	return w.untilAnswered(ctx, now, func() bool { return true })
}

// drain waits until all is answered, and all that was said in hearing of the
// gateways is taken in; it says how long that took. The load must have ended.
func (w *world) drain(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	err := w.untilAnswered(ctx, began, func() bool { return true })
	took := time.Since(began)
	if err == nil {
		err = w.untilAnswered(ctx, began, func() bool { return w.unheard(ctx) == nil })
	}
	if errors.Is(err, errNotDrained) {
		if deaf := w.unheard(ctx); deaf != nil {
			err = fmt.Errorf("%w; %w", err, deaf)
		}
	}
	return took, err
}

// untilAnswered waits until nothing is open and also holds. It gives up when
// nothing is answered any more.
func (w *world) untilAnswered(ctx context.Context, said time.Time, also func() bool) error {
	limit := stuckAfter + 4*w.lease
	fewest, moved, next := -1, time.Now(), time.Now().Add(reportWait)
	for {
		open := w.open(said)
		if open == 0 && also() {
			return nil
		}
		if fewest < 0 || open < fewest {
			fewest, moved = open, time.Now()
		}
		if time.Since(moved) > limit {
			return fmt.Errorf("%w: %d are open, and none was answered for %s", errNotDrained, open, limit)
		}
		if time.Now().After(next) {
			next = next.Add(reportWait)
			w.report("waiting for %d answers", open)
		}
		if err := pause(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// heardWithin bounds a look at what a platform still has to deliver.
const heardWithin = 50 * time.Millisecond

// unheard says which platform has something that no gateway acknowledged.
func (w *world) unheard(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, heardWithin)
	defer cancel()
	for _, p := range w.platforms {
		if err := p.acknowledged(ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}
