package sqlitestore

import (
	"context"
	"sync"

	"parley/sessions"
)

// How many hints are held for one reader.
const (
	watchBuffer = 64
	wakeBuffer  = 256
)

// hub hands hints to the subscriptions of this process. It holds no goroutine,
// and a slow reader loses hints instead of holding up a writer.
type hub struct {
	mu       sync.Mutex
	closed   bool
	watchers map[string]map[chan sessions.LiveEvent]struct{} // by session
	wakers   map[chan sessions.WorkItem]struct{}
}

func newHub() *hub {
	return &hub{watchers: map[string]map[chan sessions.LiveEvent]struct{}{}, wakers: map[chan sessions.WorkItem]struct{}{}}
}

// publish hands out the hints of an operation that is durable.
func (h *hub) publish(t *tx) {
	if len(t.events) == 0 && len(t.wakes) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, event := range t.events {
		h.sendLocked(event)
	}
	for _, item := range t.wakes {
		for waker := range h.wakers {
			select {
			case waker <- item:
			default:
			}
		}
	}
}

func (h *hub) send(event sessions.LiveEvent) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return sessions.ErrClosed
	}
	h.sendLocked(event)
	return nil
}

// sendLocked gives an event to its watchers. Only the hub sends, so there is
// room where it looks for it. The last place of a buffer is for the gap: who
// finds it reads the log after all that was lost.
func (h *hub) sendLocked(event sessions.LiveEvent) {
	for watcher := range h.watchers[event.Session] {
		switch cap(watcher) - len(watcher) {
		case 0:
		case 1:
			watcher <- sessions.LiveEvent{Session: event.Session, Kind: sessions.LiveGap}
		default:
			watcher <- event
		}
	}
}

func (h *hub) watch(ctx context.Context, session string) (<-chan sessions.LiveEvent, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, sessions.ErrClosed
	}
	watcher := make(chan sessions.LiveEvent, watchBuffer)
	if h.watchers[session] == nil {
		h.watchers[session] = map[chan sessions.LiveEvent]struct{}{}
	}
	h.watchers[session][watcher] = struct{}{}
	context.AfterFunc(ctx, func() { h.unwatch(session, watcher) })
	return watcher, nil
}

func (h *hub) unwatch(session string, watcher chan sessions.LiveEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, there := h.watchers[session][watcher]; !there {
		return
	}
	delete(h.watchers[session], watcher)
	if len(h.watchers[session]) == 0 {
		delete(h.watchers, session)
	}
	close(watcher)
}

func (h *hub) wakes(ctx context.Context) (<-chan sessions.WorkItem, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, sessions.ErrClosed
	}
	waker := make(chan sessions.WorkItem, wakeBuffer)
	h.wakers[waker] = struct{}{}
	context.AfterFunc(ctx, func() { h.unwake(waker) })
	return waker, nil
}

func (h *hub) unwake(waker chan sessions.WorkItem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, there := h.wakers[waker]; there {
		delete(h.wakers, waker)
		close(waker)
	}
}

// close ends every subscription.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for session, watchers := range h.watchers {
		for watcher := range watchers {
			close(watcher)
		}
		delete(h.watchers, session)
	}
	for waker := range h.wakers {
		delete(h.wakers, waker)
		close(waker)
	}
}
