package api_test

import (
	"fmt"
	"net"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"parley/api"
	"parley/api/apitest"
	"parley/sessions"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// fill posts n messages that ask for nothing.
func (h *harness) fill(session string, n int) {
	h.t.Helper()
	for i := range n {
		_, err := h.store.Post(h.t.Context(), sessions.PostRequest{Surface: "web:local:" + session,
			Message: sessions.Message{Role: sessions.RoleUser, Text: fmt.Sprint("message ", i+1)}})
		if err != nil {
			h.t.Fatal(err)
		}
	}
}

type pageOfLog struct {
	Entries       []api.EntryView
	After, Before int64
	Leaf          string
	Newest        int64
}

// Reading page by page, in either direction and any size, reads the whole log
// once.
func TestPagesCoverTheLog(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	const length = 23
	h.fill("x", length)
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 30).Draw(rt, "limit")
		direction := rapid.SampledFrom([]string{"after", "before"}).Draw(rt, "direction")
		seen := map[int64]int{}
		for cursor := int64(0); ; {
			var page pageOfLog
			h.do("GET", fmt.Sprintf("/v1/sessions/web:x/entries?%s=%d&limit=%d", direction, cursor, limit), "").into(t, &page)
			if len(page.Entries) > limit || page.Newest != length {
				rt.Fatalf("%d entries of at most %d, newest %d", len(page.Entries), limit, page.Newest)
			}
			for i, entry := range page.Entries {
				seen[entry.Seq]++
				if i > 0 && entry.Seq != page.Entries[i-1].Seq+1 {
					rt.Fatalf("out of order: %v", page.Entries)
				}
			}
			if cursor = page.After + page.Before; cursor == 0 {
				break
			}
		}
		for seq := int64(1); seq <= length; seq++ {
			if seen[seq] != 1 {
				rt.Fatalf("entry %d was read %d times", seq, seen[seq])
			}
		}
	})
}

func TestEntriesEdges(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.fill("x", 3)
	for query, want := range map[string]int{
		"": 200, "?after=99": 200, "?after=9223372036854775807": 200, "?before=9223372036854775807": 200, "?before=1": 200, "?limit=0": 200, "?limit=99999": 200,
		"?after=-1": 400, "?after=x": 400, "?before=1&after=1": 400, "?limit=x": 400, "?after=99999999999999999999": 400,
	} {
		if got := h.do("GET", "/v1/sessions/web:x/entries"+query, ""); got.status != want {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	if got := h.do("GET", "/v1/sessions/web:nobody/entries", ""); got.status != 404 || got.code(t) != "not_found" {
		t.Errorf("%d %s", got.status, got.body)
	}
	var record sessions.Record
	h.do("GET", "/v1/sessions/web:x", "").into(t, &record)
	if record.ID != "web:x" || record.Seq != 3 || record.MessageCount != 3 {
		t.Errorf("%+v", record)
	}
}

// A page of large entries ends early, in either direction, and the pages are
// the whole log all the same.
func TestPagesOfLargeEntries(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	const length = 320
	for range length {
		_, err := h.store.Post(t.Context(), sessions.PostRequest{Surface: "web:local:x", Message: sessions.Message{Role: sessions.RoleUser, Text: long(60 << 10)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, direction := range []string{"after", "before"} {
		pages, seen := 0, 0
		for cursor := int64(0); pages == 0 || cursor > 0; pages++ {
			var page pageOfLog
			h.do("GET", fmt.Sprintf("/v1/sessions/web:x/entries?%s=%d&limit=1000", direction, cursor), "").into(t, &page)
			seen += len(page.Entries)
			cursor = page.After + page.Before
		}
		if seen != length || pages < 2 {
			t.Errorf("%s: %d entries on %d pages", direction, seen, pages)
		}
	}
}

// The path to an entry is that of its own branch, wherever the conversation
// stands now, and page by page it is the whole one.
func TestThePathToAnyEntry(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.fill("x", 4)
	h.do("POST", "/v1/sessions/web:x/branch", `{"entry":"e2"}`) // e5, a leaf
	h.fill("x", 1)                                              // e6, behind e2
	for _, test := range []struct {
		leaf  string
		limit int
		want  []int64
		next  string
	}{
		{"e4", 100, []int64{1, 2, 3, 4}, ""},
		{"e6", 100, []int64{1, 2, 6}, ""},
		{"e2", 100, []int64{1, 2}, ""},
		{"e6", 2, []int64{2, 6}, "e1"},
		{"e1", 2, []int64{1}, ""},
	} {
		var page pageOfLog
		h.do("GET", fmt.Sprintf("/v1/sessions/web:x/entries?leaf=%s&limit=%d", test.leaf, test.limit), "").into(t, &page)
		var got []int64
		for _, entry := range page.Entries {
			got = append(got, entry.Seq)
		}
		if !slices.Equal(got, test.want) || page.Leaf != test.next || page.Newest != 6 {
			t.Errorf("to %s, at most %d: %v, then %q, newest %d", test.leaf, test.limit, got, page.Leaf, page.Newest)
		}
	}
	for query, want := range map[string]int{"leaf=e5": 404, "leaf=e9": 404, "leaf=x": 400, "leaf=": 404, "leaf=e1&before=0": 400} {
		if got := h.do("GET", "/v1/sessions/web:x/entries?"+query, ""); got.status != want {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}
