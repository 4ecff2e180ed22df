package due

import (
	"sync"

	"parley/sessions"
)

// inFlight is the work that is being taken here, so that what takes long is
// neither begun twice nor waited for.
type inFlight struct {
	slots chan struct{} // as many as may be taken at once
	mu    sync.Mutex
	items map[sessions.WorkItem]bool // without Due; true: it was hinted at meanwhile
}

func newInFlight() *inFlight {
	return &inFlight{slots: make(chan struct{}, Parallel), items: map[sessions.WorkItem]bool{}}
}

// key is an item as it is told from others.
func key(item sessions.WorkItem) sessions.WorkItem {
	return sessions.WorkItem{Kind: item.Kind, Home: item.Home, ID: item.ID}
}

// begin reports whether nobody here takes the item yet. Then end has to follow.
// Where somebody does, a hint makes them look at it once more.
func (f *inFlight) begin(item sessions.WorkItem, hinted bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	again, found := f.items[key(item)]
	if found {
		f.items[key(item)] = again || hinted
		return false
	}
	f.items[key(item)] = false
	return true
}

// end reports whether the item was hinted at since it was begun, or looked at
// for a hint. If so it stays begun.
func (f *inFlight) end(item sessions.WorkItem) (again bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.items[key(item)] {
		f.items[key(item)] = false
		return true
	}
	delete(f.items, key(item))
	return false
}
