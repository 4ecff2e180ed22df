package agent

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"parley/internal/fault"
	"parley/internal/pause"
)

// Defaults of RunOptions.
const (
	AttemptsDefault      = 3
	BackoffDefault       = 500 * time.Millisecond
	BackoffMaxDefault    = 8 * time.Second
	RetryAfterMaxDefault = 20 * time.Second
)

// emptyAttempts is how often an empty answer is asked for: once more, no more.
const emptyAttempts = 2

// RunOptions bounds the trying of one turn. Zero fields take the defaults.
type RunOptions struct {
	Attempts   int           // model calls in all; 1: never again
	Backoff    time.Duration // before the second attempt; doubled before each one after
	BackoffMax time.Duration // longest back-off
	// RetryAfterMax is the longest wait a provider may ask for that Run sits
	// out. Asked for more, Run returns the error at once, RetryAfter in it.
	RetryAfterMax time.Duration
	// OnRetry, if set, hears of each failure that will be tried again.
	OnRetry func(failure *ModelError, wait time.Duration)
}

func (o RunOptions) withDefaults() RunOptions {
	if o.Attempts <= 0 {
		o.Attempts = AttemptsDefault
	}
	if o.Backoff <= 0 {
		o.Backoff = BackoffDefault
	}
	if o.BackoffMax <= 0 {
		o.BackoffMax = BackoffMaxDefault
	}
	if o.RetryAfterMax <= 0 {
		o.RetryAfterMax = RetryAfterMaxDefault
	}
	return o
}

// Run makes one turn's model calls and returns the final answer, which is never
// empty. A temporary failure is tried again, after a back-off with jitter and
// not before the provider allows, only while onText has not been called. onText
// is as in Model.Complete, but for white space at the beginning, which comes
// with the first word. An error is a *ModelError or the context's; Answer then
// holds what had arrived.
func Run(ctx context.Context, model Model, request Request, options RunOptions, onText func(string)) (Answer, error) {
	options = options.withDefaults()
	empty := 0
	for attempt := 1; ; attempt++ {
		answer, failure, err := attemptOnce(ctx, model, request, onText)
		if err != nil || failure == nil {
			return answer, err
		}
		if failure.Kind == KindEmpty {
			empty++
		}
		wait := options.backoff(attempt, failure.RetryAfter)
		if !options.again(failure, attempt, empty) {
			return answer, failure
		}
		if options.OnRetry != nil {
			options.OnRetry(failure, wait)
		}
		if err := sleep(ctx, wait); err != nil {
			return answer, err
		}
	}
}

// attemptOnce is one call. It gives a failure of the model, or the context's error.
func attemptOnce(ctx context.Context, model Model, request Request, onText func(string)) (Answer, *ModelError, error) {
	gate := textGate{show: onText}
	answer, err := model.Complete(ctx, request, gate.write)
	if err == nil && isEmpty(answer) {
		return answer, emptyError(answer), nil
	}
	if err == nil {
		return answer, nil, nil
	}
	if ctxErr := ctx.Err(); ctxErr != nil {
		return answer, nil, ctxErr
	}
	failure := *AsModelError(err)
	failure.Started = gate.open && onText != nil
	return answer, &failure, nil
}

func isEmpty(answer Answer) bool {
	return strings.TrimSpace(answer.Text) == "" && len(answer.ToolCalls) == 0
}

func emptyError(answer Answer) *ModelError {
	reason := "the answer was empty"
	if answer.FinishReason != "" {
		reason = fmt.Sprintf("the answer was empty (finish reason %q)", answer.FinishReason)
	}
	return &ModelError{Kind: KindEmpty, Reason: reason}
}

// again decides whether to try once more.
func (o RunOptions) again(failure *ModelError, attempt, empty int) bool {
	switch {
	case failure.Started || attempt >= o.Attempts:
		return false
	case failure.Kind == KindEmpty:
		return empty < emptyAttempts
	}
	return failure.Temporary && failure.RetryAfter <= o.RetryAfterMax
}

// backoff is half to all of the doubled base, and never less than the provider asked for.
func (o RunOptions) backoff(attempt int, retryAfter time.Duration) time.Duration {
	limit := o.Backoff
	for range attempt - 1 {
		limit = min(limit*2, o.BackoffMax)
	}
	limit = min(limit, o.BackoffMax)
	half := limit / 2
	return retryAfter + half + rand.N(limit-half+1)
}

func sleep(ctx context.Context, wait time.Duration) error {
	if pause.For(ctx, wait) {
		return nil
	}
	return ctx.Err()
}

// textGate holds white space back until a word comes, so that an empty answer
// shows nothing and can be asked for again.
type textGate struct {
	show func(string)
	held strings.Builder
	open bool
}

func (g *textGate) write(piece string) {
	if !g.open {
		g.held.WriteString(piece)
		if strings.TrimSpace(piece) == "" {
			return
		}
		piece = g.held.String()
		g.open = true
		fault.Here(fault.MidModel)
	}
	if g.show != nil {
		g.show(piece)
	}
}
