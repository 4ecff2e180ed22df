package redisstore

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/sessions"
)

// dueFor is how long Due waits for partitions that do not answer.
const dueFor = time.Second

// Due lists what is due: one read per partition, in one pipeline per node. Of
// a partition that does not answer nothing is listed, which the log tells
// once; only if none answers, that is an error. A failed read is not repeated:
// the next Due does that.
func (s *Store) Due(ctx context.Context, limit int) ([]sessions.WorkItem, error) {
	if err := sessions.CheckList(limit); err != nil {
		return nil, err
	}
	reading, cancel := context.WithTimeoutCause(ctx, dueFor, errSlow)
	defer cancel()
	parts, failures := make([][]sessions.WorkItem, len(s.parts)), make([]error, len(s.parts))
	var wg sync.WaitGroup
	for i, p := range s.parts {
		wg.Go(func() { parts[i], failures[i] = s.dueIn(reading, p, limit) })
	}
	wg.Wait()
	if err := s.dueFailed(ctx, failures); err != nil {
		return nil, err
	}
	all := slices.Concat(parts...)
	slices.SortStableFunc(all, func(a, b sessions.WorkItem) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID))
	})
	return sessions.EachKind(all, limit), nil
}

func (s *Store) dueIn(ctx context.Context, p partition, limit int) ([]sessions.WorkItem, error) {
	val, err := s.send(ctx, p, s.scripts.due, s.evalArgs(p, s.scripts.due, []any{limit}), 0)
	if err != nil {
		return nil, err
	}
	return s.dueItems(p, read(val))
}

// dueFailed logs that partitions began or ceased to fail. It returns an error
// if all did, or nobody waits for the answer any more.
func (s *Store) dueFailed(ctx context.Context, failures []error) error {
	failed := slices.DeleteFunc(failures, func(err error) bool { return err == nil })
	if len(failed) == len(s.parts) || len(failed) > 0 && ctx.Err() != nil {
		return failed[0]
	}
	if was := s.failing.Swap(len(failed) > 0); was != (len(failed) > 0) {
		if was {
			s.config.Logger.InfoContext(ctx, "all partitions answer again")
		} else {
			s.config.Logger.WarnContext(ctx, "partitions do not answer: what is due there waits", "partitions", len(failed), "error", failed[0])
		}
	}
	return nil
}

// dueItems reads a due set. Steps for other partitions and jobs are the
// store's own.
func (s *Store) dueItems(p partition, r *reply) ([]sessions.WorkItem, error) {
	var list []sessions.WorkItem
	for r.more() {
		member, at := r.text(), r.time()
		if target, ok := strings.CutPrefix(member, "fwd:"); ok {
			s.forwardLater(p, target)
			continue
		}
		if name, ok := strings.CutPrefix(member, "job:"); ok {
			s.workLater(p, name)
			continue
		}
		// What is of no kind known here is left to a newer version beside this one.
		if item, ok := workItem(member, at); ok {
			list = append(list, item)
		}
	}
	return list, r.err
}

// workItem reads a member of a due set, or a hint.
func workItem(member string, at time.Time) (sessions.WorkItem, bool) {
	kind, name, ok := strings.Cut(member, ":")
	item := sessions.WorkItem{Kind: sessions.WorkKind(kind), ID: name, Due: at}
	switch item.Kind {
	case sessions.WorkTurn, sessions.WorkLane, sessions.WorkStop, sessions.WorkWho:
		return item, ok
	case sessions.WorkTimer:
		home, timer, found := strings.Cut(name, "/")
		item.Home, item.ID = unescapeHome(home), timer
		return item, found
	}
	return item, false
}
