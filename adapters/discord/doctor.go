package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/bwmarrin/discordgo"

	"parley/adapters"
)

// remedyContent is what to do when Discord hides the text of messages.
const remedyContent = "switch on Message Content Intent: developer portal, your application, Bot, Privileged Gateway Intents"

const remedyToken = "copy the token from the Bot page of the developer portal (Reset Token makes a new one)"

// identifiesLow is how few starts of a session may be left today before it is
// worth a warning.
const identifiesLow = 100

// Diagnose finds out why the bot would not hear, or would hear only half.
func (a *Adapter) Diagnose(ctx context.Context) []adapters.Finding {
	user, err := a.fetchUser(ctx)
	if err != nil {
		return []adapters.Finding{tokenProblem(err)}
	}
	findings := []adapters.Finding{{Level: adapters.LevelOK, What: fmt.Sprintf("the token is that of @%s (%s)", user.Username, user.ID)}}
	findings = append(findings, a.contentFinding(ctx), a.serversFinding(ctx), a.gatewayFinding(ctx))
	return append(findings, adapters.Finding{
		Level: adapters.LevelUnchecked, What: "whether the bot may see and write in each channel cannot be checked from here",
		Remedy: "give its role View Channels, Send Messages, Send Messages in Threads and Read Message History where it should talk",
	})
}

func tokenProblem(err error) adapters.Finding {
	if failed, ok := errors.AsType[*apiError](err); ok && failed.refused() {
		return adapters.Finding{Level: adapters.LevelProblem, What: "Discord does not accept the token", Remedy: remedyToken}
	}
	return adapters.Finding{Level: adapters.LevelProblem, What: "Discord cannot be reached: " + err.Error(), Remedy: "check the network, and the API URL if one is set"}
}

func (a *Adapter) contentFinding(ctx context.Context) adapters.Finding {
	app, err := a.fetchApplication(ctx)
	switch {
	case err != nil:
		return adapters.Finding{Level: adapters.LevelUnchecked, What: "whether the message content intent is on could not be found out: " + err.Error()}
	case !app.readsContent():
		return adapters.Finding{Level: adapters.LevelProblem, What: "the message content intent is off: Discord refuses the connection", Remedy: remedyContent}
	}
	return adapters.Finding{Level: adapters.LevelOK, What: "the message content intent is on"}
}

func (a *Adapter) serversFinding(ctx context.Context) adapters.Finding {
	var guilds []struct {
		ID string `json:"id"`
	}
	_, err := a.rest.call(ctx, http.MethodGet, "/users/@me/guilds?limit=1", nil, &guilds)
	switch {
	case err != nil:
		return adapters.Finding{Level: adapters.LevelUnchecked, What: "on which servers the bot is could not be found out: " + err.Error()}
	case len(guilds) == 0:
		return adapters.Finding{
			Level: adapters.LevelWarning, What: "the bot is on no server yet, so nobody can write to it",
			Remedy: "developer portal, your application, Installation: open the install link with the scopes bot and applications.commands",
		}
	}
	return adapters.Finding{Level: adapters.LevelOK, What: "the bot is on a server"}
}

func (a *Adapter) gatewayFinding(ctx context.Context) adapters.Finding {
	gateway, err := a.fetchGateway(ctx)
	if err != nil {
		return adapters.Finding{Level: adapters.LevelProblem, What: "the gateway's address could not be found out: " + err.Error()}
	}
	limit := gateway.SessionStartLimit
	if limit.Total > 0 && limit.Remaining < identifiesLow {
		return adapters.Finding{
			Level:  adapters.LevelWarning,
			What:   fmt.Sprintf("only %d starts of a session are left for %s", limit.Remaining, (time.Duration(limit.ResetAfter) * time.Millisecond).Round(time.Minute)),
			Remedy: "find out what keeps ending the sessions: another program with the same token, or a gateway that restarts all the time",
		}
	}
	return adapters.Finding{Level: adapters.LevelOK, What: fmt.Sprintf("the gateway is reachable; %d starts of a session are left today", limit.Remaining)}
}

func (a *Adapter) fetchGateway(ctx context.Context) (discordgo.GatewayBotResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, a.times.call)
	defer cancel()
	var gateway discordgo.GatewayBotResponse
	_, err := a.rest.call(ctx, http.MethodGet, "/gateway/bot", nil, &gateway)
	if named, bad := url.Parse(gateway.URL); err == nil && bad == nil {
		a.gateway.Store(named)
	}
	return gateway, err
}
