package sessions

import (
	"encoding/json"
	"time"
)

// Lease and try limits.
const (
	// RenewEvery is how often a worker should renew its leases.
	RenewEvery = LeaseFor / 3
	// AttemptsMax is how often a turn is begun before its worker parks it.
	AttemptsMax = 3
	// TailMax is how many of the newest entries a claim returns at most, to a
	// caller that holds none.
	TailMax = 200
	// CollectMax is how many waiting messages one turn takes up at most.
	CollectMax = 50
)

// Claimer is a worker that wants a lease.
type Claimer struct {
	Owner string        // names the worker process, unique among replicas
	For   time.Duration // by the store's clock; see LeaseFor
}

// Lease is the time-limited right to run one session's turns. Epoch and Nonce
// together are the fence: a store refuses with ErrFenced every write that
// carries another pair than the present one, or comes after the lease was
// committed. A lease that ran out and was claimed by nobody is still the
// present one.
type Lease struct {
	Session string
	Epoch   int64
	Nonce   string
}

// Known is what a caller holds of a session's log already: every entry up to
// Seq, and none of these Waiting (an entry held as Waiting may have been given
// its place since). The zero value: nothing.
type Known struct {
	Session string
	Seq     int64
}

// Turn is one run of the agent, claimed.
type Turn struct {
	Lease   Lease
	Record  Record
	Attempt int // from 1; above 1 the turn was begun before, counted, and did not end
	// Taken are the messages this turn answers, in the tree now, in the
	// platform's own order. All have equal rights and the same surface.
	Taken []Entry
	// Tail are the newest entries of the log by seq, oldest first, Waiting
	// ones too: those after the caller's Known.Seq if there are at most
	// TailMax, else the newest TailMax. A Known of another session, beyond the
	// newest entry, or of entries that were cleared since (Seq is not above
	// Record.Cleared), counts as none.
	Tail []Entry
	// TailFrom is the Known.Seq that Tail continues, or 0 when it does not:
	// then what the caller holds is to be thrown away.
	TailFrom int64
	Stop     bool // somebody asked to stop this turn
}

// PostRequest stores a message. See [Turns.Post].
type PostRequest struct {
	// Key is the platform's own name for the happening. A key that was seen
	// within DedupeFor makes the post a duplicate. Empty: never a duplicate.
	// Post, Rotate, Again and Enqueue share one space of keys per surface, or
	// where there is no surface, per session: a happening comes with the same
	// surface or session each time, and no two happenings share a key.
	Key     string
	Surface string // where it was said; may be empty only with Session
	// Session posts into this session instead of the surface's current one,
	// and leaves the surface's binding alone.
	Session string
	// Held is the session that Surface has to have, if it has one: a caller who
	// speaks of another one is told where the place has moved (MovedError), but
	// for a key that was seen. Empty: whichever it has. Only without Session.
	Held string
	// New is used when the surface has no session. Its Surface is ignored.
	New NewSession
	// Message is stored with Surface and Triggered as this request says.
	Message Message
	UserID  string // becomes a participant
	// Anywhere lets UserID write alone into a group's session that they take no
	// part in: an owner may. See [Turns.Post].
	Anywhere bool
	// Trigger asks for a turn; false only logs.
	Trigger bool
	// Rights is the sender's role: a turn takes up only messages of equal
	// rights from one surface.
	Rights string
	// Alone gives the message a turn of its own.
	Alone bool
	// Debounce delays the claim: what waits is due when this has passed since
	// the newest triggering message, by that message's own Debounce. With
	// it, Claim is ignored.
	Debounce time.Duration
	// Claim takes the lease at once if it is free. Nil: leave the work to others.
	Claim *Claimer
	Known Known
}

// PostOutcome says what a post did.
type PostOutcome string

// Post outcomes.
const (
	PostDuplicate PostOutcome = "duplicate" // seen before; nothing changed
	PostLogged    PostOutcome = "logged"    // stored, asks for no turn
	PostQueued    PostOutcome = "queued"    // stored, waits for a turn
	PostClaimed   PostOutcome = "claimed"   // stored, and the turn is the caller's
)

// PostResult is what a post did.
type PostResult struct {
	Outcome PostOutcome
	Session string
	Seq     int64 // of the entry; of a duplicate: 0 where the store does not know it any more
	Created bool  // the session is new
	Turn    *Turn // PostClaimed
}

// ClaimRequest takes up waiting work. See [Turns.Claim].
type ClaimRequest struct {
	Session string
	Claimer Claimer
	Known   Known
}

// Outcome is how a turn ended.
type Outcome string

// Outcomes of a commit.
const (
	// Done: the turn is over and its messages are answered.
	Done Outcome = "done"
	// Unanswered: the turn is over, although nothing answers its messages: it
	// was stopped before a word was there, or is not needed any more. It
	// is like Done, but does not count in Record.TurnCount.
	Unanswered Outcome = "unanswered"
	// Again: the turn failed for now; it stays open with its messages, the
	// attempt counts, and it is due again after CommitRequest.After.
	Again Outcome = "again"
	// Park: the turn failed for good; its messages become a dead letter.
	Park Outcome = "park"
	// HandBack: the worker does not run it now; the turn stays open with its
	// messages, the attempt does not count, and the turn is due again after
	// CommitRequest.After.
	HandBack Outcome = "hand_back"
)

// CommitRequest ends a turn. See [Turns.Commit].
type CommitRequest struct {
	Lease      Lease
	Outcome    Outcome
	After      time.Duration // Again and HandBack
	Reason     string        // Again and Park: why, for operators; ≤ 1,000 bytes are kept
	Entries    []NewEntry
	Deliveries []NewDelivery
	Patch      Patch
	// Next takes up the next waiting messages under the same call, if there
	// are any and Outcome is Done, Unanswered or Park. Nil gives the lease back.
	Next *Claimer
	// Send takes the lanes of the new deliveries that are free. Nil leaves
	// them to others.
	Send *Claimer
}

// CommitResult is what a commit left.
type CommitResult struct {
	Entries []Entry    // as written, in order
	Sends   []Delivery // one per lane taken: its first row, to be sent now
	// Next is the turn taken up with Next. Its Known is what the ended turn's
	// own Tail left its holder with, without anything that was Waiting then:
	// the Tail has that turn's entries once more, and all that got its place.
	Next *Turn
}

// RenewResult is one lease's fate.
type RenewResult struct {
	Held bool // false: the lease is gone, stop at once
	Stop bool // somebody asked to stop the turn
	// Unknown: the part of the store that keeps this lease did not answer. The
	// lease holds until it runs out; Held and Stop say nothing.
	Unknown bool
}

// AgainRequest runs the session's last turn once more. See [Turns.Again].
type AgainRequest struct {
	Key     string // dedupe, as in PostRequest
	Session string
	Claim   *Claimer
	Known   Known
}

// DeadLetter is a parked turn.
type DeadLetter struct {
	ID       string    `json:"id"`
	Session  string    `json:"session"`
	Messages []int64   `json:"messages"` // seqs
	Reason   string    `json:"reason"`
	Attempts int       `json:"attempts"`
	At       time.Time `json:"at"`
}

// NewDelivery is one message for one surface, to be put into the outbox.
type NewDelivery struct {
	Surface string
	Payload json.RawMessage // valid JSON, else opaque to the store
	// Entry is the index in CommitRequest.Entries of what it delivers, or -1.
	// Elsewhere than in a commit it does not count.
	Entry int
}

// Delivery is one row of the outbox, taken by a worker.
type Delivery struct {
	ID      string // the same on every attempt; safe in URLs
	Session string // empty where the row belongs to none
	Entry   int64  // seq of the entry it delivers; 0: none
	Surface string
	Payload json.RawMessage
	Attempt int // from 1
	// MaybeSent: any attempt before this one may have taken effect.
	MaybeSent bool
	Lane      Lane
}

// Lane is the right to send on one surface, one row at a time, in order.
type Lane struct {
	ID    string // opaque; what Due names
	Nonce string // the fence
}

// EnqueueRequest puts messages into the outbox without a turn. See [Outbox.Enqueue].
type EnqueueRequest struct {
	Key        string        // dedupe; empty: never a duplicate
	KeyFor     time.Duration // how long the key counts; 0: DedupeFor
	Deliveries []NewDelivery // all of one surface
	Send       *Claimer
}

// EnqueueResult is what an enqueue left.
type EnqueueResult struct {
	Duplicate bool
	Sends     []Delivery
}

// DeliveryState is what became of a row.
type DeliveryState string

// Delivery states. A row waits as pending; being taken makes it sending.
const (
	DeliveryPending DeliveryState = "pending"
	DeliverySending DeliveryState = "sending"
	DeliverySent    DeliveryState = "sent"
	DeliveryUnknown DeliveryState = "unknown" // given up while its fate was unknown
	DeliveryFailed  DeliveryState = "failed"
)

// Settlement ends one attempt to deliver. See [Outbox.Settle].
type Settlement struct {
	Delivery Delivery
	// State is DeliverySent, DeliveryUnknown or DeliveryFailed to end the
	// row, or DeliveryPending to try it again.
	State      DeliveryState
	MessageIDs []string      // DeliverySent: the platform's ids
	Reason     string        // otherwise: why; ≤ 1,000 bytes are kept
	After      time.Duration // DeliveryPending: not before
	MaybeSent  bool          // DeliveryPending: the attempt may have taken effect
	// Uncounted: the attempt does not count (the platform said "later").
	Uncounted bool
	// Next keeps the lane and takes its next row if there is one.
	Next bool
}

// DeliveryEntry is the payload of an EntryDelivery: a row's receipt.
type DeliveryEntry struct {
	Delivery   string        `json:"delivery"`
	EntryID    string        `json:"entry_id,omitempty"`
	Surface    string        `json:"surface"`
	State      DeliveryState `json:"state"`
	MessageIDs []string      `json:"message_ids,omitempty"`
	Reason     string        `json:"reason,omitempty"`
	Attempts   int           `json:"attempts"`
}

// LeafEntry is the payload of an EntryLeaf.
type LeafEntry struct {
	TargetID string `json:"target_id"`
	Reason   string `json:"reason,omitempty"`
}

// ErrorEntry is the payload of an EntryError: what people were told, and for
// operators the cause.
type ErrorEntry struct {
	Text  string `json:"text"`
	Cause string `json:"cause,omitempty"`
}
