package terminal

import (
	"context"
	"sync"

	"parley/cmd/gateway/client"
)

// follower reads the events of the conversation that the chat's place has.
// Whoever learns first that the place has another one, the stream or the answer
// to a command, takes it there.
type follower struct {
	client *client.Client
	events chan client.Event

	mu    sync.Mutex
	at    string             // the session that is read, or to be read next
	leave context.CancelFunc // ends the reading of what was read before
}

func follow(c *client.Client, session string) *follower {
	return &follower{client: c, events: make(chan client.Event), at: session, leave: func() {}}
}

// run reads until ctx ends or the gateway refuses for good; then it closes the
// events. Of the first session it reads what comes after the seq.
func (f *follower) run(ctx context.Context, after int64) {
	defer close(f.events)
	for ; ctx.Err() == nil; after = 0 {
		session, reading, end := f.begin(ctx)
		// What ends it is shown as the end of the events.
		_ = f.client.Follow(reading, session, after, func(event client.Event) bool { return f.pass(reading, event) })
		left := reading.Err() != nil
		end()
		if !left {
			return
		}
	}
}

func (f *follower) begin(ctx context.Context) (session string, reading context.Context, end context.CancelFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	reading, f.leave = context.WithCancel(ctx)
	return f.at, reading, f.leave
}

// pass hands an event on; false: its session is read no more.
func (f *follower) pass(reading context.Context, event client.Event) bool {
	if event.Kind == client.KindMoved && !f.moved(reading, event.To) {
		return false
	}
	select {
	case f.events <- event:
		return true
	case <-reading.Done():
		return false
	}
}

func (f *follower) moved(reading context.Context, to string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if reading.Err() != nil {
		return false
	}
	f.at = to
	return true
}

// goTo reads another session from now on, unless it is there already.
func (f *follower) goTo(session string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at != session {
		f.at = session
		f.leave()
	}
}
