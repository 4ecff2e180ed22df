package slack

import (
	"sync"
	"time"

	"parley/adapters"
)

// account is the part of the health that is not a socket's: whether Slack
// knows the bot at all, and whether requests are heard.
const account = -1

// health gathers what the parts report: the account, and each socket by its
// number from 0.
type health struct {
	mu    sync.Mutex
	parts map[int]adapters.Health
	shown adapters.Health
}

func newHealth() *health {
	h := &health{parts: map[int]adapters.Health{}}
	h.set(account, adapters.Connecting, "")
	return h
}

// set notes the state of a part.
func (h *health) set(part int, state adapters.ConnectionState, problem string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.parts[part] = adapters.Health{State: state, Problem: problem}
	h.showLocked()
}

func (h *health) showLocked() {
	summary := h.summaryLocked()
	if summary.State != h.shown.State {
		h.shown.Since = time.Now()
	}
	h.shown.State, h.shown.Problem = summary.State, summary.Problem
}

// summaryLocked: one socket that hears is enough, because Slack sends each
// event to any one of them; but an account in trouble is trouble.
func (h *health) summaryLocked() adapters.Health {
	if own, ok := h.parts[account]; ok && own.State != adapters.Hearing {
		return own
	}
	for _, state := range []adapters.ConnectionState{adapters.Refused, adapters.Hearing, adapters.Deaf, adapters.Connecting} {
		for part, health := range h.parts {
			if health.State == state && (part != account || len(h.parts) == 1) {
				return health
			}
		}
	}
	return adapters.Health{State: adapters.Waiting}
}

func (h *health) overall() adapters.Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shown
}
