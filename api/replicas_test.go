package api_test

import (
	"strings"
	"testing"

	"parley/api/apitest"
	"parley/internal/secret"
	"parley/redisstore"
	"parley/sessions"
	"parley/test/redistest"
)

// replicas are two gateways that share one Redis and know nothing else of each
// other.
func replicas(t *testing.T, model apitest.Model) (one, other *harness) {
	t.Helper()
	server := redistest.Start(t)
	open := func() sessions.Store {
		store, err := redisstore.Open(t.Context(), redisstore.Config{URL: secret.New(server.URL())})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		return store
	}
	return startOn(t, open(), model), startOn(t, open(), model)
}

// Who watches on one replica sees what is done on the other: the message, the
// answer as it grows, notes with their feed items, and what is erased.
func TestWhatHappensOnAnotherReplica(t *testing.T) {
	t.Parallel()
	one, other := replicas(t, apitest.Echo)
	events, cancel := one.events("/v1/sessions/web:x/events?feed=1")
	defer cancel()
	until(t, events, "status")
	if got := other.say("web:x", "hello"); got.Seq != 1 {
		t.Fatalf("%+v", got)
	}
	answer, before := until(t, events, "message")
	if seqs := stored(t, before); answer.id != "2" || len(seqs) != 1 || !strings.Contains(answer.data, `"type":"assistant"`) {
		t.Errorf("%+v, before it %v", answer, before)
	}
	other.note("web:x", "custom", `{"type":"custom_message","text":"from elsewhere"}`)
	if e, _ := until(t, events, "feed"); e.id != "3" || !strings.Contains(e.data, "from elsewhere") {
		t.Errorf("%+v", e)
	}
	if got := other.do("POST", "/v1/sessions/web:x/clear", ""); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if gap, _ := until(t, events, "gap"); gap.data != `{"seq":3,"cleared":3,"reason":"cleared"}` {
		t.Errorf("%+v", gap)
	}
	other.say("web:x", "a new beginning")
	if e, _ := until(t, events, "user_message"); e.id != "4" {
		t.Errorf("%+v", e)
	}
}

// A reader that loses its replica goes on at the other where it was, and a
// request that is repeated there is the same request.
func TestAReaderMovesToAnotherReplica(t *testing.T) {
	t.Parallel()
	one, other := replicas(t, apitest.Echo)
	events, cancel := one.events("/v1/sessions/web:x/events")
	one.say("web:x", "first")
	last, _ := until(t, events, "message")
	defer cancel()
	key := header("Idempotency-Key", "k")
	first := one.say("web:x", "second", key)
	if again := other.say("web:x", "second", key); !again.Duplicate || again.Seq != first.Seq {
		t.Errorf("%+v, then %+v", first, again)
	}
	var cleared struct{ Duplicate bool }
	one.do("POST", "/v1/sessions/web:y/messages", `{"text":"x","append":true}`)
	one.do("POST", "/v1/sessions/web:y/clear", "", key)
	if other.do("POST", "/v1/sessions/web:y/clear", "", key).into(t, &cleared); !cleared.Duplicate {
		t.Error("a clear that is repeated elsewhere clears again")
	}
	resumed, cancelOther := other.events("/v1/sessions/web:x/events", header("Last-Event-ID", last.id))
	defer cancelOther()
	_, before := until(t, resumed, "status")
	if seqs := stored(t, before); len(seqs) != 2 || seqs[0] != 3 {
		t.Errorf("%v", before)
	}
}
