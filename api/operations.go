package api

import (
	"context"
	"errors"
	"time"

	"parley/adapters"
	"parley/conversations"
	"parley/sessions"
)

// ErrStopping is what Operations return, wrapped or bare, while the gateway
// stops and takes nothing in any more.
var ErrStopping = errors.New("the gateway is stopping; try again in a moment")

// Operations is what the API asks of the gateway besides reading the store.
// All methods may be called from any goroutine, and may return [ErrStopping]
// and what sessions.Store returns.
type Operations interface {
	// Say takes in one message of a web, cli or api surface, by the same way
	// an adapter's event goes: identity, routing, session. It returns when
	// the message is durable. *sessions.MovedError: Surface has another
	// session than Held, and nothing was done.
	Say(ctx context.Context, message Say) (Said, error)
	// Stop asks the running turn of a session to stop; false: none runs.
	Stop(ctx context.Context, session string) (bool, error)
	// Checkpoint brings a session's description and working memory up to date
	// with what was said since the last time. It asks the model, for at most
	// CheckpointMax. ErrNoCheckpoint: nothing was changed.
	Checkpoint(ctx context.Context, session string) (Checkpointed, error)
	// Readiness reports each part's health, in a stable order, without I/O
	// that could hang: at most two seconds.
	Readiness(ctx context.Context) []PartHealth
}

// CheckpointMax is how long a checkpoint may take.
const CheckpointMax = time.Minute

// ErrNoCheckpoint is wrapped by what Operations return when no notes came of
// a checkpoint.
var ErrNoCheckpoint = conversations.ErrNoNotes

// Checkpointed is what became of a checkpoint.
type Checkpointed struct {
	Made    bool // false: nothing was said since the last one, or another was made meanwhile
	Record  sessions.Record
	Entries []sessions.Entry // the checkpoint's own, if it was made
}

// Say is one message to be taken in.
type Say struct {
	Key     string           // idempotency key; empty: none
	Surface adapters.Surface // where it is said, and where the answer can be read
	// Session says it in this session instead of the surface's current one.
	Session string
	// Held is the session that whoever speaks at Surface has before them. If
	// Surface has another one by now, nothing is stored and no command is
	// carried out, but for a Key that was seen. Empty: whichever it has.
	Held   string
	Sender adapters.Sender
	// Namespace and MaxRole are those of a channel's token: the sessions that
	// the sender's commands may name, and the most that the sender may do.
	// Empty: no such limit.
	Namespace string
	MaxRole   string
	Text      string // ≤ TextMax bytes
	Workspace string // of a session that begins with it
	Append    bool   // store without asking for an answer
}

// TextMax is the longest text of one message the API takes, in bytes.
const TextMax = 64 << 10

// Said is what became of a [Say].
//
// A page or terminal says where it speaks (surface) and which session it shows
// (the id in the path). It goes at once to moved_to where an answer has one: a
// command has led its place there, and everything that is said and watched
// belongs to that session from now on. A problem of code "moved" (409) says
// that the place has left the session meanwhile, as when another tab said
// /new; its current names the session to show instead. Nothing was done then,
// and the same text with the same key may be sent to current.
type Said struct {
	Session string // empty where a command or refusal touched none
	MovedTo string // the session that the surface has now; empty: the command did not change that
	Seq     int64  // of the message's entry; 0: none was stored
	Reason  string // routing's reason code
	// Reply is the gateway's own answer to a command, or the one line of a
	// refusal, as Markdown. It is not part of the log.
	Reply     string
	Turn      bool // an answer will be written to the session's log
	Duplicate bool
}

// PartHealth is the state of one part of the gateway for /readyz.
type PartHealth struct {
	Name string `json:"name"` // store, model, telegram:123, …
	OK   bool   `json:"ok"`
	// Advisory: intake needs no such part, so readiness does not hang on it.
	Advisory bool      `json:"advisory,omitempty"`
	State    string    `json:"state"`
	Problem  string    `json:"problem,omitempty"` // one line with the remedy
	Since    time.Time `json:"since,omitzero"`
}
