package sessions_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"parley/sessions"
	"parley/sessions/logtest"
)

func TestReadBranchOf100000Entries(t *testing.T) {
	t.Parallel()
	const n = 100_000
	log := logtest.Chain(n)
	path := logtest.Read(t, log, sessions.BranchRequest{Leaf: n})
	if len(path) != n || path[0].Entry.Seq != 1 || path[n-1].Entry.Seq != n || path[n-1].Message.Text != "m100000" {
		t.Fatalf("%d lines", len(path))
	}
	if log.Calls > n/sessions.EntriesPerCall+3 || log.EntriesRead > n {
		t.Errorf("%d calls read %d entries", log.Calls, log.EntriesRead)
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
		log := logtest.Chain(n)
		log.Entries[19_950-1] = logtest.Entry(t, 19_950, sessions.EntryCompaction, sessions.Compaction{Summary: "s", FirstKeptID: c.kept})
		log.Entries[10_000-1] = logtest.Entry(t, 10_000, sessions.EntryCompaction, sessions.Compaction{Summary: "old", FirstKeptID: "e9990"})
		path := logtest.Read(t, log, sessions.BranchRequest{Leaf: n, Whole: c.whole})
		want := c.first
		if c.kept == "x" {
			want = 9_990 // the older one can be read
		}
		if path[0].Entry.Seq != want || path[len(path)-1].Entry.Seq != n {
			t.Errorf("%s: from %d to %d", name, path[0].Entry.Seq, path[len(path)-1].Entry.Seq)
		}
		if want > 19_000 && log.EntriesRead > sessions.TailMax {
			t.Errorf("%s: read %d entries", name, log.EntriesRead)
		}
	}
}

func TestReadBranchGoesOnFromWhatIsHeld(t *testing.T) {
	t.Parallel()
	log := logtest.Chain(1000)
	held := sessions.Lines(log.Entries[900:])
	path := logtest.Read(t, log, sessions.BranchRequest{Leaf: 1000, Held: held, Enough: func(end []sessions.Line) bool { return len(end) >= 100 }})
	if len(path) != 100 || log.Calls != 0 {
		t.Errorf("%d lines, %d calls", len(path), log.Calls)
	}
	path = logtest.Read(t, log, sessions.BranchRequest{Leaf: 1000, Held: held, Enough: func(end []sessions.Line) bool { return len(end) >= 101 }})
	if len(path) != 100+sessions.TailMax || log.Calls != 1 || path[0].Entry.Seq != 701 {
		t.Errorf("%d lines, %d calls", len(path), log.Calls)
	}
	if path := logtest.Read(t, log, sessions.BranchRequest{}); len(path) != 0 {
		t.Errorf("the branch of no leaf has %d lines", len(path))
	}
}

func TestReadBranchEndsWhereTheLogWasCleared(t *testing.T) {
	t.Parallel()
	log := logtest.Chain(50)
	log.Entries = log.Entries[20:]
	if path := logtest.Read(t, log, sessions.BranchRequest{Leaf: 50}); len(path) != 30 || path[0].Entry.Seq != 21 {
		t.Errorf("%v", seqs(path))
	}
}

func TestReadBranchOfABrokenLogEnds(t *testing.T) {
	t.Parallel()
	log := logtest.Chain(5)
	log.Entries[1].Parent = 4
	if path := logtest.Read(t, log, sessions.BranchRequest{Leaf: 5}); !slices.Equal(seqs(path), []int64{2, 3, 4, 5}) {
		t.Errorf("%v", seqs(path))
	}
	log.Fail = sessions.ErrUnavailable
	if _, err := sessions.ReadBranch(t.Context(), log, sessions.BranchRequest{Leaf: 5}); !errors.Is(err, sessions.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

// A tree with branches, late parents and entries beside it: the branch read in
// pages is the branch walked in memory.
func TestReadBranchIsBranch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		log := logtest.Random(rt)
		lines := sessions.Lines(log.Entries)
		leaf := log.Entries[rapid.IntRange(0, len(log.Entries)-1).Draw(rt, "leaf")]
		if !leaf.Type.InTree() {
			return
		}
		want, _ := sessions.Branch(lines, leaf.Seq)
		held := lines[rapid.IntRange(0, len(lines)).Draw(rt, "held"):]
		got := logtest.Read(t, log, sessions.BranchRequest{Leaf: leaf.Seq, Held: held, Whole: true})
		if !slices.Equal(seqs(got), seqs(want)) {
			rt.Fatalf("got %v, want %v", seqs(got), seqs(want))
		}
	})
}

func TestReadBranchReadsEdits(t *testing.T) {
	t.Parallel()
	log := logtest.Chain(3)
	for _, kind := range []string{"photo", "voice"} {
		seq := int64(len(log.Entries)) + 1
		entry := logtest.Entry(t, seq, sessions.EntryEdit, sessions.Edit{TargetID: "e2", Attachments: []sessions.Attachment{{Kind: kind}}})
		entry.Parent = 0
		log.Entries = append(log.Entries, entry)
	}
	tail := logtest.Entry(t, 6, sessions.EntryMessage, sessions.Message{Role: sessions.RoleUser, Text: "m6"})
	tail.Parent = 3
	log.Entries = append(log.Entries, tail)
	for name, held := range map[string][]sessions.Line{"from the log": nil, "held": sessions.Lines(log.Entries)} {
		path := logtest.Read(t, log, sessions.BranchRequest{Session: "s", Leaf: 6, Held: held})
		if len(path) != 4 || len(path[1].Message.Attachments) != 1 || path[1].Message.Attachments[0].Kind != "voice" || path[0].Message.Attachments != nil {
			t.Errorf("%s: %+v", name, path)
		}
		if held != nil && held[1].Message.Attachments != nil {
			t.Error("what was held has changed")
		}
	}
}
