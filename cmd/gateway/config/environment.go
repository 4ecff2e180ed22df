package config

import (
	"strings"

	"parley/adapters"
	"parley/internal/secret"
)

// fromEnvironment fills what the file left open from the variables that are
// understood without any file.
func fromEnvironment(c Config, environ Environ) (filled Config, warnings []string) {
	orDefault(&c.Data, environ.get("GATEWAY_DATA"))
	orDefault(&c.Store.URL, URL(environ.get("REDIS_URL")))
	if c.Owners == nil {
		c.Owners = identities(environ.get("GATEWAY_OWNERS"))
	}
	orDefault(&c.Access.DM, DMAccess(environ.get("GATEWAY_ACCESS_DM")))
	orDefault(&c.Access.Groups, GroupAccess(environ.get("GATEWAY_ACCESS_GROUPS")))
	orSecret(&c.Telegram.Token, environ.get("TELEGRAM_BOT_TOKEN"))
	orDefault(&c.Telegram.APIURL, URL(environ.get("TELEGRAM_API_URL")))
	orDefault(&c.HTTP.Listen, environ.get("GATEWAY_LISTEN"))
	orSecret(&c.HTTP.Token, environ.get("GATEWAY_TOKEN"))
	orSecret(&c.Discord.Token, environ.get("DISCORD_BOT_TOKEN"))
	orDefault(&c.Discord.APIURL, URL(environ.get("DISCORD_API_URL")))
	orSecret(&c.Slack.BotToken, environ.get("SLACK_BOT_TOKEN"))
	orSecret(&c.Slack.AppToken, environ.get("SLACK_APP_TOKEN"))
	orSecret(&c.Slack.SigningSecret, environ.get("SLACK_SIGNING_SECRET"))
	orDefault(&c.Slack.APIURL, URL(environ.get("SLACK_API_URL")))
	c.Models, warnings = modelsFromEnvironment(c.Models, environ)
	return c, warnings
}

func orSecret(field *secret.String, value string) {
	if field.IsZero() && value != "" {
		*field = secret.New(value)
	}
}

func identities(list string) []adapters.Identity {
	var out []adapters.Identity
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, adapters.Identity(item))
		}
	}
	return out
}
