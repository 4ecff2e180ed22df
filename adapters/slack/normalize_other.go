package slack

import (
	"encoding/json"
	"strings"
	"unicode"

	"parley/adapters"
)

// normalizeReaction: Text is the reaction's name, and empty for one that was
// taken back. Slack does not say in which thread the message stands.
func normalizeReaction(outer callback, added bool, around facts) ([]adapters.Event, error) {
	r, err := decode[reaction](outer.Event)
	if err != nil {
		return nil, err
	}
	if r.Item.Type != "message" {
		return nil, errNoUse // a reaction to a file
	}
	if !isID(r.User) || !isID(r.Item.Channel) || !isTS(r.Item.TS) || r.Reaction == "" {
		return nil, errMalformed
	}
	event := around.base(adapters.EventReaction, outer.TeamID, r.Item.Channel, "")
	event.Direct = isDirect(r.Item.Channel, "")
	event.ID = strings.Join([]string{"r", r.Item.Channel, r.Item.TS, r.User, r.Reaction, r.EventTS}, ":")
	event.Sender = around.sender(r.User, "")
	event.MessageID = r.Item.TS
	event.Sequence, event.Time = sequenceOf(r.EventTS), timeOf(r.EventTS)
	if added {
		event.Text = r.Reaction
	}
	return []adapters.Event{event}, nil
}

// normalizeMember: of who joined, Text is "joined".
func normalizeMember(outer callback, joined bool, around facts) ([]adapters.Event, error) {
	m, err := decode[membership](outer.Event)
	if err != nil {
		return nil, err
	}
	if !isID(m.User) || !isID(m.Channel) {
		return nil, errMalformed
	}
	event := around.base(adapters.EventLeft, outer.TeamID, m.Channel, "")
	event.Direct = false
	change := "left"
	if joined {
		change = "joined"
		event.Kind, event.Text = adapters.EventMember, change
	}
	event.ID = strings.Join([]string{"u", m.Channel, m.User, change, m.EventTS}, ":")
	event.Sender = around.sender(m.User, "")
	event.Sequence, event.Time = sequenceOf(m.EventTS), timeOf(m.EventTS)
	return []adapters.Event{event}, nil
}

// normalizeMigration: a channel that is shared with another workspace can get
// a new id.
func normalizeMigration(outer callback, around facts) ([]adapters.Event, error) {
	c, err := decode[channelChange](outer.Event)
	if err != nil {
		return nil, err
	}
	if !isID(c.Old) || !isID(c.New) {
		return nil, errMalformed
	}
	event := around.base(adapters.EventMigrate, outer.TeamID, c.Old, "")
	event.Direct = false
	event.ID = "x:" + c.Old + ":" + c.New
	event.Time = timeOf(c.EventTS)
	event.MigratedTo = around.surface(c.New, "")
	return []adapters.Event{event}, nil
}

// normalizeCommand is a slash command. It names no thread, also when it was
// typed in one. Direct needs the channel to be known as the bot's own: the
// channel of two people's chat looks the same. Slack gives it no time; it is the
// one of its arrival.
func normalizeCommand(payload json.RawMessage, around facts) (normalized, error) {
	out := normalized{kind: kindCommand}
	c, err := decode[command](payload)
	if err != nil {
		return out, err
	}
	name := strings.ToLower(strings.TrimPrefix(c.Command, "/"))
	if !isID(c.UserID) || !isID(c.ChannelID) || name == "" || name == c.Command || c.TriggerID == "" {
		return out, errMalformed
	}
	event := around.base(adapters.EventMessage, c.TeamID, c.ChannelID, "")
	event.ID, event.Time = "c:"+c.TriggerID, around.now
	event.Sender = around.sender(c.UserID, c.UserName)
	args, _ := readable(c.Text, around)
	event.Command = under(name, strings.TrimSpace(args), around.me)
	event.Text = strings.TrimSpace("/" + event.Command.Name + " " + event.Command.Args)
	out.events = []adapters.Event{event}
	return out, nil
}

// under resolves the umbrella command, which may also be called as the bot is:
// its first word is the command, and without one it asks for help.
func under(name, args string, me self) *adapters.NativeCommand {
	if name != UmbrellaCommand && !strings.EqualFold(name, me.Name) {
		return &adapters.NativeCommand{Name: name, Args: args}
	}
	first, rest := args, ""
	if i := strings.IndexFunc(args, unicode.IsSpace); i >= 0 {
		first, rest = args[:i], strings.TrimSpace(args[i:])
	}
	first = strings.ToLower(strings.TrimPrefix(first, "/"))
	if first == "" {
		first = "help"
	}
	return &adapters.NativeCommand{Name: first, Args: rest}
}

// normalizeInteraction: Text is a button's value, which the person who pressed
// it controls; MessageID is the message that has the button.
func normalizeInteraction(payload json.RawMessage, around facts) (normalized, error) {
	i, err := decode[interaction](payload)
	out := normalized{kind: kindInteractive + "/" + i.Type}
	if err != nil {
		return out, err
	}
	if i.Type != "block_actions" {
		return out, errUnknownKind
	}
	chat := i.Container.ChannelID
	if chat == "" {
		chat = i.Channel.ID
	}
	if !isID(i.User.ID) || !isID(chat) || !isTS(i.Container.MessageTS) || len(i.Actions) == 0 {
		return out, errMalformed
	}
	thread := threadOf(message{TS: i.Container.MessageTS, ThreadTS: i.Container.ThreadTS})
	if thread != "" && !isTS(thread) {
		return out, errMalformed
	}
	for _, action := range i.Actions[:min(len(i.Actions), actionsMax)] {
		event := around.base(adapters.EventButton, i.Team.ID, chat, thread)
		event.Direct = isDirect(chat, "")
		event.ID = strings.Join([]string{"b", chat, i.Container.MessageTS, i.User.ID, action.ActionID, action.ActionTS}, ":")
		event.Sender = around.sender(i.User.ID, i.User.Name)
		event.MessageID = i.Container.MessageTS
		event.Text = action.Value
		event.Sequence, event.Time = sequenceOf(action.ActionTS), timeOf(action.ActionTS)
		out.events = append(out.events, event)
	}
	return out, nil
}

// actionsMax bounds the actions of one interaction; Slack sends one.
const actionsMax = 25
