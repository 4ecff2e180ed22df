package redisstore

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"parley/internal/pause"
)

// How a listener finds out that its connection is dead, and how long it waits
// before it connects again.
const (
	listenFor  = 3 * time.Second // without a word before it asks, twice before it gives up
	listenWait = 200 * time.Millisecond
)

// listener keeps one node's subscriptions on one connection. When that breaks,
// it makes a new one: each channel is subscribed on its own, for a cluster
// refuses several slots in one command.
type listener struct {
	hub  *hub
	node *node
	stop chan struct{}
	once sync.Once

	mu       sync.Mutex
	wishes   int64            // how many there were
	channels map[string]int64 // wanted on this connection, by the number of the wish
	sent     map[string]int64 // the wish that was last sent to the server
	coming   map[string]int   // subscriptions whose confirmation is awaited
	leaving  map[string]int   // unsubscriptions whose confirmation is awaited
	changed  chan struct{}    // holds one signal: a channel is wanted, or not any more
}

func newListener(h *hub, n *node) *listener {
	return &listener{hub: h, node: n, stop: make(chan struct{}), changed: make(chan struct{}, 1),
		channels: map[string]int64{}, sent: map[string]int64{}, coming: map[string]int{}, leaving: map[string]int{}}
}

// end makes run return.
func (l *listener) end() {
	l.once.Do(func() { close(l.stop) })
}

func (l *listener) want(channel string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.channels[channel] != 0 {
		return
	}
	l.wishes++
	l.channels[channel] = l.wishes
	l.change()
}

func (l *listener) leave(channel string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.channels[channel] == 0 {
		return
	}
	delete(l.channels, channel)
	l.change()
}

func (l *listener) change() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func (l *listener) has(channel string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.channels[channel] != 0
}

func (l *listener) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.channels)
	clear(l.sent)
	clear(l.coming)
	clear(l.leaving)
}

// run keeps the connection until the listener or the store ends.
func (l *listener) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer l.end()
	go func() { // ends with the listener
		<-l.stop
		cancel()
	}()
	for ctx.Err() == nil {
		err := l.session(ctx)
		if ctx.Err() != nil {
			return
		}
		l.hub.store.config.Logger.DebugContext(ctx, "subscriptions broke off", "node", l.node.addr, "error", err)
		table := l.hub.store.router.table.Load()
		if err := l.hub.store.router.refresh(ctx, table); err != nil {
			l.hub.store.config.Logger.DebugContext(ctx, "cannot read the cluster's slots", "error", err)
		}
		l.hub.broke(l)
		if !pause.For(ctx, listenWait) {
			return
		}
	}
}

// session is one connection, from its first channel to its end.
func (l *listener) session(ctx context.Context) error {
	select {
	case <-l.changed:
	case <-ctx.Done():
		return ctx.Err()
	}
	pubsub := l.node.client.SSubscribe(ctx)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var writer sync.WaitGroup
	writer.Go(func() { cancel(l.write(ctx, pubsub)) })
	// Closing the connection is what ends the read below.
	closed := context.AfterFunc(ctx, func() { _ = pubsub.Close() })
	err := l.receive(ctx, pubsub)
	cancel(err)
	writer.Wait()
	if closed() {
		_ = pubsub.Close()
	}
	return context.Cause(ctx)
}

// write brings the server's subscriptions in line with what is wanted, now and
// whenever that changes. A channel that was left and is wanted again is
// subscribed again, so that its new wish is confirmed.
func (l *listener) write(ctx context.Context, pubsub *redis.PubSub) error {
	for {
		subscribe, unsubscribe := l.due()
		for _, channel := range subscribe {
			if err := pubsub.SSubscribe(ctx, channel); err != nil {
				return err
			}
		}
		for _, channel := range unsubscribe {
			if err := pubsub.SUnsubscribe(ctx, channel); err != nil {
				return err
			}
		}
		select {
		case <-l.changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// due is what the server has to be told, noted as told.
func (l *listener) due() (subscribe, unsubscribe []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for channel, wish := range l.channels {
		if l.sent[channel] != wish {
			l.sent[channel] = wish
			l.coming[channel]++
			subscribe = append(subscribe, channel)
		}
	}
	for channel := range l.sent {
		if l.channels[channel] == 0 {
			delete(l.sent, channel)
			l.leaving[channel]++
			unsubscribe = append(unsubscribe, channel)
		}
	}
	return subscribe, unsubscribe
}

// came reports whether the subscription that was confirmed is the one that is
// wanted now.
func (l *listener) came(channel string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.coming[channel] > 0 {
		l.coming[channel]--
	}
	if l.coming[channel] > 0 {
		return false
	}
	delete(l.coming, channel)
	return l.sent[channel] != 0 && l.sent[channel] == l.channels[channel]
}

func (l *listener) receive(ctx context.Context, pubsub *redis.PubSub) error {
	quiet := 0
	for ctx.Err() == nil {
		msg, err := pubsub.ReceiveTimeout(ctx, listenFor)
		var slow net.Error
		if errors.As(err, &slow) && slow.Timeout() && quiet < 2 {
			quiet++
			err = pubsub.Ping(ctx)
			msg = nil
		} else if err == nil {
			quiet = 0
		}
		if err != nil {
			return err
		}
		if err := l.handle(msg); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// errMoved: the node does not have the channel's slot any more.
var errMoved = errors.New("the slot has moved to another node")

func (l *listener) handle(msg any) error {
	switch m := msg.(type) {
	case *redis.Message:
		l.hub.message(m.Channel, m.Payload)
	case *redis.Subscription:
		if m.Kind == "ssubscribe" {
			if l.came(m.Channel) {
				l.hub.confirm(m.Channel)
			}
			return nil
		}
		if !l.left(m.Channel) {
			return errMoved
		}
	}
	return nil
}

// left reports whether an unsubscription was asked for.
func (l *listener) left(channel string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leaving[channel] == 0 {
		return false
	}
	if l.leaving[channel]--; l.leaving[channel] == 0 {
		delete(l.leaving, channel)
	}
	return true
}
