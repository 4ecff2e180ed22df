package bot

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

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
