package slack

import (
	"strings"

	"parley/adapters"
)

// normalizeMessage turns a message, its change or its deletion into an event.
//
// Which message of the bot one answers cannot be told here: Slack's replies
// belong to threads. InBotThread is true in threads that the bot
// began or, where that is asked for, has written in.
func normalizeMessage(outer callback, mention bool, around facts) ([]adapters.Event, error) {
	m, err := decode[message](outer.Event)
	if err != nil {
		return nil, err
	}
	if !isID(m.Channel) {
		return nil, errMalformed
	}
	switch m.Subtype {
	case "", "file_share", "me_message", "thread_broadcast", "bot_message":
		return newMessage(outer.TeamID, m, mention, around)
	case "message_changed":
		return changedMessage(outer.TeamID, m, around)
	case "message_deleted":
		return deletedMessage(outer.TeamID, m, around)
	case "message_replied", "channel_join", "channel_leave", "group_join", "group_leave", "channel_topic", "group_topic",
		"channel_purpose", "group_purpose", "channel_name", "group_name", "channel_archive", "channel_unarchive",
		"group_archive", "group_unarchive", "bot_add", "bot_remove", "pinned_item", "unpinned_item", "reminder_add",
		"channel_posting_permissions", "assistant_app_thread", "tombstone", "joiner_notification", "sh_room_created":
		return nil, errNoUse
	}
	return nil, errUnknownKind
}

func newMessage(team string, m message, mention bool, around facts) ([]adapters.Event, error) {
	if !isTS(m.TS) || m.ThreadTS != "" && !isTS(m.ThreadTS) || !m.hasAuthor() {
		return nil, errMalformed
	}
	event := around.ofMessage(adapters.EventMessage, team, m, m.ChannelType)
	event.ID = "m:" + m.Channel + ":" + m.TS
	event.Sequence, event.Time = sequenceOf(m.TS), timeOf(m.TS)
	event.Attachments = attachments(m.shared())
	if m.ThreadTS != m.TS {
		event.ReplyTo = m.ThreadTS
	}
	event.InBotThread = event.Surface.Thread != "" && (m.ParentUserID == around.me.User || around.inThread)
	event.Mentioned = event.Mentioned || mention
	return []adapters.Event{event}, nil
}

// ofMessage is an event about a message: its place, author and text.
func (f facts) ofMessage(kind adapters.EventKind, team string, m message, channelType string) adapters.Event {
	event := f.base(kind, team, m.Channel, threadOf(m))
	event.Direct = isDirect(m.Channel, channelType)
	event.MessageID = m.TS
	event.Sender = f.author(m)
	event.Text, event.Mentioned = readable(m.Text, f)
	f.passOn(&event, m)
	if event.Direct {
		event.Title = ""
	}
	return event
}

// sharedMax is more messages than Slack passes on in one.
const sharedMax = 10

// passOn adds the messages that this one passes on. Its own words stand before
// them; all of it counts as another's, since a text has one author.
func (f facts) passOn(event *adapters.Event, m message) {
	for _, other := range m.Attachments[:min(len(m.Attachments), sharedMax)] {
		if !other.Share {
			continue
		}
		if event.Forwarded == nil {
			event.Forwarded = &adapters.Forward{From: other.Author}
			if isTS(other.TS) {
				event.Forwarded.Time = timeOf(other.TS)
			}
		}
		text, _ := readable(other.Text, f)
		event.Text = strings.TrimSpace(event.Text + "\n\n" + text)
	}
}

// shared are the files of the messages that m passes on.
func (m message) shared() []file {
	files := m.Files
	for _, other := range m.Attachments[:min(len(m.Attachments), sharedMax)] {
		if other.Share {
			files = append(files, other.Files...)
		}
	}
	return files
}

// threadOf is the thread a message is a reply in. The message a thread hangs
// from is part of the channel.
func threadOf(m message) string {
	if m.ThreadTS == m.TS {
		return ""
	}
	return m.ThreadTS
}

// isDirect reports whether a channel is the bot's own direct chat with one
// person. Slack leaves the type out of app_mention, and delivers no messages
// of direct chats the bot has no part in.
func isDirect(channel, channelType string) bool {
	if channelType != "" {
		return channelType == "im"
	}
	return strings.HasPrefix(channel, "D")
}

func (m message) hasAuthor() bool { return isID(m.User) || isID(m.BotID) }

// author is who wrote a message. A post under a webhook's name says nothing of
// who is behind it.
func (f facts) author(m message) adapters.Sender {
	if !isID(m.User) {
		return adapters.Sender{
			ID: identity(m.BotID), Name: m.Username, Bot: true, Unverified: true,
			Self: m.BotID != "" && m.BotID == f.me.Bot,
		}
	}
	name := m.Profile.DisplayName
	if name == "" {
		name = m.Profile.RealName
	}
	sender := f.sender(m.User, name)
	sender.Bot = sender.Bot || m.BotID != "" || m.Subtype == "bot_message" || isSlackbot(m.User)
	sender.Self = sender.Self || m.BotID != "" && m.BotID == f.me.Bot
	sender.Unverified = m.Subtype == "bot_message" || f.foreign(m.UserTeam)
	return sender
}

// isSlackbot reports whether Slack itself speaks: its notices look like a
// person's messages.
func isSlackbot(user string) bool { return user == "USLACKBOT" || user == "USLACK" }

// foreign reports whether a person belongs to another workspace, in which
// their id may be somebody else's here. An organisation of several workspaces
// has its people's ids in common.
func (f facts) foreign(team string) bool {
	return team != "" && f.me.Team != "" && team != f.me.Team && f.me.Enterprise == ""
}

// changedMessage is an edit. Slack tells of a change also when it only added a
// preview of a link, and of a deletion when a thread hangs from the message.
func changedMessage(team string, m message, around facts) ([]adapters.Event, error) {
	now := m.Message
	if now == nil || !isTS(now.TS) || now.ThreadTS != "" && !isTS(now.ThreadTS) {
		return nil, errMalformed
	}
	if now.Subtype == "tombstone" {
		m.DeletedTS = now.TS
		return deletedMessage(team, m, around)
	}
	if m.Previous != nil && m.Previous.Text == now.Text && len(m.Previous.Files) == len(now.Files) {
		return nil, errNoUse
	}
	if !now.hasAuthor() {
		return nil, errMalformed
	}
	when := m.EventTS
	if now.Edited != nil && isTS(now.Edited.TS) {
		when = now.Edited.TS
	}
	now.Channel = m.Channel
	event := around.ofMessage(adapters.EventEdit, team, *now, m.ChannelType)
	event.ID = "e:" + m.Channel + ":" + now.TS + ":" + when
	event.Sequence, event.Time = sequenceOf(when), timeOf(when)
	event.Attachments = attachments(now.shared())
	return []adapters.Event{event}, nil
}

// deletedMessage is a deletion. Slack does not say who deleted; the sender is
// whose message it was.
func deletedMessage(team string, m message, around facts) ([]adapters.Event, error) {
	if !isTS(m.DeletedTS) || m.Previous == nil || !m.Previous.hasAuthor() {
		return nil, errMalformed
	}
	was := *m.Previous
	was.Channel, was.TS, was.Text = m.Channel, m.DeletedTS, ""
	if was.ThreadTS != "" && !isTS(was.ThreadTS) {
		return nil, errMalformed
	}
	event := around.ofMessage(adapters.EventDelete, team, was, m.ChannelType)
	event.ID = "d:" + m.Channel + ":" + m.DeletedTS
	event.Sequence, event.Time = sequenceOf(m.EventTS), timeOf(m.EventTS)
	return []adapters.Event{event}, nil
}

// attachmentsMax is more files than Slack takes in one message.
const attachmentsMax = 50

func attachments(files []file) []adapters.Attachment {
	var list []adapters.Attachment
	for _, f := range files[:min(len(files), attachmentsMax)] {
		list = append(list, adapters.Attachment{Kind: kindOf(f), Name: f.Name, MIME: f.MIME, Size: max(f.Size, 0), Ref: f.ID})
	}
	return list
}

func kindOf(f file) string {
	major, _, _ := strings.Cut(f.MIME, "/")
	switch {
	case f.Subtype == "slack_audio":
		return "voice"
	case major == "image":
		return "photo"
	case major == "audio", major == "video":
		return major
	case f.MIME == "" && f.Name == "":
		return "other" // one that is gone, or hidden
	}
	return "document"
}
