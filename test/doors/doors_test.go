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
	"reflect"
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
	does    string // the method of conversations.Room
	name    string
	prepare func(w *world)
	chat    string
	http    [3]string // method, path below the session, body
	line    func(ctx context.Context, place sessionscli.Place) error
	refused conversations.Code  // empty: it is carried out
	left    string              // what it leaves, if it is carried out: see world.left
	also    func(w *world) bool // what else has to hold then; nil: nothing
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
				if row.refused == "" && row.also != nil && !row.also(w) {
					t.Errorf("%s leaves something else undone", door)
				}
			}
		})
	}
}

var errNoDoor = errors.New("the door does not have it")

// Every verb has a row that carries it out, at a door at least.
func TestEveryVerbIsTried(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{}
	for _, row := range verbs() {
		if row.refused == "" && (row.chat != "" || row.http[0] != "" || row.line != nil) {
			tried[row.does] = true
		}
	}
	judged := map[string]bool{}
	for _, right := range rights() {
		judged[right.does] = true
	}
	for method := range reflect.TypeFor[*conversations.Room]().Methods() {
		if !tried[method.Name] {
			t.Errorf("conversations.Room.%s has no row among the verbs", method.Name)
		}
		if !judged[method.Name] {
			t.Errorf("conversations.Room.%s has no row among the rights", method.Name)
		}
	}
}

// world is a store with a conversation that its place has, and another one.
type world struct {
	*testing.T
	store sessions.Store
	turn  *sessions.Turn // that runs; nil: none does
}

func newStore(t *testing.T) sessions.Store {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	store := newStore(t)
	w := &world{T: t, store: store}
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
	result, err := w.store.Post(w.Context(), sessions.PostRequest{Session: id, Surface: surface, UserID: "web:owner", Trigger: claim != nil, Claim: claim,
		Message: sessions.Message{Role: sessions.RoleUser, Text: "a word"}})
	if err != nil {
		w.Fatal(err)
	}
	w.turn = result.Turn
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

func (w *world) detach() {
	if _, err := w.store.Detach(w.Context(), here, "web:local:a"); err != nil {
		w.Fatal(err)
	}
}

// suspend gives the place another conversation, as /new does.
func (w *world) suspend() {
	if _, err := w.store.Rotate(w.Context(), sessions.RotateRequest{New: sessions.NewSession{Surface: "web:local:a"}}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) clear() {
	if _, err := w.store.Clear(w.Context(), here); err != nil {
		w.Fatal(err)
	}
}

// unused makes the conversation one that was opened by hand and not used.
func (w *world) unused() {
	if err := w.store.Delete(w.Context(), here); err != nil {
		w.Fatal(err)
	}
	if _, _, err := w.store.Open(w.Context(), sessions.NewSession{ID: here, Surface: "web:local:a"}); err != nil {
		w.Fatal(err)
	}
}

// answered has a turn of the conversation end.
func (w *world) answered() {
	w.run()
	entry, err := sessions.NewMessage(sessions.Message{Role: sessions.RoleAssistant, Text: "an answer"})
	if err == nil {
		_, err = w.store.Commit(w.Context(), sessions.CommitRequest{Lease: w.turn.Lease, Outcome: sessions.Done, Entries: []sessions.NewEntry{entry}})
	}
	if err != nil {
		w.Fatal(err)
	}
}

// opened: there is the session that a row makes.
func (w *world) opened() bool {
	_, err := w.store.Get(w.Context(), "api:new")
	return err == nil
}

// stopping: the running turn was asked to stop.
func (w *world) stopping() bool {
	renewed, err := w.store.Renew(w.Context(), []sessions.Lease{w.turn.Lease}, time.Minute)
	return err == nil && renewed[0].Held && renewed[0].Stop
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
		texts.Ended:                           conversations.Expired,
		conversations.CheckName("\n").Error(): conversations.Invalid, conversations.CheckLabel("\n").Error(): conversations.Invalid,
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
	return requested(w.T, server, httptest.NewRequestWithContext(w.Context(), v.http[0], "/v1/sessions"+path, bytes.NewBufferString(v.http[2])), "a token")
}

// refusal is what an answer over HTTP refuses; nil: nothing.
func refusal(t *testing.T, answer *httptest.ResponseRecorder) error {
	t.Helper()
	if answer.Code < http.StatusBadRequest {
		return nil
	}
	refused := &client.RefusedError{}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<16)).Decode(refused); err != nil {
		t.Fatalf("%d: %v", answer.Code, err)
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
