package main

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"parley/sessions"
)

// counted is a store that counts the calls a gateway makes while messages come
// in, and tells when a receipt was stored. Calls beside the way of a message
// (commands, operators, timers, locks) are passed on uncounted.
type counted struct {
	sessions.Store
	settles atomic.Int64
	settled chan struct{} // a value after each Settle, dropped when one waits already

	mu    sync.Mutex
	calls tally // by method
}

func newCounted(store sessions.Store) *counted {
	return &counted{Store: store, settled: make(chan struct{}, 1), calls: tally{}}
}

func (c *counted) count(method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[method]++
}

// counts are the calls so far.
func (c *counted) counts() tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.calls)
}

// Settle counts, and tells.
func (c *counted) Settle(ctx context.Context, settlement sessions.Settlement, claimer sessions.Claimer) (*sessions.Delivery, error) {
	c.count("settle")
	next, err := c.Store.Settle(ctx, settlement, claimer)
	c.settles.Add(1)
	tell(c.settled)
	return next, err
}

// Post counts.
func (c *counted) Post(ctx context.Context, request sessions.PostRequest) (sessions.PostResult, error) {
	c.count("post")
	return c.Store.Post(ctx, request)
}

// Commit counts.
func (c *counted) Commit(ctx context.Context, request sessions.CommitRequest) (sessions.CommitResult, error) {
	c.count("commit")
	return c.Store.Commit(ctx, request)
}

// Claim counts.
func (c *counted) Claim(ctx context.Context, request sessions.ClaimRequest) (*sessions.Turn, error) {
	c.count("claim")
	return c.Store.Claim(ctx, request)
}

// Append counts.
func (c *counted) Append(ctx context.Context, lease sessions.Lease, entries []sessions.NewEntry) ([]sessions.Entry, error) {
	c.count("append")
	return c.Store.Append(ctx, lease, entries)
}

// Renew counts.
func (c *counted) Renew(ctx context.Context, leases []sessions.Lease, extend time.Duration) ([]sessions.RenewResult, error) {
	c.count("renew")
	return c.Store.Renew(ctx, leases, extend)
}

// Range counts.
func (c *counted) Range(ctx context.Context, session string, from, to int64) ([]sessions.Entry, error) {
	c.count("range")
	return c.Store.Range(ctx, session, from, to)
}

// Take counts.
func (c *counted) Take(ctx context.Context, lane string, claimer sessions.Claimer) (sessions.Delivery, error) {
	c.count("take")
	return c.Store.Take(ctx, lane, claimer)
}

// Enqueue counts.
func (c *counted) Enqueue(ctx context.Context, request sessions.EnqueueRequest) (sessions.EnqueueResult, error) {
	c.count("enqueue")
	return c.Store.Enqueue(ctx, request)
}

// Due counts.
func (c *counted) Due(ctx context.Context, limit int) ([]sessions.WorkItem, error) {
	c.count("due")
	return c.Store.Due(ctx, limit)
}

// Get counts.
func (c *counted) Get(ctx context.Context, id string) (sessions.Record, error) {
	c.count("get")
	return c.Store.Get(ctx, id)
}

// Bound counts.
func (c *counted) Bound(ctx context.Context, surface string) (sessions.Record, error) {
	c.count("bound")
	return c.Store.Bound(ctx, surface)
}

// Update counts.
func (c *counted) Update(ctx context.Context, id string, patch sessions.Patch) (sessions.Record, error) {
	c.count("update")
	return c.Store.Update(ctx, id, patch)
}

// ChatListed counts.
func (c *counted) ChatListed(ctx context.Context, chat string) (bool, error) {
	c.count("chatlisted")
	return c.Store.ChatListed(ctx, chat)
}

// Publish counts.
func (c *counted) Publish(ctx context.Context, event sessions.LiveEvent) error {
	c.count("publish")
	return c.Store.Publish(ctx, event)
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
