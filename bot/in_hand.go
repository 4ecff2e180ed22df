package bot

import (
	"sync"

	"parley/sessions"
)

// inHand is the due work that is being taken up here, so that what takes long
// is neither begun twice nor waited for.
type inHand struct {
	slots chan struct{} // as many as may be taken up at once
	mu    sync.Mutex
	items map[sessions.WorkItem]struct{} // without Due
}

func newInHand(limit int) *inHand {
	return &inHand{slots: make(chan struct{}, limit), items: map[sessions.WorkItem]struct{}{}}
}

// take reports whether nobody here is at it yet; then release has to follow.
func (h *inHand) take(item sessions.WorkItem) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := sessions.WorkItem{Kind: item.Kind, Home: item.Home, ID: item.ID}
	if _, found := h.items[key]; found {
		return false
	}
	h.items[key] = struct{}{}
	return true
}

func (h *inHand) release(item sessions.WorkItem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.items, sessions.WorkItem{Kind: item.Kind, Home: item.Home, ID: item.ID})
}
