package pause

import (
	"context"
	"math/rand/v2"
	"time"
)

// For waits for d, or until ctx ends; false: it ended before.
func For(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Range is how long to wait after failures: Min after the first, doubled with
// each, and Max at most.
type Range struct{ Min, Max time.Duration }

// At is the pause after the failed attempt with this number, counted from 1,
// less up to half of it by jitter, which is in [0, 1). Pure.
func (r Range) At(attempt int, jitter float64) time.Duration {
	pause := r.Max
	if attempt < 30 {
		pause = min(r.Max, r.Min<<max(0, attempt-1))
	}
	return pause - time.Duration(jitter*float64(pause)/2)
}

// After is [Range.At] with a jitter of its own.
func (r Range) After(attempt int) time.Duration { return r.At(attempt, Jitter()) }

// Between is a random pause of the range.
func (r Range) Between() time.Duration {
	return r.Min + time.Duration(Jitter()*float64(max(0, r.Max-r.Min)))
}

// Jitter draws a number in [0, 1).
func Jitter() float64 { return rand.Float64() }

// Bounds of [Backoff]. Max is how long after a platform's or a store's return
// somebody waits at most.
const (
	Min = time.Second
	Max = time.Minute
)

// After waits as long as a try may follow the failed attempt with this number,
// counted from 1, or until ctx ends.
func After(ctx context.Context, attempt int) { For(ctx, Backoff(attempt, Jitter())) }

// Backoff is what is usual: [Range.At] from Min to Max. Pure.
func Backoff(attempt int, jitter float64) time.Duration { return Range{Min, Max}.At(attempt, jitter) }
