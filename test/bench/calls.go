package main

import (
	"maps"
	"sync"
	"sync/atomic"

	"parley/sessions"
	"parley/sessions/storewrap"
)

// counted is a store that counts the calls of a gateway, and tells when a
// receipt was stored.
type counted struct {
	sessions.Store
	settles atomic.Int64
	settled chan struct{} // a value after each Settle, dropped when one waits already

	mu    sync.Mutex
	calls tally // by method
}

func newCounted(store sessions.Store) *counted {
	c := &counted{settled: make(chan struct{}, 1), calls: tally{}}
	c.Store = storewrap.New(store, storewrap.Hooks[struct{}]{Before: c.before, After: c.after})
	return c
}

func (c *counted) before(op storewrap.Op) (none struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[op.Word()]++
	return none, nil
}

func (c *counted) after(op storewrap.Op, _ struct{}, _ error) error {
	if op == storewrap.Settle {
		c.settles.Add(1)
		tell(c.settled)
	}
	return nil
}

// counts are the calls so far.
func (c *counted) counts() tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.calls)
}

func tell(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func drain(c chan struct{}) {
	select {
	case <-c:
	default:
	}
}
