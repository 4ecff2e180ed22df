package conversations

import (
	"context"
	"errors"
	"io"
	"time"

	"parley/sessions"
	"parley/sessions/transcript"
)

// ForkRequest says what to copy, and where the copy goes on.
type ForkRequest struct {
	Entry *int64 // the entry where the copy ends, 0 before the first; nil: where the session stands
	ID    string // of the copy; empty: one is drawn
	Name  string // of the copy; empty: the session's own
	Place Place  // where the copy goes on; zero: nowhere yet
	// Quick refuses what has more than ForkMax entries (TooLong): somebody
	// waits in a chat.
	Quick bool
}

// Fork copies a branch into a new session. Running: a turn is open, or messages
// wait. What forbids the place forbids the copy. The same key makes the same
// copy. Result: Record (the copy), Before (the session), Previous, Made,
// Duplicate.
func (r *Room) Fork(ctx context.Context, by Caller, id string, request ForkRequest, key string) (Result, error) {
	if err := CheckName(request.Name); err != nil {
		return Result{}, err
	}
	from, err := r.Get(ctx, by, id)
	if err != nil {
		return Result{}, err
	}
	what := done{Key: by.Digest("fork", id, key), Sum: SumOf([]any{request.Entry, request.ID, request.Name, request.Place.surface})}
	result := Result{Before: from}
	made, duplicate, err := r.once(ctx, from.ID, what, func() (done, error) {
		if err := r.fork(ctx, by, &result, request, what.Key); err != nil {
			return done{}, err
		}
		return done{Session: result.Record.ID, Previous: result.Previous}, nil
	})
	if err != nil || !duplicate {
		return result, err
	}
	return r.again(ctx, result, made)
}

// again is the result of what was done before under the same key.
func (r *Room) again(ctx context.Context, result Result, made done) (Result, error) {
	record, err := r.Store.Get(ctx, made.Session)
	result.Record, result.Previous, result.Duplicate = record, made.Previous, true
	return result, err
}

// fork makes the copy and gives it its place.
func (r *Room) fork(ctx context.Context, by Caller, result *Result, request ForkRequest, digest string) (err error) {
	result.Record, result.Made, err = r.copied(ctx, by, result.Before, request, digest)
	if err != nil || request.Place.surface == "" {
		return err
	}
	attach, err := r.mayAttach(ctx, by, result.Record, request.Place)
	if err != nil {
		return err
	}
	attach.Revive = result.Record.State == sessions.StateSuspended
	result.Record, result.Previous, err = r.Store.Attach(ctx, attach)
	return err
}

// copied makes the copy. An id that was drawn for a key can only have been
// taken by the same request, whose maker died.
func (r *Room) copied(ctx context.Context, by Caller, from sessions.Record, request ForkRequest, digest string) (sessions.Record, bool, error) {
	fork, err := r.copyOf(ctx, by, from, request, digest)
	if err != nil {
		return sessions.Record{}, false, err
	}
	if request.Place.surface != "" {
		if _, err := r.mayAttach(ctx, by, fork.Record, request.Place); err != nil {
			return sessions.Record{}, false, err
		}
	}
	record, err := r.Store.Import(ctx, fork.Record, fork.Entries)
	if digest != "" && request.ID == "" && errors.Is(err, sessions.ErrConflict) {
		record, err = r.Store.Get(ctx, fork.Record.ID)
		return record, false, err
	}
	return record, err == nil, err
}

func (r *Room) copyOf(ctx context.Context, by Caller, from sessions.Record, request ForkRequest, digest string) (*transcript.Transcript, error) {
	if err := running(from, "fork"); err != nil {
		return nil, err
	}
	if request.Quick && from.Seq-from.Cleared > ForkMax {
		return nil, refuse(TooLong, "This conversation is too long to be copied while somebody waits. `gateway sessions fork` can.", nil)
	}
	id := request.ID
	if id == "" {
		id = r.copyID(from, digest)
	} else if err := CheckOwnID(by, id); err != nil {
		return nil, err
	}
	if err := mayName(by, id); err != nil {
		return nil, err
	}
	leaf := from.Leaf
	if request.Entry != nil {
		leaf = *request.Entry
	}
	fork, err := transcript.Fork(ctx, r.Store, transcript.ForkRequest{From: from, Leaf: leaf, ID: id, Now: r.now()})
	if errors.Is(err, sessions.ErrNotFound) && request.Entry != nil {
		return nil, noEntry(leaf)
	}
	if err == nil && request.Name != "" {
		fork.Record.Name = request.Name
	}
	return fork, err
}

// copyID draws the id of a copy: the same for the same digest.
func (r *Room) copyID(of sessions.Record, digest string) string {
	day := r.now()
	if digest != "" {
		day = of.CreatedAt
	}
	return sessions.ForkPrefix(of.ID, day) + ending(digest)
}

// Import makes a session of a transcript, all of it or nothing, while it
// arrives. newID draws an id in the place of the transcript's own. Only an
// owner imports: Forbidden. Unreadable: a line cannot be read; the error wraps
// a *transcript.Error. Exists: the id is taken. The same key makes the
// same session. Result: Record, Made.
func (r *Room) Import(ctx context.Context, by Caller, in io.Reader, newID bool, key string) (Result, error) {
	if !by.Owner || by.Namespace != "" {
		return Result{}, refuse(Forbidden, "Only an owner imports conversations.", nil)
	}
	read, err := transcript.Read(in)
	if err != nil {
		return Result{}, err
	}
	sum := SumOf([]any{read.Record, newID}) // of its header: its lines are still to come
	read.Record.LastActivityAt = earlier(read.Record.LastActivityAt, r.now())
	digest := by.Digest("import", read.Record.ID, key)
	if newID {
		read.Record.ID = r.copyID(read.Record, digest)
	} else if err := CheckOwnID(by, read.Record.ID); err != nil {
		return Result{}, err
	}
	id := read.Record.ID
	var result Result
	_, duplicate, err := r.once(ctx, id, done{Key: digest, Sum: sum}, func() (done, error) {
		var err error
		result.Record, err = r.Store.Import(ctx, read.Record, read.Entries)
		return done{Session: id}, err
	})
	switch {
	case CodeOf(err) == KeyReused:
		return Result{}, err
	case duplicate, newID && digest != "" && errors.Is(err, sessions.ErrConflict):
		return r.again(ctx, result, done{Session: id})
	case errors.Is(err, sessions.ErrConflict):
		return Result{}, refuse(Exists, "There is a session "+id+" already. Import it under a new id (new_id=1), or delete that one first.", err)
	}
	result.Made = err == nil
	return result, err
}

// earlier keeps a time out of the future, where no sweep would reach.
func earlier(at, now time.Time) time.Time {
	if at.After(now) {
		return now
	}
	return at
}
