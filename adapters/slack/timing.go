package slack

import (
	"time"

	"parley/internal/pause"
)

// timing is every pause and limit of time, as data.
type timing struct {
	call    time.Duration // one Web API call, waiting for its turn included
	lookup  time.Duration // one look-up of a name, which must not delay an event
	take    time.Duration // the sink's time for one event
	body    time.Duration // an HTTP request's body to arrive
	answer  time.Duration // an HTTP request's: Slack waits 3 s
	ack     time.Duration // handing an acknowledgement to the socket
	hello   time.Duration // from the connection to Slack's first word
	silence time.Duration // without a byte on a socket, until it counts as dead
	opens   time.Duration // between two sockets being opened, in the long run
	burst   int           // how many may be opened before that
	second  time.Duration // how long the app's second socket is left to other replicas
	retry   pause.Range   // after a failure of the connection
	offer   pause.Range   // between two offers of one event to the sink
	settled time.Duration // a socket that lived so long was a good one
}

func defaultTiming() timing {
	return timing{
		call: 15 * time.Second, lookup: 800 * time.Millisecond,
		take: 20 * time.Second, body: 5 * time.Second, answer: 2500 * time.Millisecond, ack: 2 * time.Second,
		hello: 30 * time.Second, silence: 60 * time.Second,
		opens: 5 * time.Second, burst: 3, second: time.Second,
		retry: pause.Range{Min: time.Second, Max: 2 * time.Minute}, offer: pause.Range{Min: 100 * time.Millisecond, Max: 10 * time.Second}, settled: 10 * time.Second,
	}
}
