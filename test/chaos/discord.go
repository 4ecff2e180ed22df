package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"parley/test/fakediscord"
)

const discordHeartbeat = time.Second

// newDiscord is a server with so many chats.
func newDiscord(chats int) (*platform, error) {
	server, err := fakediscord.New(fakediscord.Config{Heartbeat: discordHeartbeat})
	if err != nil {
		return nil, err
	}
	surface := func(channel string) string { return "discord:" + server.Bot().ID + ":" + channel }
	p := &platform{
		name: "discord", backend: server.URL(), resolves: true, close: server.Close, violations: server.Violations, busy: discordBusy,
		hears: func() bool { return server.Connected() > 0 },
		environment: func(via string) map[string]string {
			return map[string]string{"DISCORD_BOT_TOKEN": server.Token(), "DISCORD_API_URL": via}
		},
		sends: func(r *http.Request, body []byte) (string, string, bool) { return discordSends(r, body, surface) },
	}
	last := &lastID{}
	p.acknowledged = func(ctx context.Context) error {
		if id := last.get(); id != "" {
			return server.Await(ctx, func() bool { return server.Confirmed(id) })
		}
		return nil
	}
	guild := server.NewGuild("Chaos")
	ids := map[*chat]string{}
	for i := range chats {
		user := server.NewUser("Person" + itoa(i))
		id, group := server.DM(user), isGroup(i)
		if group {
			id = server.NewChannel(guild, "channel"+itoa(i))
		}
		c := &chat{platform: p, surface: surface(id), group: group, call: "<@" + server.Bot().ID + "> "}
		c.post = func(text string) { last.set(server.Post(id, user, text)) }
		ids[c] = id
		p.chats = append(p.chats, c)
	}
	p.shown = func(c *chat) []string {
		var out []string
		for _, m := range server.Messages(ids[c]) {
			out = append(out, m.Text)
		}
		return out
	}
	return p, nil
}

// lastID is the newest message that a person wrote; ids grow.
type lastID struct{ id atomic.Pointer[string] }

func (l *lastID) get() string {
	if id := l.id.Load(); id != nil {
		return *id
	}
	return ""
}

func (l *lastID) set(id string) { l.id.Store(&id) }

func discordSends(r *http.Request, body []byte, surface func(channel string) string) (where, text string, yes bool) {
	rest, found := strings.CutSuffix(r.URL.Path, "/messages")
	_, channel, _ := strings.Cut(rest, "/channels/")
	var message struct{ Content string }
	if !found || channel == "" || r.Method != http.MethodPost || json.Unmarshal(body, &message) != nil {
		return "", "", false
	}
	return surface(channel), message.Content, true
}

func discordBusy(w http.ResponseWriter) {
	w.Header().Set("X-RateLimit-Scope", "user")
	busyJSON(w, map[string]any{"message": "You are being rate limited.", "retry_after": 1.0, "global": false})
}
