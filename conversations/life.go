package conversations

import (
	"context"
	"errors"

	"parley/sessions"
)

// Open makes a session (Made), or reopens the one that is there: then its
// metadata is merged, and all else stays. An id is checked as [CheckOwnID]
// says; without id and surface one is drawn, below prefix. A surface's present
// session has to be one that the caller may reach. Result: Record, Made.
func (r *Room) Open(ctx context.Context, by Caller, opening sessions.NewSession, prefix, key string) (Result, error) {
	if err := r.mayOpen(ctx, by, &opening, prefix, key); err != nil {
		return Result{}, err
	}
	if err := opening.Check(); err != nil {
		return Result{}, err
	}
	record, made, err := r.Store.Open(ctx, opening)
	return Result{Record: record, Made: made}, err
}

func (r *Room) mayOpen(ctx context.Context, by Caller, opening *sessions.NewSession, prefix, key string) error {
	if err := CheckName(opening.Name); err != nil {
		return err
	}
	if opening.ID == "" && opening.Surface == "" {
		opening.ID = prefix + ending(by.Digest("open", "", key))
	}
	if opening.ID != "" {
		if err := CheckOwnID(by, opening.ID); err != nil {
			return err
		}
	}
	current, err := r.opened(ctx, by, *opening)
	if err != nil || current.ID == "" {
		return err
	}
	if err := r.reach(ctx, by, current); err != nil {
		return err
	}
	return r.mayOpenFor(ctx, by, current, opening.UserID)
}

// opened is the session that is there already; the zero record: there is none.
func (r *Room) opened(ctx context.Context, by Caller, opening sessions.NewSession) (sessions.Record, error) {
	if opening.Surface == "" {
		record, err := r.Store.Get(ctx, opening.ID)
		if errors.Is(err, sessions.ErrNotFound) {
			return sessions.Record{}, nil
		}
		return record, err
	}
	if err := mayBind(by, opening.Surface); err != nil {
		return sessions.Record{}, err
	}
	current, err := r.bound(ctx, opening.Surface)
	if bare := sessions.BareID(opening.Surface); err == nil && current.ID == "" && bare != "" {
		err = CheckOwnID(Caller{}, bare)
	}
	return current, err
}

// mayOpenFor refuses a channel's token a session of others than the person it
// speaks for.
func (r *Room) mayOpenFor(ctx context.Context, by Caller, current sessions.Record, identity string) error {
	if by.Namespace == "" || identity == "" {
		return nil
	}
	user, err := r.Store.Who(ctx, identity)
	if err != nil {
		return err
	}
	return sessions.MaySpeak(current, user, false)
}

// Touch counts as activity: a suspended session is active again. Result:
// Record.
func (r *Room) Touch(ctx context.Context, by Caller, id string) (Result, error) {
	before, err := r.Get(ctx, by, id)
	if err != nil {
		return Result{}, err
	}
	record, err := r.Store.Touch(ctx, before.ID)
	return Result{Record: record, Before: before}, err
}

// Expire ends a session for good, whatever it is doing. Again, it changes
// nothing. Result: Record, Before.
func (r *Room) Expire(ctx context.Context, by Caller, id string) (Result, error) {
	before, err := r.change(ctx, by, id)
	if err != nil {
		return Result{}, err
	}
	record, err := r.Store.Expire(ctx, before.ID)
	return Result{Record: record, Before: before}, err
}

// Delete removes a session for good. GroupOnly: a group's is kept; Running: a
// turn is open, or messages wait. Result: Before.
func (r *Room) Delete(ctx context.Context, by Caller, id string) (Result, error) {
	before, err := r.change(ctx, by, id)
	if err != nil {
		return Result{}, err
	}
	err = r.Store.Delete(ctx, before.ID)
	if errors.Is(err, sessions.ErrGroup) {
		err = refuse(GroupOnly, "A group's conversation is kept. Clear it, or expire it, instead.", err)
	}
	return Result{Before: before}, err
}

// Discard removes a session that was opened by hand and in which no turn ever
// ended: then discarded is true, else nothing was changed.
func (r *Room) Discard(ctx context.Context, by Caller, id string) (discarded bool, err error) {
	before, err := r.change(ctx, by, id)
	if err != nil {
		return false, err
	}
	return r.Store.Discard(ctx, before.ID)
}

// Clear erases a session's log for good and keeps its record. Running: a turn
// is open. Result: Record, Before.
func (r *Room) Clear(ctx context.Context, by Caller, id, key string) (Result, error) {
	before, err := r.change(ctx, by, id)
	if err != nil {
		return Result{}, err
	}
	result := Result{Record: before, Before: before}
	_, result.Duplicate, err = r.once(ctx, before.ID, done{Key: by.Digest("clear", id, key)}, func() (done, error) {
		var err error
		result.Record, err = r.Store.Clear(ctx, before.ID)
		return done{}, err
	})
	if err != nil {
		return Result{}, err
	}
	return result, nil
}

// Stop asks the running turn to stop. A key keeps a request that is sent again
// from stopping a later turn. Result: Record, Stopping.
func (r *Room) Stop(ctx context.Context, by Caller, id, key string) (Result, error) {
	record, err := r.Get(ctx, by, id)
	if err != nil {
		return Result{}, err
	}
	if r.Stopper == nil {
		return Result{}, atRest("stopped")
	}
	what, duplicate, err := r.once(ctx, record.ID, done{Key: by.Digest("stop", id, key)}, func() (done, error) {
		running, err := r.Stopper(ctx, record.ID)
		return done{Result: running}, err
	})
	if err != nil {
		return Result{}, err
	}
	return Result{Record: record, Stopping: what.Result, Duplicate: duplicate}, nil
}

// Checkpoint brings a session's description and working memory up to date with
// what was said since the last time. Again, it finds nothing new. NoNotes: the
// model gave none. Result: Record, Before, Entries and Made, if one was made.
func (r *Room) Checkpoint(ctx context.Context, by Caller, id string) (Result, error) {
	before, err := r.change(ctx, by, id)
	if err != nil {
		return Result{}, err
	}
	if err := ended(before, "checkpoint"); err != nil {
		return Result{}, err
	}
	if r.Noter == nil {
		return Result{}, atRest("summed up")
	}
	made, note, err := r.Noter(ctx, before.ID)
	if err != nil {
		return Result{}, err
	}
	return Result{Record: note.Record, Before: before, Entries: note.Entries, Made: made}, nil
}

func atRest(what string) error {
	return refuse(Unsupported, "No gateway runs here, so nothing can be "+what+". Start it with `gateway run`.", errors.ErrUnsupported)
}
