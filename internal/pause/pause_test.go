package pause_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"parley/internal/pause"
)

func TestBackoffStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	for attempt := range 2000 {
		for _, jitter := range []float64{0, 0.5, 0.999} {
			if got := pause.Backoff(attempt, jitter); got < pause.Min/2 || got > pause.Max {
				t.Fatalf("attempt %d, jitter %v: %s", attempt, jitter, got)
			}
		}
	}
}

func TestRangeDoublesWithinItsBounds(t *testing.T) {
	t.Parallel()
	r := pause.Range{Min: time.Second, Max: time.Minute}
	for attempt, most := range map[int]time.Duration{0: time.Second, 1: time.Second, 3: 4 * time.Second, 7: time.Minute, 1000: time.Minute} {
		for range 50 {
			if got := r.After(attempt); got < most/2 || got > most {
				t.Errorf("after %d: %s", attempt, got)
			}
			if got := r.Between(); got < r.Min || got > r.Max {
				t.Errorf("between: %s", got)
			}
		}
	}
	if (pause.Range{}).After(1) != 0 || (pause.Range{Min: 5, Max: 5}).Between() != 5 {
		t.Error("an empty range pauses")
	}
}

func TestForEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if !pause.For(ctx, time.Second/2) || pause.For(ctx, time.Second) {
			t.Error("it does not tell which of both ended")
		}
	})
}
