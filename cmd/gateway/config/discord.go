package config

import (
	"regexp"

	"parley/internal/secret"
)

// DiscordAPIDefault is Discord's own API.
const DiscordAPIDefault = "https://discord.com/api/v10"

var discordToken = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`)

// Discord is the Discord bot.
type Discord struct {
	Token        secret.String `json:"token,omitzero" jsonschema:"The bot's token from the developer portal (Bot, Reset Token). Variable: DISCORD_BOT_TOKEN."`
	APIURL       URL           `json:"api_url,omitempty" jsonschema:"Address of the API, version included; its answer names the socket. Variable: DISCORD_API_URL."`
	RoleMentions bool          `json:"role_mentions,omitempty" jsonschema:"Whether a mention of any role that the bot has asks it for an answer. A mention of the bot's own role always does."`
}

func (d *Discord) fromEnvironment(environ Environ) {
	orSecret(&d.Token, environ.get("DISCORD_BOT_TOKEN"))
	orDefault(&d.APIURL, URL(environ.get("DISCORD_API_URL")))
}

func (d *Discord) defaults() { orDefault(&d.APIURL, DiscordAPIDefault) }

func (d *Discord) off() { d.Token = secret.String{} }

func (d *Discord) check(v *validator) {
	v.webAddress("discord.api_url", d.APIURL)
	if !d.Token.IsZero() && !discordToken.MatchString(d.Token.Reveal()) {
		v.complain("discord.token", "does not look like a bot's token (three parts with dots between, without the word Bot); copy it again from the developer portal, page Bot")
	}
}
