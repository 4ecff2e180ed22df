package telegram

import (
	"sync"
	"time"

	"parley/adapters"
)

// health is the adapter's last word on its connection.
type health struct {
	mu      sync.Mutex
	current adapters.Health
}

func newHealth() *health {
	return &health{current: adapters.Health{State: adapters.Connecting, Since: time.Now()}}
}

func (h *health) get() adapters.Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.current
}

// set reports whether the state changed.
func (h *health) set(state adapters.ConnectionState, problem string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed := h.current.State != state
	if changed {
		h.current.Since = time.Now()
	}
	h.current.State, h.current.Problem = state, problem
	return changed
}
