package turns

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"parley/sessions"
)

func entriesOf(seqs ...int64) []sessions.Entry {
	out := make([]sessions.Entry, len(seqs))
	for i, seq := range seqs {
		out[i] = sessions.Entry{Seq: seq}
	}
	return out
}

func seqsOf(lines []sessions.Line) []int64 {
	out := make([]int64, len(lines))
	for i, line := range lines {
		out[i] = line.Entry.Seq
	}
	return out
}

func claimed(from int64, tail []sessions.Entry) *sessions.Turn {
	return &sessions.Turn{Lease: sessions.Lease{Session: "s"}, TailFrom: from, Tail: tail}
}

func TestTailsContinueWhatIsHeld(t *testing.T) {
	t.Parallel()
	c := newCache(10)
	c.join(claimed(0, entriesOf(1, 2)), "", nil)
	if got := c.Known("s"); got.Seq != 2 {
		t.Fatalf("known %+v", got)
	}
	if got := seqsOf(c.join(claimed(2, entriesOf(3)), "", nil)); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Fatalf("joined %v", got)
	}
	c.add("s", entriesOf(4))
	if got := c.Known("s"); got.Seq != 4 {
		t.Fatalf("known %+v", got)
	}
}

func TestTailsThrowAwayWhatIsNotContinued(t *testing.T) {
	t.Parallel()
	c := newCache(10)
	c.join(claimed(0, entriesOf(1, 2)), "", nil)
	if got := seqsOf(c.join(claimed(0, entriesOf(7, 8)), "", nil)); !slices.Equal(got, []int64{7, 8}) {
		t.Fatalf("joined %v", got)
	}
}

func TestTailsNeverHoldWhatCanStillChange(t *testing.T) {
	t.Parallel()
	c := newCache(10)
	waiting := entriesOf(1, 2, 3)
	waiting[1].Waiting = true
	c.join(claimed(0, waiting), "", nil)
	if got := c.Known("s"); got.Seq != 1 {
		t.Fatalf("held up to %d, but entry 2 waits", got.Seq)
	}
	c.add("s", entriesOf(3))
	if got := c.Known("s"); got.Seq != 1 {
		t.Fatalf("held up to %d over a gap", got.Seq)
	}
}

func TestTailsJoinWhatCameDuringATurn(t *testing.T) {
	t.Parallel()
	c := newCache(10)
	c.join(claimed(0, entriesOf(1)), "", nil)
	next := claimed(4, nil) // 2 and 3 were posted while the turn that wrote 4 ran
	next.Taken = entriesOf(2, 3)
	if got := seqsOf(c.join(next, "", entriesOf(4))); !slices.Equal(got, []int64{1, 2, 3, 4}) {
		t.Fatalf("joined %v", got)
	}
	if got := c.Known("s"); got.Seq != 4 {
		t.Fatalf("known %+v", got)
	}
}

func TestTailsAreBounded(t *testing.T) {
	t.Parallel()
	c := newCache(3)
	for i := range 10 {
		c.join(&sessions.Turn{Lease: sessions.Lease{Session: fmt.Sprint(i)}, Tail: entriesOf(1)}, "", nil)
	}
	if len(c.bySess) != 3 || c.order.Len() != 3 {
		t.Fatalf("%d sessions held", len(c.bySess))
	}
	for i := range int64(1000) {
		c.join(&sessions.Turn{Lease: sessions.Lease{Session: "9"}, TailFrom: i + 1, Tail: entriesOf(i + 2)}, "", nil)
	}
	if n := len(c.bySess["9"].Value.(*tail).lines); n > cacheEntries {
		t.Fatalf("%d entries held", n)
	}
}

// The cache is bounded also where messages are long.
func TestLongMessagesAreNotAllHeld(t *testing.T) {
	t.Parallel()
	long := make([]sessions.Entry, 20)
	for i := range long {
		entry, err := sessions.NewMessage(sessions.Message{Role: sessions.RoleUser, Text: strings.Repeat("x", cacheBytes/8)})
		if err != nil {
			t.Fatal(err)
		}
		long[i] = sessions.Entry{Seq: int64(i + 1), Type: entry.Type, Payload: entry.Payload}
	}
	c := newCache(10)
	if all := c.join(claimed(0, long), "", nil); len(all) != len(long) {
		t.Fatalf("joined %d", len(all))
	}
	held := c.bySess["s"].Value.(*tail).lines
	if len(held) != 8 || held[len(held)-1].Entry.Seq != 20 {
		t.Fatalf("held %d", len(held))
	}
	huge := []sessions.Entry{{Seq: 21, Type: sessions.EntryError, Payload: []byte(`{"text":"` + strings.Repeat("x", cacheBytes) + `"}`)}}
	c.add("s", huge)
	if got := c.Known("s"); got != (sessions.Known{}) {
		t.Fatalf("known %+v", got)
	}
}
