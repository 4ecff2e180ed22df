package storetest

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"parley/sessions"
)

// When says at which side of its effect a call fails.
type When int

// Sides. After is the valuable one: the write landed, and the caller sees an error.
const (
	Before When = iota
	After
)

// Fault fails one call.
type Fault struct {
	Op   string // the method's name; empty: any
	Call int    // the how-manieth call of Op from now on, from 1; 0 counts as 1
	When When
	Err  error // nil: sessions.ErrUnavailable
}

// Faulty is a real store whose chosen calls fail, once each. Reads can fail
// too; a call that fails After returns nothing but the error.
type Faulty struct {
	sessions.Store

	mu     sync.Mutex
	faults []Fault
	calls  map[string]int
}

var _ sessions.Store = (*Faulty)(nil)

// NewFaulty wraps a store. Nothing fails until Fail is called.
func NewFaulty(store sessions.Store) *Faulty {
	return &Faulty{Store: store, calls: map[string]int{}}
}

// Fail arms faults besides those that are armed.
func (f *Faulty) Fail(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range faults {
		fault.Call = max(fault.Call, 1)
		f.faults = append(f.faults, fault)
	}
}

// Armed tells how many faults have not happened yet.
func (f *Faulty) Armed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.faults)
}

// Calls tells how often a method was called, failed calls too.
func (f *Faulty) Calls(op string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

// next counts a call of op and takes the fault that it meets, if any.
func (f *Faulty) next(op string) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[op]++
	var hit *Fault
	kept := f.faults[:0]
	for _, fault := range f.faults {
		if fault.Op == "" || fault.Op == op {
			fault.Call--
		}
		if fault.Call == 0 && hit == nil {
			hit = &Fault{Op: op, When: fault.When, Err: fault.Err}
			continue
		}
		fault.Call = max(fault.Call, 1)
		kept = append(kept, fault)
	}
	f.faults = kept
	return hit
}

func (t *Fault) error() error {
	if t.Err != nil {
		return t.Err
	}
	return fmt.Errorf("%w: a test failed %s", sessions.ErrUnavailable, t.Op)
}

// faulty runs call unless its fault comes first.
func faulty[T any](f *Faulty, op string, call func() (T, error)) (T, error) {
	var none T
	fault := f.next(op)
	if fault != nil && fault.When == Before {
		return none, fault.error()
	}
	value, err := call()
	if fault != nil {
		return none, fault.error()
	}
	return value, err
}

func faultyErr(f *Faulty, op string, call func() error) error {
	_, err := faulty(f, op, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// Open is the store's.
func (f *Faulty) Open(ctx context.Context, r sessions.NewSession) (sessions.Record, bool, error) {
	type opened struct {
		record  sessions.Record
		created bool
	}
	o, err := faulty(f, "Open", func() (opened, error) {
		record, created, err := f.Store.Open(ctx, r)
		return opened{record, created}, err
	})
	return o.record, o.created, err
}

// Get is the store's.
func (f *Faulty) Get(ctx context.Context, id string) (sessions.Record, error) {
	return faulty(f, "Get", func() (sessions.Record, error) { return f.Store.Get(ctx, id) })
}

// Bound is the store's.
func (f *Faulty) Bound(ctx context.Context, surface string) (sessions.Record, error) {
	return faulty(f, "Bound", func() (sessions.Record, error) { return f.Store.Bound(ctx, surface) })
}

// Update is the store's.
func (f *Faulty) Update(ctx context.Context, id string, p sessions.Patch) (sessions.Record, error) {
	return faulty(f, "Update", func() (sessions.Record, error) { return f.Store.Update(ctx, id, p) })
}

// Rotate is the store's.
func (f *Faulty) Rotate(ctx context.Context, r sessions.RotateRequest) (sessions.RotateResult, error) {
	return faulty(f, "Rotate", func() (sessions.RotateResult, error) { return f.Store.Rotate(ctx, r) })
}

// Range is the store's.
func (f *Faulty) Range(ctx context.Context, session string, from, to int64) ([]sessions.Entry, error) {
	return faulty(f, "Range", func() ([]sessions.Entry, error) { return f.Store.Range(ctx, session, from, to) })
}

// Post is the store's.
func (f *Faulty) Post(ctx context.Context, r sessions.PostRequest) (sessions.PostResult, error) {
	return faulty(f, "Post", func() (sessions.PostResult, error) { return f.Store.Post(ctx, r) })
}

// Claim is the store's.
func (f *Faulty) Claim(ctx context.Context, r sessions.ClaimRequest) (*sessions.Turn, error) {
	return faulty(f, "Claim", func() (*sessions.Turn, error) { return f.Store.Claim(ctx, r) })
}

// Renew is the store's.
func (f *Faulty) Renew(ctx context.Context, leases []sessions.Lease, extend time.Duration) ([]sessions.RenewResult, error) {
	return faulty(f, "Renew", func() ([]sessions.RenewResult, error) { return f.Store.Renew(ctx, leases, extend) })
}

// Append is the store's.
func (f *Faulty) Append(ctx context.Context, l sessions.Lease, entries []sessions.NewEntry) ([]sessions.Entry, error) {
	return faulty(f, "Append", func() ([]sessions.Entry, error) { return f.Store.Append(ctx, l, entries) })
}

// Commit is the store's.
func (f *Faulty) Commit(ctx context.Context, r sessions.CommitRequest) (sessions.CommitResult, error) {
	return faulty(f, "Commit", func() (sessions.CommitResult, error) { return f.Store.Commit(ctx, r) })
}

// Stop is the store's.
func (f *Faulty) Stop(ctx context.Context, session string) (bool, error) {
	return faulty(f, "Stop", func() (bool, error) { return f.Store.Stop(ctx, session) })
}

// Again is the store's.
func (f *Faulty) Again(ctx context.Context, r sessions.AgainRequest) (*sessions.Turn, bool, error) {
	type again struct {
		turn      *sessions.Turn
		duplicate bool
	}
	a, err := faulty(f, "Again", func() (again, error) {
		turn, duplicate, err := f.Store.Again(ctx, r)
		return again{turn, duplicate}, err
	})
	return a.turn, a.duplicate, err
}

// DeadLetters is the store's.
func (f *Faulty) DeadLetters(ctx context.Context, limit int) ([]sessions.DeadLetter, error) {
	return faulty(f, "DeadLetters", func() ([]sessions.DeadLetter, error) { return f.Store.DeadLetters(ctx, limit) })
}

// Replay is the store's.
func (f *Faulty) Replay(ctx context.Context, id string) error {
	return faultyErr(f, "Replay", func() error { return f.Store.Replay(ctx, id) })
}

// DropDead is the store's.
func (f *Faulty) DropDead(ctx context.Context, id string) error {
	return faultyErr(f, "DropDead", func() error { return f.Store.DropDead(ctx, id) })
}

// Enqueue is the store's.
func (f *Faulty) Enqueue(ctx context.Context, r sessions.EnqueueRequest) (sessions.EnqueueResult, error) {
	return faulty(f, "Enqueue", func() (sessions.EnqueueResult, error) { return f.Store.Enqueue(ctx, r) })
}

// Take is the store's.
func (f *Faulty) Take(ctx context.Context, lane string, c sessions.Claimer) (sessions.Delivery, error) {
	return faulty(f, "Take", func() (sessions.Delivery, error) { return f.Store.Take(ctx, lane, c) })
}

// Settle is the store's.
func (f *Faulty) Settle(ctx context.Context, s sessions.Settlement, c sessions.Claimer) (*sessions.Delivery, error) {
	return faulty(f, "Settle", func() (*sessions.Delivery, error) { return f.Store.Settle(ctx, s, c) })
}

// SetTimer is the store's.
func (f *Faulty) SetTimer(ctx context.Context, t sessions.Timer, after time.Duration) error {
	return faultyErr(f, "SetTimer", func() error { return f.Store.SetTimer(ctx, t, after) })
}

// CancelTimer is the store's.
func (f *Faulty) CancelTimer(ctx context.Context, home, name string) error {
	return faultyErr(f, "CancelTimer", func() error { return f.Store.CancelTimer(ctx, home, name) })
}

// Fire is the store's.
func (f *Faulty) Fire(ctx context.Context, home, name string, c sessions.Claimer) (sessions.Timer, error) {
	return faulty(f, "Fire", func() (sessions.Timer, error) { return f.Store.Fire(ctx, home, name, c) })
}

// FinishTimer is the store's.
func (f *Faulty) FinishTimer(ctx context.Context, t sessions.Timer) error {
	return faultyErr(f, "FinishTimer", func() error { return f.Store.FinishTimer(ctx, t) })
}

// SaveSchedule is the store's.
func (f *Faulty) SaveSchedule(ctx context.Context, c sessions.ScheduleChange) (sessions.Schedule, error) {
	return faulty(f, "SaveSchedule", func() (sessions.Schedule, error) { return f.Store.SaveSchedule(ctx, c) })
}

// Schedule is the store's.
func (f *Faulty) Schedule(ctx context.Context, id string) (sessions.Schedule, error) {
	return faulty(f, "Schedule", func() (sessions.Schedule, error) { return f.Store.Schedule(ctx, id) })
}

// Lock is the store's.
func (f *Faulty) Lock(ctx context.Context, name string, c sessions.Claimer) (sessions.Lock, error) {
	return faulty(f, "Lock", func() (sessions.Lock, error) { return f.Store.Lock(ctx, name, c) })
}

// SaveLock is the store's.
func (f *Faulty) SaveLock(ctx context.Context, l sessions.Lock, data string) error {
	return faultyErr(f, "SaveLock", func() error { return f.Store.SaveLock(ctx, l, data) })
}

// Unlock is the store's.
func (f *Faulty) Unlock(ctx context.Context, l sessions.Lock) error {
	return faultyErr(f, "Unlock", func() error { return f.Store.Unlock(ctx, l) })
}

// ListChat is the store's.
func (f *Faulty) ListChat(ctx context.Context, chat, by string) error {
	return faultyErr(f, "ListChat", func() error { return f.Store.ListChat(ctx, chat, by) })
}

// UnlistChat is the store's.
func (f *Faulty) UnlistChat(ctx context.Context, chat string) error {
	return faultyErr(f, "UnlistChat", func() error { return f.Store.UnlistChat(ctx, chat) })
}

// ChatListed is the store's.
func (f *Faulty) ChatListed(ctx context.Context, chat string) (bool, error) {
	return faulty(f, "ChatListed", func() (bool, error) { return f.Store.ChatListed(ctx, chat) })
}

// MoveChat is the store's.
func (f *Faulty) MoveChat(ctx context.Context, from, to string) error {
	return faultyErr(f, "MoveChat", func() error { return f.Store.MoveChat(ctx, from, to) })
}

// Find is the store's.
func (f *Faulty) Find(ctx context.Context, q sessions.Query) (sessions.Page, error) {
	return faulty(f, "Find", func() (sessions.Page, error) { return f.Store.Find(ctx, q) })
}

// Touch is the store's.
func (f *Faulty) Touch(ctx context.Context, id string) (sessions.Record, error) {
	return faulty(f, "Touch", func() (sessions.Record, error) { return f.Store.Touch(ctx, id) })
}

// Attach is the store's.
func (f *Faulty) Attach(ctx context.Context, r sessions.AttachRequest) (sessions.Record, string, error) {
	type attached struct {
		record   sessions.Record
		previous string
	}
	a, err := faulty(f, "Attach", func() (attached, error) {
		record, previous, err := f.Store.Attach(ctx, r)
		return attached{record, previous}, err
	})
	return a.record, a.previous, err
}

// Detach is the store's.
func (f *Faulty) Detach(ctx context.Context, id, surface string) (sessions.Record, error) {
	return faulty(f, "Detach", func() (sessions.Record, error) { return f.Store.Detach(ctx, id, surface) })
}

// Expire is the store's.
func (f *Faulty) Expire(ctx context.Context, id string) (sessions.Record, error) {
	return faulty(f, "Expire", func() (sessions.Record, error) { return f.Store.Expire(ctx, id) })
}

// Delete is the store's.
func (f *Faulty) Delete(ctx context.Context, id string) error {
	return faultyErr(f, "Delete", func() error { return f.Store.Delete(ctx, id) })
}

// Discard is the store's.
func (f *Faulty) Discard(ctx context.Context, id string) (bool, error) {
	return faulty(f, "Discard", func() (bool, error) { return f.Store.Discard(ctx, id) })
}

// Sweep is the store's.
func (f *Faulty) Sweep(ctx context.Context, r sessions.SweepRequest) ([]string, error) {
	return faulty(f, "Sweep", func() ([]string, error) { return f.Store.Sweep(ctx, r) })
}

// Note is the store's.
func (f *Faulty) Note(ctx context.Context, r sessions.NoteRequest) (sessions.NoteResult, error) {
	return faulty(f, "Note", func() (sessions.NoteResult, error) { return f.Store.Note(ctx, r) })
}

// Clear is the store's.
func (f *Faulty) Clear(ctx context.Context, id string) (sessions.Record, error) {
	return faulty(f, "Clear", func() (sessions.Record, error) { return f.Store.Clear(ctx, id) })
}

// Import is the store's.
func (f *Faulty) Import(ctx context.Context, r sessions.Record, entries iter.Seq2[sessions.Entry, error]) (sessions.Record, error) {
	return faulty(f, "Import", func() (sessions.Record, error) { return f.Store.Import(ctx, r, entries) })
}

// Who is the store's.
func (f *Faulty) Who(ctx context.Context, identity string) (sessions.User, error) {
	return faulty(f, "Who", func() (sessions.User, error) { return f.Store.Who(ctx, identity) })
}

// SetRole is the store's.
func (f *Faulty) SetRole(ctx context.Context, identity, role string) (sessions.User, error) {
	return faulty(f, "SetRole", func() (sessions.User, error) { return f.Store.SetRole(ctx, identity, role) })
}

// OfferLink is the store's.
func (f *Faulty) OfferLink(ctx context.Context, identity string) (string, error) {
	return faulty(f, "OfferLink", func() (string, error) { return f.Store.OfferLink(ctx, identity) })
}

// TakeLink is the store's.
func (f *Faulty) TakeLink(ctx context.Context, code, identity string) (sessions.User, string, error) {
	type taken struct {
		user   sessions.User
		merged string
	}
	t, err := faulty(f, "TakeLink", func() (taken, error) {
		user, merged, err := f.Store.TakeLink(ctx, code, identity)
		return taken{user, merged}, err
	})
	return t.user, t.merged, err
}

// ListUsers is the store's.
func (f *Faulty) ListUsers(ctx context.Context, after string, limit int) ([]sessions.User, error) {
	return faulty(f, "ListUsers", func() ([]sessions.User, error) { return f.Store.ListUsers(ctx, after, limit) })
}

// Dump is the store's.
func (f *Faulty) Dump(ctx context.Context, cursor string, limit int) ([]sessions.Item, string, error) {
	type dumped struct {
		items []sessions.Item
		next  string
	}
	d, err := faulty(f, "Dump", func() (dumped, error) {
		items, next, err := f.Store.Dump(ctx, cursor, limit)
		return dumped{items, next}, err
	})
	return d.items, d.next, err
}

// Restore is the store's.
func (f *Faulty) Restore(ctx context.Context, items []sessions.Item) error {
	return faultyErr(f, "Restore", func() error { return f.Store.Restore(ctx, items) })
}

// Publish is the store's.
func (f *Faulty) Publish(ctx context.Context, e sessions.LiveEvent) error {
	return faultyErr(f, "Publish", func() error { return f.Store.Publish(ctx, e) })
}

// Watch is the store's.
func (f *Faulty) Watch(ctx context.Context, session string) (<-chan sessions.LiveEvent, error) {
	return faulty(f, "Watch", func() (<-chan sessions.LiveEvent, error) { return f.Store.Watch(ctx, session) })
}

// Due is the store's.
func (f *Faulty) Due(ctx context.Context, limit int) ([]sessions.WorkItem, error) {
	return faulty(f, "Due", func() ([]sessions.WorkItem, error) { return f.Store.Due(ctx, limit) })
}

// Wakes is the store's.
func (f *Faulty) Wakes(ctx context.Context) (<-chan sessions.WorkItem, error) {
	return faulty(f, "Wakes", func() (<-chan sessions.WorkItem, error) { return f.Store.Wakes(ctx) })
}

// Ping is the store's.
func (f *Faulty) Ping(ctx context.Context) error {
	return faultyErr(f, "Ping", func() error { return f.Store.Ping(ctx) })
}
