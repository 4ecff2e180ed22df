package sessions_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/sessions"
)

// memoryLog is a log by seq, without gaps but for what was cleared, and how
// often and how much was read of it.
type memoryLog struct {
	entries            []sessions.Entry
	calls, entriesRead int
	fail               error
}

func (l *memoryLog) Range(_ context.Context, _ string, from, to int64) ([]sessions.Entry, error) {
	if l.fail != nil {
		return nil, l.fail
	}
	var out []sessions.Entry
	begin, _ := slices.BinarySearchFunc(l.entries, from, func(e sessions.Entry, seq int64) int { return int(e.Seq - seq) })
	for _, e := range l.entries[begin:] {
		if e.Seq > to || len(out) == sessions.EntriesPerCall {
			break
		}
		out = append(out, e)
	}
	l.calls++
	l.entriesRead += len(out)
	return out, nil
}

// chain is a log of n messages, each below the one before it.
func chain(tb testing.TB, n int64) *memoryLog {
	tb.Helper()
	log := &memoryLog{}
	for seq := int64(1); seq <= n; seq++ {
		text := json.RawMessage(`{"role":"user","text":"m` + strconv.FormatInt(seq, 10) + `","triggered":true}`)
		log.entries = append(log.entries, sessions.Entry{Seq: seq, Parent: seq - 1, Type: sessions.EntryMessage, Time: someDay.Add(time.Duration(seq) * time.Second), Payload: text})
	}
	return log
}

func (l *memoryLog) read(tb testing.TB, request sessions.BranchRequest) []sessions.Line {
	tb.Helper()
	path, err := sessions.ReadBranch(tb.Context(), l, request)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

func TestReadBranchOf100000Entries(t *testing.T) {
	t.Parallel()
	const n = 100_000
	log := chain(t, n)
	path := log.read(t, sessions.BranchRequest{Leaf: n})
	if len(path) != n || path[0].Entry.Seq != 1 || path[n-1].Entry.Seq != n || path[n-1].Message.Text != "m100000" {
		t.Fatalf("%d lines", len(path))
	}
	if log.calls > n/sessions.EntriesPerCall+3 || log.entriesRead > n {
		t.Errorf("%d calls read %d entries", log.calls, log.entriesRead)
	}
}

func TestReadBranchReadsNothingThatACompactionClosedOff(t *testing.T) {
	t.Parallel()
	const n = 20_000
	for name, c := range map[string]struct {
		kept  string
		whole bool
		first int64
	}{
		"kept tail": {kept: "e19940", first: 19_940}, "nothing kept": {first: 19_950},
		"whole": {kept: "e19940", whole: true, first: 1}, "unreadable": {kept: "x", first: 1},
	} {
		log := chain(t, n)
		log.entries[19_950-1] = entryOf(t, 19_950, sessions.EntryCompaction, sessions.Compaction{Summary: "s", FirstKeptID: c.kept})
		log.entries[10_000-1] = entryOf(t, 10_000, sessions.EntryCompaction, sessions.Compaction{Summary: "old", FirstKeptID: "e9990"})
		path := log.read(t, sessions.BranchRequest{Leaf: n, Whole: c.whole})
		want := c.first
		if c.kept == "x" {
			want = 9_990 // the older one can be read
		}
		if path[0].Entry.Seq != want || path[len(path)-1].Entry.Seq != n {
			t.Errorf("%s: from %d to %d", name, path[0].Entry.Seq, path[len(path)-1].Entry.Seq)
		}
		if want > 19_000 && log.entriesRead > sessions.TailMax {
			t.Errorf("%s: read %d entries", name, log.entriesRead)
		}
	}
}

func TestReadBranchGoesOnFromWhatIsHeld(t *testing.T) {
	t.Parallel()
	log := chain(t, 1000)
	held := sessions.Lines(log.entries[900:])
	path := log.read(t, sessions.BranchRequest{Leaf: 1000, Held: held, Enough: func(end []sessions.Line) bool { return len(end) >= 100 }})
	if len(path) != 100 || log.calls != 0 {
		t.Errorf("%d lines, %d calls", len(path), log.calls)
	}
	path = log.read(t, sessions.BranchRequest{Leaf: 1000, Held: held, Enough: func(end []sessions.Line) bool { return len(end) >= 101 }})
	if len(path) != 100+sessions.TailMax || log.calls != 1 || path[0].Entry.Seq != 701 {
		t.Errorf("%d lines, %d calls", len(path), log.calls)
	}
	if path := log.read(t, sessions.BranchRequest{}); len(path) != 0 {
		t.Errorf("the branch of no leaf has %d lines", len(path))
	}
}

func TestReadBranchEndsWhereTheLogWasCleared(t *testing.T) {
	t.Parallel()
	log := chain(t, 50)
	log.entries = log.entries[20:]
	if path := log.read(t, sessions.BranchRequest{Leaf: 50}); len(path) != 30 || path[0].Entry.Seq != 21 {
		t.Errorf("%v", seqs(path))
	}
}

func TestReadBranchOfABrokenLogEnds(t *testing.T) {
	t.Parallel()
	log := chain(t, 5)
	log.entries[1].Parent = 4
	if path := log.read(t, sessions.BranchRequest{Leaf: 5}); !slices.Equal(seqs(path), []int64{2, 3, 4, 5}) {
		t.Errorf("%v", seqs(path))
	}
	log.fail = sessions.ErrUnavailable
	if _, err := sessions.ReadBranch(t.Context(), log, sessions.BranchRequest{Leaf: 5}); !errors.Is(err, sessions.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

// A tree with branches, late parents and entries beside it: the branch read in
// pages is the branch walked in memory.
func TestReadBranchIsBranch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		log := randomLog(t, rt)
		lines := sessions.Lines(log.entries)
		leaf := log.entries[rapid.IntRange(0, len(log.entries)-1).Draw(rt, "leaf")]
		if !leaf.Type.InTree() {
			return
		}
		want, _ := sessions.Branch(lines, leaf.Seq)
		held := lines[rapid.IntRange(0, len(lines)).Draw(rt, "held"):]
		got := log.read(t, sessions.BranchRequest{Leaf: leaf.Seq, Held: held, Whole: true})
		if !slices.Equal(seqs(got), seqs(want)) {
			rt.Fatalf("got %v, want %v", seqs(got), seqs(want))
		}
	})
}

// randomLog has entries whose parents are any other entry of the tree that is
// no descendant.
func randomLog(tb testing.TB, rt *rapid.T) *memoryLog {
	tb.Helper()
	n := rapid.IntRange(1, 600).Draw(rt, "entries")
	log := &memoryLog{}
	var placed []int64
	order := rapid.Permutation(numbers(n)).Draw(rt, "order")
	near := rapid.Bool().Draw(rt, "near")
	parents := make(map[int64]int64, n)
	for i, seq := range order {
		if near {
			seq = int64(i) + 1
		}
		if seq%7 == 0 {
			continue
		}
		if len(placed) > 0 {
			back := rapid.IntRange(1, min(len(placed), 3)).Draw(rt, "back")
			parents[seq] = placed[len(placed)-back]
		}
		placed = append(placed, seq)
	}
	for seq := int64(1); seq <= int64(n); seq++ {
		kind := sessions.EntryMessage
		if seq%7 == 0 {
			kind = sessions.EntryTurn
		}
		text := json.RawMessage(`{"role":"user","text":"` + strconv.FormatInt(seq, 10) + `"}`)
		log.entries = append(log.entries, sessions.Entry{Seq: seq, Parent: parents[seq], Type: kind, Time: someDay.Add(time.Duration(seq) * time.Second), Payload: text})
	}
	return log
}

func numbers(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i) + 1
	}
	return out
}

func TestReadBranchReadsEdits(t *testing.T) {
	t.Parallel()
	log := chain(t, 3)
	for _, kind := range []string{"photo", "voice"} {
		seq := int64(len(log.entries)) + 1
		entry := entryOf(t, seq, sessions.EntryEdit, sessions.Edit{TargetID: "e2", Attachments: []sessions.Attachment{{Kind: kind}}})
		entry.Parent = 0
		log.entries = append(log.entries, entry)
	}
	tail := entryOf(t, 6, sessions.EntryMessage, sessions.Message{Role: sessions.RoleUser, Text: "m6"})
	tail.Parent = 3
	log.entries = append(log.entries, tail)
	for name, held := range map[string][]sessions.Line{"from the log": nil, "held": sessions.Lines(log.entries)} {
		path := log.read(t, sessions.BranchRequest{Session: "s", Leaf: 6, Held: held})
		if len(path) != 4 || len(path[1].Message.Attachments) != 1 || path[1].Message.Attachments[0].Kind != "voice" || path[0].Message.Attachments != nil {
			t.Errorf("%s: %+v", name, path)
		}
		if held != nil && held[1].Message.Attachments != nil {
			t.Error("what was held has changed")
		}
	}
}
