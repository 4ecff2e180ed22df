package metrics

import (
	"context"
	"time"

	"parley/sessions"
	"parley/sessions/storewrap"
)

// Store is the store with its calls counted, and with them the posts, turns
// and deliveries they decide about.
func (m *Metrics) Store(store sessions.Store) sessions.Store {
	began := func(storewrap.Op) (time.Time, error) { return time.Now(), nil }
	return &observedStore{storewrap.New(store, storewrap.Hooks[time.Time]{Before: began, After: m.called}), m}
}

// observedStore counts what the arguments and the answer of a call tell.
type observedStore struct {
	sessions.Store
	metrics *Metrics
}

// begun counts a turn that was taken up.
func (o *observedStore) begun(turn *sessions.Turn) {
	if turn != nil && turn.Attempt > 1 {
		o.metrics.takeovers.Inc()
	}
}

// Post is counted by outcome.
func (o *observedStore) Post(ctx context.Context, request sessions.PostRequest) (result sessions.PostResult, err error) {
	if result, err = o.Store.Post(ctx, request); err == nil {
		o.metrics.posts.inc(result.Outcome)
		o.begun(result.Turn)
	}
	return result, err
}

// Claim is counted as a take-over where it is one.
func (o *observedStore) Claim(ctx context.Context, request sessions.ClaimRequest) (turn *sessions.Turn, err error) {
	if turn, err = o.Store.Claim(ctx, request); err == nil {
		o.begun(turn)
	}
	return turn, err
}

// Commit is counted by the turn's outcome.
func (o *observedStore) Commit(ctx context.Context, request sessions.CommitRequest) (result sessions.CommitResult, err error) {
	result, err = o.Store.Commit(ctx, request)
	switch {
	case err == nil:
		o.metrics.turns.inc(request.Outcome)
		o.begun(result.Next)
	case storeResult(err) == resultFenced:
		o.metrics.turns.inc(turnLost)
	}
	if err == nil && request.Outcome == sessions.Park {
		o.metrics.deadLetters.Inc()
	}
	return result, err
}

// Settle is counted by the row's end.
func (o *observedStore) Settle(ctx context.Context, settlement sessions.Settlement, claimer sessions.Claimer) (next *sessions.Delivery, err error) {
	next, err = o.Store.Settle(ctx, settlement, claimer)
	if err == nil && settlement.State != sessions.DeliveryPending {
		o.metrics.deliveries.inc(platformOf(settlement.Delivery), settlement.State)
	}
	return next, err
}

// Due tells how much there was.
func (o *observedStore) Due(ctx context.Context, limit int) (items []sessions.WorkItem, err error) {
	if items, err = o.Store.Due(ctx, limit); err == nil {
		o.metrics.due.Set(float64(len(items)))
	}
	return items, err
}
