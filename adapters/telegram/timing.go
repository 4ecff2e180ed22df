package telegram

import (
	"context"
	"time"

	"parley/internal/pause"
)

// again is how long to wait after failures in a row.
func again() pause.Range { return pause.Range{Min: time.Second, Max: 30 * time.Second} }

// conflicts is how long to wait after another program polled with the same
// token.
func conflicts() pause.Range { return pause.Range{Min: 5 * time.Second, Max: 10 * time.Second} }

func wait(ctx context.Context, d time.Duration) error {
	if pause.For(ctx, d) {
		return nil
	}
	return ctx.Err()
}
