package adapters

import (
	"strings"
	"time"
)

// EventKind says what happened.
type EventKind string

// The kinds of event. A platform happening that fits none is logged by its
// adapter with the platform's own name for it, and goes no further.
const (
	EventMessage  EventKind = "message"
	EventEdit     EventKind = "edit"
	EventDelete   EventKind = "delete"
	EventReaction EventKind = "reaction"
	EventButton   EventKind = "button"
	EventMember   EventKind = "member"
	EventLeft     EventKind = "left"    // Sender is not in the chat any more, by whatever cause
	EventMigrate  EventKind = "migrate" // the chat got a new id: see Event.MigratedTo
)

// Identity is one account of one person: platform:user, as in
// "telegram:12345". It is made of the platform's immutable id, never a name.
type Identity string

// NewIdentity joins a platform and the platform's own id of a user.
func NewIdentity(platform Platform, user string) Identity {
	return Identity(escapePart(string(platform)) + ":" + escapePart(user))
}

// User is the platform's own id in an identity of that platform; empty for
// every other identity.
func (i Identity) User(platform Platform) string {
	rest, found := strings.CutPrefix(string(i), escapePart(string(platform))+":")
	if !found {
		return ""
	}
	user, err := unescapePart(rest)
	if err != nil {
		return ""
	}
	return user
}

// Sender is who caused an event.
type Sender struct {
	ID   Identity
	Name string // display name, raw: whoever shows it to a model neutralises it
	Bot  bool   // a bot, ours or another
	Self bool   // this very bot
	// Unverified is true where the platform does not say who really spoke: an
	// anonymous administrator, a channel post, a webhook. Access denies it.
	Unverified bool
}

// Attachment is a file that came with a message.
type Attachment struct {
	Kind string `json:"kind"` // photo, voice, audio, video, document, sticker, location, contact, other
	Name string `json:"name,omitempty"`
	MIME string `json:"mime,omitempty"`
	Size int64  `json:"size,omitempty"` // bytes, 0 where unknown
	Ref  string `json:"ref,omitempty"`  // the platform's own id of the file; never a URL with a token
}

// Forward is where the words of a message come from that its sender only
// passed on.
type Forward struct {
	From string    // display name of a person, chat or channel, raw; empty where the platform hides it
	Time time.Time // when it was said there; zero where the platform does not tell
}

// Event is one normalized inbound happening. It is a value: an adapter hands
// it over and keeps no part of it.
type Event struct {
	Kind    EventKind
	ID      string // the dedupe key: equal for every delivery of the same happening, unique within Surface.Platform and Surface.Account
	Surface Surface
	// Direct is true in a conversation of one person with the bot. Everything
	// that is not known to be direct is a group.
	Direct    bool
	Title     string // the chat's name, for people
	Workspace string // Slack team, Discord guild, terminal's working directory
	BotName   string // this bot's @name on the platform, without the @; empty where it has none
	Sender    Sender
	MessageID string // the platform's id of the message
	Sequence  int64  // the platform's own order within the surface, where it has one; else 0
	Text      string // text or caption, raw but for mention markup where the platform's rules say so
	ReplyTo   string // MessageID of the message this one answers
	// Mentioned is true when the message names this bot, by the platform's own
	// rules, and ReplyToBot when it answers one of the bot's messages.
	Mentioned  bool
	ReplyToBot bool
	// InBotThread is true for a message in a thread that the bot takes part in.
	InBotThread bool
	// Command is set where the platform itself says that the message is a
	// command for this bot (a slash command). Text commands are found by routing.
	Command     *NativeCommand
	Attachments []Attachment
	// Forwarded is set where Text was said by somebody else and only passed on.
	// Via names the bot that wrote Text for its sender (an inline bot), without
	// the @. Either way the words are not the sender's own: routing gives them
	// none of the sender's rights.
	Forwarded  *Forward
	Via        string
	Time       time.Time // the platform's time
	MigratedTo Surface   // EventMigrate: the surface's new name
}

// NativeCommand is a command the platform delivered as such.
type NativeCommand struct {
	Name string // without slash, lower case
	Args string
}
