package main

import (
	"context"
	"log/slog"
	"time"

	"parley/adapters"
)

// settleMax bounds the wait for a connection's first success or failure, and
// settleEvery is how often it is looked for.
const (
	settleMax   = 10 * time.Second
	settleEvery = 100 * time.Millisecond
)

// settled waits until the adapter has connected or failed, for a short time,
// and reports whether its credentials may still be good.
func settled(ctx context.Context, adapter adapters.Adapter) bool {
	ctx, cancel := context.WithTimeout(ctx, settleMax)
	defer cancel()
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for adapter.Health().State == adapters.Connecting {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return true
		}
	}
	return adapter.Health().State != adapters.Refused
}

// logFindings tells what would make a bot deaf, or the store forget.
func logFindings(log *slog.Logger, findings []adapters.Finding) {
	for _, finding := range findings {
		attrs := []any{"remedy", finding.Remedy}
		switch finding.Level {
		case adapters.LevelProblem:
			log.Error(finding.What, attrs...)
		case adapters.LevelWarning:
			log.Warn(finding.What, attrs...)
		case adapters.LevelUnchecked:
			log.Info("not checked: "+finding.What, attrs...)
		case adapters.LevelOK, adapters.LevelOff:
			log.Debug(finding.What)
		}
	}
}
