package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// chatsAlone is how many chats take turns in being the only one that talks.
const chatsAlone = 16

// turns measures triggered turns through the real adapter and model client:
// one at a time for latency, and all chats at once for the rate.
func (r *runner) turns(ctx context.Context, b *backend) error {
	raw, err := startRaw(ctx, b, r.sizes.chats)
	if err != nil {
		return err
	}
	gateway, err := startGateway(ctx, b, r.sizes.chats)
	if err != nil {
		return errors.Join(err, raw.close())
	}
	if _, _, failure := raw.flow(ctx, r.sizes.warmFor); failure != nil {
		err = fmt.Errorf("the raw limit: %w", failure)
	}
	if _, _, failure := gateway.flow(ctx, r.sizes.warmFor); failure != nil {
		err = errors.Join(err, fmt.Errorf("the gateway: %w", failure))
	}
	if err == nil && r.wants(partLatency) {
		err = r.latency(ctx, b, raw, gateway)
	}
	if err == nil && r.wants(partTurns) {
		err = r.throughput(ctx, b, raw, gateway)
	}
	return errors.Join(err, gateway.close(), raw.close())
}

func (r *runner) latency(ctx context.Context, b *backend, raw, gateway *subject) error {
	var ours, limits latencies
	for range r.sizes.rounds {
		if err := limits.collect(ctx, raw, r.sizes.samples); err != nil {
			return err
		}
		if err := ours.collect(ctx, gateway, r.sizes.samples); err != nil {
			return err
		}
		r.say("  p50 so far %.2f ms, raw %.2f ms", percentile(ours.handed, 50), percentile(limits.handed, 50))
	}
	r.add(
		newFigure(b.name, measureP50, percentile(ours.handed, 50), percentile(limits.handed, 50)),
		newFigure(b.name, measureP99, percentile(ours.handed, 99), percentile(limits.handed, 99)),
		newFigure(b.name, measurePlatform50, percentile(ours.platform, 50), percentile(limits.platform, 50)),
		newFigure(b.name, measurePlatform99, percentile(ours.platform, 99), percentile(limits.platform, 99)),
	)
	return nil
}

type latencies struct{ handed, platform []float64 }

func (l *latencies) collect(ctx context.Context, s *subject, n int) error {
	for i := range n {
		one, err := s.one(ctx, s.scene.chats[i%chatsAlone])
		if err != nil {
			return err
		}
		l.handed, l.platform = append(l.handed, one.handed), append(l.platform, one.platform)
	}
	return nil
}

func (r *runner) throughput(ctx context.Context, b *backend, raw, gateway *subject) error {
	var ours, limits flows
	var shares []float64
	for range r.sizes.rounds {
		if err := limits.collect(ctx, b, raw, r.sizes.turnFor); err != nil {
			return err
		}
		if err := ours.collect(ctx, b, gateway, r.sizes.turnFor); err != nil {
			return err
		}
		own, limit := ours.rates[len(ours.rates)-1], limits.rates[len(limits.rates)-1]
		r.say("  %.0f turns/s, raw %.0f/s", own, limit)
		shares = append(shares, 100*own/limit)
	}
	r.add(
		newFigure(b.name, measureTurns, median(ours.rates), median(limits.rates)),
		newFigure(b.name, measureShare, median(shares), 100),
		newFigure(b.name, measureTurnCPU, median(ours.cpu), median(limits.cpu)),
	)
	return nil
}

// flows are rounds of all chats at once: turns per second, and milliseconds of
// CPU per turn.
type flows struct{ rates, cpu []float64 }

func (f *flows) collect(ctx context.Context, b *backend, s *subject, during time.Duration) error {
	var rate float64
	var turns int64
	spent, err := b.spent(ctx, func() (err error) {
		rate, turns, err = s.flow(ctx, during)
		return err
	})
	f.rates, f.cpu = append(f.rates, rate), append(f.cpu, 1000*spent/float64(turns))
	return err
}
