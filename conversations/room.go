package conversations

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"parley/sessions"
)

// Store is what the verbs need of a store.
type Store interface {
	sessions.Records
	sessions.Life
	sessions.Log
	sessions.Notes
	sessions.Transcripts
	sessions.Locks
	Who(ctx context.Context, identity string) (sessions.User, error)
}

// Room is where conversations are handled. Its methods may be called from any
// goroutine. It holds nothing between two calls.
type Room struct {
	Store Store            // required
	Now   func() time.Time // nil: time.Now
	Log   *slog.Logger     // nil: nothing is logged
	// Present asks whether somebody who takes part in a group's conversation is
	// still in the group. Nil: nobody is asked.
	Present func(ctx context.Context, record sessions.Record, user sessions.User) (bool, error)
	// Stopper asks the running turn of a session to stop; Noter makes a
	// checkpoint. Nil on a store at rest: then that is refused as Unsupported.
	Stopper func(ctx context.Context, session string) (running bool, err error)
	Noter   func(ctx context.Context, session string) (made bool, note sessions.NoteResult, err error)
}

// Caller is who acts, and by what name. The zero Caller reaches nothing.
type Caller struct {
	sessions.Caller
	// Name tells callers apart whose keys must not meet, such as a token's
	// name. Empty is a name too.
	Name string
	// At is the surface that the caller speaks at, seen by the door itself.
	// The conversation that is held there is theirs to reach. Empty: none.
	At string
	// Alone: nobody else reads at At. A group's conversation that is held there
	// is theirs to reach only while they take part in it.
	Alone bool
	// In is the session that the door has let the caller speak in. Empty: none.
	In string
}

// Owner is a caller who may do everything.
func Owner(name string) Caller {
	return Caller{Caller: sessions.Caller{Owner: true}, Name: name}
}

// Result is what a verb left. Which fields count is said at the verb.
type Result struct {
	Record    sessions.Record  // the session it was done to, or the one it made
	Before    sessions.Record  // the session as it was read before
	Entries   []sessions.Entry // as they were written; nil for a duplicate
	Previous  string           // the session the place had; empty: none, or this one
	Made      bool             // a session, or a checkpoint, was made
	Stopping  bool             // a turn ran, and was asked to stop
	Duplicate bool             // the same key did it before; nothing was changed now
}

func (r *Room) now() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

func (r *Room) log() *slog.Logger {
	if r.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.Log
}

// Get reads a session that the caller may reach. For everybody else it is as if
// there were none: NotFound.
func (r *Room) Get(ctx context.Context, by Caller, id string) (sessions.Record, error) {
	if err := sessions.CheckID(id); err != nil {
		return sessions.Record{}, err
	}
	record, err := r.Store.Get(ctx, id)
	if err == nil {
		err = r.reach(ctx, by, record)
	}
	if err != nil {
		return sessions.Record{}, err
	}
	return record, nil
}

// reach refuses a session that the caller may not reach: NotFound. Beyond
// sessions.Reach, whoever speaks at a surface reaches what is held there, but
// for a group's conversation where they are alone with it: somebody who has left
// the group may have taken it up there before. A record's Surfaces may follow
// the binding a moment later.
func (r *Room) reach(ctx context.Context, by Caller, record sessions.Record) error {
	err := sessions.Reach(record, by.Caller)
	if err == nil || mayName(by, record.ID) != nil {
		return err
	}
	if by.Alone && record.Source.Type == sessions.Group && !record.Source.Assumed && by.In == "" {
		return err
	}
	if by.In == record.ID || by.At != "" && slices.Contains(record.Surfaces, by.At) {
		return nil
	}
	bound, failed := r.bound(ctx, by.At)
	if failed != nil {
		return failed
	}
	if bound.ID == record.ID {
		return nil
	}
	return err
}

// change is Get for a verb that changes what others may read: in a group's
// conversation that is an owner's to do. Whoever takes part there may leave it
// and copy it.
func (r *Room) change(ctx context.Context, by Caller, id string) (sessions.Record, error) {
	record, err := r.Get(ctx, by, id)
	if err != nil {
		return record, err
	}
	if record.Source.Type == sessions.Group && !by.Owner && by.User.ID != "" {
		return sessions.Record{}, refuse(Forbidden, "This is a group's conversation: only an owner changes it. A copy of it is yours (fork).", nil)
	}
	return record, nil
}

// bound is the current session of a surface, or the zero record.
func (r *Room) bound(ctx context.Context, surface string) (sessions.Record, error) {
	if surface == "" {
		return sessions.Record{}, nil
	}
	record, err := r.Store.Bound(ctx, surface)
	if errors.Is(err, sessions.ErrNotFound) {
		return sessions.Record{}, nil
	}
	return record, err
}
