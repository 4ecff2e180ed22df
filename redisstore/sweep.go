package redisstore

import (
	"context"
	"slices"

	"parley/sessions"
)

// Bounds of one call of the sweep's scripts.
const (
	sweepBatch  = 100 // sessions changed
	sweepBudget = 500 // sessions looked at
)

// Sweep looks for the longest inactive sessions of all partitions, as Find does
// for the newest, and then changes them, each where it is: what is not stale
// any more by then is passed over, and others are looked for in its place.
func (s *Store) Sweep(ctx context.Context, request sessions.SweepRequest) ([]string, error) {
	if err := request.Check(); err != nil {
		return nil, err
	}
	sources := make([]*source[stale], len(s.parts))
	for i, p := range s.parts {
		sources[i] = s.staleSource(ctx, p, request)
	}
	var swept []string
	for len(swept) < request.Limit {
		list, err := merged(sources, request.Limit-len(swept), stale.before)
		if err != nil {
			return swept, err
		}
		if len(list) == 0 {
			break
		}
		done, err := s.sweepAll(ctx, request, list)
		swept = append(swept, done...)
		if err != nil {
			return swept, err
		}
	}
	return swept, nil
}

// stale is a session that a sweep is for.
type stale struct {
	sessions.Position
	in partition
}

// before: the longest inactive first, of equal ones the smaller id.
func (a stale) before(b stale) bool { return b.Before(a.Position) }

func (s *Store) staleSource(ctx context.Context, p partition, request sessions.SweepRequest) *source[stale] {
	at, last := any(""), ""
	count := min(share(request.Limit, len(s.parts)), sweepBatch)
	return &source[stale]{more: true, read: func() ([]stale, bool, error) {
		val, err := s.run(ctx, p, s.scripts.stale, string(request.Rule), request.Age.Milliseconds(), at, last, count, sweepBudget)
		if err != nil {
			return nil, false, err
		}
		count = min(2*count, sweepBatch)
		r := read(val)
		more := r.flag()
		at, last = r.number(), r.text()
		var list []stale
		for r.more() {
			list = append(list, stale{Position: sessions.Position{At: fromMillis(r.number()), ID: r.text()}, in: p})
		}
		return list, more, r.err
	}}
}

// sweepAll changes sessions, all partitions at the same time, and returns those
// that were changed, in their order.
func (s *Store) sweepAll(ctx context.Context, request sessions.SweepRequest, list []stale) ([]string, error) {
	byPartition := map[int][]string{}
	for _, st := range list {
		byPartition[st.in.index] = append(byPartition[st.in.index], st.ID)
	}
	batches := make([][]string, 0, len(byPartition))
	var steps []func() error
	for index, ids := range byPartition {
		for ids := range slices.Chunk(ids, sweepBatch) {
			at := len(batches)
			batches = append(batches, nil)
			steps = append(steps, func() (err error) {
				batches[at], err = s.sweepIn(ctx, s.parts[index], request, ids)
				return err
			})
		}
	}
	err := together(steps)
	changed := map[string]bool{}
	for _, id := range slices.Concat(batches...) {
		changed[id] = true
	}
	var out []string
	for _, st := range list {
		if changed[st.ID] {
			out = append(out, st.ID)
		}
	}
	return out, err
}

func (s *Store) sweepIn(ctx context.Context, p partition, request sessions.SweepRequest, ids []string) ([]string, error) {
	args := []any{string(request.Rule), request.Age.Milliseconds(), newToken(), len(ids)}
	for _, id := range ids {
		args = append(args, id)
	}
	val, err := s.run(ctx, p, s.scripts.sweep, args...)
	if err != nil {
		return nil, err
	}
	r := read(val)
	s.forwardAll(ctx, p, r.list(), nil)
	return r.texts(), r.err
}
