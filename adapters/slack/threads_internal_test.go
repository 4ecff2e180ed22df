package slack

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/internal/secret"
)

// A thread under a person's message is the bot's as well once it has written
// there.
func TestAThreadTheBotWroteInIsFollowed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, user := `{"ok":true,"user":{"name":"x"},"channel":{"name":"x"}}`, "U0ALICE"
		if strings.HasSuffix(r.URL.Path, "conversations.replies") {
			if r.FormValue("ts") == tsA {
				user = "U0BOT"
			}
			body = fmt.Sprintf(`{"ok":true,"messages":[{"user":"U0ALICE"},{"user":%q}]}`, user)
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	says := func(follow bool, thread string, before func(*Adapter)) bool {
		a, err := New(Config{BotToken: secret.New("xoxb-1"), AppToken: secret.New("xapp-1"), APIURL: server.URL, FollowThreads: follow})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.http.CloseIdleConnections)
		a.me.Store(&self{User: "U0BOT", Bot: "B0BOT", Team: "T0TEAM"})
		a.times.lookup = a.times.call
		before(a)
		in := wrapped(`{"type":"message","channel":"C0GEN","channel_type":"channel","user":"U0ALICE","text":"and now?","ts":"` + tsC + `","thread_ts":"` + thread + `","parent_user_id":"U0ALICE"}`)
		out, err := normalize(in, (&run{Adapter: a}).lookUp(t.Context(), in))
		if err != nil || len(out.events) != 1 {
			t.Fatal(err)
		}
		return out.events[0].InBotThread
	}
	nothing := func(*Adapter) {}
	if !says(true, tsA, nothing) {
		t.Error("a thread that the bot wrote in is not followed")
	}
	if says(true, tsB, nothing) || says(false, tsA, nothing) {
		t.Error("a thread is followed that is not the bot's, or that nobody asked for")
	}
	if !says(true, tsB, func(a *Adapter) { a.tookPart("C0GEN", tsB) }) {
		t.Error("a thread that the bot has just written in is not followed")
	}
}
