package discord

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"parley/adapters"
)

// Why an event goes no further.
var (
	errUnknownKind = errors.New("this kind of event is not known")
	errNoUse       = errors.New("this event changes nothing for a conversation")
	errMalformed   = errors.New("the event lacks what its kind always has")
)

// dispatched is one event as it came.
type dispatched struct {
	kind    string // Discord's name, as MESSAGE_CREATE
	data    json.RawMessage
	session string
	seq     int64
}

// scene is what is known around an event.
type scene struct {
	me        identity
	place     place
	guild     string   // the server's name, where known
	roles     []string // by which the bot is named here
	reference string   // of an interaction that was answered in time; else empty
}

// normalize turns what Discord sent into events. Pure. The error is one of the
// three above, or wraps what the JSON decoder said.
func normalize(in dispatched, around scene) ([]adapters.Event, error) {
	switch in.kind {
	case "MESSAGE_CREATE", "MESSAGE_UPDATE":
		return normalizeMessage(in, around)
	case "MESSAGE_DELETE", "MESSAGE_DELETE_BULK":
		return normalizeDeletion(in, around)
	case "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE":
		return normalizeReaction(in, around)
	case "INTERACTION_CREATE":
		return normalizeInteraction(in, around)
	}
	return nil, errUnknownKind
}

// base is an event with its place filled in.
func (s scene) base(kind adapters.EventKind, channel, guild string) adapters.Event {
	event := adapters.Event{
		Kind: kind, Surface: adapters.Surface{Platform: adapters.Discord, Account: s.me.user, Chat: channel},
		Direct: guild == "", Workspace: guild, BotName: s.me.name, Title: title(s),
	}
	if s.place.Parent != "" {
		event.Surface.Chat, event.Surface.Thread = s.place.Parent, channel
		event.InBotThread = s.place.HasBot
	}
	return event
}

func title(s scene) string {
	switch {
	case s.place.Name == "":
		return s.guild
	case s.guild == "":
		return "#" + s.place.Name
	}
	return s.guild + " #" + s.place.Name
}

func normalizeMessage(in dispatched, around scene) ([]adapters.Event, error) {
	var m message
	if err := json.Unmarshal(in.data, &m); err != nil {
		return nil, err
	}
	if !isSnowflake(m.ID) || !isSnowflake(m.ChannelID) {
		return nil, errMalformed
	}
	event := around.base(adapters.EventMessage, m.ChannelID, m.GuildID)
	event.ID, event.Time, event.Sequence = "m:"+m.ID, m.Timestamp, sequenceOf(m.ID)
	if in.kind == "MESSAGE_UPDATE" {
		if m.EditedTimestamp == nil {
			return nil, errNoUse // Discord added a preview, pinned it, and the like
		}
		event.Kind, event.Time, event.Sequence = adapters.EventEdit, *m.EditedTimestamp, 0
		event.ID = "e:" + m.ID + ":" + strconv.FormatInt(m.EditedTimestamp.UnixMicro(), 10)
	}
	event.MessageID = m.ID
	event.Sender = messageSender(m, around.me)
	event.Forwarded = m.passOn()
	m.nameBot(around)
	event.Attachments = attachments(m)
	event.Text = plainText(m.Content, m.Mentions, around.me.user)
	addressed(&event, m, around.me)
	return []adapters.Event{event}, nil
}

// addressed finds whether the message is for the bot. A reply carries its
// author among the mentions by itself, so there only a written mention counts.
func addressed(event *adapters.Event, m message, me identity) {
	if m.Reference != nil && m.Reference.Type == discordgo.MessageReferenceTypeDefault {
		event.ReplyTo = m.Reference.MessageID
	}
	event.ReplyToBot = event.ReplyTo != "" && m.Referenced != nil && m.Referenced.Author != nil && m.Referenced.Author.ID == me.user
	for _, user := range m.Mentions {
		if user != nil && user.ID == me.user {
			event.Mentioned = !event.ReplyToBot || writtenMention(m.Content, me.user)
		}
	}
}

// messageSender says who wrote a message. What Discord itself or a webhook
// writes has nobody behind it who could be trusted.
func messageSender(m message, me identity) adapters.Sender {
	if m.Author == nil || m.Author.ID == "" {
		return adapters.Sender{Unverified: true}
	}
	sender := senderOf(m.Author, m.Member, me)
	if m.WebhookID != "" {
		sender.Bot, sender.Unverified = true, !sender.Self
	}
	if !fromPerson(m.Type) {
		sender.Unverified = true
	}
	return sender
}

// fromPerson reports whether messages of the type are written by their author.
func fromPerson(kind discordgo.MessageType) bool {
	switch kind {
	case discordgo.MessageTypeDefault, discordgo.MessageTypeReply,
		discordgo.MessageTypeChatInputCommand, discordgo.MessageTypeContextMenuCommand:
		return true
	}
	return false
}

func senderOf(user *discordgo.User, in *member, me identity) adapters.Sender {
	return adapters.Sender{
		ID: adapters.NewIdentity(adapters.Discord, user.ID), Name: displayName(user, in),
		Bot: user.Bot, Self: user.ID == me.user, Unverified: user.System,
	}
}

func displayName(user *discordgo.User, in *member) string {
	switch {
	case in != nil && in.Nick != "":
		return in.Nick
	case user.GlobalName != "":
		return user.GlobalName
	}
	return user.Username
}

func normalizeDeletion(in dispatched, around scene) ([]adapters.Event, error) {
	var d deletion
	if err := json.Unmarshal(in.data, &d); err != nil {
		return nil, err
	}
	if d.ID != "" {
		d.IDs = append(d.IDs, d.ID)
	}
	if !isSnowflake(d.ChannelID) || len(d.IDs) == 0 {
		return nil, errMalformed
	}
	events := make([]adapters.Event, 0, len(d.IDs))
	for _, id := range d.IDs {
		event := around.base(adapters.EventDelete, d.ChannelID, d.GuildID)
		event.ID, event.MessageID = "d:"+id, id
		event.Sender.Unverified = true // Discord does not say who deleted it
		events = append(events, event)
	}
	return events, nil
}

func normalizeReaction(in dispatched, around scene) ([]adapters.Event, error) {
	var r reaction
	if err := json.Unmarshal(in.data, &r); err != nil {
		return nil, err
	}
	if !isSnowflake(r.ChannelID) || !isSnowflake(r.UserID) || r.MessageID == "" {
		return nil, errMalformed
	}
	event := around.base(adapters.EventReaction, r.ChannelID, r.GuildID)
	event.ID = "s:" + in.session + ":" + strconv.FormatInt(in.seq, 10) // a reaction has no id of its own
	event.MessageID = r.MessageID
	if in.kind == "MESSAGE_REACTION_ADD" {
		event.Text = r.Emoji.Name // a reaction that was taken back has none
	}
	user := &discordgo.User{ID: r.UserID}
	if r.Member != nil && r.Member.User != nil {
		user = r.Member.User
		user.ID = r.UserID
	}
	event.Sender = senderOf(user, r.Member, around.me)
	return []adapters.Event{event}, nil
}

// isSnowflake reports whether id can be one of Discord's ids.
func isSnowflake(id string) bool {
	n, err := strconv.ParseInt(id, 10, 64)
	return err == nil && n > 0 && id[0] != '+'
}

// sequenceOf is the order that Discord's ids carry within themselves.
func sequenceOf(id string) int64 {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// timeOf is the time within an id.
func timeOf(id string) time.Time {
	t, err := discordgo.SnowflakeTimestamp(id)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
