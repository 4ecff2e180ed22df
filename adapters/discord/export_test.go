package discord

import (
	"time"

	"parley/internal/pause"
)

// NewQuick is New with short pauses, for tests with a real socket.
func NewQuick(config Config) (*Adapter, error) { return newQuick(config, time.Minute) }

// NewImpatient is NewQuick that soon drops a connection whose events are not
// taken.
func NewImpatient(config Config) (*Adapter, error) { return newQuick(config, time.Second) }

func newQuick(config Config, room time.Duration) (*Adapter, error) {
	times := defaultTiming()
	times.room, times.ack = room, 2*time.Minute
	times.callback = time.Minute
	times.flush = 2 * time.Millisecond
	times.retry = pause.Range{Min: 2 * time.Millisecond, Max: 20 * time.Millisecond}
	times.renew = pause.Range{Min: time.Millisecond, Max: 4 * time.Millisecond}
	times.offer = pause.Range{Min: time.Millisecond, Max: 10 * time.Millisecond}
	times.invalid = pause.Range{Min: time.Millisecond, Max: 5 * time.Millisecond}
	times.identify = time.Millisecond
	return newAdapter(config, times)
}
