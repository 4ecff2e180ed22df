package redisstore

import (
	"context"

	"parley/sessions"
)

// Commit ends a lease.
func (s *Store) Commit(ctx context.Context, request sessions.CommitRequest) (sessions.CommitResult, error) {
	if err := request.Check(); err != nil {
		return sessions.CommitResult{}, err
	}
	p := s.of(request.Lease.Session)
	next := newToken()
	args, entries, err := s.commitArgs(ctx, p, request, next)
	if err != nil {
		return sessions.CommitResult{}, err
	}
	code, r, err := s.answer(ctx, p, s.scripts.commit, args...)
	if err != nil {
		return sessions.CommitResult{}, err
	}
	if code != "ok" {
		return sessions.CommitResult{}, r.refusal(code, "commit")
	}
	return s.committed(ctx, p, request, entries, next, r)
}

func (s *Store) commitArgs(ctx context.Context, p partition, request sessions.CommitRequest, next string) ([]any, []sessions.Entry, error) {
	lease := request.Lease
	args := []any{lease.Session, lease.Epoch, lease.Nonce, string(request.Outcome), request.After.Milliseconds(),
		sessions.ReasonOf(request.Reason), partitionedID(p)}
	list, entries, err := s.entryArgs(ctx, p, request.Entries)
	if err != nil {
		return nil, nil, err
	}
	patch, err := patchArgs(request.Patch)
	if err != nil {
		return nil, nil, err
	}
	rows, err := s.rowArgs(ctx, p, request.Deliveries, true)
	if err != nil {
		return nil, nil, err
	}
	args = append(append(append(args, list...), sessions.MetadataMax), patch...)
	args = append(append(args, rows...), claimMillis(request.Send), newToken())
	return append(args, claimMillis(request.Next), next, sessions.CollectMax, sessions.TailMax), entries, nil
}

func (s *Store) committed(ctx context.Context, p partition, request sessions.CommitRequest, entries []sessions.Entry, next string, r *reply) (result sessions.CommitResult, err error) {
	result.Entries = r.written(entries)
	if result.Sends, err = s.deliveries(ctx, r.list()); err != nil {
		return result, err
	}
	forwards, turn := r.list(), r.optional()
	if r.err != nil {
		return result, r.err
	}
	if turn != nil {
		if result.Next, err = s.turn(ctx, p, request.Lease.Session, next, turn); err != nil {
			return result, err
		}
	}
	result.Sends = append(result.Sends, s.forwardAll(ctx, p, forwards, request.Send)...)
	return result, nil
}
