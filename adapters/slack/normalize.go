package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley/adapters"
)

// Why something delivered goes no further.
var (
	errUnknownKind = errors.New("this kind is not known")
	errNoUse       = errors.New("this changes nothing for a conversation")
	errMalformed   = errors.New("this lacks what its kind always has")
	errElsewhere   = errors.New("this belongs to another installation of the app")
)

// facts is what is known around a delivery.
type facts struct {
	me       self
	users    map[string]string  // names by id
	channels map[string]channel // by id
	inThread bool               // the bot has written in the message's thread
	now      time.Time          // the time of what Slack gives none
}

// normalized is what became of a delivery: events, or why there are none.
type normalized struct {
	events []adapters.Event
	kind   string // Slack's own name for it, for the log
	// delivery is the same each time Slack delivers this payload.
	delivery string
}

// normalize turns what Slack delivered into events. Pure. The error is one of
// the four above, or wraps what the JSON decoder said.
//
// Slack tells of a message that mentions the bot twice, as message and as
// app_mention, with two event ids. Both become one event with one id, made of
// channel and timestamp, and each carries all that its payload has. Which of
// them comes first is chance; that the later one's files are not lost is up
// to whoever dedupes.
func normalize(in incoming, around facts) (normalized, error) {
	out := normalized{kind: in.kind}
	err := errUnknownKind
	switch in.kind {
	case kindEvents:
		out, err = normalizeCallback(in.payload, around)
	case kindCommand:
		out, err = normalizeCommand(in.payload, around)
	case kindInteractive:
		out, err = normalizeInteraction(in.payload, around)
	}
	for _, event := range out.events {
		if len(event.ID) > eventIDMax {
			return normalized{kind: out.kind}, errMalformed
		}
		if out.delivery == "" {
			out.delivery = event.ID
		}
	}
	return out, err
}

// eventIDMax bounds an event's id in bytes: it becomes a key of the store.
const eventIDMax = 512

func normalizeCallback(payload json.RawMessage, around facts) (normalized, error) {
	var outer callback
	if err := json.Unmarshal(payload, &outer); err != nil {
		return normalized{kind: kindEvents}, err
	}
	if outer.Type != "event_callback" {
		return normalized{kind: outer.Type}, errUnknownKind
	}
	var kind head
	if err := json.Unmarshal(outer.Event, &kind); err != nil {
		return normalized{kind: outer.Type}, err
	}
	name := kind.Type
	if kind.Subtype != "" {
		name += "/" + kind.Subtype
	}
	if elsewhere(outer, around.me) {
		return normalized{kind: name}, errElsewhere
	}
	events, err := normalizeEvent(kind, outer, around)
	return normalized{events: events, kind: name, delivery: outer.EventID}, err
}

// elsewhere reports whether an event was delivered for another workspace's
// installation of the app: its own token would be needed to answer.
func elsewhere(outer callback, me self) bool {
	for _, authorized := range outer.Authorizations {
		if authorized.UserID == me.User || authorized.TeamID == me.Team {
			return false
		}
	}
	return len(outer.Authorizations) > 0 || outer.TeamID != "" && me.Team != "" && outer.TeamID != me.Team && me.Enterprise == ""
}

func normalizeEvent(kind head, outer callback, around facts) ([]adapters.Event, error) {
	switch kind.Type {
	case "message", "app_mention":
		return normalizeMessage(outer, kind.Type == "app_mention", around)
	case "reaction_added", "reaction_removed":
		return normalizeReaction(outer, kind.Type == "reaction_added", around)
	case "member_joined_channel", "member_left_channel":
		return normalizeMember(outer, kind.Type == "member_joined_channel", around)
	case "channel_id_changed":
		return normalizeMigration(outer, around)
	case "app_home_opened", "app_uninstalled", "tokens_revoked", "channel_rename", "channel_archive", "channel_unarchive", "app_rate_limited":
		return nil, errNoUse
	}
	return nil, errUnknownKind
}

// surface is a place in this workspace.
func (f facts) surface(chat, thread string) adapters.Surface {
	return adapters.Surface{Platform: adapters.Slack, Account: f.me.User, Chat: chat, Thread: thread}
}

// base is an event with its place filled in.
func (f facts) base(kind adapters.EventKind, team, chat, thread string) adapters.Event {
	event := adapters.Event{
		Kind: kind, Surface: f.surface(chat, thread), Workspace: team, BotName: f.me.Name,
		Direct: f.channels[chat].ours(f.me),
	}
	if name := f.channels[chat].Name; name != "" {
		event.Title = "#" + name
	}
	return event
}

// sender is a person, or the bot itself.
func (f facts) sender(user, name string) adapters.Sender {
	if known := f.users[user]; known != "" {
		name = known
	}
	self := user == f.me.User
	return adapters.Sender{ID: identity(user), Name: name, Self: self, Bot: self}
}

func decode[T any](raw json.RawMessage) (T, error) {
	var value T
	if err := json.Unmarshal(raw, &value); err != nil {
		return value, fmt.Errorf("%w: %w", errMalformed, err)
	}
	return value, nil
}
