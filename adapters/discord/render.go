package discord

import (
	"crypto/sha256"
	"encoding/base64"

	"github.com/bwmarrin/discordgo"

	"parley/adapters"
	"parley/adapters/markdown"
)

// nonceMax is the longest nonce that Discord takes, in characters.
const nonceMax = 25

// post is the body of a new message. The library's type lacks the nonce, by
// which Discord answers a repeated request with the message it already has.
type post struct {
	Content         string                            `json:"content"`
	AllowedMentions *discordgo.MessageAllowedMentions `json:"allowed_mentions"`
	Reference       *discordgo.MessageReference       `json:"message_reference,omitempty"`
	Nonce           string                            `json:"nonce,omitempty"`
	EnforceNonce    bool                              `json:"enforce_nonce,omitempty"`
	Flags           discordgo.MessageFlags            `json:"flags,omitempty"`
}

// edit is the body of a changed message.
type edit struct {
	Content         string                            `json:"content"`
	AllowedMentions *discordgo.MessageAllowedMentions `json:"allowed_mentions"`
	Flags           discordgo.MessageFlags            `json:"flags,omitempty"`
}

// content is the text of a message in Discord's dialect.
func content(m adapters.Outgoing) string {
	if m.Format == adapters.Plain {
		return markdown.DiscordPlain(m.Text)
	}
	return markdown.Discord(m.Text)
}

// renderPost is the request for a new message. Links are not looked up by
// Discord: what a model writes must not make it visit addresses.
func renderPost(m adapters.Outgoing, text string) post {
	out := post{Content: text, AllowedMentions: nobody(), Flags: discordgo.MessageFlagsSuppressEmbeds}
	if m.DeliveryID != "" {
		out.Nonce, out.EnforceNonce = nonce(m.DeliveryID), true
	}
	if isSnowflake(m.ReplyTo) {
		out.Reference = &discordgo.MessageReference{MessageID: m.ReplyTo, FailIfNotExists: new(bool)}
	}
	return out
}

func renderEdit(text string) edit {
	return edit{Content: text, AllowedMentions: nobody(), Flags: discordgo.MessageFlagsSuppressEmbeds}
}

// nobody lets a message ping nobody. An empty list, not none: without one
// Discord pings everybody the text names.
func nobody() *discordgo.MessageAllowedMentions {
	return &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}}
}

// nonce is made of the delivery's id, the same on every attempt.
func nonce(delivery string) string {
	sum := sha256.Sum256([]byte(delivery))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:nonceMax]
}
