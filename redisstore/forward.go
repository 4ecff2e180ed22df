package redisstore

import (
	"context"
	"strconv"
	"strings"

	"parley/sessions"
)

// forwardMax is how many waiting steps are taken at once.
const forwardMax = 100

// A step that another partition has to take waits in the first one, in order
// per target, until the target's partition has taken it; there each is taken
// once, by its id. It is taken at once by whoever wrote it, and by every
// reader of Due after a second if that failed.

// forwardAll takes the steps that a script has just left for other
// partitions, with what waited before them, and those that these leave. With
// send, a surface's lane is taken if it is free. Failures are left to Due.
func (s *Store) forwardAll(ctx context.Context, p partition, waiting *reply, send *sessions.Claimer) []sessions.Delivery {
	var sends []sessions.Delivery
	for waiting.more() {
		target, steps := waiting.text(), waiting.list().texts()
		d, err := s.forward(ctx, p, target, steps, send)
		if err != nil {
			s.config.Logger.WarnContext(ctx, "a step for another partition waits", "error", err)
		}
		if d != nil {
			sends = append(sends, *d)
		}
	}
	return sends
}

// targetOf is the partition of a target: of a surface, a session, a user or
// identity, or the partition of that number.
func (s *Store) targetOf(target string) partition {
	kind, name, _ := strings.Cut(target, ":")
	switch kind {
	case "o":
		return s.ofSurface(name)
	case "p":
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(s.parts) {
			return s.parts[i]
		}
	}
	return s.of(name)
}

// forward takes steps in the target's partition, then forgets them here, which
// nobody has to wait for.
func (s *Store) forward(ctx context.Context, p partition, target string, steps []string, send *sessions.Claimer) (*sessions.Delivery, error) {
	if len(steps) == 0 {
		return nil, nil //nolint:nilnil // nothing waits, nothing is taken
	}
	list, done := stepsOf(target, steps)
	d, err := s.apply(ctx, target, list, send)
	if err != nil {
		return nil, err
	}
	s.goroutine(func(ctx context.Context) {
		if _, err := s.run(ctx, p, s.scripts.forwardDone, done...); err != nil {
			s.config.Logger.DebugContext(ctx, "a taken step is not forgotten yet", "error", err)
		}
	})
	return d, nil
}

// step is something another partition has to do: see forward_apply.lua.
type step struct{ id, op, body string }

// stepsOf reads steps as they wait, and gives the arguments that forget them.
func stepsOf(target string, texts []string) (list []step, done []any) {
	done = []any{target, len(texts)}
	for _, text := range texts {
		id, rest, _ := strings.Cut(text, "\n")
		op, body, _ := strings.Cut(rest, "\n")
		list, done = append(list, step{id, op, body}), append(done, id)
	}
	return list, done
}

// apply takes steps in their target's partition, and those that they leave
// for others.
func (s *Store) apply(ctx context.Context, target string, steps []step, send *sessions.Claimer) (*sessions.Delivery, error) {
	args := []any{target, dedupeFor, len(steps)}
	for _, st := range steps {
		args = append(args, st.id, st.op, st.body)
	}
	there := s.targetOf(target)
	val, err := s.run(ctx, there, s.scripts.forwardApply, append(args, claimMillis(send), newToken())...)
	if err != nil {
		return nil, err
	}
	r := read(val)
	lane, more := r.optional(), r.list()
	if r.err != nil {
		return nil, r.err
	}
	s.forwardAll(ctx, there, more, nil)
	if lane == nil {
		return nil, nil //nolint:nilnil // no lane was taken
	}
	d, err := s.delivery(ctx, lane)
	return &d, err
}

// forwardLater takes the steps that Due found, in the background.
func (s *Store) forwardLater(p partition, target string) {
	s.alone(p.key("f", target), func(ctx context.Context) error {
		val, err := s.run(ctx, p, s.scripts.forwardRead, target, forwardMax)
		if err == nil {
			_, err = s.forward(ctx, p, target, read(val).texts(), nil)
		}
		return err
	})
}

// workLater does a job that Due found, in the background, piece by piece.
func (s *Store) workLater(p partition, name string) {
	s.alone(p.key("job", name), func(ctx context.Context) error { return s.work(ctx, p, name) })
}

// work does a job to its end: see job.lua.
func (s *Store) work(ctx context.Context, p partition, name string) error {
	for {
		val, err := s.run(ctx, p, s.scripts.job, name)
		if err != nil || val == int64(0) {
			return err
		}
	}
}

// alone runs a task in the background unless the one of the same name runs.
func (s *Store) alone(name string, task func(ctx context.Context) error) {
	if _, busy := s.forwarding.LoadOrStore(name, true); busy {
		return
	}
	started := s.goroutine(func(ctx context.Context) {
		defer s.forwarding.Delete(name)
		if err := task(ctx); err != nil && ctx.Err() == nil {
			s.config.Logger.WarnContext(ctx, "a step inside the store waits", "step", name, "error", err)
		}
	})
	if !started {
		s.forwarding.Delete(name)
	}
}
