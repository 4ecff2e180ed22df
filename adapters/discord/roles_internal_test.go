package discord

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"parley/internal/secret"
)

// Discord offers the bot's own role beside its name; who takes it means the
// bot.
func TestAMentionOfTheBotsRoleIsOneOfTheBot(t *testing.T) {
	t.Parallel()
	scene := testScene()
	scene.roles = []string{"900"}
	raw := `{"id":"500","channel_id":"300","guild_id":"400","type":0,"content":"<@&900> still there?","timestamp":"2026-11-21T10:00:00+00:00",` +
		`"author":` + alice + `,"mentions":[],"mention_roles":["900"]}`
	if event := one(t, "MESSAGE_CREATE", raw, scene); !event.Mentioned || event.Text != "still there?" {
		t.Errorf("the bot's role: %+v", event)
	}
	scene.roles = []string{"901"}
	if event := one(t, "MESSAGE_CREATE", raw, scene); event.Mentioned || event.Text != "<@&900> still there?" {
		t.Errorf("another role: %+v", event)
	}
}

func TestRolesThatNameTheBot(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/guilds/400/roles":
			_, _ = io.WriteString(w, `[{"id":"400"},{"id":"900","tags":{"bot_id":"100"}},{"id":"901","tags":{"bot_id":"7"}},{"id":"902","tags":{"premium_subscriber":null}}]`)
		case "/guilds/400/members/100":
			_, _ = io.WriteString(w, `{"roles":["900","902"]}`)
		default:
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"code":50001,"message":"Missing Access"}`)
		}
	}))
	t.Cleanup(server.Close)
	for every, want := range map[bool][]string{false: {"900"}, true: {"900", "900", "902"}} {
		a, err := New(Config{Token: secret.New("a.b.c"), APIURL: server.URL, RoleMentions: every})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.rest.http.CloseIdleConnections)
		a.me = identity{user: "100"}
		of := func(guild string) []string {
			t.Helper()
			got, err := a.roles.of(context.Background(), guild)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := of("400"); !slices.Equal(got, want) {
			t.Errorf("every role %v: %v", every, got)
		}
		before := asked.Load()
		if of("400"); asked.Load() != before {
			t.Error("asked again")
		}
		a.roles.forget("400")
		if of("400"); asked.Load() == before {
			t.Error("a change is not asked about")
		}
		if got := of("7"); len(got) != 0 {
			t.Errorf("a server that does not tell: %v", got)
		}
	}
}
