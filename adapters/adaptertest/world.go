package adaptertest

import (
	"log/slog"
	"testing"
	"time"

	"parley/adapters"
)

// Place is a platform's own name for a place where people talk; the suite only
// hands it back.
type Place string

// Options are what the suite wants an adapter to be made with.
type Options struct {
	Log    *slog.Logger    // the suite reads every line for secrets
	Locker adapters.Locker // remembers across adapters of one World
}

// Fault is how a platform treats the next message of the bot.
type Fault string

// Faults. RetryAfter is what RateLimited and GlobalLimit ask for.
const (
	RateLimited Fault = "rate limited in this chat"
	GlobalLimit Fault = "rate limited everywhere"
	Gone        Fault = "the chat does not take the bot's messages any more"
	ServerError Fault = "an error of the server"
	Hang        Fault = "no answer"
	Broken      Fault = "the connection breaks before the answer"

	RetryAfter = 7 * time.Second
)

// World is one fake platform with people, and the adapters on it. Functions
// may be nil where they say so.
type World struct {
	// New makes an adapter. A second one is the successor of the first, on
	// another replica or after a restart.
	New func(t *testing.T, options Options) adapters.Adapter

	// Secrets are the plain texts that must never show.
	Secrets []string

	Direct Place // a conversation of one person with the bot
	Group  Place
	Thread Place // within Group; empty where the platform has none

	// Post writes a message as a person and returns the platform's id of it.
	Post func(place Place, text string) string
	// PostMention is Post with a mention of the bot before the text.
	PostMention func(place Place, text string) string
	// PostReply answers a message of the bot; nil: answers are threads, which
	// are places of their own.
	PostReply func(place Place, to, text string) string
	// PostBot writes as another bot; nil: the platform never shows them.
	PostBot func(place Place, text string) string
	// PostUnverified writes as somebody of whom the platform does not say who
	// it is; nil: there is no such thing.
	PostUnverified func(place Place, text string) string
	// Edit changes a message of a person; nil: not told to bots.
	Edit func(place Place, id, text string)
	// Leave takes who writes with Post out of a place, or off its server.
	Leave func(place Place)
	// TellsLeaving is true where the platform tells of it by itself.
	TellsLeaving bool
	// Redeliver delivers the message once more.
	Redeliver func(place Place, id string)
	// Strange sends what no adapter knows: unknown kinds, malformed payloads.
	Strange func()
	// Acknowledged reports whether the platform would not deliver the message
	// again; Await asks whenever the platform has changed.
	Acknowledged func(id string) bool
	// Await returns when done holds, or fails the test after some time.
	Await func(t *testing.T, what string, done func() bool)

	// Shown are the texts of the bot's messages at a place, in order.
	Shown func(place Place) []string
	// Fail makes the next n messages of the bot fail. n may be more than are
	// sent.
	Fail func(fault Fault, n int)

	// LimitsAccount is true where the platform says of a limit that it holds
	// for the whole account.
	LimitsAccount bool

	// Disconnect breaks the receiving connection; it can be made again.
	Disconnect func()
	// Deafen breaks the receiving connection, and it cannot be made again
	// until restored; nil: cannot be done.
	Deafen func() (restore func())
	// Revoke makes the credentials invalid from now on.
	Revoke func()
	// Down ends the platform: nothing listens there any more.
	Down func()
	// Check fails the test for everything that the strict fake disliked; nil:
	// nothing to check.
	Check func(t *testing.T)
}

func (w World) places() map[string]Place {
	places := map[string]Place{"direct": w.Direct, "group": w.Group}
	if w.Thread != "" {
		places["thread"] = w.Thread
	}
	return places
}
