package telegram

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"parley/adapters"
)

// skippedError says that an update is no event.
type skippedError struct {
	Kind  string // Telegram's name for it
	Known bool   // understood, and of no interest
}

func (e *skippedError) Error() string { return "no event: " + e.Kind }

// normalize turns an update into an event. It is pure. Dedupe keys are, by
// what happened:
//
//	m:<chat>:<message>                  a message; one without an id: u:<update>
//	e:<chat>:<message>:<date>:<update>  an edit: several can fall into a second
//	r:<chat>:<message>:<date>:<update>  a reaction
//	c:<query>                           a button
//	j:<chat>:<date>:<update>            the bot's own membership
//	l:<chat>:<user>:<date>              somebody left, or was put out; told as a
//	                                    message, to administrators as an update too
//	g:<old chat>:<new chat>             a migration, told twice by Telegram
//
// They need no update id where the happening has an id of its own, because
// update ids restart after a quiet week.
func normalize(u update, me self) (adapters.Event, error) {
	switch u.Kind {
	case "message", "channel_post":
		return decoded(u, me, fromMessage)
	case "edited_message", "edited_channel_post":
		return decoded(u, me, fromEdit)
	case "message_reaction":
		return decoded(u, me, fromReaction)
	case "callback_query":
		return decoded(u, me, fromButton)
	case "my_chat_member":
		return decoded(u, me, fromMember)
	case "chat_member":
		return decoded(u, me, fromOthers)
	}
	return adapters.Event{}, &skippedError{Kind: u.Kind}
}

func decoded[T any](u update, me self, build func(T, update, self) (adapters.Event, error)) (adapters.Event, error) {
	var body *T
	if err := json.Unmarshal(u.Body, &body); err != nil {
		return adapters.Event{}, fmt.Errorf("update %s: %w", u.Kind, err)
	}
	if body == nil {
		return adapters.Event{}, fmt.Errorf("update %s: empty", u.Kind)
	}
	event, err := build(*body, u, me)
	event.BotName = me.Username
	return event, err
}

var errNoChat = errors.New("it names no chat")

func fromMessage(m message, u update, me self) (adapters.Event, error) {
	if m.Chat == nil {
		return adapters.Event{}, errNoChat
	}
	switch {
	case m.MigrateToChatID != 0:
		return migration(m, m.Chat.ID, m.MigrateToChatID, me), nil
	case m.MigrateFromChatID != 0:
		return migration(m, m.MigrateFromChatID, m.Chat.ID, me), nil
	case m.LeftChatMember != nil:
		return departure(*m.Chat, *m.LeftChatMember, m.Date, me), nil
	}
	event := base(m, me)
	event.Kind = adapters.EventMessage
	event.ID = fmt.Sprintf("m:%d:%d", m.Chat.ID, m.MessageID)
	if m.MessageID == 0 {
		event.ID = fmt.Sprintf("u:%d", u.ID)
	}
	if event.Text == "" && len(event.Attachments) == 0 {
		return adapters.Event{}, emptyMessage(u.Body)
	}
	return event, nil
}

func fromEdit(m message, u update, me self) (adapters.Event, error) {
	if m.Chat == nil {
		return adapters.Event{}, errNoChat
	}
	event := base(m, me)
	event.Kind = adapters.EventEdit
	event.ID = fmt.Sprintf("e:%d:%d:%d:%d", m.Chat.ID, m.MessageID, m.EditDate, u.ID)
	if m.EditDate != 0 {
		event.Time = unix(m.EditDate)
	}
	return event, nil
}

// base fills in what messages and edits share.
func base(m message, me self) adapters.Event {
	text, entities := m.Text, m.Entities
	if text == "" {
		text, entities = m.Caption, m.CaptionEntities
	}
	event := adapters.Event{
		Surface:     surface(*m.Chat, thread(m), me),
		Direct:      m.Chat.Type == "private",
		Title:       title(*m.Chat),
		Sequence:    m.MessageID,
		Sender:      sender(m.From, m.SenderChat, *m.Chat, me),
		MessageID:   strconv.FormatInt(m.MessageID, 10),
		Text:        strings.ToValidUTF8(text, "\uFFFD"),
		Mentioned:   mentions(text, entities, me),
		Attachments: m.attachments(),
		Forwarded:   forwarded(m),
		Time:        unix(m.Date),
	}
	if m.ViaBot != nil {
		event.Via = cmp.Or(m.ViaBot.Username, userName(*m.ViaBot), "a bot")
	}
	if to := m.ReplyToMessage; to != nil && len(to.ForumTopicCreated) == 0 {
		event.ReplyTo = strconv.FormatInt(to.MessageID, 10)
		event.ReplyToBot = to.From != nil && to.From.ID == me.ID
	}
	return event
}

// forwarded says whose words a message carries, if not its sender's.
func forwarded(m message) *adapters.Forward {
	from := m.ForwardOrigin
	switch {
	case from == nil && m.ForwardDate == 0:
		return nil
	case from == nil:
		return &adapters.Forward{Time: unix(m.ForwardDate)}
	}
	out := &adapters.Forward{From: from.SenderName}
	if from.Date != 0 {
		out.Time = unix(from.Date)
	}
	switch {
	case from.SenderUser != nil:
		out.From = userName(*from.SenderUser)
	case from.SenderChat != nil:
		out.From = title(*from.SenderChat)
	case from.Chat != nil:
		out.From = title(*from.Chat)
	}
	if from.Signature != "" {
		out.From = strings.TrimSpace(from.Signature + ", " + out.From)
	}
	return out
}

func thread(m message) string {
	if !m.IsTopicMessage || m.MessageThreadID == 0 {
		return ""
	}
	return strconv.FormatInt(m.MessageThreadID, 10)
}

func surface(c chat, thread string, me self) adapters.Surface {
	return adapters.Surface{
		Platform: adapters.Telegram, Account: me.account(),
		Chat: strconv.FormatInt(c.ID, 10), Thread: thread,
	}
}

func title(c chat) string {
	if c.Title != "" {
		return c.Title
	}
	return fullName(c.FirstName, c.LastName)
}

// sender is who wrote. Where a chat speaks (an anonymous administrator, a
// channel), the user Telegram names is a stand-in that says nothing.
func sender(from *user, as *chat, in chat, me self) adapters.Sender {
	if as != nil || from == nil {
		speaker := in
		if as != nil {
			speaker = *as
		}
		return adapters.Sender{ID: identity(speaker.ID), Name: title(speaker), Unverified: true}
	}
	return adapters.Sender{
		ID:   identity(from.ID),
		Name: userName(*from),
		Bot:  from.IsBot,
		Self: from.ID == me.ID,
	}
}

func identity(id int64) adapters.Identity {
	return adapters.NewIdentity(adapters.Telegram, strconv.FormatInt(id, 10))
}

func userName(u user) string {
	if name := fullName(u.FirstName, u.LastName); name != "" {
		return name
	}
	return u.Username
}

func unix(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

func migration(m message, from, to int64, me self) adapters.Event {
	return adapters.Event{
		Kind:       adapters.EventMigrate,
		ID:         fmt.Sprintf("g:%d:%d", from, to),
		Surface:    surface(chat{ID: from}, "", me),
		MigratedTo: surface(chat{ID: to}, "", me),
		Title:      m.Chat.Title,
		Sender:     sender(m.From, m.SenderChat, *m.Chat, me),
		MessageID:  strconv.FormatInt(m.MessageID, 10),
		Time:       unix(m.Date),
	}
}

// emptyMessage says which kind of message without text or file it was: a
// service message, or something newer than this adapter.
func emptyMessage(body json.RawMessage) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return err
	}
	for _, kind := range []string{
		"new_chat_members", "new_chat_title", "new_chat_photo", "delete_chat_photo",
		"group_chat_created", "supergroup_chat_created", "channel_chat_created", "pinned_message",
		"message_auto_delete_timer_changed", "forum_topic_created", "forum_topic_edited", "forum_topic_closed",
		"forum_topic_reopened", "general_forum_topic_hidden", "general_forum_topic_unhidden",
		"video_chat_scheduled", "video_chat_started", "video_chat_ended", "video_chat_participants_invited",
		"chat_background_set", "boost_added", "write_access_allowed", "users_shared", "chat_shared",
		"gift", "unique_gift", "gift_upgrade_sent", "giveaway_created", "giveaway", "giveaway_winners", "giveaway_completed", "paid_message_price_changed",
		"direct_message_price_changed", "suggested_post_approved", "suggested_post_approval_failed", "suggested_post_declined",
		"suggested_post_paid", "suggested_post_refunded", "proximity_alert_triggered", "checklist_tasks_done", "checklist_tasks_added",
		"successful_payment", "refunded_payment", "connected_website", "passport_data", "web_app_data", "chat_owner_left", "chat_owner_changed",
	} {
		if fields[kind] != nil {
			return &skippedError{Kind: "message." + kind, Known: true}
		}
	}
	return &skippedError{Kind: "message without text: " + unknownFields(fields)}
}
