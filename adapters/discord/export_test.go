package discord

import "time"

// NewQuick is New with short pauses, for tests with a real socket.
func NewQuick(config Config) (*Adapter, error) { return newQuick(config, time.Minute) }

// NewImpatient is NewQuick that soon drops a connection whose events are not
// taken.
func NewImpatient(config Config) (*Adapter, error) { return newQuick(config, time.Second) }

func newQuick(config Config, room time.Duration) (*Adapter, error) {
	times := defaultTiming()
	times.room = room
	times.callback = time.Minute
	times.flush = 2 * time.Millisecond
	times.retry = pauses{2 * time.Millisecond, 20 * time.Millisecond}
	times.renew = pauses{time.Millisecond, 4 * time.Millisecond}
	times.offer = pauses{time.Millisecond, 10 * time.Millisecond}
	times.invalid = pauses{time.Millisecond, 5 * time.Millisecond}
	times.identify = time.Millisecond
	return newAdapter(config, times)
}
