package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/api"
	"parley/api/apitest"
	"parley/sessions"
)

// stored are the seqs of the stored events among events.
func stored(t *testing.T, events []event) (seqs []int64) {
	t.Helper()
	for _, e := range events {
		if e.id == "" {
			continue
		}
		var entry api.EntryView
		if err := json.Unmarshal([]byte(e.data), &entry); err != nil || strconv.FormatInt(entry.Seq, 10) != e.id {
			t.Fatalf("%v in %+v", err, e)
		}
		seqs = append(seqs, entry.Seq)
	}
	return seqs
}

func TestAStreamTellsATurnInOrder(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	events, cancel := h.events("/v1/sessions/web:x/events")
	defer cancel()
	until(t, events, "status") // a place nobody has spoken in can be watched
	h.do("POST", "/v1/sessions/web:x/messages", `{"text":"hi"}`)
	user, _ := until(t, events, "user_message")
	answer, before := until(t, events, "message")
	if user.id != "1" || answer.id != "2" {
		t.Errorf("%+v %+v", user, answer)
	}
	text := ""
	for _, e := range before {
		if e.name != "text_delta" {
			continue
		}
		var delta struct {
			Turn   int64
			Offset int
			Text   string
		}
		if err := json.Unmarshal([]byte(e.data), &delta); err != nil || e.id != "" || delta.Turn != 1 || delta.Offset != len(text) {
			t.Errorf("%+v %v", e, err)
		}
		text += delta.Text
	}
	if whole := "You said: hi"; !strings.HasPrefix(whole, text) { // best effort: the last may be missing
		t.Errorf("the drafts were %q", text)
	}
	for {
		status, _ := until(t, events, "status")
		if strings.Contains(status.data, `"status":"idle"`) {
			break
		}
	}
}

// Whatever is written and wherever the reader breaks off and comes back, it
// sees every entry once, in order.
func TestStreamsContinueWhereTheyBrokeOff(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	session := 0
	rapid.Check(t, func(rt *rapid.T) {
		session++
		name := fmt.Sprint("s", session)
		path := "/v1/sessions/web:" + name + "/events"
		written, last := int64(0), int64(0)
		for range rapid.IntRange(1, 5).Draw(rt, "visits") {
			before := rapid.IntRange(0, 5).Draw(rt, "written while away")
			h.fill(name, before)
			resume := header("Last-Event-ID", strconv.FormatInt(last, 10))
			query := ""
			if rapid.Bool().Draw(rt, "by query") {
				resume, query = header("X-Nothing", ""), fmt.Sprint("?after=", last)
			}
			events, cancel := h.events(path+query, resume)
			during := rapid.IntRange(0, 40).Draw(rt, "written meanwhile")
			h.fill(name, during)
			written += int64(before + during)
			reads := rapid.Int64Range(last, written).Draw(rt, "reads up to")
			for last < reads {
				e := next(t, events)
				if e.id == "" {
					continue
				}
				if e.id != strconv.FormatInt(last+1, 10) {
					rt.Fatalf("after %d came %+v", last, e)
				}
				last++
			}
			cancel()
		}
	})
}

func next(t *testing.T, events <-chan event) event {
	t.Helper()
	select {
	case e, open := <-events:
		if !open {
			t.Fatal("the stream ended")
		}
		return e
	case <-time.After(patience):
		t.Fatal("nothing comes")
	}
	return event{}
}

func TestALongBacklogComesWhole(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.fill("x", 2*sessions.EntriesPerCall+5)
	events, cancel := h.events("/v1/sessions/web:x/events")
	defer cancel()
	_, before := until(t, events, "status")
	if seqs := stored(t, before); len(seqs) != 2*sessions.EntriesPerCall+5 || seqs[len(seqs)-1] != int64(len(seqs)) {
		t.Errorf("%d entries", len(seqs))
	}
}

func TestSilenceNeverShows(t *testing.T) {
	t.Parallel()
	h := start(t, func(_ context.Context, q string, _ func(string)) (string, error) {
		if q == "quiet" {
			return "<NO_REPLY>", nil
		}
		return "yes <NO_REPLY>", nil
	})
	got := h.say("web:x", "quiet", header("Accept", "*/*"))
	h.say("web:x", "half")
	events, cancel := h.events("/v1/sessions/web:x/events?render=html")
	defer cancel()
	_, before := until(t, events, "status")
	entries := h.do("GET", "/v1/sessions/web:x/entries?render=html", "")
	for _, e := range before {
		if strings.Contains(e.data, "NO_REPLY") {
			t.Errorf("%+v", e)
		}
	}
	if strings.Contains(entries.body, "NO_REPLY") || !strings.Contains(entries.body, `"text":"yes"`) {
		t.Error(entries.body)
	}
	if len(got.Entries) != 1 || !strings.Contains(string(got.Entries[0].Payload), `"silent":true`) {
		t.Errorf("%+v", got)
	}
}

func TestANewConversationMovesThePlace(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.say("web:x", "one")
	events, cancel := h.events("/v1/sessions/web:x/events?after=2")
	defer cancel()
	until(t, events, "status")
	h.do("POST", "/v1/sessions/web:x/messages", `{"text":"/new"}`)
	moved, _ := until(t, events, "moved")
	current, err := h.store.Bound(t.Context(), "web:local:x")
	if err != nil || moved.data != `{"session":"`+current.ID+`"}` || moved.id != "" {
		t.Errorf("%+v, bound is %s %v", moved, current.ID, err)
	}
	late, cancelLate := h.events("/v1/sessions/web:x/events?after=2")
	defer cancelLate()
	if again, _ := until(t, late, "moved"); again != moved {
		t.Errorf("who comes later is told %+v", again)
	}
	if got := h.say(current.ID, "two"); got.Session != current.ID || got.Seq != 1 {
		t.Errorf("%+v", got)
	}
}

// Whoever comes in the middle of an answer gets it from its beginning, once.
func TestAReaderInTheMiddleGetsTheTextSoFar(t *testing.T) {
	t.Parallel()
	shown, goOn := make(chan struct{}), make(chan struct{})
	h := start(t, func(_ context.Context, _ string, write func(string)) (string, error) {
		write("first ")
		write("second ")
		close(shown)
		<-goOn
		write("third")
		return "first second third", nil
	})
	h.do("POST", "/v1/sessions/web:x/messages", `{"text":"go"}`)
	<-shown
	events, cancel := h.events("/v1/sessions/web:x/events")
	defer cancel()
	delta, before := until(t, events, "text_delta")
	if len(before) != 2 || before[1].name != "status" || !strings.Contains(delta.data, `"offset":0,"text":"first second "`) {
		t.Errorf("%+v after %+v", delta, before)
	}
	close(goOn)
	if delta, _ := until(t, events, "text_delta"); !strings.Contains(delta.data, `"offset":13,"text":"third"`) {
		t.Errorf("%+v", delta)
	}
	until(t, events, "message")
}

// A reader that has another place's conversation before it goes where its own
// place goes, and not where that one does.
func TestAStreamFollowsItsReadersOwnPlace(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.say("web:a", "one")
	if _, _, err := h.store.Attach(t.Context(), sessions.AttachRequest{Session: "web:a", Surface: "web:local:b"}); err != nil {
		t.Fatal(err)
	}
	events, cancel := h.events("/v1/sessions/web:a/events?after=2&surface=web:local:b")
	defer cancel()
	until(t, events, "status")
	beginAnew := func(surface string) string {
		t.Helper()
		var said struct {
			MovedTo string `json:"moved_to"`
		}
		h.do("POST", "/v1/sessions/web:a/messages", `{"text":"/new","surface":"`+surface+`"}`).into(t, &said)
		return said.MovedTo
	}
	beginAnew("web:local:a")
	fresh := beginAnew("web:local:b")
	if moved, _ := until(t, events, "moved"); moved.data != `{"session":"`+fresh+`"}` {
		t.Errorf("%+v, its own place has %s", moved, fresh)
	}
	if got := h.do("GET", "/v1/sessions/web:a/events?surface=nonsense", ""); got.status != 400 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestAReaderFromAnotherLogIsTold(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.fill("x", 3)
	events, cancel := h.events("/v1/sessions/web:x/events", header("Last-Event-ID", "77"))
	defer cancel()
	gap, before := until(t, events, "gap")
	if gap.data != `{"seq":3,"reason":"ahead"}` || len(before) > 0 {
		t.Errorf("%+v %v", gap, before)
	}
	h.fill("x", 1)
	if e, _ := until(t, events, "user_message"); e.id != "4" {
		t.Errorf("%+v", e)
	}
}

// stalled is a store whose hints the test gives itself.
type stalled struct {
	sessions.Store
	hints chan sessions.LiveEvent
}

func (s *stalled) Watch(context.Context, string) (<-chan sessions.LiveEvent, error) {
	return s.hints, nil
}

func TestMissedHintsLoseNoEntry(t *testing.T) {
	t.Parallel()
	store := &stalled{hints: make(chan sessions.LiveEvent)}
	h := start(t, apitest.Echo, func(c *api.Config) { store.Store, c.Store = c.Store, store })
	events, cancel := h.events("/v1/sessions/web:x/events?render=html")
	defer cancel()
	until(t, events, "status")
	draft := func(epoch int64, offset int, text string) {
		store.hints <- sessions.LiveEvent{Kind: sessions.LiveDraft, Epoch: epoch, Offset: offset, Text: text}
	}
	draft(1, 0, "one ")
	if e, _ := until(t, events, "text_delta"); !strings.Contains(e.data, `\u003cp\u003eone`) {
		t.Errorf("%+v", e)
	}
	h.fill("x", 2)
	store.hints <- sessions.LiveEvent{Kind: sessions.LiveGap}
	gap, before := until(t, events, "gap")
	if seqs := stored(t, before); len(seqs) != 2 || gap.data != `{"seq":2,"reason":"slow"}` {
		t.Errorf("%+v %v", gap, before)
	}
	draft(1, 8, "three")
	if e, _ := until(t, events, "text_delta"); !strings.Contains(e.data, `"missing":8,"from":0}`) {
		t.Errorf("a draft whose beginning was missed: %+v", e)
	}
	// The log is read further than the hints have come: the drafts in between
	// are of an answer that is there already.
	h.fill("x", 2)
	store.hints <- sessions.LiveEvent{Kind: sessions.LiveStatus}
	draft(1, 13, " old")
	store.hints <- sessions.LiveEvent{Kind: sessions.LiveEntries, Seq: 4}
	draft(2, 0, "new")
	e, before := until(t, events, "text_delta")
	if len(stored(t, before)) != 2 || !strings.Contains(e.data, `"text":"new"`) {
		t.Errorf("%+v %v", e, before)
	}
}

func TestAQuietStreamBeats(t *testing.T) {
	t.Parallel()
	store := &stalled{hints: make(chan sessions.LiveEvent)}
	h := start(t, apitest.Echo, func(c *api.Config) {
		c.Heartbeat = time.Millisecond
		store.Store, c.Store = c.Store, store
	})
	events, cancel := h.events("/v1/sessions/web:x/events")
	defer cancel()
	until(t, events, ":")
	h.fill("x", 1) // no hint tells of it
	until(t, events, "user_message")
}

// A reader that does not read holds up nobody who writes. It misses no entry
// either: it goes on where it was, on the same connection or, where that was
// cut, on the next.
func TestASlowReaderSlowsNoWriter(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	response := h.stream("/v1/sessions/web:x/events")
	large := strings.Repeat("x", 32<<10)
	for range 300 { // 10 MB: more than any socket buffer
		_, err := h.store.Post(t.Context(), sessions.PostRequest{Surface: "web:local:x", Message: sessions.Message{Role: sessions.RoleUser, Text: large}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := h.say("web:x", "hello"); got.Seq != 301 {
		t.Errorf("%+v", got)
	}
	last := int64(0)
	for last < 302 {
		events := make(chan event, 4096)
		go func() { defer close(events); readEvents(t, response.Body, events) }()
		for e := range events {
			if e.id == "" {
				continue
			}
			if last++; e.id != strconv.FormatInt(last, 10) {
				t.Fatalf("after %d came %s", last-1, e.id)
			}
			if last == 302 {
				break
			}
		}
		response.Body.Close()
		for range events {
		}
		response = h.stream(fmt.Sprint("/v1/sessions/web:x/events?after=", last))
	}
}

// Who misses hints, being slow, is told so; and so is who comes to a log that
// was cleared, or whose log is another one now.
func TestGaps(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.say("web:x", "one")
	events, cancel := h.events("/v1/sessions/web:x/events?after=2")
	defer cancel()
	until(t, events, "status")
	if got := h.do("POST", "/v1/sessions/web:x/clear", ""); got.status != 200 {
		t.Fatal(got.body)
	}
	if gap, _ := until(t, events, "gap"); gap.data != `{"seq":2,"cleared":2,"reason":"cleared"}` || gap.id != "" {
		t.Errorf("%+v", gap)
	}
	h.say("web:x", "two")
	if e, _ := until(t, events, "user_message"); e.id != "3" {
		t.Errorf("%+v", e)
	}
	for after, told := range map[string]bool{"0": true, "1": true, "2": true, "3": false} {
		late, cancelLate := h.events("/v1/sessions/web:x/events", header("Last-Event-ID", after))
		status, before := until(t, late, "status")
		if got := len(before) > 0 && before[0].name == "gap"; got != told || !strings.Contains(status.data, `"cleared":2`) {
			t.Errorf("who stood at %s: %v %+v", after, before, status)
		}
		cancelLate()
	}
	if got := h.do("DELETE", "/v1/sessions/web:x", ""); got.status != 200 {
		t.Fatal(got.body)
	}
	h.say("web:x", "another log")
	if gap, _ := until(t, events, "gap"); !strings.Contains(gap.data, `"reason":"ahead"`) {
		t.Errorf("%+v", gap)
	}
}

func TestStreamsThatCannotBegin(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	for path, want := range map[string]int{
		"/v1/sessions/telegram:2026-01-01-x/events": 404, "/v1/sessions/web:x~abc/events": 404,
		"/v1/sessions/web:x/events?after=x": 400, "/v1/sessions/a%20b/events": 400,
	} {
		if got := h.do("GET", path, ""); got.status != want {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	if got := h.do("HEAD", "/v1/sessions/web:x/events", ""); got.status != 200 {
		t.Errorf("a look at the head: %d", got.status)
	}
	if got := h.do("GET", "/v1/sessions/web:x/events", "", header("Last-Event-ID", "e4")); got.status != 400 {
		t.Errorf("a wrong Last-Event-ID: %d", got.status)
	}
}
