package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"parley/agent"
	"parley/sessions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// step is what a scripted model does in one call.
type step struct {
	pieces []string
	err    error
	calls  []sessions.ToolCall
}

// scripted takes one step per call and repeats the last.
type scripted struct {
	steps []step
	calls int
	at    []time.Time
}

func (m *scripted) Name() string { return "scripted" }

func (m *scripted) Complete(_ context.Context, _ agent.Request, onText func(string)) (agent.Answer, error) {
	now := m.steps[min(m.calls, len(m.steps)-1)]
	m.calls++
	m.at = append(m.at, time.Now())
	for _, piece := range now.pieces {
		onText(piece)
	}
	return agent.Answer{Text: strings.Join(now.pieces, ""), ToolCalls: now.calls, FinishReason: "stop"}, now.err
}

func busy(retryAfter time.Duration) step {
	return step{err: &agent.ModelError{Kind: agent.KindRateLimited, Temporary: true, RetryAfter: retryAfter, Reason: "busy"}}
}

func TestRun(t *testing.T) {
	t.Parallel()
	hello := step{pieces: []string{"hel", "lo"}}
	refused := step{err: &agent.ModelError{Kind: agent.KindUnauthorized}}
	broken := step{pieces: []string{"hel"}, err: &agent.ModelError{Kind: agent.KindBrokenStream, Temporary: true}}
	blank := step{pieces: []string{" ", "\n"}}
	cases := map[string]struct {
		steps   []step
		options agent.RunOptions
		calls   int
		shown   string
		kind    agent.ErrorKind
		started bool
	}{
		"at once":                {[]step{hello}, agent.RunOptions{}, 1, "hello", "", false},
		"after a failure":        {[]step{busy(0), hello}, agent.RunOptions{}, 2, "hello", "", false},
		"never":                  {[]step{busy(0)}, agent.RunOptions{}, 3, "", agent.KindRateLimited, false},
		"one attempt":            {[]step{busy(0)}, agent.RunOptions{Attempts: 1}, 1, "", agent.KindRateLimited, false},
		"permanent":              {[]step{refused, hello}, agent.RunOptions{}, 1, "", agent.KindUnauthorized, false},
		"unknown error":          {[]step{{err: errors.New("boom")}, hello}, agent.RunOptions{}, 1, "", agent.KindUnavailable, false},
		"shown, then broken":     {[]step{broken, hello}, agent.RunOptions{}, 1, "hel", agent.KindBrokenStream, true},
		"blank, then broken":     {[]step{{pieces: []string{"\n"}, err: broken.err}, hello}, agent.RunOptions{}, 2, "hello", "", false},
		"asks for too long":      {[]step{busy(time.Hour), hello}, agent.RunOptions{}, 1, "", agent.KindRateLimited, false},
		"asks for long, allowed": {[]step{busy(time.Hour), hello}, agent.RunOptions{RetryAfterMax: 2 * time.Hour}, 2, "hello", "", false},
		"empty once":             {[]step{{}, hello}, agent.RunOptions{}, 2, "hello", "", false},
		"empty always":           {[]step{{}}, agent.RunOptions{Attempts: 9}, 2, "", agent.KindEmpty, false},
		"blank always":           {[]step{blank}, agent.RunOptions{}, 2, "", agent.KindEmpty, false},
		"empty, one attempt":     {[]step{{}}, agent.RunOptions{Attempts: 1}, 1, "", agent.KindEmpty, false},
		"leading space is kept":  {[]step{{pieces: []string{" ", "\n", "a", " "}}}, agent.RunOptions{}, 1, " \na ", "", false},
		"silence is an answer":   {[]step{{pieces: []string{agent.SilenceMarker}}}, agent.RunOptions{}, 1, agent.SilenceMarker, "", false},
		"a call is an answer":    {[]step{{calls: []sessions.ToolCall{{ID: "a"}}}}, agent.RunOptions{}, 1, "", "", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				model := &scripted{steps: c.steps}
				var shown strings.Builder
				retries := 0
				c.options.OnRetry = func(*agent.ModelError, time.Duration) { retries++ }
				answer, err := agent.Run(t.Context(), model, agent.Request{}, c.options, func(piece string) { shown.WriteString(piece) })
				if model.calls != c.calls || retries != c.calls-1 || shown.String() != c.shown {
					t.Errorf("%d calls, %d retries, shown %q", model.calls, retries, shown.String())
				}
				if c.kind == "" {
					if err != nil || answer.Text != c.shown {
						t.Errorf("answer %+v, %v", answer, err)
					}
					return
				}
				failure, ok := errors.AsType[*agent.ModelError](err)
				if !ok || failure.Kind != c.kind || failure.Started != c.started {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestRunWaitsLongerEachTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := &scripted{steps: []step{busy(0), busy(0), busy(10 * time.Second), busy(0), {pieces: []string{"x"}}}}
		options := agent.RunOptions{Attempts: 5, Backoff: time.Second, BackoffMax: 3 * time.Second}
		if _, err := agent.Run(t.Context(), model, agent.Request{}, options, nil); err != nil {
			t.Fatal(err)
		}
		bounds := [][2]time.Duration{
			{500 * time.Millisecond, time.Second}, {time.Second, 2 * time.Second},
			{11500 * time.Millisecond, 13 * time.Second}, {1500 * time.Millisecond, 3 * time.Second},
		}
		for i, bound := range bounds {
			if waited := model.at[i+1].Sub(model.at[i]); waited < bound[0] || waited > bound[1] {
				t.Errorf("wait %d: %s, want %s to %s", i+1, waited, bound[0], bound[1])
			}
		}
	})
}

func TestRunWithoutListenerMayTryAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := step{pieces: []string{"hel"}, err: &agent.ModelError{Kind: agent.KindBrokenStream, Temporary: true, Started: true}}
		model := &scripted{steps: []step{broken, {pieces: []string{"hello"}}}}
		if answer, err := agent.Run(t.Context(), model, agent.Request{}, agent.RunOptions{}, nil); err != nil || answer.Text != "hello" {
			t.Errorf("%+v, %v", answer, err)
		}
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		options := agent.RunOptions{Backoff: time.Hour, BackoffMax: time.Hour}
		_, err := agent.Run(ctx, &scripted{steps: []step{busy(0)}}, agent.Request{}, options, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestErrorsSpeakToPeopleWithoutInternals(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, kind := range []agent.ErrorKind{
		agent.KindUnauthorized, agent.KindNotFound, agent.KindQuota, agent.KindRateLimited, agent.KindUnavailable,
		agent.KindTimeout, agent.KindContextLength, agent.KindRefused, agent.KindFiltered, agent.KindBrokenStream,
		agent.KindTooLong, agent.KindEmpty, "new",
	} {
		failure := &agent.ModelError{Kind: kind, Reason: "internal 10.0.0.1", RetryAfter: time.Second}
		people := failure.ForPeople()
		if people == "" || strings.Contains(people, "internal") || strings.Contains(people, string(kind)) && strings.Contains(string(kind), "_") {
			t.Errorf("%s: %q", kind, people)
		}
		if !strings.Contains(failure.Error(), "internal 10.0.0.1") || !strings.Contains(failure.Error(), string(kind)) {
			t.Errorf("operators read %q", failure)
		}
		seen[people] = true
	}
	if len(seen) < 9 {
		t.Errorf("only %d different sentences", len(seen))
	}
}
