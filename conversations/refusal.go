package conversations

import (
	"errors"

	"parley/sessions"
	"parley/sessions/transcript"
)

// Code says why something was refused. It is for programs and never changes its
// meaning.
type Code string

// Codes.
const (
	NotFound    Code = "not_found"     // no such session, for this caller
	NoEntry     Code = "no_entry"      // no such entry in the session's tree
	NoPlace     Code = "no_session"    // nothing was said at that surface yet
	Invalid     Code = "bad_request"   // no state would accept the arguments
	Reserved    Code = "reserved"      // only the gateway makes sessions with such ids
	TooLong     Code = "too_large"     // a text, or a log that is copied, is longer than is taken
	Running     Code = "running"       // a turn is open, or messages wait for one
	Expired     Code = "expired"       // the session has ended
	GroupOnly   Code = "group"         // not done to a group's conversation, or not into a group
	Exists      Code = "conflict"      // the id is taken, or something else has happened meanwhile
	LeafMoved   Code = "leaf"          // the conversation does not stand there any more
	Moved       Code = "moved"         // the place has another conversation now
	Forbidden   Code = "forbidden"     // not this caller's to do
	KeyReused   Code = "key_reused"    // the key was used for something else
	Busy        Code = "busy"          // the same is being done now
	Unsupported Code = "unsupported"   // not at this door, such as on a store at rest
	Untold      Code = "untold"        // a platform does not say whether the caller is still in the group
	Unreadable  Code = "transcript"    // a transcript cannot be read
	NoNotes     Code = "no_checkpoint" // the model gave no notes
)

// ErrNoNotes is wrapped by what a Noter returns when no notes came of a
// checkpoint.
var ErrNoNotes = errors.New("no checkpoint was made")

// Refusal is why a verb was not carried out. Nothing was changed.
type Refusal struct { //nolint:errname // a word of every door: chat, HTTP and the command line speak of refusals
	Code    Code
	Detail  string // for people: what is wrong, and what to do instead
	Current string // of Moved: the session that the place has now; empty: none
	Cause   error  // what a store said; nil: it was not asked
}

// Error is the detail.
func (r *Refusal) Error() string { return r.Detail }

// Unwrap is the cause.
func (r *Refusal) Unwrap() error { return r.Cause }

func refuse(code Code, detail string, cause error) *Refusal {
	return &Refusal{Code: code, Detail: detail, Cause: cause}
}

// CodeOf tells why something was refused. Empty: it was not refused but failed,
// as when the store does not answer, or there is no error.
func CodeOf(err error) Code {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal.Code
	}
	if state, ok := errors.AsType[*sessions.StateError](err); ok {
		if state.State == sessions.StateExpired {
			return Expired
		}
		return Running
	}
	if _, ok := errors.AsType[*transcript.Error](err); ok {
		return Unreadable
	}
	if _, ok := errors.AsType[*sessions.InvalidError](err); ok {
		return Invalid
	}
	return codeOfValue(err)
}

// codeOfValue is the code of the errors that are values.
func codeOfValue(err error) Code {
	switch {
	case errors.Is(err, sessions.ErrNotFound):
		return NotFound
	case errors.Is(err, sessions.ErrConflict):
		return Exists
	case errors.Is(err, sessions.ErrGroup):
		return GroupOnly
	case errors.Is(err, sessions.ErrBusy):
		return Busy
	case errors.Is(err, ErrNoNotes):
		return NoNotes
	case errors.Is(err, errors.ErrUnsupported):
		return Unsupported
	}
	return ""
}

// noEntry refuses an entry that is not in a session's tree.
func noEntry(seq int64) error {
	what := "There is no message in this conversation yet."
	if seq > 0 {
		what = "There is no entry " + sessions.EntryID(seq) + " in the tree of this conversation. Its tree shows those there are."
	}
	return refuse(NoEntry, what, sessions.ErrNotFound)
}

// running refuses what has to wait until a turn has ended.
func running(record sessions.Record, attempted string) error {
	if record.Status != sessions.StatusRunning && record.Status != sessions.StatusAwaiting && record.Queued == 0 {
		return nil
	}
	return &sessions.StateError{Session: record.ID, State: record.State, Status: record.Status, Attempted: attempted}
}

// ended refuses what is not done to an expired session.
func ended(record sessions.Record, attempted string) error {
	if record.State != sessions.StateExpired {
		return nil
	}
	return &sessions.StateError{Session: record.ID, State: record.State, Status: record.Status, Attempted: attempted}
}
