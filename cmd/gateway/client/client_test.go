package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/adapters"
	"parley/api"
	"parley/cmd/gateway/client"
	"parley/cmd/gateway/client/clienttest"
	"parley/internal/secret"
	"parley/sessions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T) (*client.Client, *clienttest.Gateway) {
	t.Helper()
	gateway := fake(t)
	return connect(t, gateway.URL, clienttest.Token), gateway
}

func fake(t *testing.T) *clienttest.Gateway {
	t.Helper()
	gateway := clienttest.New()
	t.Cleanup(gateway.Close)
	return gateway
}

func connect(t *testing.T, address, token string) *client.Client {
	t.Helper()
	c, err := client.New(address, secret.New(token))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func ask(t *testing.T, c *client.Client, text string) (texts []string, failed *api.EntryView) {
	t.Helper()
	ctx := deadline(t)
	said, err := c.Say(ctx, "cli:main", text, t.Name()+text, client.Sender{ID: "cli:owner"})
	if err != nil {
		t.Fatal(err)
	}
	failed, err = c.Await(ctx, said, 0, func(entry api.EntryView) {
		var message sessions.Message
		if err := json.Unmarshal(entry.Payload, &message); err != nil {
			t.Error(err)
		}
		texts = append(texts, message.Text)
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts, failed
}

func TestAwaitGivesTheReply(t *testing.T) {
	t.Parallel()
	c, _ := start(t)
	if texts, failed := ask(t, c, "one"); failed != nil || !slices.Equal(texts, []string{"You said: one"}) {
		t.Errorf("got %q, %v", texts, failed)
	}
	if texts, failed := ask(t, c, "tool"); failed != nil || !slices.Equal(texts, []string{"", "12:00", "It is noon."}) {
		t.Errorf("with a tool: %q, %v", texts, failed)
	}
	if texts, failed := ask(t, c, "fail"); failed == nil || len(texts) != 0 {
		t.Errorf("a failure: %q, %v", texts, failed)
	}
}

func TestAwaitOutlivesLostConnections(t *testing.T) {
	t.Parallel()
	c, gateway := start(t)
	gateway.Cut(2)
	if texts, _ := ask(t, c, "tool"); !slices.Equal(texts, []string{"", "12:00", "It is noon."}) {
		t.Errorf("got %q", texts)
	}
	if gateway.Streams() < 3 {
		t.Errorf("only %d streams: nothing was cut", gateway.Streams())
	}
}

func TestFollowSeesEachEntryOnceAndMovesAlong(t *testing.T) {
	t.Parallel()
	c, gateway := start(t)
	ctx := deadline(t)
	gateway.Cut(1)
	ask(t, c, "one")
	gateway.Cut(1)
	var seen []string
	said := false
	err := c.Follow(ctx, "cli:main", 0, func(event client.Event) bool {
		switch event.Kind {
		case client.KindEntry:
			seen = append(seen, event.Session+" "+event.Entry.ID)
		case client.KindStatus:
			if !said {
				said = true
				if _, err := c.Say(ctx, "cli:main", "/new", "k", client.Sender{}); err != nil {
					t.Error(err)
				}
				gateway.Say("hello again")
			}
		}
		return len(seen) < 3
	})
	first, second := sessions.EntryID(1), sessions.EntryID(2)
	if want := []string{"cli:main " + first, "cli:main " + second, "cli:main~2 " + first}; err != nil || !slices.Equal(seen, want) {
		t.Errorf("got %q (%v), want %q", seen, err, want)
	}
}

// The id of a conversation that was begun with /new does not say where its
// reader is.
func TestFollowGoesWhereItsOwnPlaceGoes(t *testing.T) {
	t.Parallel()
	c, gateway := start(t)
	ctx := deadline(t)
	c.From(adapters.Surface{Platform: adapters.CLI, Account: adapters.Local, Chat: "main"}, "")
	say := func(session, text string) {
		if _, err := c.Say(ctx, session, text, text+session, client.Sender{}); err != nil {
			t.Error(err)
		}
	}
	say("cli:main", "one")
	say("cli:main", "/new")
	say("cli:main~2", "two")
	say("cli:main~2", "/new")
	gateway.Say("here")
	var seen []string
	err := c.Follow(ctx, "cli:main~2", 2, func(event client.Event) bool {
		if event.Kind == client.KindEntry {
			seen = append(seen, event.Session)
		}
		return len(seen) == 0
	})
	if err != nil || !slices.Equal(seen, []string{"cli:main~3"}) {
		t.Errorf("got %q, %v", seen, err)
	}
}

func TestResolveFindsTheSuccessor(t *testing.T) {
	t.Parallel()
	c, _ := start(t)
	ctx := deadline(t)
	if id, err := c.Resolve(ctx, "main"); err != nil || id != "cli:main" {
		t.Fatalf("before the first message: %q, %v", id, err)
	}
	ask(t, c, "one")
	if id, err := c.Resolve(ctx, "main"); err != nil || id != "cli:main" {
		t.Fatalf("after it: %q, %v", id, err)
	}
	if _, err := c.Say(ctx, "cli:main", "/new", "k", client.Sender{}); err != nil {
		t.Fatal(err)
	}
	if id, err := c.Resolve(ctx, "main"); err != nil || id != "cli:main~2" {
		t.Fatalf("after /new: %q, %v", id, err)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	gateway := fake(t)
	const canary = "canary-wrong-token"
	c := connect(t, gateway.URL, canary)
	_, err := c.Resolve(ctx, "main")
	refused, ok := errors.AsType[*client.RefusedError](err)
	if !ok || refused.Status != http.StatusUnauthorized || strings.Contains(err.Error(), canary) {
		t.Errorf("a wrong token: %v", err)
	}
	if err := c.Follow(ctx, "cli:main", 0, func(client.Event) bool { return true }); !errors.As(err, &refused) {
		t.Errorf("following with a wrong token must end: %v", err)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if err := connect(t, gone.URL, canary).Alive(ctx); err == nil || !strings.Contains(err.Error(), "is it running?") || strings.Contains(err.Error(), canary) {
		t.Errorf("nobody there: %v", err)
	}
	if _, err := client.New("127.0.0.1:8080", secret.String{}); err == nil {
		t.Error("an address without a scheme was taken")
	}
}

func TestTokenIsNotCarriedElsewhere(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed, with %q", r.Header.Get("Authorization"))
	}))
	t.Cleanup(elsewhere.Close)
	redirecting := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(redirecting.Close)
	if err := connect(t, redirecting.URL, "x").Alive(deadline(t)); err == nil {
		t.Error("a redirect is no success")
	}
}
