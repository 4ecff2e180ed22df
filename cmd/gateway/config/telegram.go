package config

import (
	"regexp"

	"parley/internal/secret"
)

// TelegramAPIDefault is Telegram's own Bot API server.
const TelegramAPIDefault = "https://api.telegram.org"

var telegramToken = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`)

// TelegramMode says how updates are received.
type TelegramMode string

// TelegramPolling asks Telegram for updates; it needs no public address.
const TelegramPolling TelegramMode = "polling"

// Telegram is the Telegram bot.
type Telegram struct {
	Token  secret.String `json:"token,omitzero" jsonschema:"The bot's token from @BotFather. Variable: TELEGRAM_BOT_TOKEN."`
	APIURL URL           `json:"api_url,omitempty" jsonschema:"Address of a self-hosted Bot API server. Variable: TELEGRAM_API_URL."`
	Mode   TelegramMode  `json:"mode,omitempty" jsonschema:"How updates are received: polling."`
}

func (t *Telegram) fromEnvironment(environ Environ) {
	orSecret(&t.Token, environ.get("TELEGRAM_BOT_TOKEN"))
	orDefault(&t.APIURL, URL(environ.get("TELEGRAM_API_URL")))
}

func (t *Telegram) defaults() {
	orDefault(&t.APIURL, TelegramAPIDefault)
	orDefault(&t.Mode, TelegramPolling)
}

func (t *Telegram) off() { t.Token = secret.String{} }

func (t *Telegram) check(v *validator) {
	if t.Mode != TelegramPolling {
		v.complain("telegram.mode", "%q is not possible; this version of the gateway only knows polling", t.Mode)
	}
	v.webAddress("telegram.api_url", t.APIURL)
	if !t.Token.IsZero() && !telegramToken.MatchString(t.Token.Reveal()) {
		v.complain("telegram.token", "does not look like a token of @BotFather (digits, a colon, letters); copy it again")
	}
}
