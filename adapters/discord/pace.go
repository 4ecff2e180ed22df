package discord

import (
	"sync"
	"time"
)

// pacedMax bounds the channels whose limits are remembered.
const pacedMax = 4096

// pace remembers until when Discord wants no message: per channel, and for the
// whole bot. Asking it first keeps refused requests, of which Discord counts
// 10,000 in ten minutes, few.
type pace struct {
	mu       sync.Mutex
	global   time.Time
	channels map[string]time.Time
}

func newPace() *pace { return &pace{channels: map[string]time.Time{}} }

// wait is how long no message may go to the channel, and whether that holds
// for all channels.
func (p *pace) wait(channel string, now time.Time) (wait time.Duration, global bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.global.Sub(now); d > 0 {
		return d, true
	}
	return max(0, p.channels[channel].Sub(now)), false
}

// block notes that nothing may be sent for a time.
func (p *pace) block(channel string, global bool, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if global {
		p.global = until
		return
	}
	if len(p.channels) >= pacedMax {
		p.forget(time.Now())
	}
	p.channels[channel] = until
}

// forget drops what has passed, or everything if nothing has.
func (p *pace) forget(now time.Time) {
	for channel, until := range p.channels {
		if until.Before(now) {
			delete(p.channels, channel)
		}
	}
	if len(p.channels) >= pacedMax {
		clear(p.channels)
	}
}
