package slack

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	slackapi "github.com/slack-go/slack"

	"parley/adapters"
)

// Diagnose implements [adapters.Doctor].
func (a *Adapter) Diagnose(ctx context.Context) []adapters.Finding {
	me, header, err := a.identify(ctx)
	if err != nil {
		return []adapters.Finding{a.unanswered(err, false)}
	}
	findings := []adapters.Finding{{Level: adapters.LevelOK, What: "Slack knows the bot as " + me.Name + " (" + me.User + ")"}}
	if me.Bot == "" {
		findings = append(findings, adapters.Finding{
			Level: adapters.LevelProblem, What: "the bot token belongs to a person, not to a bot",
			Remedy: "use the Bot User OAuth Token, which begins with xoxb-, from OAuth & Permissions",
		})
	}
	findings = append(findings, scopeFindings(header)...)
	findings = append(findings, a.hearing(ctx)...)
	return append(findings, adapters.Finding{
		Level: adapters.LevelUnchecked, What: "which events the app subscribes to, and which slash commands it has",
		Remedy: "compare Event Subscriptions and Slash Commands with deploy/slack/manifest.yaml: without the message events the bot hears only mentions",
	}, adapters.Finding{
		Level: adapters.LevelUnchecked, What: "whether Delayed Events is on",
		Remedy: "switch it on under Event Subscriptions: without it Slack gives up on an event after six minutes",
	})
}

// unanswered is a call that failed.
func (a *Adapter) unanswered(err error, appToken bool) adapters.Finding {
	if text := remedy(refusal(err), appToken); text != "" {
		what, how, _ := strings.Cut(text, "): ")
		return adapters.Finding{Level: adapters.LevelProblem, What: what + ")", Remedy: how}
	}
	return adapters.Finding{
		Level: adapters.LevelProblem, What: "Slack's API does not answer: " + a.config.scrub(err.Error()),
		Remedy: "see that " + a.base + " can be reached from here",
	}
}

// scopeFindings compares the scopes that Slack says the token has.
func scopeFindings(header http.Header) []adapters.Finding {
	listed := header.Get("X-OAuth-Scopes")
	if listed == "" {
		return []adapters.Finding{{
			Level: adapters.LevelUnchecked, What: "the scopes of the bot token: Slack's answer does not list them",
			Remedy: "compare OAuth & Permissions with deploy/slack/manifest.yaml",
		}}
	}
	has := map[string]bool{}
	for scope := range strings.SplitSeq(listed, ",") {
		has[strings.TrimSpace(scope)] = true
	}
	needed := BotScopes()
	var findings []adapters.Finding
	for _, scope := range slices.Sorted(maps.Keys(needed)) {
		if !has[scope] {
			findings = append(findings, adapters.Finding{
				Level: adapters.LevelProblem, What: "the bot token lacks the scope " + scope + " (" + needed[scope] + ")",
				Remedy: "add it under OAuth & Permissions and install the app again",
			})
		}
	}
	if len(findings) == 0 {
		findings = append(findings, adapters.Finding{Level: adapters.LevelOK, What: "the bot token has every scope that is needed"})
	}
	return findings
}

// hearing tries what the app hears by.
func (a *Adapter) hearing(ctx context.Context) []adapters.Finding {
	var findings []adapters.Finding
	if !a.config.SigningSecret.IsZero() {
		findings = append(findings, adapters.Finding{
			Level: adapters.LevelUnchecked, What: "whether Slack reaches this gateway over HTTP",
			Remedy: "set the address of /slack/events under Event Subscriptions, Slash Commands and Interactivity",
		})
	}
	if a.config.AppToken.IsZero() {
		return findings
	}
	api := slackapi.New("", slackapi.OptionAppLevelToken(a.config.AppToken.Reveal()), slackapi.OptionAPIURL(a.base),
		slackapi.OptionHTTPClient(a.http), slackapi.OptionLog(mute{}))
	// It gives an address for a socket; only opening that would count as one.
	if _, _, err := api.StartSocketModeContext(ctx); err != nil {
		return append(findings, a.unanswered(a.config.clean(err), true))
	}
	return append(findings, adapters.Finding{Level: adapters.LevelOK, What: "Socket Mode: Slack gives the app a socket"})
}
