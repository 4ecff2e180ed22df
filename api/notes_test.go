package api_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"parley/api"
	"parley/api/apitest"
	"parley/sessions"
	"parley/sessions/view"
)

type noted struct {
	Session struct {
		sessions.Record
		Leaf string
	}
	Entries   []api.EntryView
	Duplicate bool
}

func (h *harness) note(session, kind, body string, options ...option) (got noted) {
	h.t.Helper()
	a := h.do("POST", "/v1/sessions/"+session+"/"+kind, body, options...)
	if a.status != http.StatusOK {
		h.t.Fatalf("%s %s: %d %s", kind, body, a.status, a.body)
	}
	a.into(h.t, &got)
	return got
}

func payloadOf[T any](t *testing.T, entry api.EntryView) (value T) {
	t.Helper()
	if err := json.Unmarshal(entry.Payload, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestNamesAndLabels(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.say("web:x", "hello")
	got := h.note("web:x", "name", `{"name":"the plan"}`)
	if got.Session.Name != "the plan" || got.Entries[0].Type != sessions.EntrySessionName || payloadOf[sessions.SessionName](t, got.Entries[0]).Name != "the plan" {
		t.Errorf("%+v", got)
	}
	got = h.note("web:x", "labels", `{"entry":"e1","label":"start"}`)
	if want := (sessions.Label{TargetID: "e1", Label: "start"}); payloadOf[sessions.Label](t, got.Entries[0]) != want {
		t.Errorf("%+v", got)
	}
	var tree view.Tree
	h.do("GET", "/v1/sessions/web:x/tree", "").into(t, &tree)
	if len(tree.Nodes) != 4 || tree.Nodes[0].Label != "start" || tree.Leaf != got.Session.Leaf {
		t.Errorf("%+v", tree)
	}
	seq := got.Session.Seq
	if record, _ := h.store.Get(t.Context(), "web:x"); record.Seq != seq {
		t.Errorf("%+v", record)
	}
	renamed := h.do("PATCH", "/v1/sessions/web:x", `{"name":"the other plan"}`)
	if record, _ := h.store.Get(t.Context(), "web:x"); renamed.status != 200 || record.Name != "the other plan" || record.Seq != seq+1 {
		t.Errorf("a new name by a patch is in the log: %s", renamed.body)
	}
	h.do("PATCH", "/v1/sessions/web:x", `{"name":"the other plan"}`)
	if record, _ := h.store.Get(t.Context(), "web:x"); record.Seq != seq+1 {
		t.Error("a name that is none new is in the log")
	}
	for body, want := range map[string]int{
		`labels {"entry":"e99","label":"x"}`: 404, `labels {"entry":"","label":"x"}`: 400, `labels {"label":"x"}`: 400, `labels {"entry":"1","label":"x"}`: 400,
		`labels {"entry":"e1","label":"a\nb"}`: 400, `labels {"entry":"e1","label":"` + strings.Repeat("x", 201) + `"}`: 400,
		`name {"name":"a\tb"}`: 400, `name {"name":"` + strings.Repeat("x", 513) + `"}`: 400, `name {"title":"x"}`: 400, `name `: 415,
	} {
		kind, body, _ := strings.Cut(body, " ")
		if got := h.do("POST", "/v1/sessions/web:x/"+kind, body); got.status != want {
			t.Errorf("%s %.40s: %d %s", kind, body, got.status, got.body)
		}
	}
}

func TestTheSameKeyIsTheSameNote(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.make("web:x", "web:local:x")
	key := header("Idempotency-Key", "n1")
	for kind, body := range map[string]string{"name": `{"name":"x"}`, "labels": `{"entry":"e1","label":"x"}`, "custom": `{"type":"custom_info"}`, "branch": `{"entry":"e1"}`} {
		first, second := h.note("web:x", kind, body, key), h.note("web:x", kind, body, key)
		if first.Duplicate || len(first.Entries) == 0 || !second.Duplicate || len(second.Entries) != 0 || second.Session.Seq != first.Session.Seq {
			t.Errorf("%s: %+v, then %+v", kind, first, second)
		}
	}
}

func TestOutsideProgramsWriteEntries(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.make("web:x", "web:local:x")
	events, cancel := h.events("/v1/sessions/web:x/events?after=1&feed=1")
	defer cancel()
	until(t, events, "status")
	info := h.note("web:x", "custom", `{"type":"custom_info","name":"ci","data":{"big":12345678901234567890}}`)
	if got := payloadOf[sessions.CustomInfo](t, info.Entries[0]); got.Name != "ci" || string(got.Data) != `{"big":12345678901234567890}` {
		t.Errorf("%s", info.Entries[0].Payload)
	}
	if e, _ := until(t, events, "feed"); e.id != "2" || strings.Contains(e.data, `"feed"`) {
		t.Errorf("what nobody is shown: %+v", e)
	}
	message := h.note("web:x", "custom", `{"type":"custom_message","name":"ci","text":"the build is green","for_model":true,"parent_id":"e2"}`)
	if got := payloadOf[sessions.CustomMessage](t, message.Entries[0]); got.Text != "the build is green" || !got.ForModel || *message.Entries[0].ParentID != "e2" {
		t.Errorf("%+v", got)
	}
	if e, _ := until(t, events, "feed"); e.id != "3" || !strings.Contains(e.data, `"text":"the build is green","time"`) {
		t.Errorf("%+v", e)
	}
	before, _ := h.store.Get(t.Context(), "web:x")
	for body, want := range map[string]string{
		`{"type":"custom_info","parent_id":"e2"}`:                 "409 leaf",
		`{"type":"custom_info","parent_id":null}`:                 "409 leaf",
		`{"type":"custom_info","parent_id":"e99"}`:                "404 no_entry",
		`{"type":"custom_info","parent_id":"x"}`:                  "400 bad_request",
		`{"type":"message","text":"x"}`:                           "400 bad_request",
		`{"type":"leaf"}`:                                         "400 bad_request",
		`{"type":"custom_message"}`:                               "400 bad_request",
		`{"type":"custom_info","text":"x"}`:                       "400 bad_request",
		`{"type":"custom_info","for_model":true}`:                 "400 bad_request",
		`{"text":"x"}`:                                            "400 bad_request",
		`{"type":"custom_info","name":"` + long(201) + `"}`:       "400 bad_request",
		`{"type":"custom_message","text":"` + long(65<<10) + `"}`: "413 too_large",
		`{"type":"custom_info","data":"` + long(2<<20) + `"}`:     "413 too_large",
		`{"type":"custom_info","data":"` + long(1<<20) + `"}`:     "400 bad_request",
	} {
		got := h.do("POST", "/v1/sessions/web:x/custom", body)
		if status := http.StatusText(got.status); want != strings.TrimSpace(itoa(got.status)+" "+got.code(t)) {
			t.Errorf("%.60s: %s %s", body, status, got.body)
		}
	}
	if after, _ := h.store.Get(t.Context(), "web:x"); after.Seq != before.Seq || after.Version != before.Version {
		t.Error("something was written all the same")
	}
}

func long(n int) string { return strings.Repeat("x", n) }

func itoa(n int) string { return strconv.Itoa(n) }

func TestTheConversationGoesOnFromAnotherEntry(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.say("web:x", "one")
	h.say("web:x", "two")
	got := h.note("web:x", "branch", `{"entry":"e2"}`)
	if got.Session.Leaf != "e2" || len(got.Entries) != 1 || got.Entries[0].Type != sessions.EntryLeaf {
		t.Errorf("%+v", got)
	}
	other := h.say("web:x", "another two")
	if *other.Entries[0].ParentID != sessions.EntryID(other.Seq) {
		t.Errorf("%+v", other)
	}
	left := h.note("web:x", "branch", `{"entry":null,"summary":"we counted"}`)
	summary := payloadOf[sessions.BranchSummary](t, left.Entries[1])
	if left.Entries[1].ParentID != nil || summary.Summary != "we counted" || summary.FromID != other.Entries[0].ID || left.Session.Leaf != left.Entries[1].ID {
		t.Errorf("%+v", left)
	}
	for body, want := range map[string]int{
		`{}`: 400, `{"summary":"x"}`: 400, `{"entry":"e99"}`: 404, `{"entry":"e5"}`: 404, `{"entry":5}`: 400, `{"entry":"x"}`: 400,
		`{"entry":"e1","summary":"` + long(65<<10) + `"}`: 413,
	} {
		if got := h.do("POST", "/v1/sessions/web:x/branch", body); got.status != want {
			t.Errorf("%.40s: %d %s", body, got.status, got.body)
		}
	}
}
