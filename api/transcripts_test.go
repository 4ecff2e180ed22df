package api_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"parley/api"
	"parley/api/apitest"
	"parley/sessions"
	"parley/sessions/view"
)

func lines() option { return header("Content-Type", "application/jsonl") }

func (h *harness) export(session string) string {
	h.t.Helper()
	got := h.do("GET", "/v1/sessions/"+session+"/export", "")
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "application/jsonl" || !strings.Contains(got.header.Get("Content-Disposition"), "attachment") {
		h.t.Fatalf("%d %v %s", got.status, got.header, got.body)
	}
	return got.body
}

// What leaves as a transcript comes back as the same conversation.
func TestATranscriptLeavesAndComesBack(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.say("web:x", "hello <NO_REPLY> & co")
	h.note("web:x", "labels", `{"entry":"e1","label":"start"}`)
	h.fill("x", 250)
	text := h.export("web:x")
	record, _ := h.store.Get(t.Context(), "web:x")
	if got := int64(strings.Count(text, "\n")); got != record.Seq+1 {
		t.Errorf("%d lines for %d entries", got, record.Seq)
	}
	if got := h.do("POST", "/v1/sessions/import", text, lines()); got.status != 409 || got.code(t) != "conflict" || !strings.Contains(got.body, "new_id=1") {
		t.Errorf("its id is taken: %d %s", got.status, got.body)
	}
	var copied sessions.Record
	got := h.do("POST", "/v1/sessions/import?new_id=1", text, lines())
	if got.into(t, &copied); got.status != 201 || !strings.HasPrefix(copied.ID, "web:x~") || copied.Seq != record.Seq || got.header.Get("Location") != "/v1/sessions/"+url.PathEscape(copied.ID) {
		t.Fatalf("%d %s", got.status, got.body)
	}
	_, before, _ := strings.Cut(text, "\n")
	if _, after, _ := strings.Cut(h.export(copied.ID), "\n"); after != before {
		t.Error("the copy's entries are not those of the original")
	}
	if got := h.do("DELETE", "/v1/sessions/web:x", ""); got.status != 200 {
		t.Fatal(got.body)
	}
	key := header("Idempotency-Key", "i1")
	first, second := h.do("POST", "/v1/sessions/import", text, lines(), key), h.do("POST", "/v1/sessions/import", text, lines(), key)
	if first.status != 201 || second.status != 200 || h.export("web:x") != text {
		t.Errorf("%d %s, then %d %s", first.status, first.body, second.status, second.body)
	}
	once, again := h.do("POST", "/v1/sessions/import?new_id=1", text, lines(), key), h.do("POST", "/v1/sessions/import?new_id=1", text, lines(), key)
	var one, other sessions.Record
	once.into(t, &one)
	again.into(t, &other)
	if once.status != 201 || again.status != 200 || one.ID != other.ID || one.ID == copied.ID {
		t.Errorf("%d %s, then %d %s", once.status, one.ID, again.status, other.ID)
	}
}

func TestTranscriptsThatAreNotImported(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	const head = `{"type":"session_header","version":1,"id":"api:new","timestamp":"2026-03-02T10:00:00Z","source":{"kind":"api","interactive":true},"state":"active","last_activity_at":"2026-03-02T10:00:00Z","message_count":1,"turn_count":0,"leaf_id":"e1"}` + "\n"
	const one = `{"type":"message","id":"e1","parent_id":null,"timestamp":"2026-03-02T10:00:01Z","message":{"role":"user","text":"hi"}}` + "\n"
	for name, c := range map[string]struct {
		text string
		line string
	}{
		"empty":            {"", ""},
		"another format":   {"# a chat\n", `"line":1`},
		"no header":        {one, `"line":1`},
		"two headers":      {head + one + head, `"line":3`},
		"a torn last line": {head + one[:40], `"line":2`},
		"an id twice":      {head + one + one, `"line":3`},
		"no such parent":   {head + strings.Replace(one, `null`, `"e9"`, 1), `"code":`},
		"a cycle":          {head + strings.Replace(one, `null`, `"e1"`, 1), `"code":`},
		"an unknown type":  {head + strings.Replace(one, `"type":"message"`, `"type":"thought"`, 1), `"line":2`},
	} {
		got := h.do("POST", "/v1/sessions/import", c.text, lines())
		if got.status != 400 || !strings.Contains(got.body, c.line) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		if _, err := h.store.Get(t.Context(), "api:new"); !errors.Is(err, sessions.ErrNotFound) {
			t.Fatalf("%s: something was stored", name)
		}
	}
	for query, want := range map[string]int{"?new_id=yes": 400, "?newid=1": 400} {
		if got := h.do("POST", "/v1/sessions/import"+query, head+one, lines()); got.status != want {
			t.Errorf("%s: %d", query, got.status)
		}
	}
	if got := h.do("POST", "/v1/sessions/import", head+one); got.status != 415 || got.code(t) != "media_type" {
		t.Errorf("as JSON: %d %s", got.status, got.body)
	}
	if got := h.do("POST", "/v1/sessions/import", head+one, lines()); got.status != 201 {
		t.Errorf("the good one: %d %s", got.status, got.body)
	}
}

// breaking is a body that ends too soon.
type breaking struct{ rest *strings.Reader }

func (b *breaking) Read(into []byte) (int, error) {
	n, err := b.rest.Read(into)
	if err != nil {
		return n, errors.New("the sender died")
	}
	return n, nil
}

func TestATranscriptThatBreaksOff(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.fill("x", 50)
	text := h.export("web:x")
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+"/v1/sessions/import?new_id=1", &breaking{strings.NewReader(text[:len(text)/2])})
	bearer(token)(r)
	lines()(r)
	if response, err := h.client.Do(r); err == nil {
		response.Body.Close()
		if response.StatusCode < 400 {
			t.Errorf("%d", response.StatusCode)
		}
	}
	if got := h.find(""); len(got.Sessions) != 1 {
		t.Errorf("half a session: %v", got.ids())
	}
}

// paging is a store that gives the second page of a log only when it may, or
// not at all.
type paging struct {
	sessions.Store
	second func() error
}

func (p *paging) Range(ctx context.Context, session string, from, to int64) ([]sessions.Entry, error) {
	if from > 100 && from < 200 && to-from > 50 {
		if err := p.second(); err != nil {
			return nil, err
		}
	}
	return p.Store.Range(ctx, session, from, to)
}

func (h *harness) stream(path string) *http.Response {
	h.t.Helper()
	r, _ := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.url+path, nil)
	bearer(token)(r)
	response, err := h.client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { response.Body.Close() })
	return response
}

// An export is sent while it is read; nothing of it is held.
func TestAnExportStreams(t *testing.T) {
	t.Parallel()
	come := make(chan struct{})
	store := &paging{second: func() error { <-come; return nil }}
	h := start(t, apitest.Echo, func(c *api.Config) { store.Store, c.Store = c.Store, store })
	for range 400 { // more than the server's buffer in the first page
		if _, err := h.store.Post(t.Context(), sessions.PostRequest{Surface: "web:local:x", Message: sessions.Message{Role: sessions.RoleUser, Text: long(200)}}); err != nil {
			t.Fatal(err)
		}
	}
	body := h.stream("/v1/sessions/web:x/export").Body
	first := make([]byte, 1<<10)
	if _, err := io.ReadFull(body, first); err != nil {
		t.Fatal(err)
	}
	close(come)
	rest, err := io.ReadAll(body)
	if err != nil || strings.Count(string(first)+string(rest), "\n") != 401 {
		t.Errorf("%d bytes, %v", len(rest), err)
	}
}

// Nobody takes half an export for the whole.
func TestAnExportThatFailsIsCut(t *testing.T) {
	t.Parallel()
	store := &paging{second: func() error { return sessions.ErrUnavailable }}
	h := start(t, apitest.Echo, func(c *api.Config) { store.Store, c.Store = c.Store, store })
	for range 400 {
		if _, err := h.store.Post(t.Context(), sessions.PostRequest{Surface: "web:local:x", Message: sessions.Message{Role: sessions.RoleUser, Text: long(200)}}); err != nil {
			t.Fatal(err)
		}
	}
	response := h.stream("/v1/sessions/web:x/export")
	if text, err := io.ReadAll(response.Body); err == nil && response.StatusCode == http.StatusOK {
		t.Errorf("%d bytes came as if they were all", len(text))
	}
}

func TestForks(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo, withTokens)
	h.say("web:x", "one")
	h.say("web:x", "two")
	h.note("web:x", "labels", `{"entry":"e2","label":"first answer"}`)
	type forked struct {
		Session struct {
			sessions.Record
			Leaf string
		}
		Previous string
	}
	fork := func(body string, want int, options ...option) (got forked) {
		a := h.do("POST", "/v1/sessions/web:x/fork", body, options...)
		if a.status != want {
			t.Fatalf("%s: %d %s", body, a.status, a.body)
		}
		a.into(t, &got)
		return got
	}
	whole := fork("", 201)
	if whole.Session.ParentSession != "web:x" || !strings.HasPrefix(whole.Session.ID, "web:x~") || whole.Session.MessageCount != 2 || len(whole.Session.Surfaces) != 0 {
		t.Errorf("%+v", whole)
	}
	early := fork(`{"entry":"e2","id":"api:early","name":"a second try","surface":"api:local:early"}`, 201)
	if early.Session.ID != "api:early" || early.Session.Name != "a second try" || early.Session.MessageCount != 1 || early.Session.Surfaces[0] != "api:local:early" {
		t.Errorf("%+v", early)
	}
	var tree view.Tree
	if h.do("GET", "/v1/sessions/api:early/tree", "").into(t, &tree); tree.Nodes[1].Label != "first answer" {
		t.Errorf("labels move along: %+v", tree)
	}
	if got := h.say("api:early", "three"); got.Session != "api:early" {
		t.Errorf("%+v", got)
	}
	if empty := fork(`{"entry":null}`, 201); empty.Session.Seq != 0 {
		t.Errorf("%+v", empty)
	}
	key := header("Idempotency-Key", "f1")
	if one, same := fork("{}", 201, key), fork("{}", 200, key); one.Session.ID != same.Session.ID {
		t.Errorf("%s, then %s", one.Session.ID, same.Session.ID)
	}
	fork(`{"id":"api:named"}`, 422, key) // it was another request's
	key = header("Idempotency-Key", "f2")
	if one, same := fork(`{"id":"api:named"}`, 201, key), fork(`{"id":"api:named"}`, 200, key); one.Session.ID != same.Session.ID {
		t.Errorf("%s, then %s", one.Session.ID, same.Session.ID)
	}
	for body, want := range map[string]int{
		`{"id":"api:early"}`: 409, `{"entry":"e99"}`: 404, `{"entry":"x"}`: 400, `{"id":"a b"}`: 400, `{"surface":"x"}`: 400, `{"leaf":"e1"}`: 400,
		`{"surface":"telegram:1:-7"}`: 409,
	} {
		if got := h.do("POST", "/v1/sessions/web:x/fork", body); got.status != want {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	mine := h.make("telegram:2026-01-01-mine", "")
	if got := h.do("POST", "/v1/sessions/"+mine.ID+"/fork", `{"id":"web:stolen"}`, bearer(bridgeToken)); got.status != 404 {
		t.Errorf("a channel's fork leaves its namespace: %d %s", got.status, got.body)
	}
	if got := h.do("POST", "/v1/sessions/"+mine.ID+"/fork", `{"surface":"web:local:x"}`, bearer(bridgeToken)); got.status != 403 {
		t.Errorf("a channel's fork takes another's place: %d %s", got.status, got.body)
	}
	if got := h.do("POST", "/v1/sessions/"+mine.ID+"/fork", "", bearer(bridgeToken)); got.status != 201 || !strings.Contains(got.body, `"id":"telegram:`) {
		t.Errorf("its own: %d %s", got.status, got.body)
	}
}

func TestResuming(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.say("web:x", "one")
	h.say("web:x", "two")
	h.do("POST", "/v1/sessions/web:x/messages", `{"text":"/new"}`)
	type resumed struct {
		Session  sessions.Record
		Previous string
	}
	resume := func(session, body string, want int, options ...option) (got resumed) {
		a := h.do("POST", "/v1/sessions/"+session+"/resume", body, options...)
		if a.status != want {
			t.Fatalf("%s: %d %s", body, a.status, a.body)
		}
		a.into(t, &got)
		return got
	}
	if got := resume("web:x", "", 200); got.Session.State != sessions.StateActive || got.Session.Status != sessions.StatusIdle || len(got.Session.Surfaces) != 0 {
		t.Errorf("%+v", got)
	}
	if got := resume("web:x", `{"surface":"web:local:x"}`, 200); got.Session.Surfaces[0] != "web:local:x" || !strings.HasPrefix(got.Previous, "web:x~") {
		t.Errorf("%+v", got)
	}
	h.do("POST", "/v1/sessions/web:x/expire", "")
	key := header("Idempotency-Key", "r1")
	again := resume("web:x", `{"surface":"web:local:x"}`, 201, key)
	if again.Session.ParentSession != "web:x" || again.Session.Surfaces[0] != "web:local:x" || again.Session.MessageCount != 2 {
		t.Errorf("an expired one is forked: %+v", again)
	}
	if same := resume("web:x", `{"surface":"web:local:x"}`, 200, key); same.Session.ID != again.Session.ID {
		t.Errorf("%+v", same)
	}
	for body, want := range map[string]int{`{"surface":"x"}`: 400, `{"place":"x"}`: 400} {
		if got := h.do("POST", "/v1/sessions/"+again.Session.ID+"/resume", body); got.status != want {
			t.Errorf("%s: %d", body, got.status)
		}
	}
	if got := h.do("POST", "/v1/sessions/web:none/resume", ""); got.status != 404 {
		t.Errorf("%d", got.status)
	}
}
