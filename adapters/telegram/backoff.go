package telegram

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	backoffFirst = time.Second
	backoffMax   = 30 * time.Second
	// conflictWait is the least pause after another program polled with the
	// same token; up to as much again is added.
	conflictWait = 5 * time.Second
)

// backoff is the pause after the n-th failure in a row, from 1, with jitter.
func backoff(n int) time.Duration {
	d := backoffMax
	if n < 6 {
		d = min(backoffFirst<<max(n-1, 0), backoffMax)
	}
	return d/2 + jitter(d/2)
}

// jitter is random in [0, d].
func jitter(d time.Duration) time.Duration { return rand.N(d + 1) }

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
