package redisstore

import (
	"context"
	"sync"
)

// feedMax is how many hints a slow reader may be behind before it misses some.
const feedMax = 256

// feed carries hints to one reader. It never makes the sender wait: what the
// reader is too slow for is dropped, and gap takes its place.
type feed[T any] struct {
	gap *T // nil: nothing tells of what was dropped

	mu      sync.Mutex
	pending []T
	wake    chan struct{} // holds one signal
}

func newFeed[T any](gap *T) *feed[T] {
	return &feed[T]{gap: gap, wake: make(chan struct{}, 1)}
}

func (f *feed[T]) add(hint T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case len(f.pending) < feedMax:
		f.pending = append(f.pending, hint)
	case f.gap == nil:
		return
	default:
		f.pending = append(f.pending[:0], *f.gap)
	}
	f.signal()
}

// missed tells the reader that hints were lost on the way here.
func (f *feed[T]) missed() {
	if f.gap != nil {
		f.add(*f.gap)
	}
}

func (f *feed[T]) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *feed[T]) take() []T {
	f.mu.Lock()
	defer f.mu.Unlock()
	hints := f.pending
	f.pending = nil
	return hints
}

// run hands the hints out until ctx ends.
func (f *feed[T]) run(ctx context.Context, out chan<- T) {
	for {
		for _, hint := range f.take() {
			select {
			case out <- hint:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
			return
		}
	}
}
