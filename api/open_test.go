package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"parley/api/apitest"
	"parley/sessions"
)

func (h *harness) open(body string, options ...option) (record sessions.Record, status int) {
	h.t.Helper()
	got := h.do("POST", "/v1/sessions", body, options...)
	if got.status != http.StatusOK && got.status != http.StatusCreated {
		h.t.Fatalf("%s: %d %s", body, got.status, got.body)
	}
	got.into(h.t, &record)
	if location := got.header.Get("Location"); (location == "/v1/sessions/"+record.ID) != (got.status == http.StatusCreated) {
		h.t.Errorf("%s: Location %q", body, location)
	}
	return record, got.status
}

func TestSessionsAreOpenedAndReopened(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	made, status := h.open(`{"id":"cli:work","name":"work","agent":"scout","workspace":"/src","metadata":{"a":1}}`)
	if status != 201 || made.ID != "cli:work" || made.State != sessions.StateCreated || made.Surfaces[0] != "cli:local:work" || made.UserID != "cli:owner" ||
		made.Source != (sessions.Source{Kind: "cli", Interactive: true, Platform: "cli", Type: sessions.Direct}) || made.Name != "work" || made.Agent != "scout" || made.WorkspaceID != "/src" {
		t.Errorf("%d %+v", status, made)
	}
	again, status := h.open(`{"id":"cli:work","name":"other","kind":"else","metadata":{"b":2}}`)
	if status != 200 || again.Source != made.Source || again.Name != "work" || fmt.Sprint(again.Metadata) != "map[a:1 b:2]" {
		t.Errorf("reopened: %d %+v", status, again)
	}
	bySurface, status := h.open(`{"surface":"cli:local:work"}`)
	if status != 200 || bySurface.ID != "cli:work" {
		t.Errorf("by its place: %d %+v", status, bySurface)
	}
	if got := h.say("cli:work", "hello"); got.Session != "cli:work" {
		t.Errorf("%+v", got)
	}
	h.say("cli:work", "once more")
	h.do("POST", "/v1/sessions/cli:work/messages", `{"text":"/new"}`)
	old, status := h.open(`{"id":"cli:work"}`)
	if status != 200 || len(old.Surfaces) != 0 {
		t.Errorf("the place has moved on: %d %+v", status, old)
	}
}

func TestASessionWithoutANameGetsAnID(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo, withTokens)
	key := header("Idempotency-Key", "k1")
	first, status := h.open("")
	if status != 201 || !strings.HasPrefix(first.ID, "api:") {
		t.Errorf("%d %+v", status, first)
	}
	one, created := h.open("{}", key)
	same, reopened := h.open("{}", key)
	if created != 201 || reopened != 200 || one.ID != same.ID || one.ID == first.ID {
		t.Errorf("%d %s, %d %s", created, one.ID, reopened, same.ID)
	}
	other, created := h.open("{}", key, bearer(bridgeToken))
	if created != 201 || !strings.HasPrefix(other.ID, "telegram:") || strings.HasSuffix(other.ID, one.ID[len("api:"):]) || other.Source.Kind != "channel" || other.UserID != "" {
		t.Errorf("another caller's key: %d %+v", created, other)
	}
}

func TestSessionsThatAreNotOpened(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo, withTokens)
	h.make("web:there", "web:local:there")
	if _, err := h.store.Post(t.Context(), sessions.PostRequest{Surface: "telegram:1:7", Message: sessions.Message{Role: sessions.RoleUser, Text: "x"}}); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		body, token string
		want        int
		code        string
	}{
		{`{"id":"a b"}`, token, 400, "bad_request"},
		{`{"id":"` + strings.Repeat("x", 10_000) + `"}`, token, 400, "bad_request"},
		{`{"id":"a\u0000b"}`, token, 400, "bad_request"},
		{`{"surface":"nowhere"}`, token, 400, "bad_request"},
		{`{"id":"cli:a","surface":"cli:local:b"}`, token, 400, "bad_request"},
		{`{"type":"crowd"}`, token, 400, "bad_request"},
		{`{"user":"Ann"}`, token, 400, "bad_request"},
		{`{"role":"owner"}`, token, 400, "bad_request"},
		{`{"metadata":{"a":"` + strings.Repeat("x", sessions.MetadataMax) + `"}}`, token, 400, "bad_request"},
		{`{"metadata":{"a":"` + strings.Repeat("x", 1<<20) + `"}}`, token, 413, "too_large"},
		{`{"metadata":[]}`, token, 400, "bad_request"},
		{`{"surface":"telegram:1:8"}`, token, 409, "no_session"},
		{`{"id":"web:mine"}`, bridgeToken, 404, "not_found"},
		{`{"id":"telegram"}`, bridgeToken, 404, "not_found"},
		{`{"surface":"web:local:there"}`, bridgeToken, 403, "forbidden"},
		{`{"user":"slack:U1"}`, bridgeToken, 403, "forbidden"},
	}
	for _, c := range cases {
		got := h.do("POST", "/v1/sessions", c.body, bearer(c.token))
		if got.status != c.want || got.code(t) != c.code {
			t.Errorf("%.60s: %d %s", c.body, got.status, got.body)
		}
	}
	if record, status := h.open(`{"surface":"telegram:1:7"}`, bearer(bridgeToken)); status != 200 || !strings.HasPrefix(record.ID, "telegram:") {
		t.Errorf("a platform's place that has a session: %d %+v", status, record)
	}
}

// A place of the token's platform whose session is another's is not shown.
func TestAPlaceWithAnothersSession(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo, withTokens)
	other := h.make("discord:2026-01-01-x", "")
	if _, _, err := h.store.Attach(t.Context(), sessions.AttachRequest{Session: other.ID, Surface: "telegram:1:7"}); err != nil {
		t.Fatal(err)
	}
	mine := h.make("telegram:2026-01-01-mine", "")
	for call, body := range map[string]string{"POST /v1/sessions": `{"surface":"telegram:1:7"}`, "PUT /v1/sessions/" + mine.ID + "/surfaces/telegram:1:7": ""} {
		method, path, _ := strings.Cut(call, " ")
		if got := h.do(method, path, body, bearer(bridgeToken)); got.status != 404 {
			t.Errorf("%s: %d %s", call, got.status, got.body)
		}
	}
}

func TestRecordsAreChanged(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.open(`{"id":"cli:x","metadata":{"keep":1,"drop":2}}`)
	patch := func(body string, options ...option) (record sessions.Record) {
		got := h.do("PATCH", "/v1/sessions/cli:x", body, options...)
		if got.status != http.StatusOK {
			t.Fatalf("%s: %d %s", body, got.status, got.body)
		}
		got.into(t, &record)
		return record
	}
	got := patch(`{"description":"about work","working_memory":"notes","agent":"scout","metadata":{"drop":null,"new":"x"}}`)
	if got.Description != "about work" || got.DescriptionSource != sessions.DescriptionUser || got.WorkingMemory != "notes" || got.Agent != "scout" || fmt.Sprint(got.Metadata) != "map[keep:1 new:x]" || got.Seq != 0 {
		t.Errorf("%+v", got)
	}
	if got = patch(`{"working_memory":null}`, header("Content-Type", "application/merge-patch+json")); got.WorkingMemory != "" || got.Agent != "scout" {
		t.Errorf("null empties, what is missing stays: %+v", got)
	}
	for body, want := range map[string]int{
		`{"state":"expired"}`: 400, `{"metadata":"x"}`: 400, `{"name":1}`: 400, `{"name":"a\nb"}`: 400, `{`: 400,
		`{"working_memory":"` + strings.Repeat("x", sessions.MetadataMax+1) + `"}`: 400,
		`{"metadata":{"a":"` + strings.Repeat("x", sessions.MetadataMax) + `"}}`:   400,
	} {
		if got := h.do("PATCH", "/v1/sessions/cli:x", body); got.status != want {
			t.Errorf("%.40s: %d %s", body, got.status, got.body)
		}
	}
	if got := h.do("PATCH", "/v1/sessions/cli:none", `{"agent":"x"}`); got.status != 404 {
		t.Errorf("no session: %d", got.status)
	}
}
