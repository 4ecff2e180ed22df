package commands

import (
	"context"
	"log/slog"
	"time"

	"parley/adapters"
	"parley/bot/texts"
	"parley/conversations"
	"parley/people"
	"parley/routing"
	"parley/scheduler"
	"parley/sessions"
)

// Call is a command as it was given.
type Call struct {
	Command    routing.Command
	Permission routing.Permission // PermAllowed or PermOwnTurn
	Event      adapters.Event
	User       sessions.User // whose identity the sender's is
	Role       routing.Role
	Key        string // of the event; the answer goes out under it. Empty: it has none
	Session    string // the session it is meant for; empty: the one that is held at Event.Surface
	Namespace  string // of the program that speaks for the sender; empty: none does, or it may name everything
	Held       string // the session that Event.Surface has to have (sessions.MovedError); empty: any

	// Reply takes the answer where the sender waits for it, at the gateway's own
	// places.
	Reply func(text string)

	target string  // the session that it is about, once that was found; empty: none
	memory *memory // of its chat, where the row has about
}

// Alone reports whether nobody but the sender reads what is said there.
func (c Call) Alone() bool { return c.Event.Direct || c.Event.Surface.Platform.Own() }

// surface is the key of where the command was given.
func (c Call) surface() string { return c.Event.Surface.Key() }

// caller is the sender, for the verbs.
func (c Call) caller() conversations.Caller {
	return conversations.Caller{
		Caller: sessions.Caller{User: c.User, Owner: c.Role == routing.Owner, Namespace: c.Namespace},
		Name:   "chat", At: c.surface(), Alone: c.Event.Direct, In: c.Session,
	}
}

// here is where the command was given, as a place for a conversation.
func (c Call) here() conversations.Place { return conversations.Here(c.surface(), !c.Alone()) }

// placeless: a program spoke to a session that its place does not have, so that there is no chat
// that could get another one.
func (c Call) placeless() bool { return c.Session != "" }

// Answer is the end of a command.
type Answer struct {
	Text string // empty: nothing is said, or it is said later
	// Fresh tells answers apart that one event may get, such as two codes.
	Fresh string
	// Post is what became of the conversation: Session is where the command
	// led, Turn and Outcome those of a turn that it set going.
	Post sessions.PostResult

	code string // what is remembered of it, for an event that is delivered again
}

func say(text string) (Answer, error) { return Answer{Text: text}, nil }

// Store is what commands need of a store beside the verbs.
type Store interface {
	sessions.Log
	sessions.Locks
	sessions.Chats
	Bound(ctx context.Context, surface string) (sessions.Record, error)
	OfferLink(ctx context.Context, identity string) (string, error)
	TakeLink(ctx context.Context, code, identity string) (user sessions.User, merged string, err error)
}

// Ports are what commands need of the rooms around them. All are required, and
// called while the command's event is being taken in.
type Ports struct {
	// Say answers, once per key: through the outbox, or straight back where
	// the sender waits for it. keyFor is how long the key holds.
	Say func(ctx context.Context, call Call, key string, keyFor time.Duration, text string) error
	// Rotate begins a new conversation where the call was given, and says text
	// there in the same step. It returns the new session.
	Rotate func(ctx context.Context, call Call, text string) (session string, err error)
	// Post takes text in as a message of the call's, that asks for a turn.
	Post func(ctx context.Context, call Call, key, text string) (sessions.PostResult, error)
	// Rerun runs a session's last turn once more, once per key. As
	// sessions.Turns.Again.
	Rerun func(ctx context.Context, key, session string) (turn *sessions.Turn, duplicate bool, err error)
	// Stop asks a session's running turn to stop.
	Stop func(ctx context.Context, session string) (running bool, err error)
	// Checkpoint brings a session's notes up to date, and says what came of
	// it. Empty: that is told in the chat when it is known.
	Checkpoint func(ctx context.Context, call Call, record sessions.Record) (text string, err error)
	// Cleared and Moved say that what is known of a session, or of what a
	// surface has, is out of date.
	Cleared func(session string)
	Moved   func(surface, session string)
	// Listed says that a chat was allowed, or is not any more. Linked says that
	// identities belong to other people than before.
	Listed func(chat string, allowed bool)
	Linked func(identities ...string)
	// Knock keeps a stranger's wish to be let in, and tells the owners once.
	Knock func(ctx context.Context, event adapters.Event) (texts.Knocked, error)
	// Problems are the lines an owner should see of what is not well.
	Problems func(ctx context.Context) []string
}

// Config is what Commands are made of. Everything is required.
type Config struct {
	Ports
	Store     Store
	Room      *conversations.Room
	Schedules *scheduler.Book
	People    *people.Room
	Policy    routing.Policy
	Model     string // its name, for people
	Replica   string // names this process among all that share the store
	Log       *slog.Logger
}
