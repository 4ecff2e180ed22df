package client

import (
	"context"
	"errors"
	"time"

	"parley/internal/pause"
)

// How long after a lost connection it is tried again: the first time, and at
// most, doubling in between.
const (
	retryFirst = 250 * time.Millisecond
	retryMax   = 5 * time.Second
)

// Follow reads the events of a session after seq, goes on after a lost
// connection where it broke off, and moves along when the place gets another
// session. It calls emit from one goroutine, until emit returns false (then it
// returns nil), ctx ends, or the gateway refuses for good.
func (c *Client) Follow(ctx context.Context, session string, after int64, emit func(Event) bool) error {
	wait := retryFirst
	for {
		next, ended := session, false
		err := c.stream(ctx, session, after, func(event Event) bool {
			wait = retryFirst
			switch event.Kind {
			case KindEntry:
				if event.Entry.Seq <= after {
					return true // seen before the connection broke
				}
				after = event.Entry.Seq
			case KindMoved:
				next = event.To
			}
			ended = !emit(event)
			return !ended && next == session
		})
		switch {
		case ended:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case next != session:
			session, after = next, 0
			continue
		case forGood(err):
			return err
		case !emit(Event{Kind: KindLost, Session: session, Err: err}):
			return nil
		}
		if !pause.For(ctx, wait) {
			return context.Cause(ctx)
		}
		wait = min(2*wait, retryMax)
	}
}

func forGood(err error) bool {
	refusal, ok := errors.AsType[*RefusedError](err)
	return ok && !refusal.temporary()
}
