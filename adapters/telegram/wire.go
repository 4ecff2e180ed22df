package telegram

import (
	"encoding/json"
	"errors"
	"slices"
)

// The shapes of what Telegram sends, as far as events need them. They are our
// own, because the library's lack topics, reactions and much else.

type update struct {
	ID   int64
	Kind string // message, callback_query, …: the update's other field
	Body json.RawMessage
}

// decodeUpdate reads an update's id and kind, and nothing that could make one
// bad field stop the others.
func decodeUpdate(raw json.RawMessage) (update, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return update{}, err
	}
	var id *int64
	if err := json.Unmarshal(fields["update_id"], &id); err != nil || id == nil {
		return update{}, errors.Join(errors.New("no update_id"), err)
	}
	delete(fields, "update_id")
	kinds := make([]string, 0, len(fields))
	for kind := range fields {
		kinds = append(kinds, kind)
	}
	if len(kinds) == 0 {
		return update{ID: *id, Kind: "empty"}, nil
	}
	kind := slices.Min(kinds)
	return update{ID: *id, Kind: kind, Body: fields[kind]}, nil
}

type user struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Username  string `json:"username"`
}

type chat struct {
	ID        int64  `json:"id"`
	Type      string `json:"type"`
	Title     string `json:"title"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Username  string `json:"username"`
}

type entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"` // UTF-16 code units
	Length int    `json:"length"`
	User   *user  `json:"user"`
}

type message struct {
	MessageID         int64           `json:"message_id"`
	MessageThreadID   int64           `json:"message_thread_id"`
	IsTopicMessage    bool            `json:"is_topic_message"`
	From              *user           `json:"from"`
	SenderChat        *chat           `json:"sender_chat"`
	Date              int64           `json:"date"`
	EditDate          int64           `json:"edit_date"`
	Chat              *chat           `json:"chat"`
	ReplyToMessage    *message        `json:"reply_to_message"`
	Text              string          `json:"text"`
	Entities          []entity        `json:"entities"`
	Caption           string          `json:"caption"`
	CaptionEntities   []entity        `json:"caption_entities"`
	MigrateToChatID   int64           `json:"migrate_to_chat_id"`
	MigrateFromChatID int64           `json:"migrate_from_chat_id"`
	LeftChatMember    *user           `json:"left_chat_member"`
	ForumTopicCreated json.RawMessage `json:"forum_topic_created"`
	ForwardOrigin     *origin         `json:"forward_origin"`
	ForwardDate       int64           `json:"forward_date"` // of servers that know no origin
	ViaBot            *user           `json:"via_bot"`
	media
}

// origin is where a forwarded message was said: by a user, by one who hides,
// in a chat, or in a channel.
type origin struct {
	Date       int64  `json:"date"`
	SenderUser *user  `json:"sender_user"`
	SenderName string `json:"sender_user_name"`
	SenderChat *chat  `json:"sender_chat"`
	Chat       *chat  `json:"chat"`
	Signature  string `json:"author_signature"`
}

type reactionUpdate struct {
	Chat        *chat `json:"chat"`
	MessageID   int64 `json:"message_id"`
	User        *user `json:"user"`
	ActorChat   *chat `json:"actor_chat"`
	Date        int64 `json:"date"`
	NewReaction []struct {
		Type          string `json:"type"`
		Emoji         string `json:"emoji"`
		CustomEmojiID string `json:"custom_emoji_id"`
	} `json:"new_reaction"`
}

type callbackQuery struct {
	ID      string   `json:"id"`
	From    *user    `json:"from"`
	Message *message `json:"message"`
	Data    string   `json:"data"`
}

type memberUpdate struct {
	Chat          *chat      `json:"chat"`
	From          *user      `json:"from"`
	Date          int64      `json:"date"`
	NewChatMember chatMember `json:"new_chat_member"`
}
