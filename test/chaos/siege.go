package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"parley/test/bombs"
	"parley/test/fakeopenai"
)

// What a gateway under siege may have. The collector is told to keep below it,
// and the process is judged by the most it had in memory at any time: that is
// what a container would have ended it for.
const (
	siegeMemory    = 256 // MiB
	siegeCollector = "216MiB"
	siegeSecret    = "0123456789abcdef0123456789abcdef" // of Slack's requests
)

// siege attacks every gateway over its address while people talk, and waits
// until they are answered before it ends.
func siege(ctx context.Context, w *world, r *result, _ int, short bool, _ func()) error {
	w.besieged = true
	if err := w.restartAll(func(s *slot) error { return s.start(nil) }); err != nil {
		return err
	}
	for _, s := range w.slots {
		s.life.awaitRunning()
	}
	attacking, stop := context.WithCancel(ctx)
	var attacks sync.WaitGroup
	var tried attempts
	for _, s := range w.slots {
		b := &besieger{folder: s.folder, name: s.name, tried: &tried, many: choose([2]int{300, 60}, short)}
		for _, attack := range []func(context.Context){b.stalls, b.posts, b.watches, b.guesses, b.looks} {
			attacks.Go(func() { attack(attacking) })
		}
	}
	for _, p := range w.platforms {
		if p.guest != nil {
			flood := newFlood(w, p, &tried)
			attacks.Go(func() { flood.talk(attacking) })
		}
	}
	err := pause(ctx, choose([2]time.Duration{2 * time.Minute, 6 * time.Second}, short))
	if err == nil {
		err = w.settle(ctx) // the attacks go on
	}
	stop()
	attacks.Wait()
	r.Runs = int(tried.all.Load())
	r.Notes = append(r.Notes, tried.String())
	for _, s := range w.slots {
		judgeMemory(r, s.life)
	}
	return err
}

func judgeMemory(r *result, l *life) {
	peak, known := peakMemory(l.command.Process.Pid)
	switch {
	case !known:
		r.Notes = append(r.Notes, l.name+": how much memory it had is not known on this system")
	case peak > siegeMemory:
		r.violate("%s had %d MiB, and at most %d are allowed", l.name, peak, siegeMemory)
	default:
		r.Notes = append(r.Notes, fmt.Sprintf("%s had at most %d MiB", l.name, peak))
	}
}

// siegeEnvironment is what a besieged gateway gets besides.
func siegeEnvironment(env map[string]string) {
	env["GOMEMLIMIT"] = siegeCollector
	if env["SLACK_BOT_TOKEN"] != "" {
		env["SLACK_SIGNING_SECRET"] = siegeSecret // opens the webhook
	}
}

// attempts counts what was tried.
type attempts struct{ all, stalled, hooks, streams, guesses, bombs, guests atomic.Int64 }

func (a *attempts) add(kind *atomic.Int64) {
	kind.Add(1)
	a.all.Add(1)
}

// String lists them.
func (a *attempts) String() string {
	return fmt.Sprintf("%d stalled bodies, %d unsigned webhooks, %d event streams that nobody reads, %d wrong tokens, %d answers that cost much, %d messages and commands of guests",
		a.stalled.Load(), a.hooks.Load(), a.streams.Load(), a.guesses.Load(), a.bombs.Load(), a.guests.Load())
}

// What the model answers to siegeWord and a number: an answer that is costly to
// show.
const (
	siegeWord     = "siege"
	siegeBombSize = 15 << 10
)

var siegeBombs = sync.OnceValue(func() []string {
	all := bombs.All(siegeBombSize)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text := strings.ToValidUTF8(strings.ReplaceAll(all[name], "\x00", ""), "?")
		if strings.TrimSpace(text) != "" { // a blank answer fails its turn, and shows nothing
			out = append(out, text)
		}
	}
	return out
})

// siegeReply is the model's answer to a besieger; false: it is not one who asks.
func siegeReply(text string) (fakeopenai.Reply, bool) {
	_, number, found := strings.Cut(text, siegeWord)
	if !found {
		return fakeopenai.Reply{}, false
	}
	n, _ := strconv.Atoi(number)
	return fakeopenai.Text(siegeBombs()[n%len(siegeBombs())]), true
}
