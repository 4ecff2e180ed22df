package main

import (
	"context"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

// posts measures messages of groups that trigger nothing.
func (r *runner) posts(ctx context.Context, b *backend) error {
	value := make([]byte, 512) // about what an entry of the log takes
	var written events
	return inLab(ctx, b.store, func(l *lab) error {
		gateway := func(ctx context.Context, group int) error { return l.sink(ctx, l.inGroup(group, false)) }
		raw := func(ctx context.Context, _ int) error {
			return b.raw.write(ctx, "post-"+strconv.FormatInt(written.last.Add(1), 10), value)
		}
		if _, err := rate(ctx, r.sizes.chats, r.sizes.warmFor, gateway); err != nil {
			return err
		}
		var ours, limits flows
		for range r.sizes.rounds {
			if err := limits.posts(ctx, b, r.sizes, raw); err != nil {
				return err
			}
			if err := ours.posts(ctx, b, r.sizes, gateway); err != nil {
				return err
			}
			r.say("  %.0f messages/s, bare writes %.0f/s", ours.rates[len(ours.rates)-1], limits.rates[len(limits.rates)-1])
		}
		r.add(
			newFigure(b.name, measurePosts, median(ours.rates), median(limits.rates)),
			newFigure(b.name, measurePostCPU, median(ours.cpu), median(limits.cpu)),
		)
		return nil
	})
}

func (f *flows) posts(ctx context.Context, b *backend, sizes sizes, one func(ctx context.Context, i int) error) error {
	var perSecond float64
	began := time.Now()
	spent, err := b.spent(ctx, func() (err error) {
		perSecond, err = rate(ctx, sizes.chats, sizes.postFor, one)
		return err
	})
	all := perSecond * time.Since(began).Seconds()
	f.rates, f.cpu = append(f.rates, perSecond), append(f.cpu, 1000*spent/all)
	return err
}

// rate runs one in each of many goroutines, over and over, and gives how many
// ended per second.
func rate(ctx context.Context, many int, during time.Duration, one func(ctx context.Context, i int) error) (float64, error) {
	deadline, cancel := context.WithTimeout(ctx, during)
	defer cancel()
	counts := make([]int, many)
	var group errgroup.Group
	began := time.Now()
	for i := range many {
		group.Go(func() error {
			for deadline.Err() == nil {
				if err := one(ctx, i); err != nil {
					return err
				}
				counts[i]++
			}
			return nil
		})
	}
	err := group.Wait()
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return float64(sum) / time.Since(began).Seconds(), err
}
