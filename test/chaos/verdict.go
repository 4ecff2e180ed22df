package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// result is one line of the table.
type result struct {
	Experiment string  `json:"experiment"`
	Store      string  `json:"store"`
	Lease      string  `json:"lease"`
	Seed       uint64  `json:"seed"`
	Runs       int     `json:"runs"` // kills, stops or outages
	Parked     int     `json:"parked"`
	Strained   int     `json:"strained"` // calls and sends that were not answered in time
	Drained    float64 `json:"drained_seconds"`
	counts
	Explanations []string `json:"explanations,omitempty"`
	Notes        []string `json:"notes,omitempty"`
	Violations   []string `json:"violations,omitempty"`
}

func (r *result) ok() bool { return len(r.Violations) == 0 }

func (r *result) violate(format string, args ...any) {
	r.Violations = append(r.Violations, fmt.Sprintf(format, args...))
}

// conclude waits until the gateways are done, stops them, and judges. parked
// is how many dead letters the experiment is to leave.
func (w *world) conclude(ctx context.Context, r *result, parked int) error {
	drained, err := w.drain(ctx)
	r.Drained = drained.Seconds()
	if err != nil && !errors.Is(err, errNotDrained) {
		return err
	}
	if err != nil {
		r.violate("%v", err)
	}
	// What a lease still holds would come out now, and be a second answer.
	if err := pause(ctx, w.lease+receiptWithin); err != nil {
		return err
	}
	w.stopAll(r)
	left, err := w.remains(ctx)
	if err != nil {
		return err
	}
	w.judge(r, left, parked)
	return nil
}

// stopAll stops the gateways; where a turn is never to end, without waiting for it.
func (w *world) stopAll(r *result) {
	for _, s := range w.slots {
		if len(w.except) > 0 {
			s.life.kill()
			continue
		}
		if err := s.life.stop(); err != nil {
			r.violate("%v", err)
		}
	}
}

func (w *world) remains(ctx context.Context) (remains, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	store, err := w.backend.open(ctx)
	if err != nil {
		return remains{}, err
	}
	defer store.Close()
	return remainsOf(ctx, store, append(w.chats(), w.guests...), append(slices.Clone(w.except), w.guests...))
}

func (w *world) judge(r *result, left remains, parked int) {
	shown := map[*chat][]string{}
	for _, c := range w.chats() {
		shown[c] = c.platform.shown(c)
	}
	told, err := w.told()
	r.Strained = told.slow + len(told.late)
	if told.refused > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d late workers were refused, or gave up by themselves", told.refused))
	}
	if err != nil {
		r.violate("the gateways' logs cannot be read: %v", err)
	}
	given := left.given
	if told.slow == 0 {
		given = nil // nothing excuses it
	}
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	e := evidence{
		given: given,
		late:  told.late,
		said:  w.ledger.said, prompts: w.ledger.prompts, tries: w.ledger.tries, disruptions: w.ledger.disruptions,
		stalls: w.ledger.stalls, lease: w.lease, shown: shown, logs: left.logs,
	}
	r.counts = judge(e)
	r.Violations, r.Explanations = append(r.Violations, r.details...), r.explanations
	if r.Lost+r.Turns+r.Disordered > 0 || r.Replies > r.Explained {
		r.violate("seed %d: %d lost, %d duplicate turns, %d out of order, %d duplicate replies of which %d explained", w.seed, r.Lost, r.Turns, r.Disordered, r.Replies, r.Explained)
	}
	r.Violations = append(r.Violations, w.ledger.problems...)
	for _, p := range w.platforms {
		for _, v := range p.violations() {
			r.violate("the fake %s: %s", p.name, v)
		}
	}
	switch r.Parked = len(left.parked); {
	case r.Parked > parked && told.slow > 0:
		r.Notes = append(r.Notes, fmt.Sprintf("%d turns were given up, and their chats told: besides what was done to them, %d calls to the store were not answered in time", r.Parked-parked, told.slow))
	case r.Parked != parked:
		r.violate("%d turns were parked, not %d: %+v", r.Parked, parked, left.parked)
	}
	if len(left.due) > 0 || len(left.queued) > 0 {
		r.violate("work is left: due %+v, sessions %v", left.due, left.queued)
	}
	if err := w.keep(e); err != nil {
		r.violate("the evidence could not be kept: %v", err)
	}
}
