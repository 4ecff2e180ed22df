package main

import (
	"context"
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

// platform is one platform as this program knows it.
type platform struct {
	id      adapters.Platform
	title   string
	connect string // how a newcomer goes on
	remedy  string // where its settings cannot be used
	on      func(config.Config) bool
	open    func(config.Config, adapters.Locker, *slog.Logger) (adapters.Adapter, error)
}

// platforms are all there are. A new one is one more entry here.
func platforms() []platform {
	return []platform{
		{
			id: adapters.Telegram, title: "Telegram",
			connect: "Ask @BotFather for a bot, set TELEGRAM_BOT_TOKEN to its token and start again.",
			remedy:  "copy the token again from @BotFather",
			on:      func(c config.Config) bool { return !c.Telegram.Token.IsZero() },
			open:    openTelegram,
		},
		{
			id: adapters.Discord, title: "Discord",
			connect: "Make an application at https://discord.com/developers/applications, set DISCORD_BOT_TOKEN to its bot's token and start again.",
			remedy:  "copy the token again from the developer portal, page Bot",
			on:      func(c config.Config) bool { return !c.Discord.Token.IsZero() },
			open:    openDiscord,
		},
		{
			id: adapters.Slack, title: "Slack",
			connect: "Make an app at https://api.slack.com/apps from deploy/slack/manifest.yaml, set SLACK_BOT_TOKEN and SLACK_APP_TOKEN and start again.",
			remedy:  "copy both tokens again from https://api.slack.com/apps",
			on:      func(c config.Config) bool { return c.Slack.On() },
			open:    openSlack,
		},
	}
}

func openTelegram(c config.Config, locker adapters.Locker, log *slog.Logger) (adapters.Adapter, error) {
	return opened(telegram.New(telegram.Config{Token: c.Telegram.Token, APIURL: c.Telegram.APIURL.Reveal(), Logger: log, Locker: locker}))
}

func openDiscord(c config.Config, locker adapters.Locker, log *slog.Logger) (adapters.Adapter, error) {
	return opened(discord.New(discord.Config{Token: c.Discord.Token, APIURL: c.Discord.APIURL.Reveal(), Logger: log, Locker: locker}))
}

func openSlack(c config.Config, locker adapters.Locker, log *slog.Logger) (adapters.Adapter, error) {
	s := c.Slack
	return opened(slack.New(slack.Config{
		BotToken: s.BotToken, AppToken: s.AppToken, SigningSecret: s.SigningSecret,
		APIURL: s.APIURL.Reveal(), Logger: log, Locker: locker,
	}))
}

// opened makes a failed adapter none at all.
func opened[A adapters.Adapter](adapter A, err error) (adapters.Adapter, error) {
	if err != nil {
		return nil, err
	}
	return adapter, nil
}

// newAdapters builds one adapter for each platform that is configured.
func newAdapters(c config.Config, locker adapters.Locker, log *slog.Logger) ([]adapters.Adapter, error) {
	var out []adapters.Adapter
	for _, p := range platforms() {
		if !p.on(c) {
			continue
		}
		adapter, err := p.open(c, locker, log)
		if err != nil {
			return nil, err
		}
		out = append(out, adapter)
	}
	return out, nil
}

// connected names the platforms that are configured.
func connected(c config.Config) []string {
	var out []string
	for _, p := range platforms() {
		if p.on(c) {
			out = append(out, string(p.id))
		}
	}
	return out
}

// known reports whether anybody of the list is a user of the platform.
func (p platform) known(list []adapters.Identity) bool {
	for _, identity := range list {
		if strings.HasPrefix(string(identity), string(p.id)+":") {
			return true
		}
	}
	return false
}

// slackEvents is where Slack sends events if it is told to do so.
const slackEvents = "/slack/events"

// webhooks are the handlers of adapters that hear over HTTP, by their pattern.
func webhooks(all []adapters.Adapter) map[string]http.Handler {
	out := map[string]http.Handler{}
	for _, adapter := range all {
		if app, ok := adapter.(*slack.Adapter); ok {
			if handler := app.Webhook(); handler != nil {
				out["POST "+slackEvents] = handler
			}
		}
	}
	return out
}

// settleMax bounds the wait for a connection's first success or failure, and
// settleEvery is how often it is looked for.
const (
	settleMax   = 10 * time.Second
	settleEvery = 100 * time.Millisecond
)

// settled waits until the adapter has connected or failed, for a short time,
// and reports whether its credentials may still be good.
func settled(ctx context.Context, adapter adapters.Adapter) bool {
	ctx, cancel := context.WithTimeout(ctx, settleMax)
	defer cancel()
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for adapter.Health().State == adapters.Connecting {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return true
		}
	}
	return adapter.Health().State != adapters.Refused
}

// logFindings tells what would make a platform's bot deaf.
func logFindings(log *slog.Logger, platform string, findings []adapters.Finding) {
	for _, finding := range findings {
		attrs := []any{"platform", platform, "remedy", finding.Remedy}
		switch finding.Level {
		case adapters.LevelProblem:
			log.Error(finding.What, attrs...)
		case adapters.LevelWarning:
			log.Warn(finding.What, attrs...)
		case adapters.LevelUnchecked:
			log.Info("not checked: "+finding.What, attrs...)
		case adapters.LevelOK:
			log.Debug(finding.What, "platform", platform)
		}
	}
}
