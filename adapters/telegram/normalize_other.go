package telegram

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"parley/adapters"
)

// fromReaction: Text is the emoji now set, separated by spaces, empty when all
// were taken away; MessageID is the message reacted to.
func fromReaction(r reactionUpdate, u update, me self) (adapters.Event, error) {
	if r.Chat == nil {
		return adapters.Event{}, errNoChat
	}
	var set []string
	for _, reaction := range r.NewReaction {
		switch {
		case reaction.Emoji != "":
			set = append(set, reaction.Emoji)
		case reaction.CustomEmojiID != "":
			set = append(set, "custom:"+reaction.CustomEmojiID)
		default:
			set = append(set, reaction.Type)
		}
	}
	return adapters.Event{
		Kind:      adapters.EventReaction,
		ID:        fmt.Sprintf("r:%d:%d:%d:%d", r.Chat.ID, r.MessageID, r.Date, u.ID),
		Surface:   surface(*r.Chat, "", me),
		Direct:    r.Chat.Type == "private",
		Title:     title(*r.Chat),
		Sender:    sender(r.User, r.ActorChat, *r.Chat, me),
		MessageID: strconv.FormatInt(r.MessageID, 10),
		Text:      strings.Join(set, " "),
		Time:      unix(r.Date),
	}, nil
}

// fromButton: Text is the button's data, which the client controls; MessageID
// is the message the button stands below.
func fromButton(q callbackQuery, u update, me self) (adapters.Event, error) {
	if q.Message == nil || q.Message.Chat == nil {
		return adapters.Event{}, errNoChat
	}
	id := q.ID
	if id == "" {
		id = fmt.Sprintf("u%d", u.ID)
	}
	return adapters.Event{
		Kind:      adapters.EventButton,
		ID:        "c:" + id,
		Surface:   surface(*q.Message.Chat, thread(*q.Message), me),
		Direct:    q.Message.Chat.Type == "private",
		Title:     title(*q.Message.Chat),
		Sender:    sender(q.From, nil, *q.Message.Chat, me),
		MessageID: strconv.FormatInt(q.Message.MessageID, 10),
		Text:      q.Data,
		Time:      unix(q.Message.Date),
	}, nil
}

// fromMember: Text is the bot's new status in the chat: member, administrator,
// restricted, left or kicked (in a private chat: blocked).
func fromMember(c memberUpdate, u update, me self) (adapters.Event, error) {
	if c.Chat == nil {
		return adapters.Event{}, errNoChat
	}
	return adapters.Event{
		Kind:    adapters.EventMember,
		ID:      fmt.Sprintf("j:%d:%d:%d", c.Chat.ID, c.Date, u.ID),
		Surface: surface(*c.Chat, "", me),
		Direct:  c.Chat.Type == "private",
		Title:   title(*c.Chat),
		Sender:  sender(c.From, nil, *c.Chat, me),
		Text:    c.NewChatMember.Status,
		Time:    unix(c.Date),
	}, nil
}

// fromOthers is what an administrator is told of other members: that somebody
// is not one any more.
func fromOthers(c memberUpdate, _ update, me self) (adapters.Event, error) {
	if c.Chat == nil {
		return adapters.Event{}, errNoChat
	}
	if c.NewChatMember.User == nil || c.NewChatMember.inChat() {
		return adapters.Event{}, &skippedError{Kind: "chat_member." + c.NewChatMember.Status, Known: true}
	}
	return departure(*c.Chat, *c.NewChatMember.User, c.Date, me), nil
}

// departure is somebody's who left a chat, or was put out of it.
func departure(from chat, who user, date int64, me self) adapters.Event {
	return adapters.Event{
		Kind:    adapters.EventLeft,
		ID:      fmt.Sprintf("l:%d:%d:%d", from.ID, who.ID, date),
		Surface: surface(from, "", me),
		Title:   title(from),
		Sender:  sender(&who, nil, from, me),
		Time:    unix(date),
	}
}

// unknownFields names the fields of a message that are not part of every one,
// at most three.
func unknownFields(fields map[string]json.RawMessage) string {
	const namedMax = 3
	for _, common := range []string{"message_id", "from", "sender_chat", "date", "chat", "message_thread_id", "is_topic_message", "reply_to_message", "edit_date"} {
		delete(fields, common)
	}
	names := slices.Sorted(maps.Keys(fields))
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names[:min(len(names), namedMax)], ", ")
}
