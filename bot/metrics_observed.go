package bot

import (
	"context"
	"time"

	"parley/sessions"
)

// Store is the store with its calls counted, and with them the posts, turns
// and deliveries they decide about. What has been observed already comes back
// as it is.
func (m *Metrics) Store(store sessions.Store) sessions.Store {
	if observed, already := store.(*observedStore); already && observed.metrics == m {
		return store
	}
	return &observedStore{Store: store, metrics: m}
}

// observedStore counts and passes on. What it does not name passes by
// embedding.
type observedStore struct {
	sessions.Store
	metrics *Metrics
}

func (o *observedStore) done(op operation, began time.Time, err *error) {
	o.metrics.storeCalls[op].done(began, err)
}

// begun counts a turn that was taken up.
func (o *observedStore) begun(turn *sessions.Turn) {
	if turn != nil && turn.Attempt > 1 {
		o.metrics.takeovers.Inc()
	}
}

// Post is counted, also by outcome.
func (o *observedStore) Post(ctx context.Context, request sessions.PostRequest) (result sessions.PostResult, err error) {
	defer o.done(opPost, time.Now(), &err)
	if result, err = o.Store.Post(ctx, request); err == nil {
		o.metrics.posts.inc(result.Outcome)
		o.begun(result.Turn)
	}
	return result, err
}

// Claim is counted, also as a take-over where it is one.
func (o *observedStore) Claim(ctx context.Context, request sessions.ClaimRequest) (turn *sessions.Turn, err error) {
	defer o.done(opClaim, time.Now(), &err)
	if turn, err = o.Store.Claim(ctx, request); err == nil {
		o.begun(turn)
	}
	return turn, err
}

// Commit is counted, also by the turn's outcome.
func (o *observedStore) Commit(ctx context.Context, request sessions.CommitRequest) (result sessions.CommitResult, err error) {
	defer o.done(opCommit, time.Now(), &err)
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

// Again is counted.
func (o *observedStore) Again(ctx context.Context, request sessions.AgainRequest) (turn *sessions.Turn, duplicate bool, err error) {
	defer o.done(opAgain, time.Now(), &err)
	turn, duplicate, err = o.Store.Again(ctx, request)
	return turn, duplicate, err
}

// Settle is counted, also by the row's end.
func (o *observedStore) Settle(ctx context.Context, settlement sessions.Settlement, claimer sessions.Claimer) (next *sessions.Delivery, err error) {
	defer o.done(opSettle, time.Now(), &err)
	next, err = o.Store.Settle(ctx, settlement, claimer)
	if err == nil && settlement.State != sessions.DeliveryPending {
		o.metrics.deliveries.inc(platformOf(settlement.Delivery), settlement.State)
	}
	return next, err
}

// Due is counted, and how much there was.
func (o *observedStore) Due(ctx context.Context, limit int) (items []sessions.WorkItem, err error) {
	defer o.done(opDue, time.Now(), &err)
	if items, err = o.Store.Due(ctx, limit); err == nil {
		o.metrics.due.Set(float64(len(items)))
	}
	return items, err
}
