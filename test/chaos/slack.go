package main

import (
	"net/http"
	"net/url"
	"strings"

	"parley/test/fakeslack"
)

// newSlack is a workspace with so many chats.
func newSlack(chats int) *platform {
	server := fakeslack.Start(fakeslack.Options{Sticky: true})
	surface := func(channel string) string { return "slack:" + server.BotUser() + ":" + channel }
	p := &platform{
		name: "slack", backend: strings.TrimSuffix(server.URL(), "/"), resolves: true, looksUp: true, close: server.Close, violations: server.Violations, acknowledged: server.WaitAcknowledged, busy: slackBusy,
		environment: func(via string) map[string]string {
			return map[string]string{"SLACK_BOT_TOKEN": server.BotToken(), "SLACK_APP_TOKEN": server.AppToken(), "SLACK_API_URL": via + "/"}
		},
		sends: func(r *http.Request, body []byte) (string, string, bool) { return slackSends(r, body, surface) },
	}
	ids := map[*chat]string{}
	for i := range chats {
		user := server.User("U0P"+itoa(100+i), "Person"+itoa(i))
		id, group := user.DM(), isGroup(i)
		if group {
			id = server.Channel("C0G"+itoa(100+i), "channel"+itoa(i), user)
		}
		c := &chat{platform: p, surface: surface(id), group: group, call: "<@" + server.BotUser() + "> "}
		c.post = func(text string) { user.Say(id, text) }
		ids[c] = id
		p.chats = append(p.chats, c)
	}
	p.shown = func(c *chat) []string {
		var out []string
		for _, sent := range server.Sent(ids[c]) {
			out = append(out, sent.Shown())
		}
		return out
	}
	return p
}

func slackSends(r *http.Request, body []byte, surface func(channel string) string) (where, text string, yes bool) {
	if !strings.HasSuffix(r.URL.Path, "/chat.postMessage") {
		return "", "", false
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", "", false
	}
	return surface(form.Get("channel")), form.Get("text"), true
}

func slackBusy(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	busyJSON(w, map[string]any{"ok": false, "error": "ratelimited"})
}
