package redisstore

import "math"

// source is one of several ordered lists that are read as one, a piece at a
// time: a partition's part of something.
type source[T any] struct {
	items []T
	more  bool // read may give more
	read  func() (items []T, more bool, err error)
}

// refill reads on, if nothing is left to give, until there is something or the end.
func (s *source[T]) refill() (err error) {
	for len(s.items) == 0 && s.more && err == nil {
		s.items, s.more, err = s.read()
	}
	return err
}

// merged gives the first items of all sources together, at most limit.
// What is exhausted is read on at once, all at the same time.
func merged[T any](sources []*source[T], limit int, before func(a, b T) bool) ([]T, error) {
	var out []T
	for len(out) < limit {
		var empty []func() error
		for _, s := range sources {
			if len(s.items) == 0 && s.more {
				empty = append(empty, s.refill)
			}
		}
		if err := together(empty); err != nil {
			return nil, err
		}
		best := first(sources, before)
		if best == nil {
			return out, nil
		}
		out = append(out, best.items[0])
		best.items = best.items[1:]
	}
	return out, nil
}

// first is the source whose next item comes first; nil: all are at their ends.
func first[T any](sources []*source[T], before func(a, b T) bool) (best *source[T]) {
	for _, s := range sources {
		if len(s.items) > 0 && (best == nil || before(s.items[0], best.items[0])) {
			best = s
		}
	}
	return best
}

// share is how many items to ask one of count sources for at first, where
// limit are wanted of all: most have no more of the first ones than this.
func share(limit, count int) int {
	mean := float64(limit) / float64(count)
	return min(limit, int(mean+math.Sqrt(mean))+1)
}

// ample is a share so large that rarely a source has more of the first ones:
// where asking for some more costs less than asking again.
func ample(limit, count int) int {
	mean := float64(limit) / float64(count)
	return min(limit, int(mean+4*math.Sqrt(mean))+1)
}
