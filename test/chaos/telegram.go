package main

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"parley/test/faketelegram"
)

func itoa(n int) string { return strconv.Itoa(n) }

// newTelegram is a bot in privacy mode off with so many chats.
func newTelegram(chats int) *platform {
	server := faketelegram.Start(faketelegram.Options{ReadAllGroupMessages: true})
	p := &platform{
		name: "telegram", backend: server.URL(), close: server.Close, violations: server.Violations, acknowledged: server.WaitConfirmed,
		sends: telegramSends, busy: telegramBusy,
		environment: func(via string) map[string]string {
			return map[string]string{"TELEGRAM_BOT_TOKEN": server.Token(), "TELEGRAM_API_URL": via}
		},
	}
	ids := map[*chat]int64{}
	for i := range chats {
		c, id := telegramChat(server, p, i)
		ids[c] = id
		p.chats = append(p.chats, c)
	}
	p.guest = func(i int) *chat {
		user := server.User(int64(5000+i), "Guest"+itoa(i), "")
		return &chat{platform: p, surface: telegramSurface(strconv.FormatInt(user.DM(), 10)), post: func(text string) { user.Send(user.DM(), text) }}
	}
	p.shown = func(c *chat) []string {
		var out []string
		for _, sent := range server.Sent(ids[c]) {
			out = append(out, sent.Text)
		}
		return out
	}
	return p
}

func telegramChat(server *faketelegram.Server, p *platform, i int) (*chat, int64) {
	user := server.User(int64(1000+i), "Person"+itoa(i), "")
	id, group := user.DM(), isGroup(i)
	if group {
		id = server.Group(int64(-1000-i), "Group "+itoa(i))
		server.Join(id, user)
	}
	c := &chat{platform: p, surface: telegramSurface(strconv.FormatInt(id, 10)), group: group, call: "@" + faketelegram.UsernameDefault + " "}
	c.post = func(text string) { user.Send(id, text) }
	return c, id
}

func telegramSurface(chat string) string {
	return "telegram:" + strconv.Itoa(faketelegram.BotIDDefault) + ":" + chat
}

func telegramSends(r *http.Request, body []byte) (surface, text string, yes bool) {
	if !strings.HasSuffix(r.URL.Path, "/sendMessage") {
		return "", "", false
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", "", false
	}
	return telegramSurface(form.Get("chat_id")), form.Get("text"), true
}

func telegramBusy(w http.ResponseWriter) {
	busyJSON(w, map[string]any{
		"ok": false, "error_code": http.StatusTooManyRequests, "description": "Too Many Requests: retry after 1",
		"parameters": map[string]int{"retry_after": 1},
	})
}
