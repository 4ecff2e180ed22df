package e2e

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"parley/test/faketelegram"
)

// allThree is one gateway on Telegram, Discord and Slack, with one owner on
// each of them.
func allThree(t *testing.T, w *world) (discord, slack *stage) {
	t.Helper()
	discord, slack = &stage{w, openDiscord(t)}, &stage{w, openSlack(t)}
	owners := []string{w.env["GATEWAY_OWNERS"]}
	for _, stage := range []*stage{discord, slack} {
		env := stage.on.env()
		owners = append(owners, env["GATEWAY_OWNERS"])
		maps.Copy(w.env, env)
		w.secrets = append(w.secrets, stage.on.secrets()...)
	}
	w.env["GATEWAY_OWNERS"] = strings.Join(owners, ",")
	return discord, slack
}

func TestThreePlatformsInOneGateway(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		discord, slack := allThree(t, w)
		discord.start()
		w.owner.Send(w.owner.DM(), "from telegram", faketelegram.SendOptions{})
		discord.on.say(olga, discord.on.dm(olga), "from discord")
		slack.on.say(olga, slack.on.dm(olga), "from slack")
		w.answer(w.owner.DM(), "You said: from telegram")
		discord.sees(discord.on.dm(olga), "You said: from discord")
		slack.sees(slack.on.dm(olga), "You said: from slack")
		for _, request := range w.asked() {
			if got := read(request); len(got) != 1 {
				t.Errorf("conversations of different platforms are mixed: %q", got)
			}
		}
		violations := slices.Concat(discord.on.violations(), slack.on.violations())
		if len(violations) > 0 {
			t.Error(violations)
		}
	})
}

func TestARevokedTokenEndsOnePlatformOnly(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		discord, slack := allThree(t, w)
		discord.start()
		slack.diagnosed()
		slack.on.revoke()
		slack.on.say(olga, slack.on.dm(olga), "hello")
		w.eventually("Slack is given up", func() bool { return len(w.givenUp()) > 0 })
		w.eventually("/readyz is red", func() bool { return w.ready() == http.StatusServiceUnavailable })
		w.owner.Send(w.owner.DM(), "still there?", faketelegram.SendOptions{})
		discord.on.say(olga, discord.on.dm(olga), "and here?")
		w.answer(w.owner.DM(), "You said: still there?")
		discord.sees(discord.on.dm(olga), "You said: and here?")
		if lines := w.givenUp(); len(lines) != 1 || !strings.Contains(lines[0], `"platform":"slack"`) || !strings.Contains(lines[0], "OAuth & Permissions") {
			t.Errorf("want one line about Slack with what to do:\n%s", strings.Join(lines, "\n"))
		}
	})
}

// A token that is wrong from the start leaves the others alone as well.
func TestAWrongTokenAtTheStartIsOneLine(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		discord, _ := allThree(t, w)
		discord.on.revoke()
		w.gateway = w.launch("run")
		w.eventually("Discord is given up", func() bool { return len(w.givenUp()) > 0 })
		w.owner.Send(w.owner.DM(), "hello", faketelegram.SendOptions{})
		w.answer(w.owner.DM(), "You said: hello")
		if lines := w.givenUp(); len(lines) != 1 || !strings.Contains(lines[0], `"platform":"discord"`) || !strings.Contains(lines[0], "developer portal") {
			t.Errorf("want one line about Discord with what to do:\n%s", strings.Join(lines, "\n"))
		}
	})
}
