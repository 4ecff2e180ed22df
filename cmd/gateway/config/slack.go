package config

import (
	"regexp"
	"strings"

	"parley/internal/secret"
)

// SlackAPIDefault is Slack's own Web API.
const SlackAPIDefault = "https://slack.com/api/"

var slackToken = regexp.MustCompile(`^(xoxb|xapp)-[A-Za-z0-9-]+$`)

// signingSecretMin is the least length of a signing secret that is not a
// mistake; Slack's have 32 characters.
const signingSecretMin = 32

// Slack is the Slack app. It hears over a socket (AppToken), over signed HTTP
// requests to /slack/events (SigningSecret), or both.
type Slack struct {
	BotToken      secret.String `json:"bot_token,omitzero" jsonschema:"Bot User OAuth Token (xoxb-…) from OAuth & Permissions. Variable: SLACK_BOT_TOKEN."`
	AppToken      secret.String `json:"app_token,omitzero" jsonschema:"App-level token (xapp-…) with connections:write, for Socket Mode: no public address is needed. Variable: SLACK_APP_TOKEN."`
	SigningSecret secret.String `json:"signing_secret,omitzero" jsonschema:"Signing secret from Basic Information, for events over HTTP at /slack/events. Variable: SLACK_SIGNING_SECRET."`
	APIURL        URL           `json:"api_url,omitempty" jsonschema:"Address of the Web API; its answer names the socket. Variable: SLACK_API_URL."`
}

// On reports whether anything is set that asks for Slack.
func (s Slack) On() bool {
	return !s.BotToken.IsZero() || !s.AppToken.IsZero() || !s.SigningSecret.IsZero()
}

func (s *Slack) fromEnvironment(environ Environ) {
	orSecret(&s.BotToken, environ.get("SLACK_BOT_TOKEN"))
	orSecret(&s.AppToken, environ.get("SLACK_APP_TOKEN"))
	orSecret(&s.SigningSecret, environ.get("SLACK_SIGNING_SECRET"))
	orDefault(&s.APIURL, URL(environ.get("SLACK_API_URL")))
}

func (s *Slack) defaults() { orDefault(&s.APIURL, SlackAPIDefault) }

func (s *Slack) off() { *s = Slack{} }

// check sees to it that the app could hear and speak, and that no token stands in
// another's place.
func (s *Slack) check(v *validator) {
	v.webAddress("slack.api_url", s.APIURL)
	if !s.On() {
		return
	}
	if s.BotToken.IsZero() {
		v.complain("slack.bot_token", "is missing; set SLACK_BOT_TOKEN to the Bot User OAuth Token (xoxb-…) from OAuth & Permissions")
	} else {
		v.slackToken("slack.bot_token", s.BotToken.Reveal(), "xoxb-", "the Bot User OAuth Token from OAuth & Permissions")
	}
	if s.AppToken.IsZero() && s.SigningSecret.IsZero() {
		v.complain("slack.app_token", "is missing, so Slack could not be heard; set SLACK_APP_TOKEN (Socket Mode), or SLACK_SIGNING_SECRET for events over HTTP")
	}
	if !s.AppToken.IsZero() {
		v.slackToken("slack.app_token", s.AppToken.Reveal(), "xapp-", "an app-level token with connections:write from Basic Information")
	}
	if secret := s.SigningSecret.Reveal(); secret != "" && len(secret) < signingSecretMin {
		v.complain("slack.signing_secret", "is shorter than a signing secret; copy it again from Basic Information")
	}
}

func (v *validator) slackToken(path, token, prefix, what string) {
	if !strings.HasPrefix(token, prefix) || !slackToken.MatchString(token) {
		v.complain(path, "does not look like one that begins with %s; use %s", prefix, what)
	}
}
