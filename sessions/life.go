package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrGroup refuses what is not done with a group's conversation: it is never
// deleted, and a direct conversation is never taken into a group.
// Permanent; nothing was changed.
var ErrGroup = errors.New("not possible with a group's conversation")

// Life is what becomes of a session besides its messages. A session is never
// changed by time alone: somebody calls Sweep.
type Life interface {
	// Touch counts as activity: LastActivityAt is now, a created or suspended
	// session becomes active, an inactive Status idle (running, while a lease
	// is held). ErrNotFound; StateError: it is expired.
	Touch(ctx context.Context, id string) (Record, error)

	// Attach makes a session the current one of a surface, which leaves the
	// session it had: previous is that one's id, empty where there was none or
	// it is this one (then nothing changes, but for Revive). The one that was
	// left stays as it is (its Surfaces may follow a moment later), and a
	// turn that runs there still answers where it was asked. ErrNotFound;
	// StateError: it is expired; ErrGroup: a direct session, and the surface
	// is a group.
	Attach(ctx context.Context, request AttachRequest) (record Record, previous string, err error)
	// Detach takes a surface off a session: its next message begins a new
	// one. Idempotent, also when the surface's current session is another
	// one, which then stays. ErrNotFound; StateError: it is expired.
	Detach(ctx context.Context, id, surface string) (Record, error)

	// Leave takes a user off a session's participants, in any state; its UserID
	// and all else stay. Whoever speaks there again takes part again.
	// Idempotent. ErrNotFound.
	Leave(ctx context.Context, id, user string) (Record, error)

	// Expire ends a session for good, in any state and whatever it is doing:
	// it is inactive, its surfaces are free, a turn that runs is asked to
	// stop, and what waits is still answered. Idempotent. ErrNotFound.
	Expire(ctx context.Context, id string) (Record, error)

	// Delete removes a session: record, log, bindings, what waits, its
	// timers (those whose Home is its id) and dead letters. Rows that are in
	// the outbox still go out. ErrNotFound; ErrGroup; StateError: a turn is
	// open, or messages wait.
	Delete(ctx context.Context, id string) error

	// Discard deletes a session that was opened by hand and in which no turn
	// ever ended (TurnCount is 0), if it may be deleted at all; otherwise it
	// changes nothing. A session that is not there was not discarded. That it
	// was opened by hand is the caller's to know.
	Discard(ctx context.Context, id string) (discarded bool, err error)

	// Sweep does to sessions what its rule says, the longest inactive first,
	// and returns those it changed, at most Limit. Fewer than Limit: no other
	// is left now. A session that is running, awaits an approval, whose turn
	// is open, or in which messages wait, is passed over. What a sweep costs
	// depends on how many sessions are old enough, not on how many there are.
	// Several may sweep at once: each session is returned by one of them. A
	// sweep goes session by session: with an error come those it had changed.
	Sweep(ctx context.Context, request SweepRequest) ([]string, error)
}

// AttachRequest is a surface and the session it shall have. See [Life.Attach].
type AttachRequest struct {
	Session string
	Surface string
	Group   bool // many people talk on the surface
	Revive  bool // in the same step as [Life.Touch]
}

// Check refuses a request without session or surface.
func (r AttachRequest) Check() error {
	if err := CheckID(r.Session); err != nil {
		return err
	}
	return CheckKey("surface", r.Surface)
}

// CheckAttach is the rule of which session a surface may have: ErrGroup, or a
// StateError.
func CheckAttach(record Record, request AttachRequest) error {
	if record.Source.Type == Direct && request.Group {
		return ErrGroup
	}
	if record.State == StateExpired {
		return &StateError{Session: record.ID, State: record.State, Status: record.Status, Attempted: "attach"}
	}
	return nil
}

// SweepRule is what a sweep does.
type SweepRule string

// Sweep rules.
const (
	// SweepSuspend: created and active sessions become suspended and inactive.
	SweepSuspend SweepRule = "suspend"
	// SweepExpire: suspended sessions become expired, as with [Life.Expire].
	SweepExpire SweepRule = "expire"
	// SweepDelete: direct sessions in any state are deleted, as with [Life.Delete].
	SweepDelete SweepRule = "delete"
)

// SweepRequest is one batch of a sweep. See [Life.Sweep].
type SweepRequest struct {
	Rule  SweepRule
	Age   time.Duration // since LastActivityAt, by the store's clock: longer ago than this
	Limit int           // 1 to ListMax
}

// Check refuses an unknown rule, no age or a bad limit.
func (r SweepRequest) Check() error {
	switch r.Rule {
	case SweepSuspend, SweepExpire, SweepDelete:
	default:
		return &InvalidError{What: "sweep rule", Why: fmt.Sprintf("%.40q is none", r.Rule)}
	}
	if r.Age < time.Millisecond {
		return &InvalidError{What: "sweep age", Why: "it must be at least a millisecond"}
	}
	return CheckList(r.Limit)
}
