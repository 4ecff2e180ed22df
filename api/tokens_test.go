package api_test

import (
	"net/http"
	"strings"
	"testing"

	"parley/adapters"
	"parley/api"
	"parley/api/apitest"
	"parley/internal/secret"
	"parley/sessions"
)

const (
	bridgeToken  = "the-token-of-the-telegram-bridge"
	programToken = "the-token-of-another-program"
)

func withTokens(c *api.Config) {
	c.Tokens = []api.Token{
		{Name: "console", Token: secret.New(programToken), Scope: api.ScopeOwner},
		{Name: "bridge", Token: secret.New(bridgeToken), Scope: api.ScopeChannel, Namespace: "telegram"},
	}
}

// make opens a session with a message in it.
func (h *harness) make(id, surface string) sessions.Record {
	h.t.Helper()
	record, _, err := h.store.Open(h.t.Context(), sessions.NewSession{ID: id, Surface: surface, UserID: "cli:owner",
		Source: sessions.Source{Kind: "test", Type: sessions.Direct}})
	if err != nil {
		h.t.Fatal(err)
	}
	post, err := h.store.Post(h.t.Context(), sessions.PostRequest{Session: record.ID,
		Message: sessions.Message{Role: sessions.RoleUser, Text: "hello from " + record.ID}})
	if err != nil {
		h.t.Fatal(err)
	}
	record, err = h.store.Get(h.t.Context(), post.Session)
	if err != nil {
		h.t.Fatal(err)
	}
	return record
}

// bodies are requests that every route of a session takes.
var bodies = map[string]string{
	"messages": `{"text":"hi","sender":{"id":"telegram:5"}}`, "branch": `{"entry":"e1"}`, "labels": `{"entry":"e1","label":"x"}`,
	"name": `{"name":"x"}`, "custom": `{"type":"custom_info"}`, "": `{"name":"x"}`, "resume": `{}`, "fork": `{}`,
}

// sessionCalls are all routes of one session, as the document lists them.
func sessionCalls(t *testing.T, id string) (calls []func(*harness, ...option) answer, names []string) {
	t.Helper()
	document, err := openAPI()
	must(t, err)
	for path, methods := range document.Paths {
		rest, ofSession := strings.CutPrefix(path, "/v1/sessions/{id}")
		if !ofSession {
			continue
		}
		for method := range methods {
			if method == "parameters" {
				continue
			}
			method, address := strings.ToUpper(method), "/v1/sessions/"+id+strings.ReplaceAll(rest, "{key}", "telegram:1:7")
			body := ""
			if method == http.MethodPost || method == http.MethodPatch {
				body = bodies[strings.TrimPrefix(rest, "/")]
			}
			calls = append(calls, func(h *harness, options ...option) answer { return h.do(method, address, body, options...) })
			names = append(names, method+" "+rest)
		}
	}
	return calls, names
}

// A channel's token reaches what is its own; everything else is not there, and
// looks the same whether it is there or not.
func TestAChannelsTokenReachesItsNamespaceOnly(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo, withTokens)
	bridge := bearer(bridgeToken)
	h.make("discord:2026-01-01-there", "")
	h.make("telegramx:there", "")
	h.make("web:there", "web:local:there")
	for _, foreign := range []string{"discord:2026-01-01-there", "telegramx:there", "web:there", "discord:2026-01-01-none", "web:none", "telegram", "telegram:none"} {
		calls, names := sessionCalls(t, foreign)
		for i, call := range calls {
			got := call(h, bridge)
			if got.status != http.StatusNotFound || got.code(t) != "not_found" || strings.Contains(got.body, "there.") {
				t.Errorf("%s %s: %d %s", names[i], foreign, got.status, got.body)
			}
		}
	}
	own := h.make("telegram:2026-01-01-mine", "")
	for _, path := range []string{"", "/entries", "/feed", "/tree"} {
		if got := h.do("GET", "/v1/sessions/"+own.ID+path, "", bridge); got.status != http.StatusOK {
			t.Errorf("its own %s: %d %s", path, got.status, got.body)
		}
	}
	events, cancel := h.events("/v1/sessions/"+own.ID+"/events", bridge)
	defer cancel()
	until(t, events, "status")
}

func TestWhatIsForTheOwnerOnly(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo, withTokens)
	for path, body := range map[string]string{
		"GET /v1/deadletters": "", "POST /v1/deadletters/x/replay": "", "DELETE /v1/deadletters/x": "",
		"GET /v1/users": "", "GET /v1/users/telegram:5": "", "PUT /v1/users/telegram:5/role": `{"role":"owner"}`,
		"POST /v1/sessions/import": "", "GET /metrics": "",
	} {
		method, path, _ := strings.Cut(path, " ")
		if got := h.do(method, path, body, bearer(bridgeToken)); got.status != http.StatusForbidden || got.code(t) != "forbidden" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	for _, token := range []string{token, programToken, bridgeToken} {
		if got := h.do("GET", "/v1/me", "", bearer(token)); got.status != http.StatusOK {
			t.Errorf("%s: %d", token, got.status)
		}
	}
	if got := h.do("GET", "/v1/users/telegram:5", "", bearer(programToken)); got.status != http.StatusOK {
		t.Errorf("a program that may do everything: %d %s", got.status, got.body)
	}
	form := header("Content-Type", "application/x-www-form-urlencoded")
	for _, other := range []string{programToken, bridgeToken} {
		if got := send(t, h.client, "POST", h.url+"/login", "token="+other, form); got.status != http.StatusUnauthorized {
			t.Errorf("%s signs a browser in: %d", other, got.status)
		}
	}
	var ready struct{ Parts []api.PartHealth }
	h.gateway.Parts = []api.PartHealth{{Name: "x", Problem: "a cause"}}
	h.do("GET", "/readyz", "", bearer(bridgeToken)).into(t, &ready)
	if ready.Parts[0].Problem != "" {
		t.Error("a channel's token is told causes")
	}
}

// A channel's token speaks for the people of its platform, and never for who
// the gateway takes for its owner.
func TestForWhomAChannelsTokenSpeaks(t *testing.T) {
	t.Parallel()
	ops := &recorder{}
	h := start(t, apitest.Echo, withTokens, func(c *api.Config) {
		c.Tokens = append(c.Tokens, api.Token{Name: "programs", Token: secret.New("the-token-of-the-programs"), Scope: api.ScopeChannel, Namespace: "api"})
		ops.Operations, c.Operations = c.Operations, ops
	})
	h.make("telegram:2026-01-01-mine", "")
	cases := []struct {
		session, token, sender string
		want                   int
	}{
		{"telegram:2026-01-01-mine", bridgeToken, `,"sender":{"id":"telegram:5","name":"Ann"}`, 202},
		{"telegram:2026-01-01-mine", bridgeToken, `,"sender":{"id":"discord:5"}`, 403},
		{"telegram:2026-01-01-mine", bridgeToken, `,"sender":{"id":"telegramx:5"}`, 403},
		{"telegram:2026-01-01-mine", bridgeToken, `,"sender":{"id":"api:owner"}`, 403},
		{"telegram:2026-01-01-mine", bridgeToken, `,"sender":{"name":"Ann"}`, 400},
		{"telegram:2026-01-01-mine", bridgeToken, ``, 400},
		{"telegram:2026-01-01-mine", token, `,"sender":{"id":"discord:5"}`, 202},
		{"telegram:2026-01-01-mine", programToken, ``, 202},
		{"api:job", "the-token-of-the-programs", `,"sender":{"id":"api:job"}`, 202},
		{"api:job", "the-token-of-the-programs", `,"sender":{"id":"api:owner"}`, 403},
		{"api:job", "the-token-of-the-programs", ``, 400},
	}
	for _, c := range cases {
		ops.said = api.Say{}
		got := h.do("POST", "/v1/sessions/"+c.session+"/messages", `{"text":"hi"`+c.sender+`}`, bearer(c.token))
		if got.status != c.want || (ops.said.Text != "") != (c.want == 202) {
			t.Errorf("%s %s %s: %d %s", c.token, c.session, c.sender, got.status, got.body)
		}
	}
	h.do("POST", "/v1/sessions/telegram:2026-01-01-mine/messages", `{"text":"hi","sender":{"id":"telegram:5"}}`, bearer(bridgeToken))
	if want := (adapters.Surface{Platform: adapters.API, Account: adapters.Local, Chat: "telegram:2026-01-01-mine"}); ops.said.Surface != want {
		t.Errorf("%+v", ops.said)
	}
}

func TestWrongTokensOfProgramsLockOut(t *testing.T) {
	t.Parallel()
	const guessable = "a-short-token-it-is"
	h := start(t, apitest.Echo, func(c *api.Config) {
		c.Tokens = []api.Token{{Name: "bridge", Token: secret.New(guessable), Scope: api.ScopeChannel, Namespace: "telegram"}}
	})
	for range api.FailuresMax {
		h.do("GET", "/v1/me", "", bearer(guessable+"x"))
	}
	if got := h.do("GET", "/v1/me", "", bearer(guessable)); got.status != http.StatusTooManyRequests || got.code(t) != "locked_out" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestTokensAreChecked(t *testing.T) {
	t.Parallel()
	for name, tokens := range map[string][]api.Token{
		"empty":               {{Scope: api.ScopeOwner}},
		"no scope":            {{Token: secret.New("x")}},
		"no namespace":        {{Token: secret.New("x"), Scope: api.ScopeChannel}},
		"an owner's limits":   {{Token: secret.New("x"), Scope: api.ScopeOwner, Namespace: "telegram"}},
		"the owner's own":     {{Token: secret.New(token), Scope: api.ScopeOwner}},
		"the same token anew": {{Token: secret.New("x"), Scope: api.ScopeOwner}, {Token: secret.New("x"), Scope: api.ScopeOwner}},
	} {
		h := start(t, apitest.Echo)
		if _, err := api.New(api.Config{Store: h.store, Operations: h.gateway, Token: secret.New(token), Shown: apitest.Shown, Logger: discard(), Tokens: tokens}); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
