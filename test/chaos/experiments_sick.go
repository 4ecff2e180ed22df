package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// storm lets one platform refuse everything for a while.
func storm(ctx context.Context, w *world, r *result, runs int, short bool, _ func()) error {
	fakes := w.fakes()
	first := w.rng.IntN(len(fakes))
	var times pace
	for i := range runs {
		crowded := fakes[(first+i)%len(fakes)]
		r.Notes = append(r.Notes, "the storm was on "+crowded.name)
		if err := w.compare(ctx, r, &times, short, crowded.chats, func() { w.door.crowd(crowded) }, func() { w.door.crowd(nil) }, true); err != nil {
			return err
		}
		if err := w.settle(ctx); err != nil {
			return err
		}
	}
	times.judge(r, short)
	return nil
}

// hang lets the model be silent in one chat.
func hang(ctx context.Context, w *world, r *result, _ int, short bool, _ func()) error {
	silent := w.chats()[0]
	w.except = []*chat{silent}
	var times pace
	err := w.compare(ctx, r, &times, short, w.except, func() { silent.say(w.ledger, hanging, true) }, func() {}, false)
	times.judge(r, short)
	return err
}

// slowerMax is how much slower others may become; judged in the full form only.
const slowerMax = 2

// compare notes how long answers take elsewhere, before some chats are in
// trouble, while they are and, if that is over with end, after.
func (w *world) compare(ctx context.Context, r *result, times *pace, short bool, troubled []*chat, begin, end func(), over bool) error {
	trouble := choose([2]time.Duration{time.Minute, 3 * time.Second}, short)
	if err := pause(ctx, time.Second+w.lease/2); err != nil { // until the gateways hear
		return err
	}
	began := time.Now()
	if err := pause(ctx, trouble/2); err != nil {
		return err
	}
	from := time.Now()
	begin()
	if err := pause(ctx, trouble); err != nil {
		return err
	}
	end()
	r.Runs++
	others := slices.DeleteFunc(w.chats(), func(c *chat) bool { return slices.Contains(troubled, c) })
	to := time.Now()
	// What else the machine does comes and goes: calm is before and after.
	if err := pause(ctx, trouble/2); err != nil {
		return err
	}
	times.calm = append(times.calm, w.ledger.delays(began, from, others)...)
	times.during = append(times.during, w.ledger.delays(from, to, others)...)
	if over {
		times.calm = append(times.calm, w.ledger.delays(to, time.Now(), others)...)
	}
	return nil
}

// pace is how long answers took where nothing was wrong: while there was no
// trouble elsewhere, and while there was.
type pace struct{ calm, during []time.Duration }

// judge compares the two.
func (p *pace) judge(r *result, short bool) {
	slices.Sort(p.calm)
	slices.Sort(p.during)
	slow, slower := percentile(p.calm, 0.99), percentile(p.during, 0.99)
	r.Notes = append(r.Notes, fmt.Sprintf("p99 in the other chats: %s in calm, %s during", slow.Round(time.Millisecond), slower.Round(time.Millisecond)))
	if !short && slower > slowerMax*slow {
		r.violate("the other chats became slower: p99 %s instead of %s", slower, slow)
	}
}

// poisons says something that kills whoever runs its turn.
func poisons(ctx context.Context, w *world, r *result, _ int, _ bool, _ func()) error {
	victims := make(chan string, 16)
	w.door.onPoison(func(life string) {
		select {
		case victims <- life:
		default:
		}
	})
	sick := w.chats()[0]
	w.except = []*chat{sick}
	sick.say(w.ledger, poison, true)
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return ctx.Err()
		case name := <-victims:
			i := slices.IndexFunc(w.slots, func(s *slot) bool { return s.life.name == name })
			if i < 0 {
				continue
			}
			w.slots[i].life.kill()
			if err := w.slots[i].start(nil); err != nil {
				return err
			}
			r.Notes = append(r.Notes, "the poison killed "+name)
		case <-tick.C:
			if w.parkedSaid(sick) {
				tick.Stop()
				r.Runs++
				return nil
			}
		}
	}
}

// parkedSaid reports whether a chat was told that its message was given up.
func (w *world) parkedSaid(c *chat) bool {
	return slices.ContainsFunc(c.platform.shown(c), func(text string) bool { return strings.Contains(text, "after several tries") })
}
