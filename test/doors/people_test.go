package doors_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/adapters"
	"parley/agent/demo"
	"parley/api"
	"parley/bot"
	"parley/cmd/gateway/peoplecli"
	"parley/internal/secret"
	"parley/people"
	"parley/sessions"
)

// A role is given by the same rules at every door, and refused in the same
// words.
func TestEveryDoorGivesRolesByTheSameRules(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, who, role string
		refused         string      // part of what is said; empty: it is carried out
		left            people.Role // in force afterwards
	}{
		{name: "a stranger is let in", who: "telegram:9", role: "member", left: "member"},
		{name: "a stranger is blocked", who: "telegram:9", role: "blocked", left: "blocked"},
		{name: "a configured owner is blocked", who: "telegram:1", role: "blocked", refused: "makes telegram:1 an owner, which is stronger", left: "owner"},
		{name: "a configured owner becomes a guest", who: "telegram:1", role: "guest", refused: "makes telegram:1 an owner, which is stronger", left: "owner"},
		{name: "a configured owner by a linked identity", who: "slack:U1", role: "member", refused: "makes slack:U1 an owner, which is stronger", left: "owner"},
		{name: "a configured member is blocked", who: "telegram:2", role: "blocked", refused: "makes telegram:2 a member, which is stronger", left: "member"},
		{name: "a configured member becomes an owner", who: "telegram:2", role: "owner", left: "owner"},
		{name: "one that is blocked is let in", who: "telegram:3", role: "member", refused: "makes telegram:3 blocked, which is stronger", left: "blocked"},
		{name: "what is configured already", who: "telegram:3", role: "blocked", left: "blocked"},
		{name: "no role", who: "telegram:9", role: "emperor", refused: "a role is owner, member, guest or blocked", left: "guest"},
		{name: "nobody", who: ":9", role: "member", refused: "must look like telegram:12345"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for door, give := range givers() {
				c := newCity(t)
				said, err := give(c, row.who, row.role)
				if err != nil {
					t.Fatalf("%s: %v", door, err)
				}
				if refused := strings.Contains(said, "refused: "); refused != (row.refused != "") || !strings.Contains(said, row.refused) {
					t.Errorf("%s says %q, want %q", door, said, row.refused)
				}
				if person, err := c.bot.People().Get(t.Context(), row.who); row.left != "" && (err != nil || person.Role != row.left) {
					t.Errorf("%s leaves %+v %v, want %s", door, person, err, row.left)
				}
			}
		})
	}
}

// giver gives somebody a role through a door, and tells what was said: of a
// refusal, behind "refused: ".
type giver func(c *city, who, role string) (said string, err error)

func givers() map[string]giver {
	put := func(path func(who string) string) giver {
		return func(c *city, who, role string) (string, error) {
			request := httptest.NewRequestWithContext(c.Context(), http.MethodPut, path(who), bytes.NewBufferString(`{"role":"`+role+`"}`))
			request.Header.Set("Authorization", "Bearer a token")
			request.Header.Set("Content-Type", "application/json")
			answer := httptest.NewRecorder()
			c.server.ServeHTTP(answer, request)
			said, err := io.ReadAll(answer.Body)
			if answer.Code >= http.StatusBadRequest {
				return "refused: " + string(said), err
			}
			return string(said), err
		}
	}
	return map[string]giver{
		"chat": func(c *city, who, role string) (string, error) {
			place := adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "a"}
			said, err := c.bot.Say(c.Context(), api.Say{Surface: place, Text: "/people role " + who + " " + role})
			if reply, refused := strings.CutPrefix(said.Reply, "Nothing was changed: "); refused {
				return "refused: " + reply, err
			}
			return said.Reply, err
		},
		"people over HTTP": put(func(who string) string { return "/v1/people/" + who }),
		"users over HTTP":  put(func(who string) string { return "/v1/users/" + who + "/role" }),
		"command line": func(c *city, who, role string) (string, error) {
			_, err := peoplecli.AtRest(c.store, c.configured).Give(c.Context(), who, people.Role(role))
			if err != nil && !errors.Is(err, sessions.ErrUnavailable) {
				return "refused: " + err.Error(), nil
			}
			return "", err
		},
	}
}

// city is a gateway with people that its configuration names.
type city struct {
	*testing.T
	store      sessions.Store
	bot        *bot.Bot
	server     *api.Server
	configured people.Configured
}

func newCity(t *testing.T) *city {
	t.Helper()
	w := newWorld(t)
	code, err := w.store.OfferLink(t.Context(), "telegram:1")
	if err == nil {
		_, _, err = w.store.TakeLink(t.Context(), code, "slack:U1")
	}
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	owners, members, blocked := []adapters.Identity{"telegram:1"}, []adapters.Identity{"telegram:2"}, []adapters.Identity{"telegram:3"}
	c := &city{T: t, store: w.store, configured: people.NewConfigured(owners, members, blocked)}
	if c.bot, err = bot.New(bot.Config{Store: w.store, Model: demo.New(demo.Options{}), Owners: owners, Members: members, Blocked: blocked, Log: quiet}); err != nil {
		t.Fatal(err)
	}
	if c.server, err = api.New(api.Config{Store: w.store, Operations: c.bot, People: c.bot.People(), Token: secret.New("a token"), Logger: quiet,
		Shown: func(text string) (string, bool) { return text, false }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.server.Close)
	return c
}
