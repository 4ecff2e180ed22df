package api_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/sessions"
)

func TestTouchAndExpire(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.make("web:x", "web:local:x")
	var touched sessions.Record
	if h.do("POST", "/v1/sessions/web:x/touch", "").into(t, &touched); touched.State != sessions.StateActive {
		t.Errorf("%+v", touched)
	}
	for range 2 { // twice is once
		var record sessions.Record
		got := h.do("POST", "/v1/sessions/web:x/expire", "")
		if got.into(t, &record); got.status != 200 || record.State != sessions.StateExpired || len(record.Surfaces) != 0 {
			t.Errorf("%d %+v", got.status, record)
		}
	}
	for _, call := range []string{"POST touch", "PUT surfaces/web:local:x", "POST clear"} {
		method, path, _ := strings.Cut(call, " ")
		got := h.do(method, "/v1/sessions/web:x/"+path, "")
		var problem struct {
			Code, State, Attempted string
			Session                string
			SessionStatus          string `json:"session_status"`
		}
		got.into(t, &problem)
		if got.status != 409 || problem.Code != "state" || problem.State != "expired" || problem.Session != "web:x" || problem.SessionStatus != "inactive" || problem.Attempted == "" {
			t.Errorf("%s: %d %s", call, got.status, got.body)
		}
	}
	if got := h.do("GET", "/v1/sessions/web:x/entries", ""); got.status != 200 {
		t.Errorf("an expired session can be read: %d", got.status)
	}
	later := h.say("web:x", "hello again")
	if !strings.HasPrefix(later.Session, "web:x~") {
		t.Errorf("the place gets another session: %+v", later)
	}
	h.do("POST", "/v1/sessions/"+later.Session+"/expire", "")
	if got := h.do("POST", "/v1/sessions/"+later.Session+"/messages", `{"text":"x"}`); got.status != 409 || got.code(t) != "state" {
		t.Errorf("one that is not the place's own name: %d %s", got.status, got.body)
	}
}

func TestSurfacesAreAttachedAndDetached(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.make("web:x", "web:local:x")
	h.make("cli:y", "cli:local:y")
	type attached struct {
		Session  sessions.Record
		Previous string
	}
	attach := func(session, surface string) (got attached) {
		a := h.do("PUT", "/v1/sessions/"+session+"/surfaces/"+surface, "")
		if a.status != http.StatusOK {
			t.Fatalf("%s to %s: %d %s", session, surface, a.status, a.body)
		}
		a.into(t, &got)
		return got
	}
	if got := attach("web:x", "cli:local:y"); got.Previous != "cli:y" || got.Session.ID != "web:x" || len(got.Session.Surfaces) != 2 {
		t.Errorf("%+v", got)
	}
	if got := attach("web:x", "cli:local:y"); got.Previous != "" {
		t.Errorf("twice is once: %+v", got)
	}
	if got := attach("web:x", "api:local:a%2525b"); got.Session.Surfaces[2] != "api:local:a%25b" {
		t.Errorf("an escaped key: %+v", got)
	}
	var record sessions.Record
	for range 2 {
		got := h.do("DELETE", "/v1/sessions/web:x/surfaces/cli:local:y", "")
		if got.into(t, &record); got.status != 200 || len(record.Surfaces) != 2 {
			t.Errorf("%d %+v", got.status, record)
		}
	}
	for path, want := range map[string]int{
		"web:x/surfaces/nowhere": 400, "web:x/surfaces/cli:local:": 400, "web:none/surfaces/cli:local:y": 404,
	} {
		for _, method := range []string{"PUT", "DELETE"} {
			if got := h.do(method, "/v1/sessions/"+path, ""); got.status != want {
				t.Errorf("%s %s: %d", method, path, got.status)
			}
		}
	}
}

// A direct conversation never shows up in a group, nor where the gateway does
// not know whether it is one.
func TestADirectSessionIsNotAttachedToAGroup(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	place := func(surface string, kind sessions.Type) {
		_, err := h.store.Post(t.Context(), sessions.PostRequest{Surface: surface, Message: sessions.Message{Role: sessions.RoleUser, Text: "x"},
			New: sessions.NewSession{Source: sessions.Source{Kind: "channel", Platform: "telegram", Type: kind}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	place("telegram:1:-7", sessions.Group)
	place("telegram:1:7", sessions.Direct)
	h.make("web:x", "web:local:x")
	for surface, want := range map[string]int{"telegram:1:-7": 409, "telegram:1:99": 409, "telegram:1:7": 200} {
		got := h.do("PUT", "/v1/sessions/web:x/surfaces/"+surface, "")
		if got.status != want || want == 409 && got.code(t) != "group" {
			t.Errorf("%s: %d %s", surface, got.status, got.body)
		}
	}
	group, err := h.store.Bound(t.Context(), "telegram:1:-7")
	if err != nil {
		t.Fatal(err)
	}
	if got := h.do("PUT", "/v1/sessions/"+group.ID+"/surfaces/web:local:y", ""); got.status != 200 {
		t.Errorf("a group's conversation on the owner's own page: %d %s", got.status, got.body)
	}
	if got := h.do("DELETE", "/v1/sessions/"+group.ID, ""); got.status != 409 || got.code(t) != "group" {
		t.Errorf("a group's conversation is deleted: %d %s", got.status, got.body)
	}
}

func TestSessionsAreDeleted(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.say("web:x", "hello")
	var answer struct{ Deleted bool }
	if h.do("DELETE", "/v1/sessions/web:x?unused=1", "").into(t, &answer); answer.Deleted {
		t.Error("one in which a turn ended was unused")
	}
	h.open(`{"id":"cli:idle"}`)
	if h.do("DELETE", "/v1/sessions/cli:idle?unused=1", "").into(t, &answer); !answer.Deleted {
		t.Error("an unused one stays")
	}
	if h.do("DELETE", "/v1/sessions/web:x", "").into(t, &answer); !answer.Deleted {
		t.Error("it stays")
	}
	for _, id := range []string{"web:x", "cli:idle"} {
		if got := h.do("GET", "/v1/sessions/"+id, ""); got.status != 404 {
			t.Errorf("%s: %d", id, got.status)
		}
	}
	for query, want := range map[string]int{"?unused=2": 400, "?force=1": 400, "": 404} {
		if got := h.do("DELETE", "/v1/sessions/web:x"+query, ""); got.status != want {
			t.Errorf("%s: %d", query, got.status)
		}
	}
}

// While a turn is open, what would pull the ground from under it is refused.
func TestWhatIsRefusedWhileATurnRuns(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	h := start(t, held(hold))
	defer close(hold)
	h.do("POST", "/v1/sessions/web:x/messages", `{"text":"go"}`)
	for call, body := range map[string]string{"DELETE ": "", "POST /clear": "", "POST /branch": `{"entry":null}`} {
		method, path, _ := strings.Cut(call, " ")
		got := h.do(method, "/v1/sessions/web:x"+path, body)
		if got.status != 409 || got.code(t) != "state" || !strings.Contains(got.body, `"session_status":"running"`) {
			t.Errorf("%s: %d %s", call, got.status, got.body)
		}
	}
	var noted struct{ Entries []api.EntryView }
	if h.do("POST", "/v1/sessions/web:x/custom", `{"type":"custom_message","text":"x"}`).into(t, &noted); len(noted.Entries) != 1 || !noted.Entries[0].Waiting {
		t.Errorf("a note waits for the turn's end: %+v", noted)
	}
}

// held is a model that answers when hold is closed.
func held(hold <-chan struct{}) apitest.Model {
	return func(ctx context.Context, q string, _ func(string)) (string, error) {
		select {
		case <-hold:
			return "to " + q, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func TestClearingErasesTheLogAndKeepsTheRecord(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.say("web:x", "one")
	key := header("Idempotency-Key", "c1")
	var cleared struct {
		sessions.Record
		Duplicate bool
	}
	if h.do("POST", "/v1/sessions/web:x/clear", "", key).into(t, &cleared); cleared.Cleared != cleared.Seq || cleared.Seq < 2 || cleared.Duplicate || cleared.Preview != "" {
		t.Fatalf("%+v", cleared)
	}
	at := cleared.Cleared
	h.say("web:x", "two")
	if h.do("POST", "/v1/sessions/web:x/clear", "", key).into(t, &cleared); !cleared.Duplicate || cleared.Cleared != at {
		t.Errorf("the same key erases what came later: %+v", cleared)
	}
	var page struct {
		pageOfLog
		Cleared int64
	}
	h.do("GET", "/v1/sessions/web:x/entries", "").into(t, &page)
	if page.Cleared != at || len(page.Entries) != 2 || page.Entries[0].Seq != at+1 {
		t.Errorf("%+v", page)
	}
	h.do("GET", "/v1/sessions/web:x/entries?before=0&limit=1", "").into(t, &page)
	if page.Before != at+2 {
		t.Errorf("%+v", page)
	}
	if h.do("POST", "/v1/sessions/web:x/clear", "", header("Idempotency-Key", "c2")).into(t, &cleared); cleared.Duplicate || cleared.Cleared == at {
		t.Errorf("another key: %+v", cleared)
	}
}

// A stop that is sent again stops no later turn.
func TestAStopThatIsSentAgain(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	h := start(t, held(hold))
	defer close(hold)
	key := header("Idempotency-Key", "s1")
	var stop struct{ Stopping, Duplicate bool }
	h.do("POST", "/v1/sessions/web:x/messages", `{"text":"one"}`)
	events, cancel := h.events("/v1/sessions/web:x/events")
	defer cancel()
	if h.do("POST", "/v1/sessions/web:x/stop", "", key).into(t, &stop); !stop.Stopping || stop.Duplicate {
		t.Fatalf("%+v", stop)
	}
	until(t, events, "message") // what there was of the answer
	h.do("POST", "/v1/sessions/web:x/messages", `{"text":"two"}`)
	if h.do("POST", "/v1/sessions/web:x/stop", "", key).into(t, &stop); !stop.Stopping || !stop.Duplicate {
		t.Errorf("%+v", stop)
	}
	record, err := h.store.Get(t.Context(), "web:x")
	if err != nil || record.Status != sessions.StatusRunning {
		t.Errorf("the later turn: %+v %v", record, err)
	}
}

// keyless is a store whose locks fail in the way the test wants.
type keyless struct {
	sessions.Store
	lock, save error
}

func (k *keyless) Lock(ctx context.Context, name string, claimer sessions.Claimer) (sessions.Lock, error) {
	if k.lock != nil {
		return sessions.Lock{}, k.lock
	}
	return k.Store.Lock(ctx, name, claimer)
}

func (k *keyless) SaveLock(ctx context.Context, lock sessions.Lock, data string, keep time.Duration) error {
	return errors.Join(k.save, k.Store.SaveLock(ctx, lock, data, keep))
}

func TestKeysWhileTheStoreIsInTrouble(t *testing.T) {
	t.Parallel()
	store := &keyless{}
	h := start(t, apitest.Echo, func(c *api.Config) { store.Store, c.Store = c.Store, store })
	h.make("web:x", "web:local:x")
	key := header("Idempotency-Key", "s1")
	for _, c := range []struct {
		err  error
		want int
		code string
	}{{sessions.ErrBusy, 409, "busy"}, {sessions.ErrUnavailable, 503, "unavailable"}} {
		store.lock = c.err
		got := h.do("POST", "/v1/sessions/web:x/stop", "", key)
		if got.status != c.want || got.code(t) != c.code || got.header.Get("Retry-After") == "" {
			t.Errorf("%v: %d %s", c.err, got.status, got.body)
		}
	}
	store.lock, store.save = nil, sessions.ErrUnavailable
	if got := h.do("POST", "/v1/sessions/web:x/stop", "", key); got.status != 200 {
		t.Errorf("what was done is not denied: %d %s", got.status, got.body)
	}
}
