// Package doors_test runs what can be done to a conversation through the doors
// there are: a chat command, the HTTP API, and the command line on a store at
// rest. All of them have to do the same, or refuse it for the same reason.
package doors_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/adapters"
	"parley/agent/demo"
	"parley/api"
	"parley/bot"
	"parley/bot/texts"
	"parley/cmd/gateway/client"
	"parley/cmd/gateway/sessionscli"
	"parley/conversations"
	"parley/internal/secret"
	"parley/routing"
	"parley/sessions"
	"parley/sqlitestore"
)

const (
	here  = "web:a"
	other = "api:b"
)

// verb is one request, as each door takes it. An empty one means that the door
// does not have it.
type verb struct {
	name    string
	prepare func(w *world)
	chat    string
	http    [3]string // method, path below the session, body
	line    func(ctx context.Context, place sessionscli.Place) error
	refused conversations.Code // empty: it is carried out
	left    string             // what it leaves, if it is carried out: see world.left
}

func TestEveryDoorDoesTheSame(t *testing.T) {
	t.Parallel()
	for _, row := range verbs() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for door, ask := range map[string]func(*world, verb) error{"chat": chat, "http": over, "command line": line} {
				w := newWorld(t)
				before := w.left()
				if row.prepare != nil {
					row.prepare(w)
					before = w.left()
				}
				err := ask(w, row)
				if errors.Is(err, errNoDoor) {
					continue
				}
				if code := conversations.CodeOf(err); code != row.refused || err != nil && code == "" {
					t.Errorf("%s: %q (%v), want %q", door, code, err, row.refused)
				}
				want := row.left
				if row.refused != "" {
					want = before // a refusal changes nothing
				}
				if got := w.left(); got != want {
					t.Errorf("%s leaves %s, want %s", door, got, want)
				}
			}
		})
	}
}

var errNoDoor = errors.New("the door does not have it")

func verbs() []verb {
	long := strings.Repeat("x", conversations.LabelMax+1)
	fork := func(at string) func(context.Context, sessionscli.Place) error {
		return func(ctx context.Context, place sessionscli.Place) error {
			var entry *string
			if at != "" {
				entry = &at
			}
			_, err := place.Fork(ctx, here, entry, "")
			return err
		}
	}
	clearIt := func(ctx context.Context, place sessionscli.Place) error { _, err := place.Clear(ctx, here); return err }
	remove := func(ctx context.Context, place sessionscli.Place) error { return place.Delete(ctx, here) }
	importing := func(id string) func(context.Context, sessionscli.Place) error {
		return func(ctx context.Context, place sessionscli.Place) error {
			_, err := place.Import(ctx, strings.NewReader(transcriptOf(id)), false)
			return err
		}
	}
	untouched := "active  3 e3 0, 0 copies"
	return []verb{
		{name: "name", chat: "/name Rome", http: [3]string{"POST", "/name", `{"name":"Rome"}`}, left: "active Rome 4 e4 0, 0 copies"},
		{name: "a name that turns what is behind it", chat: "/name a\u202eb", http: [3]string{"POST", "/name", `{"name":"a\u202eb"}`}, refused: conversations.Invalid},
		{name: "a name of two lines", http: [3]string{"PATCH", "", `{"name":"a\nb"}`}, refused: conversations.Invalid},
		{name: "a name that is too long", chat: "/name " + long, http: [3]string{"POST", "/name", `{"name":"` + long + `"}`}, refused: conversations.Invalid},
		{name: "name what has ended", prepare: (*world).expire, chat: "/name Rome", http: [3]string{"POST", "/name", `{"name":"Rome"}`}, refused: conversations.Expired},

		{name: "label", chat: "/label e1 first", http: [3]string{"POST", "/labels", `{"entry":"e1","label":"first"}`}, left: "active  4 e4 0, 0 copies, first"},
		{name: "label nothing", chat: "/label e99 first", http: [3]string{"POST", "/labels", `{"entry":"e99","label":"first"}`}, refused: conversations.NoEntry},
		{name: "a label that is too long", chat: "/label e1 " + long, http: [3]string{"POST", "/labels", `{"entry":"e1","label":"` + long + `"}`}, refused: conversations.Invalid},

		{name: "branch", chat: "/branch e1", http: [3]string{"POST", "/branch", `{"entry":"e1"}`}, left: "active  4 e1 0, 0 copies"},
		{name: "branch to nothing", chat: "/branch e99", http: [3]string{"POST", "/branch", `{"entry":"e99"}`}, refused: conversations.NoEntry},
		{name: "branch while a turn runs", prepare: (*world).run, chat: "/branch e1", http: [3]string{"POST", "/branch", `{"entry":"e1"}`}, refused: conversations.Running},

		{name: "fork", chat: "/fork e1", http: [3]string{"POST", "/fork", `{"entry":"e1"}`}, line: fork("e1"), left: "active  3 e3 0, 1 copies"},
		{name: "fork what is not there", chat: "/fork e99", http: [3]string{"POST", "/fork", `{"entry":"e99"}`}, line: fork("e99"), refused: conversations.NoEntry},
		{name: "fork while a turn runs", prepare: (*world).run, chat: "/fork", http: [3]string{"POST", "/fork", "{}"}, line: fork(""), refused: conversations.Running},

		{name: "clear", chat: "/clear", http: [3]string{"POST", "/clear", ""}, line: clearIt, left: "active  3  3, 0 copies"},
		{name: "clear while a turn runs", prepare: (*world).run, chat: "/clear", http: [3]string{"POST", "/clear", ""}, line: clearIt, refused: conversations.Running},
		{name: "clear what has ended", prepare: (*world).expire, chat: "/clear", http: [3]string{"POST", "/clear", ""}, line: clearIt, refused: conversations.Expired},

		{name: "resume", chat: "/resume " + other, http: [3]string{"POST", "/../" + other + "/resume", `{"surface":"web:local:a"}`}, left: untouched + ", elsewhere"},
		{name: "resume what is not there", chat: "/resume api:none", http: [3]string{"POST", "/../api:none/resume", `{"surface":"web:local:a"}`}, refused: conversations.NotFound},
		{name: "checkpoint what has ended", prepare: (*world).expire, chat: "/checkpoint", http: [3]string{"POST", "/checkpoint", ""}, refused: conversations.Expired},

		{name: "delete", http: [3]string{"DELETE", "", ""}, line: remove, left: "gone"},
		{name: "delete a group's", prepare: (*world).group, http: [3]string{"DELETE", "", ""}, line: remove, refused: conversations.GroupOnly},
		{name: "delete while a turn runs", prepare: (*world).run, http: [3]string{"DELETE", "", ""}, line: remove, refused: conversations.Running},

		{name: "import", http: [3]string{"POST", "/../import", transcriptOf("api:new")}, line: importing("api:new"), left: untouched},
		{name: "import what is there", http: [3]string{"POST", "/../import", transcriptOf(here)}, line: importing(here), refused: conversations.Exists},
		{name: "import what only the gateway makes", http: [3]string{"POST", "/../import", transcriptOf("sub:x")}, line: importing("sub:x"), refused: conversations.Reserved},
		{name: "import what cannot be read", http: [3]string{"POST", "/../import", "none"}, refused: conversations.Unreadable, line: func(ctx context.Context, place sessionscli.Place) error {
			_, err := place.Import(ctx, strings.NewReader("none"), false)
			return err
		}},
	}
}

func transcriptOf(id string) string {
	return `{"type":"session_header","version":1,"id":"` + id + `","timestamp":"2026-03-02T10:00:00Z"}` + "\n" +
		`{"type":"message","id":"e1","parent_id":null,"timestamp":"2026-03-02T10:00:01Z","message":{"role":"user","text":"hi"}}` + "\n"
}

// world is a store with a conversation that its place has, and another one.
type world struct {
	*testing.T
	store sessions.Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	w := &world{t, store}
	for id, surface := range map[string]string{here: "web:local:a", other: "api:local:b"} {
		source := sessions.Source{Kind: "web", Platform: "web", Type: sessions.Direct}
		if _, _, err := store.Open(t.Context(), sessions.NewSession{ID: id, Surface: surface, UserID: "web:owner", Source: source}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			w.post(id, surface, nil)
		}
	}
	return w
}

func (w *world) post(id, surface string, claim *sessions.Claimer) {
	w.Helper()
	_, err := w.store.Post(w.Context(), sessions.PostRequest{Session: id, Surface: surface, UserID: "web:owner", Trigger: claim != nil, Claim: claim,
		Message: sessions.Message{Role: sessions.RoleUser, Text: "a word"}})
	if err != nil {
		w.Fatal(err)
	}
}

// run leaves a turn running.
func (w *world) run() {
	w.post(here, "web:local:a", &sessions.Claimer{Owner: "another process", For: time.Minute})
}

func (w *world) expire() {
	if _, err := w.store.Expire(w.Context(), here); err != nil {
		w.Fatal(err)
	}
	if _, _, err := w.store.Attach(w.Context(), sessions.AttachRequest{Session: other, Surface: "web:local:a"}); err != nil {
		w.Fatal(err)
	}
}

// group makes the conversation a group's.
func (w *world) group() {
	if err := w.store.Delete(w.Context(), here); err != nil {
		w.Fatal(err)
	}
	opening := sessions.NewSession{ID: here, Surface: "web:local:a", Source: sessions.Source{Kind: "channel", Type: sessions.Group}}
	if _, _, err := w.store.Open(w.Context(), opening); err != nil {
		w.Fatal(err)
	}
}

// left is what the conversation looks like: state, name, seq, leaf and what was
// cleared, how many copies there are, the first entry's label, and whether the
// place has the other one.
func (w *world) left() string {
	w.Helper()
	record, err := w.store.Get(w.Context(), here)
	if errors.Is(err, sessions.ErrNotFound) {
		return "gone"
	}
	page, failed := w.store.Find(w.Context(), sessions.Query{})
	if err = errors.Join(err, failed); err != nil {
		w.Fatal(err)
	}
	copies := 0
	for _, found := range page.Records {
		if found.ParentSession == here {
			copies++
		}
	}
	out := fmt.Sprintf("%s %s %d %s %d, %d copies", record.State, record.Name, record.Seq, record.LeafID(), record.Cleared, copies)
	tree, err := (&conversations.Room{Store: w.store}).Tree(w.Context(), conversations.Owner("test"), here, 100)
	if err != nil {
		w.Fatal(err)
	}
	if len(tree.Nodes) > 0 && tree.Nodes[0].Label != "" {
		out += ", " + tree.Nodes[0].Label
	}
	if held, err := w.store.Bound(w.Context(), "web:local:a"); err == nil && held.ID == other && record.State != sessions.StateExpired {
		out += ", elsewhere"
	}
	return out
}

func (w *world) bot() *bot.Bot {
	w.Helper()
	b, err := bot.New(bot.Config{Store: w.store, Model: demo.New(demo.Options{}), Policy: routing.Policy{OwnerAlways: true}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		w.Fatal(err)
	}
	return b
}

func chat(w *world, v verb) error {
	if v.chat == "" {
		return errNoDoor
	}
	record, err := w.store.Get(w.Context(), here)
	if err != nil {
		w.Fatal(err)
	}
	say := api.Say{Surface: adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "a"}, Text: v.chat}
	if record.State == sessions.StateExpired {
		say.Session = here
	}
	said, err := w.bot().Say(w.Context(), say)
	if err != nil {
		return err
	}
	return worded(said.Reply)
}

// worded is the refusal that a chat's answer words.
func worded(reply string) error {
	for text, code := range map[string]conversations.Code{
		texts.NoSuchSession: conversations.NotFound, texts.NoSuchEntry: conversations.NoEntry, texts.StillRunning: conversations.Running,
		texts.Ended: conversations.Expired, texts.NameTooLong: conversations.Invalid, texts.LabelTooLong: conversations.Invalid,
	} {
		if reply == text {
			return &conversations.Refusal{Code: code, Detail: reply}
		}
	}
	return nil
}

func over(w *world, v verb) error {
	if v.http[0] == "" {
		return errNoDoor
	}
	server, err := api.New(api.Config{Store: w.store, Operations: w.bot(), Token: secret.New("a token"), Logger: slog.New(slog.DiscardHandler),
		Shown: func(text string) (string, bool) { return text, false }})
	if err != nil {
		w.Fatal(err)
	}
	defer server.Close()
	path, ok := strings.CutPrefix(v.http[1], "/..")
	if !ok {
		path = "/" + here + v.http[1]
	}
	kind := "application/json"
	if strings.HasSuffix(path, "/import") {
		kind = "application/jsonl"
	}
	request := httptest.NewRequestWithContext(w.Context(), v.http[0], "/v1/sessions"+path, bytes.NewBufferString(v.http[2]))
	request.Header.Set("Authorization", "Bearer a token")
	request.Header.Set("Content-Type", kind)
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, request)
	if answer.Code < http.StatusBadRequest {
		return nil
	}
	refused := &client.RefusedError{}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<16)).Decode(refused); err != nil {
		w.Fatalf("%d: %v", answer.Code, err)
	}
	refused.Status = answer.Code
	return refused
}

func line(w *world, v verb) error {
	if v.line == nil {
		return errNoDoor
	}
	return v.line(w.Context(), sessionscli.AtRest(w.store))
}
