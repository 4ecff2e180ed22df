package sessions

import (
	"context"
	"errors"
	"slices"
)

// Newcomer is a person at a surface that has no session.
type Newcomer struct {
	UserID      string
	WorkspaceID string
	Surface     string
}

// Affinity chooses the session that a newcomer goes on with. ErrNotFound: a new
// one is to begin.
type Affinity func(ctx context.Context, who Newcomer) (Record, error)

// Finder is the part of [Records] that a [NewestDirect] asks.
type Finder interface {
	Find(ctx context.Context, query Query) (Page, error)
}

// NewestDirect is the affinity that is used unless another is given: the
// person's direct session in the same workspace (none is one, too) with the
// newest activity that has not expired. It never misses the newest, however
// many there are. Schedules, sub-agents and roles of a flow are nobody's
// conversation to go on with.
func NewestDirect(find Finder) Affinity {
	return func(ctx context.Context, who Newcomer) (Record, error) {
		if who.UserID == "" {
			return Record{}, ErrNotFound
		}
		query := Query{UserID: who.UserID, WorkspaceID: who.WorkspaceID, Type: Direct, States: []State{StateCreated, StateActive, StateSuspended}}
		for {
			page, err := find.Find(ctx, query)
			if err != nil {
				return Record{}, err
			}
			fits := func(r Record) bool { return r.WorkspaceID == who.WorkspaceID && r.Source.conversation() }
			if i := slices.IndexFunc(page.Records, fits); i >= 0 {
				return page.Records[i], nil
			}
			if page.Next == "" {
				return Record{}, ErrNotFound
			}
			query.Cursor = page.Next
		}
	}
}

// conversation reports whether a session is one that a person holds.
func (s Source) conversation() bool {
	switch s.Kind {
	case "schedule", "sub", "role":
		return false
	}
	return true
}

// ResolveRequest asks for a surface's session. See [Resolve].
type ResolveRequest struct {
	New      NewSession // what to begin where there is none; New.Surface is the surface
	Affinity Affinity   // nil: a person at a new surface begins a new session
}

// Resolution says how a session was found.
type Resolution string

// Resolutions.
const (
	ResolvedBound    Resolution = "bound"    // it was the surface's
	ResolvedAffinity Resolution = "affinity" // it was the person's, and is now the surface's
	ResolvedNew      Resolution = "new"
)

// Resolver is what [Resolve] needs of a store.
type Resolver interface {
	Bound(ctx context.Context, surface string) (Record, error)
	Open(ctx context.Context, request NewSession) (record Record, created bool, err error)
	Attach(ctx context.Context, request AttachRequest) (record Record, previous string, err error)
}

// Resolve gives a surface's session: the one it is bound to; else, only for a
// direct chat, the one that the affinity chooses, which is bound to it then;
// else a new one. Who asks at the same time may get the session that the other
// one has begun.
func Resolve(ctx context.Context, store Resolver, request ResolveRequest) (Record, Resolution, error) {
	record, err := store.Bound(ctx, request.New.Surface)
	if err == nil && record.State != StateExpired {
		return record, ResolvedBound, nil
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Record{}, "", err
	}
	if request.Affinity != nil && request.New.Source.Type == Direct {
		record, err := continued(ctx, store, request)
		if err == nil || !errors.Is(err, ErrNotFound) {
			return record, ResolvedAffinity, err
		}
	}
	record, created, err := store.Open(ctx, request.New)
	if err == nil && !created {
		return record, ResolvedBound, nil // somebody else was quicker
	}
	return record, ResolvedNew, err
}

// continued binds the surface to what the affinity chooses. ErrNotFound: it
// chooses none, or what it chose is gone or has expired by now.
func continued(ctx context.Context, store Resolver, request ResolveRequest) (Record, error) {
	chosen, err := request.Affinity(ctx, Newcomer{UserID: request.New.UserID, WorkspaceID: request.New.WorkspaceID, Surface: request.New.Surface})
	if err != nil {
		return Record{}, err
	}
	record, _, err := store.Attach(ctx, AttachRequest{Session: chosen.ID, Surface: request.New.Surface})
	if _, ended := errors.AsType[*StateError](err); ended {
		return Record{}, ErrNotFound
	}
	return record, err
}
