package bot

import (
	"context"
	"time"

	"parley/sessions"
)

// The calls of the store that are counted and nothing else.

// Open is counted.
func (o *observedStore) Open(ctx context.Context, request sessions.NewSession) (record sessions.Record, created bool, err error) {
	defer o.done(opOpen, time.Now(), &err)
	return o.Store.Open(ctx, request)
}

// Get is counted.
func (o *observedStore) Get(ctx context.Context, id string) (record sessions.Record, err error) {
	defer o.done(opGet, time.Now(), &err)
	return o.Store.Get(ctx, id)
}

// Bound is counted.
func (o *observedStore) Bound(ctx context.Context, surface string) (record sessions.Record, err error) {
	defer o.done(opBound, time.Now(), &err)
	return o.Store.Bound(ctx, surface)
}

// Update is counted.
func (o *observedStore) Update(ctx context.Context, id string, patch sessions.Patch) (record sessions.Record, err error) {
	defer o.done(opUpdate, time.Now(), &err)
	return o.Store.Update(ctx, id, patch)
}

// Rotate is counted.
func (o *observedStore) Rotate(ctx context.Context, request sessions.RotateRequest) (result sessions.RotateResult, err error) {
	defer o.done(opRotate, time.Now(), &err)
	return o.Store.Rotate(ctx, request)
}

// Range is counted.
func (o *observedStore) Range(ctx context.Context, session string, from, to int64) (entries []sessions.Entry, err error) {
	defer o.done(opRange, time.Now(), &err)
	return o.Store.Range(ctx, session, from, to)
}

// Renew is counted.
func (o *observedStore) Renew(ctx context.Context, leases []sessions.Lease, extend time.Duration) (results []sessions.RenewResult, err error) {
	defer o.done(opRenew, time.Now(), &err)
	return o.Store.Renew(ctx, leases, extend)
}

// Append is counted.
func (o *observedStore) Append(ctx context.Context, lease sessions.Lease, entries []sessions.NewEntry) (written []sessions.Entry, err error) {
	defer o.done(opAppend, time.Now(), &err)
	return o.Store.Append(ctx, lease, entries)
}

// Stop is counted.
func (o *observedStore) Stop(ctx context.Context, session string) (running bool, err error) {
	defer o.done(opStop, time.Now(), &err)
	return o.Store.Stop(ctx, session)
}

// DeadLetters is counted.
func (o *observedStore) DeadLetters(ctx context.Context, limit int) (letters []sessions.DeadLetter, err error) {
	defer o.done(opDeadLetters, time.Now(), &err)
	return o.Store.DeadLetters(ctx, limit)
}

// Replay is counted.
func (o *observedStore) Replay(ctx context.Context, id string) (err error) {
	defer o.done(opReplay, time.Now(), &err)
	return o.Store.Replay(ctx, id)
}

// DropDead is counted.
func (o *observedStore) DropDead(ctx context.Context, id string) (err error) {
	defer o.done(opDropDead, time.Now(), &err)
	return o.Store.DropDead(ctx, id)
}

// Enqueue is counted.
func (o *observedStore) Enqueue(ctx context.Context, request sessions.EnqueueRequest) (result sessions.EnqueueResult, err error) {
	defer o.done(opEnqueue, time.Now(), &err)
	return o.Store.Enqueue(ctx, request)
}

// Take is counted.
func (o *observedStore) Take(ctx context.Context, lane string, claimer sessions.Claimer) (delivery sessions.Delivery, err error) {
	defer o.done(opTake, time.Now(), &err)
	return o.Store.Take(ctx, lane, claimer)
}

// SetTimer is counted.
func (o *observedStore) SetTimer(ctx context.Context, timer sessions.Timer, after time.Duration) (err error) {
	defer o.done(opSetTimer, time.Now(), &err)
	return o.Store.SetTimer(ctx, timer, after)
}

// CancelTimer is counted.
func (o *observedStore) CancelTimer(ctx context.Context, home, name string) (err error) {
	defer o.done(opCancelTimer, time.Now(), &err)
	return o.Store.CancelTimer(ctx, home, name)
}

// Fire is counted.
func (o *observedStore) Fire(ctx context.Context, home, name string, claimer sessions.Claimer) (timer sessions.Timer, err error) {
	defer o.done(opFire, time.Now(), &err)
	return o.Store.Fire(ctx, home, name, claimer)
}

// FinishTimer is counted.
func (o *observedStore) FinishTimer(ctx context.Context, timer sessions.Timer) (err error) {
	defer o.done(opFinishTimer, time.Now(), &err)
	return o.Store.FinishTimer(ctx, timer)
}

// Lock is counted.
func (o *observedStore) Lock(ctx context.Context, name string, claimer sessions.Claimer) (lock sessions.Lock, err error) {
	defer o.done(opLock, time.Now(), &err)
	return o.Store.Lock(ctx, name, claimer)
}

// SaveLock is counted.
func (o *observedStore) SaveLock(ctx context.Context, lock sessions.Lock, data string) (err error) {
	defer o.done(opSaveLock, time.Now(), &err)
	return o.Store.SaveLock(ctx, lock, data)
}

// Unlock is counted.
func (o *observedStore) Unlock(ctx context.Context, lock sessions.Lock) (err error) {
	defer o.done(opUnlock, time.Now(), &err)
	return o.Store.Unlock(ctx, lock)
}

// ListChat is counted.
func (o *observedStore) ListChat(ctx context.Context, chat, by string) (err error) {
	defer o.done(opListChat, time.Now(), &err)
	return o.Store.ListChat(ctx, chat, by)
}

// UnlistChat is counted.
func (o *observedStore) UnlistChat(ctx context.Context, chat string) (err error) {
	defer o.done(opUnlistChat, time.Now(), &err)
	return o.Store.UnlistChat(ctx, chat)
}

// ChatListed is counted.
func (o *observedStore) ChatListed(ctx context.Context, chat string) (listed bool, err error) {
	defer o.done(opChatListed, time.Now(), &err)
	return o.Store.ChatListed(ctx, chat)
}

// MoveChat is counted.
func (o *observedStore) MoveChat(ctx context.Context, from, to string) (err error) {
	defer o.done(opMoveChat, time.Now(), &err)
	return o.Store.MoveChat(ctx, from, to)
}

// Publish is counted.
func (o *observedStore) Publish(ctx context.Context, event sessions.LiveEvent) (err error) {
	defer o.done(opPublish, time.Now(), &err)
	return o.Store.Publish(ctx, event)
}

// Ping is counted.
func (o *observedStore) Ping(ctx context.Context) (err error) {
	defer o.done(opPing, time.Now(), &err)
	return o.Store.Ping(ctx)
}
