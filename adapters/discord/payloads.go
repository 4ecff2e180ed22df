package discord

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"parley/adapters"
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
	MentionRoles    []string                       `json:"mention_roles"`
	Attachments     []*discordgo.MessageAttachment `json:"attachments"`
	Stickers        []*discordgo.StickerItem       `json:"sticker_items"`
	Reference       *discordgo.MessageReference    `json:"message_reference"`
	Referenced      *struct {
		Author *discordgo.User `json:"author"`
	} `json:"referenced_message"`
	Snapshots []struct {
		Message snapshot `json:"message"`
	} `json:"message_snapshots"`
}

// snapshot is a message that was passed on, without its author.
type snapshot struct {
	Content     string                         `json:"content"`
	Timestamp   time.Time                      `json:"timestamp"`
	Mentions    []*discordgo.User              `json:"mentions"`
	Attachments []*discordgo.MessageAttachment `json:"attachments"`
	Stickers    []*discordgo.StickerItem       `json:"sticker_items"`
}

// passOn puts what was passed on in the place of the message's own content, of
// which Discord allows none.
func (m *message) passOn() *adapters.Forward {
	if m.Reference == nil || m.Reference.Type != discordgo.MessageReferenceTypeForward {
		return nil
	}
	out := &adapters.Forward{}
	var texts []string
	m.Mentions = nil // whoever they name, it is not this message that does
	for i, passed := range m.Snapshots[:min(len(m.Snapshots), snapshotsMax)] {
		said := passed.Message
		if i == 0 {
			out.Time = said.Timestamp
		}
		texts = append(texts, plainText(said.Content, said.Mentions, ""))
		m.Attachments = append(m.Attachments, said.Attachments...)
		m.Stickers = append(m.Stickers, said.Stickers...)
	}
	m.Content = strings.Join(texts, "\n\n")
	return out
}

// snapshotsMax is more messages than Discord passes on in one.
const snapshotsMax = 10

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
	Roles     []string `json:"mention_roles"` // of a message
	ID        string   `json:"id"`
	ChannelID string   `json:"channel_id"`
	GuildID   string   `json:"guild_id"`
}
