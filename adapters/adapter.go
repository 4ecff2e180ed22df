package adapters

import (
	"context"
	"time"
)

// Sink takes an event in. It returns nil only when the event is durable or was
// decided to be dropped; only then may the adapter acknowledge it to its
// platform. An error means "not taken": the adapter must not acknowledge, and
// must offer the event again. Sink may be called from several goroutines; the
// adapter calls it for one surface in the platform's order, one at a time.
type Sink func(ctx context.Context, event Event) error

// Adapter joins one account of one platform to the gateway.
type Adapter interface {
	// Capabilities answers without I/O, before and after Run.
	Capabilities() Capabilities

	// Account is the bot's own id on the platform, the account part of its
	// surfaces; empty until it has been learned from the platform.
	Account() string

	// Run connects, receives, and hands events to sink until ctx ends; then it
	// returns nil after its goroutines are gone. It recovers from everything
	// temporary by itself, with back-off, and reports it through Health. It
	// returns an error only for what no retry mends, such as a refused token.
	Run(ctx context.Context, sink Sink) error

	// Split cuts text into parts that each fit one message after rendering.
	// Pure; keeps every character that is not white space at a cut, closes and
	// reopens code fences. An empty text gives no part.
	Split(text string, format Format) []string

	// Send delivers one message, in one attempt. An error is always a
	// *SendError. ctx carries the deadline, which lies within the right to send:
	// no request of the attempt begins after it ([Late]).
	Send(ctx context.Context, message Outgoing) (Receipt, error)

	// Health answers without I/O.
	Health() Health
}

// Late is context.DeadlineExceeded where ctx's deadline has passed by the clock.
// A process that was frozen wakes up before the timers that end its contexts,
// and must not send with a right that is another's by then.
func Late(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// Typer is an adapter that can show that an answer is being written. Best
// effort: an error is logged at debug level only.
type Typer interface {
	Typing(ctx context.Context, surface Surface) error
}

// Roll is an adapter that can ask its platform who is in a chat.
type Roll interface {
	// InChat reports whether somebody is in the chat of a surface now, as far as
	// the platform knows chats: a thread's is that of its channel. An error
	// means that it does not tell.
	InChat(ctx context.Context, surface Surface, who Identity) (bool, error)
}

// Doctor is an adapter that can find out why it would be deaf, for
// `gateway doctor` and the start log. It may do I/O and works without Run.
type Doctor interface {
	Diagnose(ctx context.Context) []Finding
}

// CommandInfo is one command for the platform's own menu.
type CommandInfo struct {
	Name        string
	Description string
	// Groups is false for a command that only direct chats offer.
	Groups bool
}

// CommandRegistrar is an adapter whose platform has a command menu.
// RegisterCommands replaces the menu; idempotent.
type CommandRegistrar interface {
	RegisterCommands(ctx context.Context, commands []CommandInfo) error
}

// ConnectionState is a word for /readyz, the console and the metrics.
type ConnectionState string

// Connection states.
const (
	Connecting ConnectionState = "connecting" // not heard anything yet
	Hearing    ConnectionState = "hearing"    // the last exchange was recent and good
	Waiting    ConnectionState = "waiting"    // another replica holds the connection: healthy
	Deaf       ConnectionState = "deaf"       // failing; Health.Problem says why
	Refused    ConnectionState = "refused"    // given up: the platform refuses the credentials
)

// Health is what an adapter knows of its connection.
type Health struct {
	State   ConnectionState
	Problem string    // one line with the remedy, without secrets; empty when all is well
	Since   time.Time // when State began
}

// OK reports whether the connection hears, or rightly does not need to.
func (h Health) OK() bool { return h.State == Hearing || h.State == Waiting }

// Level grades a [Finding].
type Level string

// Levels. Off is for what nobody has set up; Unchecked is for what the platform
// does not let us find out.
const (
	LevelOK        Level = "ok"
	LevelOff       Level = "off"
	LevelWarning   Level = "warning"
	LevelProblem   Level = "problem"
	LevelUnchecked Level = "unchecked"
)

// Finding is one line of a diagnosis. Remedy says what to do, and is empty
// where all is well.
type Finding struct {
	Level  Level  `json:"level"`
	What   string `json:"what"`
	Remedy string `json:"remedy,omitempty"`
}
