package redisstore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"parley/sessions"
)

// together runs steps at the same time, so that they share pipelines.
func together(steps []func() error) error {
	var g errgroup.Group
	for _, step := range steps {
		g.Go(step)
	}
	return g.Wait()
}

// everywhere asks all partitions at once and gathers what take reads.
func everywhere[T any](s *Store, ask func(p partition) ([]T, error)) ([]T, error) {
	var mu sync.Mutex
	var all []T
	var steps []func() error
	for _, p := range s.parts {
		steps = append(steps, func() error {
			some, err := ask(p)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, some...)
			return err
		})
	}
	return all, together(steps)
}

// DeadLetters lists parked turns.
func (s *Store) DeadLetters(ctx context.Context, limit int) ([]sessions.DeadLetter, error) {
	if err := sessions.CheckList(limit); err != nil {
		return nil, err
	}
	all, err := everywhere(s, func(p partition) ([]sessions.DeadLetter, error) {
		val, err := s.run(ctx, p, s.scripts.deadList, limit)
		if err != nil {
			return nil, err
		}
		return readDead(read(val))
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b sessions.DeadLetter) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID))
	})
	return all[:min(limit, len(all))], nil
}

func readDead(r *reply) ([]sessions.DeadLetter, error) {
	var list []sessions.DeadLetter
	for r.more() {
		id, f := r.text(), r.list()
		d := sessions.DeadLetter{ID: id, Session: f.text(), At: f.time(), Reason: f.text(), Attempts: int(f.number())}
		for text := range strings.SplitSeq(f.text(), ",") {
			seq, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, errReply
			}
			d.Messages = append(d.Messages, seq)
		}
		if f.err != nil {
			return nil, f.err
		}
		list = append(list, d)
	}
	return list, r.err
}

// Replay makes a parked turn due again.
func (s *Store) Replay(ctx context.Context, id string) error {
	return s.atDead(ctx, id, func(p partition) error {
		code, r, err := s.answer(ctx, p, s.scripts.deadReplay, id)
		if err != nil || code == "ok" {
			return err
		}
		return r.refusal(code, "replay a dead letter")
	})
}

// DropDead forgets a parked turn.
func (s *Store) DropDead(ctx context.Context, id string) error {
	return s.atDead(ctx, id, func(p partition) error {
		return s.affirm(ctx, p, s.scripts.deadDrop, sessions.ErrNotFound, id)
	})
}

// atDead acts on a dead letter in its partition: the one its id tells, or, of
// one that came from another store, the one that has it.
func (s *Store) atDead(ctx context.Context, id string, act func(p partition) error) error {
	if err := sessions.CheckKey("dead letter", id); err != nil {
		return sessions.ErrNotFound
	}
	if p, ok := s.ofID(id); ok {
		if err := act(p); !errors.Is(err, sessions.ErrNotFound) {
			return err
		}
	}
	holders, err := everywhere(s, func(p partition) ([]partition, error) {
		there, err := s.command(ctx, p, "exists", p.key("dl", id))
		if err != nil || there == int64(0) {
			return nil, err
		}
		return []partition{p}, nil
	})
	if err != nil {
		return err
	}
	if len(holders) == 0 {
		return sessions.ErrNotFound
	}
	return act(holders[0])
}

// affirm runs a script that answers 1, or 0 for the error otherwise.
func (s *Store) affirm(ctx context.Context, p partition, sc *script, otherwise error, values ...any) error {
	val, err := s.run(ctx, p, sc, values...)
	if err == nil && val == int64(0) {
		return otherwise
	}
	return err
}
