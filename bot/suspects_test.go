package bot

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"parley/agent"
	"parley/sessions"
)

// Turns at their last attempt are not run side by side: they may have died
// together, for one of them.
func TestLastAttemptsAreMadeOneByOne(t *testing.T) {
	t.Parallel()
	s := newStage(t, (&lastAttempts{}).install)
	const turns = 4
	var running, together atomic.Int64
	s.brain.answers(func(_ context.Context, request agent.Request, _ func(string)) (agent.Answer, error) {
		together.Store(max(together.Load(), running.Add(1)))
		defer running.Add(-1)
		return agent.Answer{Text: "answered " + request.Messages[len(request.Messages)-1].Text}, nil
	})
	for i := range turns {
		s.leave(s.event(fmt.Sprintf("person%d", i), fmt.Sprintf("person %d", i), false))
	}
	for i := range turns {
		s.hears(fmt.Sprintf("answered person %d", i))
	}
	if n := together.Load(); n != 1 {
		t.Errorf("%d last attempts ran side by side", n)
	}
	if n := len(s.brain.asked()); n != turns {
		t.Errorf("the model was asked %d times for %d turns", n, turns)
	}
}

// lastAttempts is a store whose turns were all begun before, as often as may be.
type lastAttempts struct{ sessions.Store }

func (s *lastAttempts) install(c *Config) { s.Store, c.Store = c.Store, s }

func (s *lastAttempts) Claim(ctx context.Context, request sessions.ClaimRequest) (*sessions.Turn, error) {
	turn, err := s.Store.Claim(ctx, request)
	if err == nil {
		turn.Attempt = sessions.AttemptsMax
	}
	return turn, err
}

func (s *lastAttempts) Commit(ctx context.Context, request sessions.CommitRequest) (sessions.CommitResult, error) {
	if request.Outcome == sessions.Again {
		return sessions.CommitResult{}, errors.New("a turn that waited was charged for it")
	}
	return s.Store.Commit(ctx, request)
}

func TestSuspectsStandApartForAWhile(t *testing.T) {
	t.Parallel()
	s, now := newSuspects(), time.Unix(1000, 0)
	if !s.enter("one", now) || s.enter("two", now) {
		t.Fatal("two last attempts at once")
	}
	if !s.waits("two", now) || s.waits("two", now.Add(suspectPause)) || s.waits("one", now) {
		t.Error("who was handed back waits, for suspectPause, and nobody else")
	}
	if !s.enter("two", now.Add(aloneFor)) {
		t.Error("a slow last attempt holds others up")
	}
	s.leave("one")
	if s.enter("three", now.Add(aloneFor)) {
		t.Error("who was overtaken ended another's attempt")
	}
	s.leave("two")
	if !s.enter("three", now.Add(aloneFor)) || len(s.later) > 1 {
		t.Error("nobody is at a last attempt, but it may not begin")
	}
}
