package redisstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"parley/sessions"
)

// subscriber gets the messages of some channels. Its functions must not block.
type subscriber struct {
	message func(text string)
	missed  func() // messages may have been lost
}

// topic is one channel that somebody is subscribed to.
type topic struct {
	partition   partition
	subscribers map[*subscriber]bool
	ready       chan struct{} // closed once the server has confirmed
	confirmed   bool          // it is confirmed now
	lost        bool          // it was confirmed before and broke off since
}

// hub shares one connection per node among all subscriptions.
type hub struct {
	store *Store

	mu        sync.Mutex // guards the rest, and the topics
	topics    map[string]*topic
	listeners map[string]*listener // by node
	closed    bool
}

func newHub(s *Store) *hub {
	return &hub{store: s, topics: map[string]*topic{}, listeners: map[string]*listener{}}
}

// subscribe adds a subscriber and waits until the server has confirmed all its
// channels.
func (h *hub) subscribe(ctx context.Context, channels map[string]partition, sub *subscriber) error {
	var waits []chan struct{}
	h.mu.Lock()
	for channel, p := range channels {
		waits = append(waits, h.join(channel, p, sub))
	}
	h.mu.Unlock()
	timer := time.NewTimer(operationFor)
	defer timer.Stop()
	for _, ready := range waits {
		select {
		case <-ready:
		case <-ctx.Done():
			return ctx.Err()
		case <-h.store.background.Done():
			return sessions.ErrClosed
		case <-timer.C:
			return fmt.Errorf("%w: no subscription within %s", sessions.ErrUnavailable, operationFor)
		}
	}
	return nil
}

// join needs mu.
func (h *hub) join(channel string, p partition, sub *subscriber) chan struct{} {
	t, known := h.topics[channel]
	if !known {
		t = &topic{partition: p, subscribers: map[*subscriber]bool{}, ready: make(chan struct{})}
		h.topics[channel] = t
	}
	t.subscribers[sub] = true
	if !known {
		h.listenerOf(p).want(channel)
	}
	return t.ready
}

// listenerOf needs mu.
func (h *hub) listenerOf(p partition) *listener {
	n := h.store.router.node(p)
	l, ok := h.listeners[n.addr]
	if ok && l.node == n {
		return l
	}
	if ok {
		l.end()
	}
	l = newListener(h, n)
	h.listeners[n.addr] = l
	if h.closed || !h.store.goroutine(l.run) {
		l.end()
	}
	return l
}

func (h *hub) unsubscribe(channels map[string]partition, sub *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for channel := range channels {
		t, ok := h.topics[channel]
		if !ok {
			continue
		}
		delete(t.subscribers, sub)
		if len(t.subscribers) > 0 {
			continue
		}
		delete(h.topics, channel)
		for _, l := range h.listeners {
			l.leave(channel)
		}
	}
}

// confirm marks a channel as subscribed. One that broke off before has missed
// what happened meanwhile.
func (h *hub) confirm(channel string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, ok := h.topics[channel]
	if !ok || t.confirmed {
		return
	}
	t.confirmed = true
	if t.lost {
		for sub := range t.subscribers {
			sub.missed()
		}
		t.lost = false
		return
	}
	close(t.ready)
}

func (h *hub) message(channel, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, ok := h.topics[channel]
	if !ok {
		return
	}
	for sub := range t.subscribers {
		sub.message(text)
	}
}

// broke marks all channels that a listener had as gone. Which node has which
// partition may have changed, so they are wanted anew wherever they are now.
func (h *hub) broke(l *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for channel, t := range h.topics {
		if l.has(channel) && t.confirmed {
			t.confirmed, t.lost = false, true
		}
	}
	l.forget()
	if h.listeners[l.node.addr] == l && !slices.Contains(h.store.router.all(), l.node) {
		delete(h.listeners, l.node.addr)
		l.end()
	}
	for channel, t := range h.topics {
		if !t.confirmed && !h.closed {
			h.listenerOf(t.partition).want(channel)
		}
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, l := range h.listeners {
		l.end()
	}
}
