package sqlitestore

import (
	"context"
	"reflect"

	"parley/sessions"
)

// Commit ends a lease.
func (s *Store) Commit(ctx context.Context, request sessions.CommitRequest) (sessions.CommitResult, error) {
	if err := request.Check(); err != nil {
		return sessions.CommitResult{}, err
	}
	return written(ctx, s, func(t *tx) (sessions.CommitResult, error) { return t.commit(request) })
}

func (t *tx) commit(request sessions.CommitRequest) (result sessions.CommitResult, err error) {
	r, err := t.holding(request.Lease)
	if err != nil {
		return result, err
	}
	if result.Entries, err = t.write(r, request.Entries); err != nil {
		return result, err
	}
	if !reflect.ValueOf(request.Patch).IsZero() {
		if err := t.patch(r, request.Patch); err != nil {
			return result, err
		}
	}
	settled := r.settled
	if err := t.finish(r, request); err != nil {
		return result, err
	}
	if result.Sends, err = t.enqueue(r, request.Deliveries, result.Entries, request.Send); err != nil {
		return result, err
	}
	if request.Next == nil || r.open() || r.queued == 0 || r.readyAt > t.now {
		return result, t.save(r)
	}
	if err := t.takeQueued(r); err != nil {
		return result, err
	}
	result.Next, err = t.begin(r, *request.Next, sessions.Known{Session: r.id, Seq: settled})
	return result, err
}

// finish gives the lease back, and ends the turn if the outcome does.
func (t *tx) finish(r *row, request sessions.CommitRequest) error {
	r.nonce = ""
	r.rest()
	switch request.Outcome {
	case sessions.Again:
		r.leaseUntil = t.after(request.After)
		return nil
	case sessions.HandBack:
		r.leaseUntil = t.after(request.After)
		r.attempts--
		return nil
	case sessions.Park:
		if err := t.bury(r, request.Reason); err != nil {
			return err
		}
	case sessions.Done:
		r.turns++
	}
	r.last, r.taken = r.taken, ""
	r.attempts, r.stop, r.leaseUntil = 0, false, 0
	return t.placeLogged(r)
}
