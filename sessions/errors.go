package sessions

import (
	"errors"
	"fmt"
	"time"
)

// Conditions callers branch on. Stores return them wrapped or bare; test with
// errors.Is.
var (
	// ErrNotFound: there is no such session, entry, timer, delivery or dead letter.
	ErrNotFound = errors.New("not found")
	// ErrConflict: something with this id exists already.
	ErrConflict = errors.New("exists already")
	// ErrBusy: somebody else holds the lease, lane or lock. Nothing was changed.
	ErrBusy = errors.New("held by another worker")
	// ErrNothing: there is nothing to do: an empty queue or lane. Nothing was changed.
	ErrNothing = errors.New("nothing to do")
	// ErrFenced: the caller's lease is not the present one. Nothing was
	// changed, and nothing the caller still wants to do may be done.
	ErrFenced = errors.New("the lease is no longer valid")
	// ErrUnavailable: the store cannot be reached or does not answer. The
	// operation may have taken effect; it is safe to repeat it with the same
	// key. Temporary.
	ErrUnavailable = errors.New("the store does not answer")
	// ErrLocked: another process uses this embedded store. Permanent until it ends.
	ErrLocked = errors.New("another process uses this store")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("the store is closed")
)

// StateError is an operation that the session's present state does not allow.
type StateError struct {
	Session   string
	State     State
	Status    Status
	Attempted string // the transition or operation that was asked for
}

// Error names the session, its state and what was attempted.
func (e *StateError) Error() string {
	return fmt.Sprintf("session %s is %s/%s: %s is not possible", e.Session, e.State, e.Status, e.Attempted)
}

// MovedError is an operation that was meant for the session which a surface had
// before, or never had. Nothing was changed.
type MovedError struct {
	Surface string
	Session string // the one it has
}

// Error names the surface and its session.
func (e *MovedError) Error() string { return e.Surface + " is in session " + e.Session + " now" }

// InvalidError is input that no state would accept.
type InvalidError struct{ What, Why string }

// Error says what is wrong with what.
func (e *InvalidError) Error() string { return "invalid " + e.What + ": " + e.Why }

// Limits of what a store accepts. Bytes where nothing else is said.
const (
	PayloadMax     = 1 << 20 // one entry's or delivery's payload
	KeyMax         = 512     // a dedupe key, surface, user, timer home, name or purpose, lock, chat key, owner, rights
	MetadataMax    = 64 << 10
	MetadataDepth  = 32   // objects and lists in one another
	EntriesPerCall = 1000 // entries in one Range, entries, deliveries or leases in one write
	ListMax        = 1000 // items of one DeadLetters or Due
	ReasonMax      = 1000 // of a reason the rest is cut off
	QueueMax       = 1000 // messages waiting in one session: the next is refused with ErrQueueFull
)

// ErrQueueFull means that too many messages wait in this session. Nothing was stored;
// the person has to be told, never silently dropped.
var ErrQueueFull = errors.New("too many messages are waiting in this conversation")

// DedupeFor is how long a store remembers a dedupe key: twice as long as the
// longest time any platform delivers an event again (Telegram and Slack: 24 h).
const DedupeFor = 48 * time.Hour
