package slack

import (
	"context"
	"math/rand/v2"
	"time"
)

// timing is every pause and limit of time, as data.
type timing struct {
	call    time.Duration // one Web API call, waiting for its turn included
	lookup  time.Duration // one look-up of a name, which must not delay an event
	take    time.Duration // the sink's time for one event
	answer  time.Duration // an HTTP request's: Slack waits 3 s
	ack     time.Duration // handing an acknowledgement to the socket
	hello   time.Duration // from the connection to Slack's first word
	silence time.Duration // without a byte on a socket, until it counts as dead
	opens   time.Duration // between two sockets being opened, in the long run
	burst   int           // how many may be opened before that
	second  time.Duration // how long the app's second socket is left to other replicas
	retry   pauses        // after a failure of the connection
	offer   pauses        // between two offers of one event to the sink
	settled time.Duration // a socket that lived so long was a good one
}

// pauses is a range that grows by doubling.
type pauses struct{ min, max time.Duration }

func defaultTiming() timing {
	return timing{
		call: 15 * time.Second, lookup: 800 * time.Millisecond,
		take: 20 * time.Second, answer: 2500 * time.Millisecond, ack: 2 * time.Second,
		hello: 30 * time.Second, silence: 60 * time.Second,
		opens: 5 * time.Second, burst: 3, second: time.Second,
		retry: pauses{time.Second, 2 * time.Minute}, offer: pauses{100 * time.Millisecond, 10 * time.Second}, settled: 10 * time.Second,
	}
}

// after is the pause before try n, counted from 1, with jitter: between half
// of it and all of it.
func (p pauses) after(n int) time.Duration {
	d := p.max
	if n < 30 {
		d = min(p.max, p.min<<max(n-1, 0))
	}
	return d/2 + rand.N(d/2+1)
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
