package bot

import (
	"context"
	"iter"
	"time"

	"parley/sessions"
)

// The calls about whole sessions, people and schedules: counted and nothing else.

// Find is counted.
func (o *observedStore) Find(ctx context.Context, query sessions.Query) (page sessions.Page, err error) {
	defer o.done(opFind, time.Now(), &err)
	return o.Store.Find(ctx, query)
}

// Attach is counted.
func (o *observedStore) Attach(ctx context.Context, request sessions.AttachRequest) (record sessions.Record, previous string, err error) {
	defer o.done(opAttach, time.Now(), &err)
	return o.Store.Attach(ctx, request)
}

// Detach is counted.
func (o *observedStore) Detach(ctx context.Context, id, surface string) (record sessions.Record, err error) {
	defer o.done(opDetach, time.Now(), &err)
	return o.Store.Detach(ctx, id, surface)
}

// Touch is counted.
func (o *observedStore) Touch(ctx context.Context, id string) (record sessions.Record, err error) {
	defer o.done(opTouch, time.Now(), &err)
	return o.Store.Touch(ctx, id)
}

// Expire is counted.
func (o *observedStore) Expire(ctx context.Context, id string) (record sessions.Record, err error) {
	defer o.done(opExpire, time.Now(), &err)
	return o.Store.Expire(ctx, id)
}

// Delete is counted.
func (o *observedStore) Delete(ctx context.Context, id string) (err error) {
	defer o.done(opDelete, time.Now(), &err)
	return o.Store.Delete(ctx, id)
}

// Discard is counted.
func (o *observedStore) Discard(ctx context.Context, id string) (discarded bool, err error) {
	defer o.done(opDiscard, time.Now(), &err)
	return o.Store.Discard(ctx, id)
}

// Sweep is counted.
func (o *observedStore) Sweep(ctx context.Context, request sessions.SweepRequest) (changed []string, err error) {
	defer o.done(opSweep, time.Now(), &err)
	return o.Store.Sweep(ctx, request)
}

// Note is counted.
func (o *observedStore) Note(ctx context.Context, request sessions.NoteRequest) (result sessions.NoteResult, err error) {
	defer o.done(opNote, time.Now(), &err)
	return o.Store.Note(ctx, request)
}

// Clear is counted.
func (o *observedStore) Clear(ctx context.Context, id string) (record sessions.Record, err error) {
	defer o.done(opClear, time.Now(), &err)
	return o.Store.Clear(ctx, id)
}

// Import is counted.
func (o *observedStore) Import(ctx context.Context, record sessions.Record, entries iter.Seq2[sessions.Entry, error]) (imported sessions.Record, err error) {
	defer o.done(opImport, time.Now(), &err)
	return o.Store.Import(ctx, record, entries)
}

// Who is counted.
func (o *observedStore) Who(ctx context.Context, identity string) (user sessions.User, err error) {
	defer o.done(opWho, time.Now(), &err)
	return o.Store.Who(ctx, identity)
}

// SetRole is counted.
func (o *observedStore) SetRole(ctx context.Context, identity, role string) (user sessions.User, err error) {
	defer o.done(opSetRole, time.Now(), &err)
	return o.Store.SetRole(ctx, identity, role)
}

// OfferLink is counted.
func (o *observedStore) OfferLink(ctx context.Context, identity string) (code string, err error) {
	defer o.done(opOfferLink, time.Now(), &err)
	return o.Store.OfferLink(ctx, identity)
}

// TakeLink is counted.
func (o *observedStore) TakeLink(ctx context.Context, code, identity string) (user sessions.User, merged string, err error) {
	defer o.done(opTakeLink, time.Now(), &err)
	return o.Store.TakeLink(ctx, code, identity)
}

// ListUsers is counted.
func (o *observedStore) ListUsers(ctx context.Context, after string, limit int) (users []sessions.User, err error) {
	defer o.done(opListUsers, time.Now(), &err)
	return o.Store.ListUsers(ctx, after, limit)
}

// Dump is counted.
func (o *observedStore) Dump(ctx context.Context, cursor string, limit int) (items []sessions.Item, next string, err error) {
	defer o.done(opDump, time.Now(), &err)
	return o.Store.Dump(ctx, cursor, limit)
}

// Restore is counted.
func (o *observedStore) Restore(ctx context.Context, items []sessions.Item) (err error) {
	defer o.done(opRestore, time.Now(), &err)
	return o.Store.Restore(ctx, items)
}

// SaveSchedule is counted.
func (o *observedStore) SaveSchedule(ctx context.Context, change sessions.ScheduleChange) (schedule sessions.Schedule, err error) {
	defer o.done(opSaveSchedule, time.Now(), &err)
	return o.Store.SaveSchedule(ctx, change)
}

// Schedule is counted.
func (o *observedStore) Schedule(ctx context.Context, id string) (schedule sessions.Schedule, err error) {
	defer o.done(opSchedule, time.Now(), &err)
	return o.Store.Schedule(ctx, id)
}

// ListSchedules is counted.
func (o *observedStore) ListSchedules(ctx context.Context, list sessions.ScheduleList) (part []sessions.Schedule, cursor string, err error) {
	defer o.done(opListSchedules, time.Now(), &err)
	return o.Store.ListSchedules(ctx, list)
}

// RemoveSchedule is counted.
func (o *observedStore) RemoveSchedule(ctx context.Context, id string) (err error) {
	defer o.done(opRemoveSchedule, time.Now(), &err)
	return o.Store.RemoveSchedule(ctx, id)
}

// ScheduleRuns is counted.
func (o *observedStore) ScheduleRuns(ctx context.Context, id string, limit int) (runs []sessions.ScheduleRun, err error) {
	defer o.done(opScheduleRuns, time.Now(), &err)
	return o.Store.ScheduleRuns(ctx, id, limit)
}
