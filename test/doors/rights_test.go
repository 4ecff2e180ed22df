package doors_test

import (
	"context"
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
	"parley/bot/texts"
	"parley/conversations"
	"parley/internal/secret"
	"parley/routing"
	"parley/sessions"
)

// Who acts.
const (
	anOwner   = "an owner"
	takesPart = "a member who takes part"
	outsider  = "a member who takes no part"
	aGuest    = "a guest who takes part"
	aToken    = "a channel's token"
)

// room is a verb as the room itself has it.
type roomVerb = func(ctx context.Context, r *conversations.Room, by conversations.Caller) error

// right is what a verb is to whom, tried at the room itself and at each door
// that they can come in by. An empty door does not have the verb.
type right struct {
	does string
	room roomVerb
	chat string
	http [3]string // as in verb
	// changes: in a group's conversation it is an owner's, or a program's.
	changes bool
	// but are the outcomes that do not follow from the rules, by who, with
	// "group " before it for a group's conversation alone.
	but map[string]conversations.Code
}

// outcome is what the rules say.
func (r right) outcome(who string, kind sessions.Type) conversations.Code {
	if code, found := r.but[string(kind)+" "+who]; found {
		return code
	}
	if code, found := r.but[who]; found {
		return code
	}
	switch {
	case who == outsider:
		return conversations.NotFound
	case who == aGuest, who == takesPart && kind == sessions.Group && r.changes:
		return conversations.Forbidden
	}
	return ""
}

const held = "matrix:room"

func rights() []right {
	result := func(do func(context.Context, *conversations.Room, conversations.Caller) (conversations.Result, error)) roomVerb {
		return func(ctx context.Context, r *conversations.Room, by conversations.Caller) error {
			_, err := do(ctx, r, by)
			return err
		}
	}
	type room = conversations.Room
	type who = conversations.Caller
	type res = conversations.Result
	name, entry := "Rome", int64(1)
	always := map[string]conversations.Code{outsider: "", aGuest: ""}
	ownersOnly := map[string]conversations.Code{takesPart: conversations.Forbidden, outsider: conversations.Forbidden, aToken: conversations.Forbidden}
	kept := map[string]conversations.Code{"group " + anOwner: conversations.GroupOnly, "group " + aToken: conversations.GroupOnly}
	return []right{
		{does: "Name", chat: "/name Rome", http: [3]string{"POST", "/name", `{"name":"Rome"}`}, changes: true, room: result(func(ctx context.Context, r *room, by who) (res, error) { return r.Name(ctx, by, held, name, "") })},
		{does: "Patch", http: [3]string{"PATCH", "", `{"name":"Rome"}`}, changes: true, room: result(func(ctx context.Context, r *room, by who) (res, error) {
			return r.Patch(ctx, by, held, sessions.Patch{Name: &name}, "")
		})},
		{does: "Label", chat: "/label e1 x", http: [3]string{"POST", "/labels", `{"entry":"e1","label":"x"}`}, changes: true, room: result(func(ctx context.Context, r *room, by who) (res, error) { return r.Label(ctx, by, held, 1, "x", "") })},
		{does: "Branch", chat: "/branch e1", http: [3]string{"POST", "/branch", `{"entry":"e1"}`}, changes: true, room: result(func(ctx context.Context, r *room, by who) (res, error) { return r.Branch(ctx, by, held, 1, "", "") })},
		{does: "Write", http: [3]string{"POST", "/custom", `{"type":"custom_info","name":"ci"}`}, changes: true, room: result(func(ctx context.Context, r *room, by who) (res, error) {
			return r.Write(ctx, by, held, conversations.Custom{Type: sessions.EntryCustomInfo, Name: "ci"}, "")
		})},
		{does: "Clear", chat: "/clear", http: [3]string{"POST", "/clear", ""}, changes: true, room: result(func(ctx context.Context, r *room, by who) (res, error) { return r.Clear(ctx, by, held, "") })},
		{does: "Checkpoint", chat: "/checkpoint", http: [3]string{"POST", "/checkpoint", ""}, changes: true, room: result(func(ctx context.Context, r *room, by who) (res, error) { return r.Checkpoint(ctx, by, held) })},
		{does: "Expire", http: [3]string{"POST", "/expire", ""}, changes: true, room: result(func(ctx context.Context, r *room, by who) (res, error) { return r.Expire(ctx, by, held) })},
		{does: "Delete", http: [3]string{"DELETE", "", ""}, changes: true, but: kept, room: result(func(ctx context.Context, r *room, by who) (res, error) { return r.Delete(ctx, by, held) })},
		{does: "Discard", http: [3]string{"DELETE", "?unused=1", ""}, changes: true, room: func(ctx context.Context, r *room, by who) error { _, err := r.Discard(ctx, by, held); return err }},

		{does: "Fork", chat: "/fork e1", http: [3]string{"POST", "/fork", `{"entry":"e1"}`}, room: result(func(ctx context.Context, r *room, by who) (res, error) {
			return r.Fork(ctx, by, held, conversations.ForkRequest{Entry: &entry}, "")
		})},
		{does: "Resume", chat: "/resume " + held, http: [3]string{"POST", "/resume", ""}, room: result(func(ctx context.Context, r *room, by who) (res, error) {
			return r.Resume(ctx, by, held, conversations.Place{}, true, "")
		})},
		{does: "Attach", http: [3]string{"PUT", "/surfaces/matrix:1:2", ""}, but: map[string]conversations.Code{"direct " + anOwner: conversations.GroupOnly, "direct " + takesPart: conversations.GroupOnly, "direct " + aToken: conversations.GroupOnly},
			room: result(func(ctx context.Context, r *room, by who) (res, error) {
				return r.Attach(ctx, by, held, conversations.There("matrix:1:2"))
			})},
		{does: "Detach", http: [3]string{"DELETE", "/surfaces/matrix:1:2", ""}, room: result(func(ctx context.Context, r *room, by who) (res, error) { return r.Detach(ctx, by, held, "matrix:1:2") })},
		{does: "Touch", http: [3]string{"POST", "/touch", ""}, room: result(func(ctx context.Context, r *room, by who) (res, error) { return r.Touch(ctx, by, held) })},
		{does: "Stop", http: [3]string{"POST", "/stop", ""}, room: result(func(ctx context.Context, r *room, by who) (res, error) { return r.Stop(ctx, by, held, "") })},
		{does: "Open", http: [3]string{"POST", "/..", `{"id":"` + held + `"}`}, room: result(func(ctx context.Context, r *room, by who) (res, error) {
			return r.Open(ctx, by, sessions.NewSession{ID: held}, "", "")
		})},
		{does: "Import", http: [3]string{"POST", "/../import", transcriptOf("matrix:new")}, but: ownersOnly, room: result(func(ctx context.Context, r *room, by who) (res, error) {
			return r.Import(ctx, by, strings.NewReader(transcriptOf("matrix:new")), false, "")
		})},

		{does: "Get", http: [3]string{"GET", "", ""}, room: func(ctx context.Context, r *room, by who) error { _, err := r.Get(ctx, by, held); return err }},
		{does: "Tree", chat: "/tree", http: [3]string{"GET", "/tree", ""}, room: func(ctx context.Context, r *room, by who) error { _, err := r.Tree(ctx, by, held, 9); return err }},
		{does: "Path", http: [3]string{"GET", "/entries?leaf=e1", ""}, room: func(ctx context.Context, r *room, by who) error { _, err := r.Path(ctx, by, held, 1, 9); return err }},
		{does: "Feed", http: [3]string{"GET", "/feed", ""}, room: func(ctx context.Context, r *room, by who) error { _, err := r.Feed(ctx, by, held, 9); return err }},
		{does: "Export", http: [3]string{"GET", "/export", ""}, room: func(ctx context.Context, r *room, by who) error { return r.Export(ctx, by, held, io.Discard) }},
		{does: "Find", http: [3]string{"GET", "/..?participant=matrix:part", ""}, but: always, room: func(ctx context.Context, r *room, by who) error {
			_, err := r.Find(ctx, by, sessions.Query{Participant: "matrix:part"})
			return err
		}},
	}
}

// The rights are one table: whoever asks, and by which door, may do the same.
func TestEveryDoorKnowsTheSameRights(t *testing.T) {
	t.Parallel()
	for _, right := range rights() {
		t.Run(right.does, func(t *testing.T) {
			t.Parallel()
			for _, kind := range []sessions.Type{sessions.Direct, sessions.Group} {
				refusing := newHall(t, kind) // nobody changes anything there
				for _, who := range []string{anOwner, takesPart, outsider, aGuest, aToken} {
					right.try(refusing, who, kind)
				}
			}
		})
	}
}

func (r right) try(refusing *hall, who string, kind sessions.Type) {
	want := r.outcome(who, kind)
	for door, ask := range r.doors(who, kind) {
		h := refusing
		if want == "" {
			h = newHall(refusing.T, kind)
		}
		before := h.version()
		err := ask(h, r, who)
		if code := conversations.CodeOf(err); code != want || err != nil && code == "" {
			h.Errorf("%s, %s conversation, %s: %q (%v), want %q", who, kind, door, code, err, want)
		}
		if now := h.version(); want != "" && now != before {
			h.Errorf("%s, %s conversation, %s: refused, but version %d became %d", who, kind, door, before, now)
		}
	}
}

// doors are those by which somebody can ask for a verb.
func (r right) doors(who string, kind sessions.Type) map[string]func(*hall, right, string) error {
	doors := map[string]func(*hall, right, string) error{}
	if who != aGuest { // roles are for the doors of people
		doors["room"] = inRoom
	}
	// Whoever speaks in a group takes part.
	if r.chat != "" && who != aToken && (who != outsider || kind == sessions.Direct || r.does == "Resume") {
		doors["chat"] = inChat
	}
	if who == anOwner || who == aToken {
		doors["http"] = overHTTP
	}
	return doors
}

// hall is a gateway with one conversation, that a page has.
type hall struct {
	*testing.T
	store  sessions.Store
	bot    *bot.Bot
	server *api.Server
}

func newHall(t *testing.T, kind sessions.Type) *hall {
	t.Helper()
	store := newStore(t)
	opening := sessions.NewSession{ID: held, Source: sessions.Source{Kind: "channel", Platform: "matrix", Type: kind}, UserID: "matrix:part"}
	if _, _, err := store.Open(t.Context(), opening); err != nil {
		t.Fatal(err)
	}
	for _, speaker := range []string{"matrix:part", "matrix:guest"} {
		if _, err := store.Post(t.Context(), sessions.PostRequest{Session: held, UserID: speaker, Message: sessions.Message{Role: sessions.RoleUser, Text: "a word"}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := store.Attach(t.Context(), sessions.AttachRequest{Session: held, Surface: "api:local:page"}); err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	h := &hall{T: t, store: store}
	var err error
	if h.bot, err = bot.New(bot.Config{Store: store, Model: demo.New(demo.Options{}), Log: quiet, Policy: routing.Policy{Access: routing.Access{DM: routing.DMAnyone}},
		Owners: []adapters.Identity{"matrix:owner"}, Members: []adapters.Identity{"matrix:part", "matrix:outsider"}}); err != nil {
		t.Fatal(err)
	}
	if h.server, err = api.New(api.Config{Store: store, Operations: h.bot, Token: secret.New("a token"), Logger: quiet,
		Tokens: []api.Token{{Name: "bridge", Token: secret.New("a bridge"), Scope: api.ScopeChannel, Namespace: "matrix"}},
		Shown:  func(text string) (string, bool) { return text, false }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.server.Close)
	return h
}

// version grows with every change of the conversation; 0: it is gone.
func (h *hall) version() int64 {
	record, err := h.store.Get(h.Context(), held)
	if err != nil {
		return 0
	}
	return record.Version
}

func (h *hall) user(who string) adapters.Identity {
	return map[string]adapters.Identity{anOwner: "matrix:owner", takesPart: "matrix:part", outsider: "matrix:outsider", aGuest: "matrix:guest"}[who]
}

func inRoom(h *hall, r right, who string) error {
	room := &conversations.Room{Store: h.store, Stopper: h.bot.Stop, Noter: func(ctx context.Context, session string) (bool, sessions.NoteResult, error) {
		made, err := h.bot.Checkpoint(ctx, session)
		return made.Made, sessions.NoteResult{Record: made.Record, Entries: made.Entries}, err
	}}
	by := conversations.Caller{Caller: sessions.Caller{User: sessions.User{ID: string(h.user(who))}, Owner: who == anOwner}}
	if who == aToken {
		by = conversations.Caller{Caller: sessions.Caller{Namespace: "matrix"}}
	}
	return r.room(h.Context(), room, by)
}

// inChat says a command at a place that has the conversation.
func inChat(h *hall, r right, who string) error {
	place := adapters.Surface{Platform: adapters.API, Account: adapters.Local, Chat: "page"}
	if r.does == "Resume" {
		place.Chat = "elsewhere"
	}
	sender := adapters.Sender{ID: h.user(who)}
	said, err := h.bot.Say(h.Context(), api.Say{Surface: place, Sender: sender, Text: r.chat})
	if err != nil {
		return err
	}
	if said.Reply == texts.Notice(routing.NoticeCommandRefused, sender.ID) {
		return &conversations.Refusal{Code: conversations.Forbidden, Detail: said.Reply}
	}
	return worded(said.Reply)
}

func overHTTP(h *hall, r right, who string) error {
	token := map[string]string{anOwner: "a token", aToken: "a bridge"}[who]
	path, ok := strings.CutPrefix(r.http[1], "/..")
	if !ok {
		path = "/" + held + r.http[1]
	}
	return requested(h.T, h.server, httptest.NewRequestWithContext(h.Context(), r.http[0], "/v1/sessions"+path, strings.NewReader(r.http[2])), token)
}

// requested is the refusal that a request is answered with; nil: none.
func requested(t *testing.T, server http.Handler, request *http.Request, token string) error {
	t.Helper()
	kind := "application/json"
	if strings.HasSuffix(request.URL.Path, "/import") {
		kind = "application/jsonl"
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", kind)
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, request)
	return refusal(t, answer)
}
