package wiring

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"parley/adapters"
	"parley/adapters/discord"
	"parley/adapters/slack"
	"parley/adapters/telegram"
	"parley/cmd/gateway/config"
)

// Platform is one platform as this program knows it.
type Platform struct {
	ID      adapters.Platform
	Connect string // how a newcomer goes on
	Remedy  string // where its settings cannot be used
	On      func(config.Config) bool
	How     func(config.Config) string // what to add to "on"; nil: nothing
	Open    func(config.Config, adapters.Locker, *slog.Logger) (adapters.Adapter, error)
}

// Platforms are all there are. A new one is one more entry here.
func Platforms() []Platform {
	return []Platform{
		{
			ID:      adapters.Telegram,
			Connect: "Ask @BotFather for a bot, set TELEGRAM_BOT_TOKEN to its token and start again.",
			Remedy:  "copy the token again from @BotFather",
			On:      func(c config.Config) bool { return !c.Telegram.Token.IsZero() },
			Open:    openTelegram,
		},
		{
			ID:      adapters.Discord,
			Connect: "Make an application at https://discord.com/developers/applications, set DISCORD_BOT_TOKEN to its bot's token and start again.",
			Remedy:  "copy the token again from the developer portal, page Bot",
			On:      func(c config.Config) bool { return !c.Discord.Token.IsZero() },
			Open:    openDiscord,
		},
		{
			ID:      adapters.Slack,
			Connect: "Make an app at https://api.slack.com/apps from deploy/slack/manifest.yaml, set SLACK_BOT_TOKEN and SLACK_APP_TOKEN and start again.",
			Remedy:  "copy both tokens again from https://api.slack.com/apps",
			On:      func(c config.Config) bool { return c.Slack.On() },
			How:     slackHears,
			Open:    openSlack,
		},
	}
}

func openTelegram(c config.Config, locker adapters.Locker, log *slog.Logger) (adapters.Adapter, error) {
	return opened(telegram.New(telegram.Config{Token: c.Telegram.Token, APIURL: c.Telegram.APIURL.Reveal(), Logger: log, Locker: locker}))
}

func openDiscord(c config.Config, locker adapters.Locker, log *slog.Logger) (adapters.Adapter, error) {
	return opened(discord.New(discord.Config{Token: c.Discord.Token, APIURL: c.Discord.APIURL.Reveal(), RoleMentions: c.Discord.RoleMentions, Logger: log, Locker: locker}))
}

func openSlack(c config.Config, locker adapters.Locker, log *slog.Logger) (adapters.Adapter, error) {
	s := c.Slack
	return opened(slack.New(slack.Config{
		BotToken: s.BotToken, AppToken: s.AppToken, SigningSecret: s.SigningSecret,
		APIURL: s.APIURL.Reveal(), FollowThreads: c.Groups.ThreadFollow != nil && *c.Groups.ThreadFollow, Logger: log, Locker: locker,
	}))
}

func slackHears(c config.Config) string {
	if c.Slack.SigningSecret.IsZero() {
		return ""
	}
	return ", events over HTTP at " + SlackEvents
}

// opened makes a failed adapter none at all.
func opened[A adapters.Adapter](adapter A, err error) (adapters.Adapter, error) {
	if err != nil {
		return nil, err
	}
	return adapter, nil
}

// NewAdapters builds one adapter for each platform that is configured.
func NewAdapters(c config.Config, locker adapters.Locker, log *slog.Logger) ([]adapters.Adapter, error) {
	var out []adapters.Adapter
	for _, p := range Platforms() {
		if !p.On(c) {
			continue
		}
		adapter, err := p.Open(c, locker, log)
		if err != nil {
			return nil, err
		}
		out = append(out, adapter)
	}
	return out, nil
}

// Connected names the platforms that are configured.
func Connected(c config.Config) []string {
	var out []string
	for _, p := range Platforms() {
		if p.On(c) {
			out = append(out, string(p.ID))
		}
	}
	return out
}

// Known reports whether anybody of the list is a user of the platform.
func (p Platform) Known(list []adapters.Identity) bool {
	for _, identity := range list {
		if strings.HasPrefix(string(identity), string(p.ID)+":") {
			return true
		}
	}
	return false
}

// SlackEvents is where Slack sends events if it is told to do so.
const SlackEvents = "/slack/events"

// Webhooks are the handlers of adapters that hear over HTTP, by their pattern.
func Webhooks(all []adapters.Adapter) map[string]http.Handler {
	out := map[string]http.Handler{}
	for _, adapter := range all {
		if app, ok := adapter.(*slack.Adapter); ok {
			if handler := app.Webhook(); handler != nil {
				out["POST "+SlackEvents] = handler
			}
		}
	}
	return out
}

// DiagnoseTimeout bounds what is asked of the outside at the start and by
// doctor, for one part.
const DiagnoseTimeout = 15 * time.Second

// NameOwner is how a newcomer goes on where a platform has no owner.
const NameOwner = "Send the bot /whoami, put what it prints (%s:…) into GATEWAY_OWNERS and start again."
