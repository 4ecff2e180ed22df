package api

import (
	"net/http"
	"strings"
	"testing"

	"parley/conversations"
	"parley/sessions"
)

// What a decoder lets through, the store's own check does not find too large
// for a request body's limit, nor of the wrong kind.
func FuzzSessionBodies(f *testing.F) {
	for _, body := range []string{
		`{"id":"cli:x","surface":"cli:local:x","type":"group","metadata":{"a":null},"user":"telegram:5"}`,
		`{"name":null,"description":"x","working_memory":"y","metadata":{"a":{"b":[1]}}}`,
		`{"type":"custom_message","text":"x","for_model":true,"parent_id":null,"data":[1e400]}`,
		`{"entry":null,"summary":"x"}`, `{"entry":"e12"}`, `{"entry":5}`, `[[`, `{"name":"\ud800"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		fuzzOpen(t, body)
		fuzzPatch(t, body)
		fuzzCustom(t, body)
		fuzzBranch(t, body)
	})
}

func fuzzOpen(t *testing.T, body []byte) {
	t.Helper()
	var request openRequest
	if decodeStrict(body, &request) != nil {
		return
	}
	bridge := caller{Caller: conversations.Caller{Caller: sessions.Caller{Namespace: "telegram"}}}
	opening, surface, err := request.session(bridge)
	if err != nil {
		return
	}
	if opening.ID != "" && !strings.HasPrefix(opening.ID, "telegram:") || opening.Surface != "" && surface.Platform != "telegram" ||
		opening.UserID != "" && !strings.HasPrefix(opening.UserID, "telegram:") {
		t.Errorf("a channel's token opens %+v", opening)
	}
}

func fuzzPatch(t *testing.T, body []byte) {
	t.Helper()
	var request patchRequest
	if decodeStrict(body, &request) != nil {
		return
	}
	if patch := request.patch(); patch.Preview != nil || patch.ContextTokens != nil {
		t.Errorf("a patch of %+v", patch)
	}
}

func fuzzCustom(t *testing.T, body []byte) {
	t.Helper()
	var request customRequest
	if decodeStrict(body, &request) != nil {
		return
	}
	custom, err := request.custom()
	if err == nil && custom.IfLeaf != nil && *custom.IfLeaf < 0 {
		t.Errorf("%s: %+v", body, custom)
	}
}

func fuzzBranch(t *testing.T, body []byte) {
	t.Helper()
	var request branchRequest
	if decodeStrict(body, &request) != nil {
		return
	}
	if seq, err := sessions.ParseEntryID(request.Entry.id); err == nil && seq < 0 || !request.Entry.given && request.Entry.id != "" {
		t.Errorf("%+v", request)
	}
}

func FuzzFindQuery(f *testing.F) {
	f.Add("state=created&state=active&limit=5&active_after=2026-01-01T00:00:00Z")
	f.Add("cursor=MTow&user=x&type=group")
	f.Add("limit=99999999999999999999&%zz")
	f.Fuzz(func(t *testing.T, query string) {
		_, parsed, err := findQuery(&http.Request{URL: mustURL(query)})
		if err == nil && (parsed.Check() != nil || parsed.Limit > sessions.ListMax || parsed.Limit < 0) {
			t.Errorf("%q: %+v", query, parsed)
		}
		if err != nil && problemOf(err).Status != http.StatusBadRequest {
			t.Errorf("%q: %v", query, err)
		}
	})
}
