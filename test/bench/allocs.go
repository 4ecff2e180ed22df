package main

import (
	"context"
	"fmt"
	"runtime"
)

// allocations measures what one message, and one turn, allocates in the
// gateway and its store, one at a time; platform and model cost nothing here.
func (r *runner) allocations(ctx context.Context, b *backend) error {
	return inLab(ctx, b.store, func(l *lab) error {
		post := func() error { return l.sink(ctx, l.inGroup(0, false)) }
		turn := func() error { return l.turn(ctx, l.inGroup(1, true)) }
		for _, c := range []struct {
			measure measure
			n       int
			one     func() error
		}{{measurePostAllocs, r.sizes.allocPosts, post}, {measureTurnAllocs, r.sizes.allocTurns, turn}} {
			f, err := allocated(b.name, c.measure, c.n, c.one)
			if err != nil {
				return err
			}
			r.add(f)
		}
		return nil
	})
}

func allocated(name string, m measure, n int, one func() error) (figure, error) {
	if err := repeat(n/10+1, one); err != nil { // caches and pools are filled afterwards
		return figure{}, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := repeat(n, one)
	runtime.ReadMemStats(&after)
	f := newFigure(name, m, float64(after.Mallocs-before.Mallocs)/float64(n), noRaw())
	f.Note = fmt.Sprintf("%.1f KB", float64(after.TotalAlloc-before.TotalAlloc)/float64(n)/1024)
	return f, err
}

func repeat(n int, one func() error) error {
	for range n {
		if err := one(); err != nil {
			return err
		}
	}
	return nil
}
