package discord

import (
	"time"

	"parley/internal/pause"
)

// timing is every pause and limit of time of the connection, as data.
type timing struct {
	dial     time.Duration // TCP, TLS and upgrade
	hello    time.Duration // from the upgrade to hello
	ready    time.Duration // from identify or resume to the first sign that it worked
	write    time.Duration // of one frame
	ack      time.Duration // from a heartbeat to its acknowledgement; more than room
	call     time.Duration // of one REST call of our own (not of Send)
	callback time.Duration // of the first answer to an interaction: Discord waits 3 s

	room  time.Duration // reading stops for so long at most while too many events wait
	flush time.Duration // how long the stored position may lag
	save  time.Duration // of storing it

	identify time.Duration // between two identifies of one group of shards
	retry    pause.Range   // after a connection failed
	renew    pause.Range   // between identifies, which are counted per day
	offer    pause.Range   // between two offers of one event to the sink
	invalid  pause.Range   // after an invalid session, at random between the two
	settled  time.Duration // a connection that lived so long was a good one
}

func defaultTiming() timing {
	return timing{
		dial: 10 * time.Second, hello: 20 * time.Second, ready: 60 * time.Second, write: 5 * time.Second, ack: 15 * time.Second,
		call: 10 * time.Second, callback: 2500 * time.Millisecond,
		room: 10 * time.Second, flush: 250 * time.Millisecond, save: 3 * time.Second,
		identify: identifyEvery,
		retry:    pause.Range{Min: 500 * time.Millisecond, Max: time.Minute},
		renew:    pause.Range{Min: 5 * time.Second, Max: time.Hour},
		offer:    pause.Range{Min: 100 * time.Millisecond, Max: 10 * time.Second},
		invalid:  pause.Range{Min: time.Second, Max: 5 * time.Second},
		settled:  5 * time.Minute,
	}
}
