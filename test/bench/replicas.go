package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	replicaChats    = 200
	replicaTogether = 32
)

// replicas compares the CPU of a turn when one replica has all the work with
// that when two share it: each takes every other message of every chat, as
// behind a load balancer, on connections of its own to the same Redis.
func (r *runner) replicas(ctx context.Context, b *backend) error {
	if b.server == nil {
		return nil
	}
	first, err := startLab(ctx, b.store)
	if err != nil {
		return err
	}
	store, err := openRedisStore(ctx, b.server.URL())
	if err != nil {
		return errors.Join(err, first.stop())
	}
	second, err := startLab(ctx, store)
	if err == nil {
		err = errors.Join(r.shared(ctx, b, first, second), second.stop())
	}
	return errors.Join(err, first.stop(), store.Close())
}

func (r *runner) shared(ctx context.Context, b *backend, first, second *lab) error {
	var alone, together []float64
	for range r.sizes.rounds {
		for _, c := range []struct {
			labs []*lab
			cost *[]float64
		}{{[]*lab{first}, &alone}, {[]*lab{first, second}, &together}} {
			spent, err := b.spent(ctx, func() error { return turnsOf(ctx, c.labs, first, r.sizes.shared) })
			if err != nil {
				return err
			}
			*c.cost = append(*c.cost, 1000*spent/float64(r.sizes.shared*replicaChats))
		}
	}
	f := newFigure(b.name, measureReplicas, median(together)/median(alone), 1)
	f.Note = fmt.Sprintf("%.3f ms, one replica %.3f ms", median(together), median(alone))
	r.add(f)
	return nil
}

// turnsOf lets every chat be answered so many times, each time all of them
// together, dealt out to the labs in turn.
func turnsOf(ctx context.Context, labs []*lab, from *lab, times int) error {
	for round := range times {
		want := answers(labs) + replicaChats
		var workers errgroup.Group
		workers.SetLimit(replicaTogether)
		for chat := range replicaChats {
			event, to := from.direct(chat), labs[(chat+round)%len(labs)]
			workers.Go(func() error { return to.sink(ctx, event) })
		}
		if err := workers.Wait(); err != nil {
			return err
		}
		if err := answered(ctx, labs, want); err != nil {
			return err
		}
	}
	return nil
}

// answers is how many receipts the labs have stored.
func answers(labs []*lab) (sum int64) {
	for _, l := range labs {
		sum += l.store.settles.Load()
	}
	return sum
}

// answered waits for so many receipts in all.
func answered(ctx context.Context, labs []*lab, want int64) error {
	late := time.NewTimer(answerWithin)
	defer late.Stop()
	for answers(labs) < want {
		select {
		case <-labs[0].store.settled:
		case <-labs[len(labs)-1].store.settled:
		case <-late.C:
			return errLate
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
