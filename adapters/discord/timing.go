package discord

import (
	"context"
	"math/rand/v2"
	"time"
)

// timing is every pause and limit of time of the connection, as data.
type timing struct {
	dial     time.Duration // TCP, TLS and upgrade
	hello    time.Duration // from the upgrade to hello
	ready    time.Duration // from identify or resume to the first sign that it worked
	write    time.Duration // of one frame
	call     time.Duration // of one REST call of our own (not of Send)
	callback time.Duration // of the first answer to an interaction: Discord waits 3 s

	room  time.Duration // reading stops for so long at most while too many events wait
	flush time.Duration // how long the stored position may lag
	save  time.Duration // of storing it

	identify time.Duration // between two identifies of one group of shards
	retry    pauses        // after a connection failed
	renew    pauses        // between identifies, which are counted per day
	offer    pauses        // between two offers of one event to the sink
	invalid  pauses        // after an invalid session, at random between the two
	settled  time.Duration // a connection that lived so long was a good one
}

// pauses is a range that grows by doubling.
type pauses struct{ min, max time.Duration }

func defaultTiming() timing {
	return timing{
		dial: 10 * time.Second, hello: 20 * time.Second, ready: 60 * time.Second, write: 5 * time.Second,
		call: 10 * time.Second, callback: 2500 * time.Millisecond,
		room: 10 * time.Second, flush: 250 * time.Millisecond, save: 3 * time.Second,
		identify: identifyEvery,
		retry:    pauses{500 * time.Millisecond, time.Minute},
		renew:    pauses{5 * time.Second, time.Hour},
		offer:    pauses{100 * time.Millisecond, 10 * time.Second},
		invalid:  pauses{time.Second, 5 * time.Second},
		settled:  5 * time.Minute,
	}
}

// after is the pause before try n, counted from 1, with jitter: between half
// of it and all of it.
func (p pauses) after(n int) time.Duration {
	d := p.max
	if n < 30 {
		d = min(p.max, p.min<<max(n-1, 0))
	}
	if d <= 1 {
		return d
	}
	return d/2 + rand.N(d/2)
}

// between is a random pause of the range.
func (p pauses) between() time.Duration {
	if p.max <= p.min {
		return p.min
	}
	return p.min + rand.N(p.max-p.min)
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
