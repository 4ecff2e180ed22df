package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/adapters"
	"parley/api"
	"parley/api/apitest"
	"parley/sessions"
)

func TestAMessageIsAnswered(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	got := h.say("cli:work", "hello")
	if got.Session != "cli:work" || got.Seq != 1 || !got.Turn || len(got.Entries) != 1 {
		t.Fatalf("%+v", got)
	}
	var message sessions.Message
	if err := json.Unmarshal(got.Entries[0].Payload, &message); err != nil || message.Text != "You said: hello" {
		t.Errorf("%+v %v", message, err)
	}
	again := h.say("cli:work", "and again")
	if again.Session != "cli:work" || again.Seq != 3 {
		t.Errorf("%+v", again)
	}
}

func TestAMessageIsAcceptedAtOnce(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	h := start(t, func(ctx context.Context, q string, _ func(string)) (string, error) {
		select {
		case <-hold:
		case <-ctx.Done():
		}
		return q, nil
	})
	defer close(hold)
	got := h.do("POST", "/v1/sessions/api:x/messages", `{"text":"hi"}`)
	if got.status != http.StatusAccepted || !strings.Contains(got.body, `"turn":true`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := h.do("POST", "/v1/sessions/api:x/messages?wait=1ms", `{"text":"two"}`); got.status != http.StatusAccepted {
		t.Errorf("the time is up: %d %s", got.status, got.body)
	}
	if got := h.do("POST", "/v1/sessions/api:x/messages?wait=1m", `{"text":"note","append":true}`); got.status != http.StatusOK || !strings.Contains(got.body, `"turn":false`) {
		t.Errorf("nothing to wait for: %d %s", got.status, got.body)
	}
	var stop struct{ Stopping bool }
	if h.do("POST", "/v1/sessions/api:x/stop", "").into(t, &stop); !stop.Stopping {
		t.Error("a running turn does not stop")
	}
}

// A message that waits for another's turn gets its own answer, not that one's.
func TestWaitingBehindAnotherTurn(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	h := start(t, func(ctx context.Context, q string, _ func(string)) (string, error) {
		if q == "first" {
			select {
			case <-hold:
			case <-ctx.Done():
			}
		}
		return "to " + q, nil
	})
	h.do("POST", "/v1/sessions/api:x/messages", `{"text":"first"}`)
	events, cancel := h.events("/v1/sessions/api:x/events")
	defer cancel()
	second := make(chan said)
	go func() { second <- h.say("api:x", "second") }()
	until(t, events, "user_message")
	until(t, events, "user_message")
	close(hold)
	got := <-second
	if len(got.Entries) != 1 || !strings.Contains(string(got.Entries[0].Payload), "to second") {
		t.Errorf("%+v", got)
	}
}

func TestTheSameKeyIsTheSameMessage(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	key := header("Idempotency-Key", "3f1c")
	first, second := h.say("web:x", "once", key), h.say("web:x", "once", key)
	if first.Duplicate || !second.Duplicate || second.Seq != first.Seq {
		t.Errorf("%+v, then %+v", first, second)
	}
	if other := h.say("web:x", "once", header("Idempotency-Key", "3f1d")); other.Duplicate {
		t.Errorf("%+v", other)
	}
}

func TestCommandsAnswerInTheBody(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	got := h.do("POST", "/v1/sessions/web:x/messages?render=html", `{"text":"/help"}`)
	var said said
	got.into(t, &said)
	if said.Seq != 0 || !strings.Contains(said.Reply, "**new**") || !strings.Contains(said.ReplyHTML, "<strong>new</strong>") {
		t.Errorf("%+v", said)
	}
}

// recorder keeps what was said instead of saying it.
type recorder struct {
	api.Operations
	said api.Say
}

func (r *recorder) Say(_ context.Context, say api.Say) (api.Said, error) {
	r.said = say
	return api.Said{Session: "x", Seq: 1}, nil
}

func TestWhereAMessageGoes(t *testing.T) {
	t.Parallel()
	ops := &recorder{}
	h := start(t, apitest.Echo, func(c *api.Config) { ops.Operations, c.Operations = c.Operations, ops })
	post := func(platform adapters.Platform, chat, session string) {
		surface := adapters.Surface{Platform: platform, Account: "1", Chat: chat}
		if platform == adapters.Web {
			surface.Account = adapters.Local
		}
		if _, err := h.store.Post(t.Context(), sessions.PostRequest{Surface: surface.Key(), Session: session,
			Message: sessions.Message{Role: sessions.RoleUser, Text: "before"}}); err != nil {
			t.Fatal(err)
		}
	}
	post(adapters.Web, "old", "")
	if _, err := h.store.Rotate(t.Context(), sessions.RotateRequest{New: sessions.NewSession{Surface: "web:local:old"}}); err != nil {
		t.Fatal(err)
	}
	current, _ := h.store.Bound(t.Context(), "web:local:old")
	post(adapters.Telegram, "7", "")
	telegram, _ := h.store.Bound(t.Context(), "telegram:1:7")
	cases := map[string]struct {
		surface adapters.Surface
		session string
		status  int
	}{
		"web:fresh":   {adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "fresh"}, "", 202},
		"cli:fresh":   {adapters.Surface{Platform: adapters.CLI, Account: adapters.Local, Chat: "fresh"}, "", 202},
		"api:a%2525b": {adapters.Surface{Platform: adapters.API, Account: adapters.Local, Chat: "a%b"}, "", 202},
		"web:old":     {adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "old"}, "web:old", 202},
		current.ID:    {adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "old"}, "", 202},
		telegram.ID:   {adapters.Surface{Platform: adapters.API, Account: adapters.Local, Chat: telegram.ID}, telegram.ID, 202},

		"web:fresh~abc":            {status: 404},
		"web:":                     {status: 404},
		"web:a:b":                  {status: 404},
		"web:a%25zz":               {status: 404},
		"telegram:2026-01-01-none": {status: 404},
		"schedule:x":               {status: 404},
		"nonsense":                 {status: 404},
		"a%20b":                    {status: 400},
		"a%2Fb":                    {status: 400},
		strings.Repeat("x", 300):   {status: 400},
	}
	for id, want := range cases {
		ops.said = api.Say{}
		got := h.do("POST", "/v1/sessions/"+id+"/messages", `{"text":"hi"}`)
		if got.status != want.status || ops.said.Surface != want.surface || ops.said.Session != want.session {
			t.Errorf("%s: %d %+v, want %+v", id, got.status, ops.said, want)
		}
		if want.status >= 400 {
			got.code(t)
		}
	}
}

// A page that has taken up another place's conversation speaks from itself.
func TestAMessageSaysWhereItIsSaid(t *testing.T) {
	t.Parallel()
	ops := &recorder{}
	h := start(t, apitest.Echo, func(c *api.Config) { ops.Operations, c.Operations = c.Operations, ops })
	if _, err := h.store.Post(t.Context(), sessions.PostRequest{Surface: "telegram:1:7", Message: sessions.Message{Role: sessions.RoleUser, Text: "before"}}); err != nil {
		t.Fatal(err)
	}
	chat, _ := h.store.Bound(t.Context(), "telegram:1:7")
	page := adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "phone"}
	post := func(surface string, status int) api.Say {
		ops.said = api.Say{}
		got := h.do("POST", "/v1/sessions/"+chat.ID+"/messages", `{"text":"hi","surface":"`+surface+`"}`)
		if got.status != status {
			t.Fatalf("%s: %d %s", surface, got.status, got.body)
		}
		return ops.said
	}
	post(page.Key(), 409) // it has another conversation, or none yet
	if _, _, err := h.store.Attach(t.Context(), sessions.AttachRequest{Session: chat.ID, Surface: page.Key()}); err != nil {
		t.Fatal(err)
	}
	if said := post(page.Key(), 202); said.Surface != page || said.Session != "" || said.Held != chat.ID {
		t.Fatalf("the page's own conversation: %+v", said)
	}
	for _, surface := range []string{"telegram:1:7", "schedule:local:x", "nonsense", "web:local:a:b"} {
		post(surface, 400)
	}
}

// A page that shows a conversation which its place has left writes nothing into
// it, and erases nothing of it.
func TestWhatIsMeantForALeftConversationIsRefused(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	say := func(id, key, text string) answer {
		return h.do("POST", "/v1/sessions/"+id+"/messages", `{"text":"`+text+`","surface":"web:local:phone"}`, header("Idempotency-Key", key))
	}
	var said struct {
		Session   string
		MovedTo   string `json:"moved_to"`
		Duplicate bool
	}
	if got := say("web:phone", "1", "hello"); got.status != 202 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	say("web:phone", "2", "/new").into(t, &said)
	fresh := said.MovedTo
	if record, err := h.store.Bound(t.Context(), "web:local:phone"); err != nil || record.ID != fresh {
		t.Fatalf("/new leads to %q, and the place has %q %v", fresh, record.ID, err)
	}
	got := say("web:phone", "3", "too late")
	var problem struct{ Code, Current string }
	if got.into(t, &problem); got.status != 409 || problem.Code != "moved" || problem.Current != fresh {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if say("web:phone", "1", "hello").into(t, &said); !said.Duplicate || said.Session != "web:phone" {
		t.Errorf("what was stored before is not found again by its key: %+v", said)
	}
	if got := say(fresh, "3", "too late"); got.status != 202 {
		t.Errorf("sent again for the other one: %d %s", got.status, got.body)
	}
}

func TestWhoSpeaks(t *testing.T) {
	t.Parallel()
	ops := &recorder{}
	h := start(t, apitest.Echo, func(c *api.Config) { ops.Operations, c.Operations = c.Operations, ops })
	for body, want := range map[string]adapters.Sender{
		`{"text":"x"}`:                                            {},
		`{"text":"x","sender":{"name":"Ann"}}`:                    {Name: "Ann"},
		`{"text":"x","sender":{"id":"telegram:5","name":"Ann"}}`:  {ID: "telegram:5", Name: "Ann"},
		`{"text":"x","sender":{"id":"slack:T1%3AU1","name":"A"}}`: {ID: "slack:T1%3AU1", Name: "A"},
	} {
		if got := h.do("POST", "/v1/sessions/api:x/messages", body); got.status != 202 || ops.said.Sender != want {
			t.Errorf("%s: %d %+v", body, got.status, ops.said.Sender)
		}
	}
}

func TestMalformedMessagesAreRefused(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	long := func(n int) string { return `{"text":"` + strings.Repeat("x", n) + `"}` }
	cases := []struct {
		name, query, body string
		options           []option
		want              int
		code              string
	}{
		{"no body", "", "", []option{header("Content-Type", "application/json")}, 400, "bad_request"},
		{"no content type", "", `["x"]`, nil, 415, "media_type"},
		{"another content type", "", `{"text":"x"}`, []option{header("Content-Type", "text/plain")}, 415, "media_type"},
		{"not JSON", "", `{"text":`, nil, 400, "bad_request"},
		{"an array", "", `{"text":["x"]}`, nil, 400, "bad_request"},
		{"null", "", `null`, []option{header("Content-Type", "application/json")}, 400, "bad_request"},
		{"two values", "", `{"text":"x"} {}`, nil, 400, "bad_request"},
		{"an unknown member", "", `{"text":"x","role":"owner"}`, nil, 400, "bad_request"},
		{"no text", "", `{}`, nil, 400, "bad_request"},
		{"a blank text", "", `{"text":" \n\t"}`, nil, 400, "bad_request"},
		{"a long text", "", long(api.TextMax + 1), nil, 413, "too_large"},
		{"a huge body", "", long(1 << 20), nil, 413, "too_large"},
		{"not UTF-8", "", "{\"text\":\"\xff\"}", nil, 400, "bad_request"},
		{"a sender who is no identity", "", `{"text":"x","sender":{"id":"Ann"}}`, nil, 400, "bad_request"},
		{"a sender with a space", "", `{"text":"x","sender":{"id":"telegram:5 6"}}`, nil, 400, "bad_request"},
		{"a sender with a long name", "", `{"text":"x","sender":{"name":"` + strings.Repeat("n", 300) + `"}}`, nil, 400, "bad_request"},
		{"a long workspace", "", `{"text":"x","workspace":"` + strings.Repeat("w", sessions.KeyMax+1) + `"}`, nil, 400, "bad_request"},
		{"a long key", "", `{"text":"x"}`, []option{header("Idempotency-Key", strings.Repeat("k", 201))}, 400, "bad_request"},
		{"a key that is not ASCII", "", `{"text":"x"}`, []option{header("Idempotency-Key", "ключ")}, 400, "bad_request"},
		{"a wait that is no time", "?wait=soon", `{"text":"x"}`, nil, 400, "bad_request"},
		{"a wait that is too long", "?wait=1h", `{"text":"x"}`, nil, 400, "bad_request"},
		{"a negative wait", "?wait=-1s", `{"text":"x"}`, nil, 400, "bad_request"},
		{"deep nesting", "", `{"text":` + strings.Repeat("[", 20000) + `}`, nil, 400, "bad_request"},
	}
	for _, c := range cases {
		got := h.do("POST", "/v1/sessions/api:x/messages"+c.query, c.body, c.options...)
		if got.status != c.want || got.code(t) != c.code {
			t.Errorf("%s: %d %s", c.name, got.status, got.body)
		}
	}
	if _, err := h.store.Get(t.Context(), "api:x"); !errors.Is(err, sessions.ErrNotFound) {
		t.Error("something was stored all the same")
	}
	if got := h.do("POST", "/v1/sessions/api:x/messages", long(api.TextMax)); got.status != 202 {
		t.Errorf("the longest text: %d %s", got.status, got.body)
	}
}

// failing answers every Say with an error.
type failing struct {
	api.Operations
	err error
}

func (f *failing) Say(context.Context, api.Say) (api.Said, error) { return api.Said{}, f.err }

func TestErrorsBecomeProblems(t *testing.T) {
	t.Parallel()
	ops := &failing{}
	h := start(t, apitest.Echo, func(c *api.Config) { c.Operations = ops })
	for _, c := range []struct {
		err  error
		want int
		code string
	}{
		{sessions.ErrNotFound, 404, "not_found"},
		{sessions.ErrQueueFull, 429, "queue_full"},
		{sessions.ErrUnavailable, 503, "unavailable"},
		{api.ErrStopping, 503, "stopping"},
		{&sessions.StateError{Session: "api:x", State: sessions.StateExpired, Attempted: "post"}, 409, "state"},
		{&sessions.InvalidError{What: "key", Why: "it is odd"}, 400, "bad_request"},
		{errors.New("a secret cause"), 500, "internal"},
	} {
		ops.err = c.err
		got := h.do("POST", "/v1/sessions/api:x/messages", `{"text":"x"}`)
		if got.status != c.want || got.code(t) != c.code || strings.Contains(got.body, "secret cause") {
			t.Errorf("%v: %d %s", c.err, got.status, got.body)
		}
	}
}

func TestUnknownAddressesAreProblems(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	for path, want := range map[string]int{
		"GET /metrics": 404, "GET /v1/nothing": 404, "GET /v1/": 404, "DELETE /v1/me": 405, "GET /v1/sessions/x/messages": 405, "PUT /login": 405,
	} {
		method, path, _ := strings.Cut(path, " ")
		got := h.do(method, path, "")
		if got.status != want {
			t.Errorf("%s %s: %d", method, path, got.status)
		}
		got.code(t)
		if want == 405 && got.header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", method, path)
		}
	}
}

func TestMountedHandlersKeepTheirOwnDoor(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo, loopbackOwner)
	h.api.Mount("POST /telegram/{account}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("for " + r.PathValue("account")))
	}))
	got := send(t, h.client, "POST", h.url+"/telegram/7", "", host("public.example"), header("Sec-Fetch-Site", "cross-site"))
	if got.status != 200 || got.body != "for 7" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestAPanicIsOneAnswer(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.api.Mount("GET /boom", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("boom") }))
	if got := h.do("GET", "/boom", ""); got.status != 500 || got.code(t) != "internal" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestServeStopsWithStreamsOpen(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	listener := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.api.Serve(ctx, listener) }()
	h.url = "http://" + listener.Addr().String()
	events, closeStream := h.events("/v1/sessions/web:x/events")
	defer closeStream()
	until(t, events, "status")
	cancel()
	for range events {
	}
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("it does not stop")
	}
}
