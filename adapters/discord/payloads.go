package discord

import (
	"encoding/json"
	"time"

	"github.com/bwmarrin/discordgo"
)

// The payloads are narrower than the library's types on purpose: those refuse
// a whole message for one component they do not know, and new kinds of
// component appear without notice.

// message is what is read of MESSAGE_CREATE and MESSAGE_UPDATE.
type message struct {
	ID              string                         `json:"id"`
	ChannelID       string                         `json:"channel_id"`
	GuildID         string                         `json:"guild_id"`
	Type            discordgo.MessageType          `json:"type"`
	Content         string                         `json:"content"`
	Timestamp       time.Time                      `json:"timestamp"`
	EditedTimestamp *time.Time                     `json:"edited_timestamp"`
	Author          *discordgo.User                `json:"author"`
	Member          *member                        `json:"member"`
	WebhookID       string                         `json:"webhook_id"`
	Mentions        []*discordgo.User              `json:"mentions"`
	Attachments     []*discordgo.MessageAttachment `json:"attachments"`
	Stickers        []*discordgo.StickerItem       `json:"sticker_items"`
	Reference       *discordgo.MessageReference    `json:"message_reference"`
	Referenced      *struct {
		Author *discordgo.User `json:"author"`
	} `json:"referenced_message"`
}

// member is a person's place in a server.
type member struct {
	Nick string          `json:"nick"`
	User *discordgo.User `json:"user"`
}

// deletion is MESSAGE_DELETE and MESSAGE_DELETE_BULK.
type deletion struct {
	ID        string   `json:"id"`
	IDs       []string `json:"ids"`
	ChannelID string   `json:"channel_id"`
	GuildID   string   `json:"guild_id"`
}

// reaction is MESSAGE_REACTION_ADD and MESSAGE_REACTION_REMOVE.
type reaction struct {
	UserID    string          `json:"user_id"`
	ChannelID string          `json:"channel_id"`
	MessageID string          `json:"message_id"`
	GuildID   string          `json:"guild_id"`
	Member    *member         `json:"member"`
	Emoji     discordgo.Emoji `json:"emoji"`
}

// interaction is INTERACTION_CREATE.
type interaction struct {
	ID        string                    `json:"id"`
	Type      discordgo.InteractionType `json:"type"`
	Token     string                    `json:"token"`
	ChannelID string                    `json:"channel_id"`
	GuildID   string                    `json:"guild_id"`
	Context   *uint                     `json:"context"`
	Channel   *struct {
		Type discordgo.ChannelType `json:"type"`
	} `json:"channel"`
	Member  *member         `json:"member"`
	User    *discordgo.User `json:"user"`
	Message *struct {
		ID string `json:"id"`
	} `json:"message"`
	Data interactionData `json:"data"`
}

type interactionData struct {
	Name     string            `json:"name"` // of a command
	Type     uint8             `json:"type"` // of the command: 1 is a slash command
	Options  []json.RawMessage `json:"options"`
	CustomID string            `json:"custom_id"` // of a component
	Values   []string          `json:"values"`
}

// where is the part that all events of a channel have.
type where struct {
	ID        string `json:"id"`
	ChannelID string `json:"channel_id"`
	GuildID   string `json:"guild_id"`
}
