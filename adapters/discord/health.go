package discord

import (
	"sync"
	"time"

	"parley/adapters"
)

// adapterPart is the health of the adapter before it has shards; shards have
// their number.
const adapterPart = -1

// health gathers what the parts of the adapter report. The zero value is
// ready.
type health struct {
	mu    sync.Mutex
	parts map[int]adapters.Health
	shown adapters.Health
}

// set notes the state of a part.
func (h *health) set(part int, state adapters.ConnectionState, problem string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.parts == nil {
		h.parts = map[int]adapters.Health{}
	}
	if part != adapterPart {
		delete(h.parts, adapterPart)
	}
	h.parts[part] = adapters.Health{State: state, Problem: problem}
	worst := h.worst()
	if worst.State != h.shown.State {
		h.shown.Since = time.Now()
	}
	h.shown.State, h.shown.Problem = worst.State, worst.Problem
}

// reset forgets the shards.
func (h *health) reset(state adapters.ConnectionState, problem string) {
	h.mu.Lock()
	h.parts = nil
	h.mu.Unlock()
	h.set(adapterPart, state, problem)
}

func (h *health) worst() adapters.Health {
	order := []adapters.ConnectionState{adapters.Refused, adapters.Deaf, adapters.Connecting, adapters.Hearing}
	for _, state := range order {
		for _, part := range h.parts {
			if part.State == state {
				return part
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
