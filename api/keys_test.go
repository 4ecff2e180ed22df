package api_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"parley/api/apitest"
	"parley/sessions"
)

func TestAKeyIsOneMessageForTheSessionAsItWasAddressed(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo, withTokens)
	post := func(key, text string, options ...option) answer {
		return h.do("POST", "/v1/sessions/api:fresh/messages", `{"text":"`+text+`"}`, append(options, header("Idempotency-Key", key))...)
	}
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() { post("k", "once") })
	}
	all.Wait()
	count := func(want int64) {
		t.Helper()
		if record, err := h.store.Get(t.Context(), "api:fresh"); err != nil || record.MessageCount != want {
			t.Errorf("%d messages (%v), want %d", record.MessageCount, err, want)
		}
	}
	count(1)
	if got := post("n", "/new"); got.status != 202 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	var said struct{ Duplicate bool }
	if post("k", "once").into(t, &said); !said.Duplicate {
		t.Error("after /new the same request is another message")
	}
	count(1)
	if got := post("k", "something else"); got.status != 422 || got.code(t) != "key_reused" {
		t.Errorf("another text under the key: %d %s", got.status, got.body)
	}
	if post("k", "once", bearer(programToken)).into(t, &said); said.Duplicate {
		t.Error("another program's key is the same key")
	}
}

func TestAKeyThatComesWithAnotherRequestIsRefused(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.say("api:a", "hello")
	for path, bodies := range map[string][2]string{
		"name":   {`{"name":"one"}`, `{"name":"two"}`},
		"labels": {`{"entry":"e1","label":"one"}`, `{"entry":"e2","label":"one"}`},
		"custom": {`{"type":"custom_info","data":1}`, `{"type":"custom_info","data":2}`},
	} {
		key := header("Idempotency-Key", "k-"+path)
		for i, want := range []int{200, 200, 422} {
			if got := h.do("POST", "/v1/sessions/api:a/"+path, bodies[i/2], key); got.status != want {
				t.Errorf("%s, request %d: %d %s", path, i+1, got.status, got.body)
			}
		}
	}
}

func TestOnlyTheGatewayMakesItsOwnSessions(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	for _, id := range []string{"schedule:x", "sub:api:a", "flow:x", "api:a__b"} {
		if got := h.do("POST", "/v1/sessions", `{"id":"`+id+`"}`); got.status != 403 || got.code(t) != "reserved" {
			t.Errorf("opened: %s %d %s", id, got.status, got.body)
		}
	}
	for _, id := range []string{"api:a__b", "web:a__b"} {
		if got := h.do("POST", "/v1/sessions/"+id+"/messages", `{"text":"hi"}`); got.status != 403 {
			t.Errorf("begun: %s %d %s", id, got.status, got.body)
		}
	}
	if got := h.do("POST", "/v1/sessions", `{"surface":"web:local:a__b"}`); got.status != 403 {
		t.Errorf("opened at its place: %d %s", got.status, got.body)
	}
}

func TestMetadataIsNotNestedWithoutEnd(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	nested := func(deep int) string {
		return fmt.Sprintf(`{"id":"api:m","metadata":{"a":%s1%s}}`, strings.Repeat("[", deep), strings.Repeat("]", deep))
	}
	if got := h.do("POST", "/v1/sessions", nested(sessions.MetadataDepth+1)); got.status != 400 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := h.do("POST", "/v1/sessions", nested(sessions.MetadataDepth-1)); got.status != 201 {
		t.Errorf("%d %s", got.status, got.body)
	}
}
