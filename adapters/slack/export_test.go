package slack

import (
	"time"

	"parley/internal/pause"
)

// NewQuick is New with pauses for tests: failures are tried again soon.
func NewQuick(config Config) (*Adapter, error) {
	times := defaultTiming()
	times.retry = pause.Range{Min: 5 * time.Millisecond, Max: 50 * time.Millisecond}
	times.offer = pause.Range{Min: 5 * time.Millisecond, Max: 50 * time.Millisecond}
	times.opens, times.burst = 50*time.Millisecond, 3
	times.second, times.settled = 30*time.Millisecond, 300*time.Millisecond
	times.hello, times.silence = 8*time.Second, time.Minute
	times.call, times.lookup, times.ack = time.Minute, time.Minute, time.Minute
	return newAdapter(config, times)
}
