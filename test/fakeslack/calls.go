package fakeslack

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"
)

// Call is one call to the Web API.
type Call struct {
	Seq    int
	Method string
	Params url.Values // without the token
	Status int        // 0 while it runs
	Error  string     // of an answer with ok: false
}

func (s *Server) begin(method string, params url.Values) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	s.calls = append(s.calls, Call{Seq: s.seq, Method: method, Params: maps.Clone(params)})
	if keep := s.options.KeepCalls; keep > 0 && len(s.calls) >= 2*keep {
		s.calls = slices.Clone(s.calls[len(s.calls)-keep:])
	}
	s.notifyLocked()
	return s.seq
}

func (s *Server) end(seq, status int, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := len(s.calls) - 1 - (s.seq - seq); i >= 0 {
		s.calls[i].Status, s.calls[i].Error = status, code
	}
	s.notifyLocked()
}

// Calls are the calls so far, oldest first, those still running included; with
// names, only of these methods.
func (s *Server) Calls(methods ...string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var calls []Call
	for _, call := range s.calls {
		if len(methods) == 0 || slices.Contains(methods, call.Method) {
			calls = append(calls, call)
		}
	}
	return calls
}

// WaitFor waits until the calls satisfy a condition, which is asked after
// every change and must not call the server.
func (s *Server) WaitFor(ctx context.Context, condition func(calls []Call) bool) error {
	return s.wait(ctx, "calls", func() bool { return condition(s.calls) })
}

// WaitSent waits for a message of the bot in a channel that matches; nil
// matches any. Messages already there count.
func (s *Server) WaitSent(ctx context.Context, channel string, match func(Sent) bool) (Sent, error) {
	var found Sent
	seen := 0
	err := s.wait(ctx, "a message in "+channel, func() bool {
		state := s.channels[channel]
		if state == nil {
			return false
		}
		sent := state.sent()
		for ; seen < len(sent); seen++ {
			if match == nil || match(sent[seen]) {
				found = sent[seen]
				return true
			}
		}
		return false
	})
	return found, err
}

// WaitAcknowledged waits until the app has acknowledged everything so far.
func (s *Server) WaitAcknowledged(ctx context.Context) error {
	return s.wait(ctx, "acknowledgement of all events", func() bool { return len(s.pending) == 0 })
}

// WaitSockets waits until a number of sockets are open and greeted.
func (s *Server) WaitSockets(ctx context.Context, n int) error {
	return s.wait(ctx, fmt.Sprintf("%d sockets", n), func() bool { return len(s.sockets.open) == n })
}

// wait checks a condition under the lock after every change.
func (s *Server) wait(ctx context.Context, what string, condition func() bool) error {
	s.mu.Lock()
	s.waiters++
	defer func() {
		s.waiters--
		s.mu.Unlock()
	}()
	for !condition() {
		changed := s.changed
		s.mu.Unlock()
		var err error
		select {
		case <-changed:
		case <-ctx.Done():
			err = fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		case <-s.closing:
			err = fmt.Errorf("waiting for %s: the server was closed", what)
		}
		s.mu.Lock()
		if err != nil {
			return err
		}
	}
	return nil
}

// Sent are the messages the bot has posted in a channel, in order.
func (s *Server) Sent(channel string) []Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.channels[channel]; state != nil {
		return state.sent()
	}
	return nil
}

// Fault is what happens to one call.
type Fault struct {
	Status     int           // HTTP status instead of an answer; 0: none
	Error      string        // ok: false with this code
	RetryAfter time.Duration // Status 429: the header, in whole seconds; 0 leaves it out
	Body       string        // instead of an answer, as it stands
	// Hang lets the call wait until the client goes away; Drop closes the
	// connection without an answer.
	Hang, Drop bool
	// After lets the call take effect first: the answer alone is lost.
	After bool
}

// Fail lets the next calls of a method fail, one per fault, in order.
func (s *Server) Fail(method string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

func (s *Server) nextFault(method string) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue := s.faults[method]
	if len(queue) == 0 {
		return Fault{}, false
	}
	s.faults[method] = queue[1:]
	return queue[0], true
}
