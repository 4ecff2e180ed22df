package sessions

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Store is what a backend implements. Each method is one atomic operation: all
// of it or nothing happens, whoever else writes at the same time. All methods
// may be called from any goroutine and block until the result is durable.
// Every time-out, order and expiry is by the store's own clock.
//
// A request is checked before anything else: each request type has a Check
// that every backend calls, so what is refused is the same everywhere. What
// is named for a limited time (a lease, a lane, a fired timer, a lock) belongs
// to its holder until somebody else takes it: a holder that is late but was
// not replaced may still renew, write and end.
//
// Besides the errors named at a method, every method may return
// ErrUnavailable (it may have taken effect), ErrClosed, ctx's error (it may
// have taken effect) and *InvalidError (nothing was changed).
type Store interface {
	Records
	Life
	Log
	Notes
	Transcripts
	Users
	Archive
	Turns
	Outbox
	Timers
	Schedules
	Locks
	Chats
	Live
	Work

	// Ping reports whether the store can be written to now.
	Ping(ctx context.Context) error
	// Close ends every subscription and frees the store. Idempotent.
	Close() error
}

// Records are the sessions themselves.
type Records interface {
	// Open creates a session, or reopens one: the one called request.ID, or
	// without an ID the current session of request.Surface. Reopening merges
	// the metadata, attaches a Surface that has no session, and leaves all
	// else as it is, state and activity too; created tells which happened.
	// StateError: the session is expired. ErrConflict: ID and Surface are
	// given, and the surface's current session is another one.
	Open(ctx context.Context, request NewSession) (record Record, created bool, err error)

	// Get reads a record. ErrNotFound.
	Get(ctx context.Context, id string) (Record, error)

	// Bound reads the record of a surface's current session. ErrNotFound.
	Bound(ctx context.Context, surface string) (Record, error)

	// Find lists sessions, a page at a time. Its cost does not depend on how
	// many sessions there are: only on the page, and on how many of those that
	// match the most selective of the query's conditions fail the others.
	Find(ctx context.Context, query Query) (Page, error)

	// Update changes a record. ErrNotFound; StateError: it is expired;
	// *InvalidError: the merged metadata would exceed MetadataMax.
	Update(ctx context.Context, id string, patch Patch) (Record, error)

	// Rotate gives a surface a new session: the old one, if any, is unbound,
	// suspended and inactive (a turn that runs there is asked to stop, and
	// what waits there is still answered; an expired one stays expired), the
	// new one is created and bound, and the deliveries are put into the
	// outbox as rows of the new session. ErrConflict: New.ID is taken;
	// MovedError: see Held.
	Rotate(ctx context.Context, request RotateRequest) (RotateResult, error)
}

// RotateRequest is /new. See [Records.Rotate].
type RotateRequest struct {
	Key        string // dedupe, as in PostRequest
	Held       string // as in PostRequest
	New        NewSession
	Deliveries []NewDelivery // all for New.Surface
	Send       *Claimer
}

// RotateResult is what /new left.
type RotateResult struct {
	Duplicate bool
	Old       string // the session that was replaced; empty: there was none
	Record    Record // the new session; zero for a duplicate
	Sends     []Delivery
}

// Log is the reading of entries.
type Log interface {
	// Range reads the entries from <= seq <= to, by seq. It returns at most
	// EntriesPerCall, the first ones; from < 1 means 1, to beyond the newest
	// means the newest. What was cleared is left out. ErrNotFound.
	Range(ctx context.Context, session string, from, to int64) ([]Entry, error)
}

// Turns are the inbox and the lease.
type Turns interface {
	// Post stores a message: dedupe, the surface's session (created from New
	// where there is none; an expired one is replaced), the entry, the
	// record, the queue, and with Claim the turn if it is to be had.
	//
	// The record: LastActivityAt; State becomes active; an inactive Status
	// becomes idle (running, while a lease is held) when the session revives or
	// the message triggers, and is else not touched: a message that asks for
	// nothing only makes visible again what it revives; Preview, and the fallback description where there is
	// none, are taken from a text that is not empty ([PreviewOf],
	// [DescriptionOf]); MessageCount counts messages of RoleUser; UserID
	// becomes a participant and, where the record has no UserID, that. A Source
	// whose Type the message shows to be wrong is mended ([PostRequest.Shows]):
	// Direct becomes Group; Group becomes Direct only where it was Assumed and
	// the session has no other surface.
	//
	// A Surface that New shows to be direct leaves a group's session in which
	// UserID takes no part ([PostRequest.Stranger]), and its message begins
	// another: who has left a group writes no more into what it says. The
	// session that was left stays as it is.
	//
	// A turn is open from its first claim until it ends as Done or Park, so
	// also while its lease has run out, or was given back with Again or
	// HandBack. A triggering message enters the tree when a turn takes it
	// up, which is at once if no turn is open and nothing waits before it,
	// and Claim is given. A logged message enters the tree at once if no turn
	// is open and no message waits for one; otherwise it waits until a turn
	// ends, and enters behind that turn's entries, in order of seq.
	//
	// With Claim, when no turn is open, Post takes up what [Turns.Claim] would take
	// up now: the first waiting messages, this one not always among them.
	//
	// ErrQueueFull (only of triggering messages: nothing was stored, Key
	// neither), ErrNotFound (Session does not exist), StateError (Session is
	// expired), ErrConflict (New.ID is taken), MovedError (see Held).
	Post(ctx context.Context, request PostRequest) (PostResult, error)

	// Claim takes the lease of a session whose lease is free or has run out,
	// and with it the messages: those of the open turn, else the first
	// waiting ones of equal rights and surface, at most CollectMax and none
	// behind one that is Alone, put into the platform's own order: by SentAt
	// in milliseconds, then Sequence, then seq. They enter the tree at the
	// leaf, and Status is running until the commit.
	//
	// A store never parks by itself: who claims an Attempt above AttemptsMax
	// commits it with Park.
	//
	// ErrBusy: another lease runs, also one of the same Owner. ErrNothing:
	// nothing waits, or it is not due yet (Debounce, Again's and HandBack's After). ErrNotFound.
	Claim(ctx context.Context, request ClaimRequest) (*Turn, error)

	// Renew extends leases by the given time from now; the result has one
	// element per lease, in order. At most EntriesPerCall leases. Where only a
	// part of the store answers, its leases are renewed, and the others Unknown.
	// ErrUnavailable: no part answered.
	Renew(ctx context.Context, leases []Lease, extend time.Duration) ([]RenewResult, error)

	// Append writes entries of a running turn, all or none, behind the leaf.
	// It does not renew the lease. ErrFenced; ErrNotFound: an EntryLeaf's
	// Target is no entry of this session's tree.
	Append(ctx context.Context, lease Lease, entries []NewEntry) ([]Entry, error)

	// Commit ends a lease: entries, outbox rows, record, and the fate of the
	// messages (see Outcome). When the turn ends with it (Done, Unanswered, Park),
	// messages that were logged meanwhile enter the tree behind the turn's
	// entries; if others wait for a turn and are not taken with Next, the
	// session is due at once, or when their debounce has passed. Status
	// becomes idle, or inactive if the session is suspended or expired.
	// TurnCount grows with Done. ErrFenced, also for a second commit of the same lease;
	// ErrNotFound as in Append.
	Commit(ctx context.Context, request CommitRequest) (CommitResult, error)

	// Stop asks the open turn to stop; its holder is told at its next renewal
	// and, sooner, by a WorkStop hint, and whoever claims it again by
	// Turn.Stop. It holds until the turn ends. running is false when no turn
	// is open: then nothing changes. ErrNotFound.
	Stop(ctx context.Context, session string) (running bool, err error)

	// Again moves the leaf back to the last turn's newest message (with an
	// EntryLeaf, reason "retry", if it is not there) and opens its turn once
	// more, with a new count of attempts, due at once. The dead letter its
	// messages may be in is gone. A suspended session revives, and it counts
	// as activity. ErrNotFound; ErrNothing: there was no turn; StateError: a
	// turn is open, messages wait, or the session is expired. The Turn is nil
	// without Claim and for a duplicate.
	Again(ctx context.Context, request AgainRequest) (turn *Turn, duplicate bool, err error)

	// DeadLetters lists parked turns, newest first, at most limit (1 to 1,000).
	DeadLetters(ctx context.Context, limit int) ([]DeadLetter, error)
	// Replay makes a parked turn due again, with a new count of attempts.
	// While nothing has entered the tree behind its own entries, no turn is
	// open and nothing waits, it is opened in place as Again does. Otherwise its
	// messages are written anew at the end of the log (MessageCount and
	// activity stay) and wait at the end of the queue, however long that is.
	// The state of the session stays. The dead letter is gone. ErrNotFound;
	// StateError: the session is expired.
	Replay(ctx context.Context, id string) error
	// DropDead forgets a parked turn; the messages stay in the log. ErrNotFound.
	DropDead(ctx context.Context, id string) error
}

// Outbox is what is on its way to platforms. Each surface has a lane: its rows
// go out one at a time, in order.
type Outbox interface {
	// Enqueue adds rows that belong to no session.
	Enqueue(ctx context.Context, request EnqueueRequest) (EnqueueResult, error)

	// Take takes the lane that Due named and its first row, for the
	// claimer's time. A row that a worker had taken and never settled comes
	// with MaybeSent and a higher Attempt. ErrBusy: another has the lane.
	// ErrNothing: no row is there, or the first one is not due yet.
	Take(ctx context.Context, lane string, claimer Claimer) (Delivery, error)

	// Settle ends an attempt. A row that ends leaves the outbox, and its
	// receipt becomes an EntryDelivery of its session, if it has one. A row
	// that is tried again stays the first of its lane. With Next, the lane's
	// next row comes back and the lane stays held for claimer's time, if
	// that row is there and due; otherwise, and without Next, the lane is
	// free. claimer counts only with Next.
	// ErrFenced: the row was settled, or its lane is another worker's now;
	// nothing was changed.
	Settle(ctx context.Context, settlement Settlement, claimer Claimer) (next *Delivery, err error)
}

// Timer is a durable due time with a purpose. It is named by Home (a session
// id or any other name; it decides where the timer lives) and Name, unique
// together.
type Timer struct {
	Home    string
	Name    string
	Purpose string
	Payload json.RawMessage
	Due     time.Time
	// Fence is filled in by Fire and names the setting: every firing of one
	// setting has the same, and no other setting of the timer, before or
	// after, also when it was gone in between, has it.
	Fence int64
}

// Timers fire at least once. Handlers act once by doing their effect under a
// key made of the timer and its Fence, or by finishing it in the same step.
type Timers interface {
	// SetTimer sets or replaces a timer, due after the given time from now,
	// or at timer.Due when after is 0 (at once if that is zero or past).
	SetTimer(ctx context.Context, timer Timer, after time.Duration) error
	// Fire takes a due timer for the claimer's time: unless it is finished
	// or set anew by then, it is due once more. ErrNothing: it is
	// not due, taken by another, or gone.
	Fire(ctx context.Context, home, name string, claimer Claimer) (Timer, error)
	// FinishTimer removes a timer that was fired. ErrFenced: it was set anew
	// since, or is gone.
	FinishTimer(ctx context.Context, timer Timer) error
}

// Locks are leased, named rights that one replica has at a time, such as
// polling with a Telegram token. Each carries a small text that outlives its
// holder, for ever or for a time. A lock without a text is forgotten DedupeFor
// after it was last taken. One that is forgotten was never there: nobody has
// it, and who had it last is refused.
type Locks interface {
	// Lock takes a lock, or renews it when the claimer's Owner has it. It
	// never waits: ErrBusy.
	Lock(ctx context.Context, name string, claimer Claimer) (Lock, error)
	// SaveLock stores the lock's text, at most MetadataMax. keep is how long
	// the lock is remembered from now, by the store's clock, and at least as
	// long as it is held; 0: for ever. ErrFenced.
	SaveLock(ctx context.Context, lock Lock, data string, keep time.Duration) error
	// Unlock gives a lock back, so that another can have it at once. ErrFenced.
	Unlock(ctx context.Context, lock Lock) error
}

// Lock is a held lock.
type Lock struct {
	Name  string
	Owner string
	Fence int64  // grows with every change of holder, and after an Unlock
	Data  string // what was last saved, by whomever
}

// Chats are the groups that an owner has allowed.
type Chats interface {
	// ListChat allows a chat (a surface key without thread). Idempotent.
	ListChat(ctx context.Context, chat, by string) error
	// UnlistChat takes that back. Idempotent.
	UnlistChat(ctx context.Context, chat string) error
	// ChatListed reports whether a chat is allowed.
	ChatListed(ctx context.Context, chat string) (bool, error)
	// MoveChat gives a chat a new key (a Telegram group that became a
	// supergroup): what from was allowed, to is allowed, and from's current
	// session is now to's (its Surfaces name to in the place of from); from has
	// neither then. What to has already stays as it is: if it has a session,
	// from keeps its own. Rows already in the outbox keep their surface. Idempotent.
	MoveChat(ctx context.Context, from, to string) error
}

// LiveKind is what a [LiveEvent] tells.
type LiveKind string

// Live kinds.
const (
	LiveEntries LiveKind = "entries" // the log has grown to Seq: read it
	LiveStatus  LiveKind = "status"  // status or state has changed: read the record
	LiveDraft   LiveKind = "draft"   // a piece of an answer that is being written
	LiveGap     LiveKind = "gap"     // something was missed: read the log from where you are
)

// LiveEvent is a hint about one session. Hints may be lost; the log is the truth.
type LiveEvent struct {
	Session string   `json:"session"`
	Kind    LiveKind `json:"kind"`
	Seq     int64    `json:"seq,omitempty"`
	Epoch   int64    `json:"epoch,omitempty"`  // LiveDraft: which turn
	Offset  int      `json:"offset,omitempty"` // LiveDraft: bytes of the answer before Text
	Text    string   `json:"text,omitempty"`   // LiveDraft
}

// Live is the best-effort stream of hints.
type Live interface {
	// Publish sends a LiveDraft to whoever watches. Lost where nobody does.
	// Every other kind is the store's own and refused.
	Publish(ctx context.Context, event LiveEvent) error
	// Watch gives the hints of one session until ctx ends; then the channel
	// is closed. It is ready when Watch returns: a change that happens after that is
	// hinted. A reader that is too slow misses hints and then gets
	// a LiveGap; it never slows a writer.
	Watch(ctx context.Context, session string) (<-chan LiveEvent, error)
}

// WorkKind is what is due.
type WorkKind string

// Work kinds.
const (
	WorkTurn  WorkKind = "turn"  // Claim(ID)
	WorkLane  WorkKind = "lane"  // Take(ID)
	WorkTimer WorkKind = "timer" // Fire(Home, ID)
	WorkStop  WorkKind = "stop"  // only as a wake-up: the turn of session ID is asked to stop
	WorkWho   WorkKind = "who"   // only as a wake-up: Who answers otherwise for identity ID now
)

// WorkItem is something that can be taken up now.
type WorkItem struct {
	Kind WorkKind
	ID   string
	Home string // WorkTimer
	Due  time.Time
}

// EachKind keeps the first limit items of each kind, in their order. It uses
// items' own memory.
func EachKind(items []WorkItem, limit int) []WorkItem {
	seen := map[WorkKind]int{}
	return slices.DeleteFunc(items, func(item WorkItem) bool {
		seen[item.Kind]++
		return seen[item.Kind] > limit
	})
}

// Work is how workers learn what to take up.
type Work interface {
	// Due lists what is due, the longest due first, at most limit (1 to 1,000)
	// of each kind over the whole store: what waits of one kind hides nothing of
	// another. It takes nothing: several workers may see the same item, and one
	// gets it. Its cost does not depend on how much is at rest.
	Due(ctx context.Context, limit int) ([]WorkItem, error)
	// Wakes gives hints that something became due, or is to be stopped, until
	// ctx ends; then the channel is closed. Hints may be lost: Due is the truth.
	Wakes(ctx context.Context) (<-chan WorkItem, error)
}
