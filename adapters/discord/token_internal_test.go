package discord

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/internal/secret"
)

// answering is an adapter on a server that answers every call with a body.
func answering(t *testing.T, status int, body string) *Adapter {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	a, err := New(Config{Token: secret.New("MTIz.canary.token-part-that-must-not-show"), APIURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.rest.http.CloseIdleConnections)
	return a
}

// A session's address comes from the store. Who can write there must not have
// the bot's token sent to them.
func TestTheTokenGoesOnlyWhereDiscordIs(t *testing.T) {
	t.Parallel()
	const named = "ws://socket.test:7/"
	a := answering(t, http.StatusOK, `{"url":"`+named+`"}`)
	s := &shard{a: a}
	for stored, want := range map[string]string{
		"wss://gateway-us-east1-b.discord.gg":   "wss://gateway-us-east1-b.discord.gg",
		"ws://socket.test:7/resume":             "ws://socket.test:7/resume", // where a configured API names it
		"wss://evil.example":                    named,
		"ws://gateway.discord.gg":               named,
		"wss://discord.gg.evil.example":         named,
		"wss://evildiscord.gg":                  named,
		"ws://socket.test:8/":                   named,
		"wss://gateway.discord.gg@evil.example": named,
	} {
		if _, err := a.fetchGateway(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := s.address(t.Context(), &session{ID: "x", ResumeURL: stored})
		if err != nil || got != want {
			t.Errorf("a session at %s is resumed at %s, %v", stored, got, err)
		}
	}
}

// A token at the place where a long answer is cut must not show in part.
func TestATokenIsScrubbedBeforeAnAnswerIsCut(t *testing.T) {
	t.Parallel()
	const token = "MTIz.canary.token-part-that-must-not-show"
	for _, limit := range []int{200, bodyMax} {
		pad := strings.Repeat("x", limit-20)
		a := answering(t, http.StatusBadRequest, `{"code":1,"message":"`+pad+token+`"}`)
		_, err := a.rest.call(context.Background(), http.MethodGet, "/users/@me", nil, nil)
		failed, _ := err.(*apiError) //nolint:errorlint // call says so
		if failed == nil || strings.Contains(failed.reason+failed.body, "MTIz") {
			t.Errorf("cut at %d: %v", limit, err)
		}
	}
}
