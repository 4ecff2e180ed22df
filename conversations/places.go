package conversations

import (
	"context"
	"strings"

	"parley/sessions"
)

// Place is a surface that shall have a conversation. The zero Place is none.
type Place struct {
	surface string
	seen    bool // the caller is there, and the door saw whether others read along
	group   bool
}

// Here is the surface that the caller speaks at. The door has seen whether
// others read what is said there.
func Here(surface string, group bool) Place { return Place{surface: surface, seen: true, group: group} }

// There is a surface that the caller names. What is held there now tells
// whether it is a group; where nothing is, it is taken for one, but for the
// gateway's own places.
func There(surface string) Place { return Place{surface: surface} }

// Attach makes a session the current one of a place. GroupOnly: a direct
// conversation never goes on where others read along. Result: Record, Before,
// Previous.
func (r *Room) Attach(ctx context.Context, by Caller, id string, place Place) (Result, error) {
	before, err := r.Get(ctx, by, id)
	if err != nil {
		return Result{}, err
	}
	request, err := r.mayAttach(ctx, by, before, place)
	if err != nil {
		return Result{}, err
	}
	return r.attach(ctx, before, request)
}

// Detach takes a surface off a session: its next message begins another. Again,
// it changes nothing. Result: Record, Before.
func (r *Room) Detach(ctx context.Context, by Caller, id, surface string) (Result, error) {
	if err := mayBind(by, surface); err != nil {
		return Result{}, err
	}
	before, err := r.Get(ctx, by, id)
	if err != nil {
		return Result{}, err
	}
	record, err := r.Store.Detach(ctx, before.ID, surface)
	return Result{Record: record, Before: before}, err
}

// Resume takes a session up again, at a place where one is given. One that has
// expired is copied, and the copy goes on (Made). Who has left the group of a
// group's conversation is refused, if that is told or can be asked. quick is as in [ForkRequest].
// Result: Record, Before, Previous, Made.
func (r *Room) Resume(ctx context.Context, by Caller, id string, place Place, quick bool, key string) (Result, error) {
	before, err := r.Get(ctx, by, id)
	if err == nil {
		err = r.stillThere(ctx, by, before)
	}
	if err != nil {
		return Result{}, err
	}
	if before.State == sessions.StateExpired {
		return r.Fork(ctx, by, id, ForkRequest{Place: place, Quick: quick}, key)
	}
	if place.surface == "" {
		return r.Touch(ctx, by, id)
	}
	result := Result{}
	what := done{Key: by.Digest("resume", id, key), Sum: SumOf(place.surface)}
	made, duplicate, err := r.once(ctx, before.ID, what, func() (done, error) {
		request, err := r.mayAttach(ctx, by, before, place)
		if err != nil {
			return done{}, err
		}
		request.Revive = true
		result, err = r.attach(ctx, before, request)
		return done{Session: before.ID, Previous: result.Previous}, err
	})
	if err != nil || !duplicate {
		return result, err
	}
	return r.again(ctx, Result{Before: before}, made)
}

// stillThere refuses a group's conversation to who takes part in it and is not
// in the group any more: they take no part from now on. NotFound; Untold: it
// cannot be found out.
func (r *Room) stillThere(ctx context.Context, by Caller, record sessions.Record) error {
	if r.Present == nil || by.Owner || by.User.ID == "" || record.Source.Type != sessions.Group {
		return nil
	}
	there, err := r.Present(ctx, record, by.User)
	if err != nil {
		r.log().WarnContext(ctx, "whether somebody is still in a group could not be found out; they are refused its conversation", "session", record.ID, "user", by.User.ID, "error", err)
		return refuse(Untold, "Whether you are still in that group could not be found out. Try again in a moment.", err)
	}
	if there {
		return nil
	}
	if _, err := r.Store.Leave(ctx, record.ID, by.User.ID); err != nil {
		return err
	}
	return sessions.ErrNotFound
}

func (r *Room) attach(ctx context.Context, before sessions.Record, request sessions.AttachRequest) (Result, error) {
	record, previous, err := r.Store.Attach(ctx, request)
	if err != nil {
		return Result{}, err
	}
	return Result{Record: record, Before: before, Previous: previous}, nil
}

// mayAttach refuses what a place may not have, before anything is done. Whoever
// only names the place has to be able to reach what is held there.
func (r *Room) mayAttach(ctx context.Context, by Caller, record sessions.Record, place Place) (sessions.AttachRequest, error) {
	request := sessions.AttachRequest{Session: record.ID, Surface: place.surface, Group: place.group}
	if err := request.Check(); err != nil {
		return request, err
	}
	if err := mayBind(by, place.surface); err != nil {
		return request, err
	}
	if !place.seen {
		current, err := r.bound(ctx, place.surface)
		if err == nil && current.ID != "" {
			err = r.reach(ctx, by, current)
		}
		if err != nil {
			return request, err
		}
		request.Group = crowded(place.surface, current)
	}
	err := sessions.CheckAttach(record, request)
	if err != nil && CodeOf(err) == GroupOnly {
		err = refuse(GroupOnly, "A direct conversation cannot go on where others read along, and a place where nobody has spoken yet counts as such.", err)
	}
	return request, err
}

// crowded says whether many people talk at a surface. At the gateway's own
// nobody but its owner does; elsewhere the conversation that is held there
// tells, and without one it is taken for a group: a direct conversation must
// not show up among strangers.
func crowded(surface string, current sessions.Record) bool {
	return sessions.BareID(surface) == "" && current.Source.Type != sessions.Direct
}

// mayBind refuses a caller with a namespace the surfaces of others.
func mayBind(by Caller, surface string) error {
	if platform, _, _ := strings.Cut(surface, ":"); by.Namespace != "" && platform != by.Namespace {
		return refuse(Forbidden, "This token is for surfaces of "+by.Namespace+" only.", nil)
	}
	return nil
}
