package faketelegram

import (
	"context"
	"fmt"
	"maps"
)

func (s *Server) begin(method string, params map[string]string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	s.calls = append(s.calls, Call{Seq: s.seq, Method: method, Params: maps.Clone(params)})
	if keep := s.options.KeepCalls; keep > 0 && len(s.calls) >= 2*keep {
		s.calls = append([]Call(nil), s.calls[len(s.calls)-keep:]...)
	}
	s.notifyLocked()
	return s.seq
}

func (s *Server) end(seq, code int, description string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := len(s.calls) - 1 - (s.seq - seq); i >= 0 {
		s.calls[i].Code, s.calls[i].Description = code, description
	}
	s.notifyLocked()
}

// Calls are the calls so far, oldest first, those still running included;
// with names, only of these methods.
func (s *Server) Calls(methods ...string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.callsLocked(methods)
}

func (s *Server) callsLocked(methods []string) []Call {
	var calls []Call
	for _, call := range s.calls {
		for _, name := range methods {
			if call.Method == name {
				calls = append(calls, call)
			}
		}
		if len(methods) == 0 {
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

// WaitSent waits for a message of the bot in a chat that matches; nil matches
// any. Messages already there count.
func (s *Server) WaitSent(ctx context.Context, chat int64, match func(Sent) bool) (Sent, error) {
	var found Sent
	seen := 0
	err := s.wait(ctx, fmt.Sprintf("a message in chat %d", chat), func() bool {
		state := s.chats[chat]
		if state == nil {
			return false
		}
		for ; seen < len(state.sent); seen++ {
			if match == nil || match(state.sent[seen]) {
				found = state.sent[seen]
				return true
			}
		}
		return false
	})
	return found, err
}

// WaitConfirmed waits until the bot has confirmed every update so far. After
// it, what the bot did with them before acknowledging is done.
func (s *Server) WaitConfirmed(ctx context.Context) error {
	return s.wait(ctx, "confirmation of all updates", func() bool { return s.queue.len() == 0 })
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

// Sent are the messages the bot has in a chat, in order, deleted ones too.
func (s *Server) Sent(chat int64) []Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.chats[chat]; state != nil {
		return append([]Sent(nil), state.sent...)
	}
	return nil
}
