package transcript_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"parley/sessions"
	"parley/sessions/logtest"
	"parley/sessions/transcript"
)

func forked(tb testing.TB, log sessions.Log, from sessions.Record, leaf int64) (transcribed, error) {
	tb.Helper()
	t, err := transcript.Fork(tb.Context(), log, transcript.ForkRequest{From: from, Leaf: leaf, ID: "cli:main~new", Now: logtest.Day().Add(time.Minute)})
	if err != nil {
		return transcribed{}, err
	}
	return taken(t)
}

func shape(entries []sessions.Entry) []string {
	var out []string
	for _, e := range entries {
		line := fmt.Sprintf("%s<%s %s", sessions.EntryID(e.Parent), e.ID(), e.Type)
		if m, err := e.Message(); err == nil {
			line += " " + m.Text
		} else {
			line += " " + string(e.Payload)
		}
		out = append(out, line)
	}
	return out
}

func TestForkMovesLabelsAlongAndLeavesNothingDangling(t *testing.T) {
	t.Parallel()
	entries := slices.Concat(logtest.Trips(t)[:12], []sessions.Entry{
		below(logtest.Entry(t, 13, sessions.EntryLabel, sessions.Label{TargetID: "e9", Label: "north"}), 12),
		below(logtest.Entry(t, 14, sessions.EntryDelete, sessions.Label{TargetID: "e3"}), 0),
		below(logtest.Entry(t, 15, sessions.EntryDelete, sessions.Label{TargetID: "e9"}), 0),
	})
	from := fullRecord()
	from.Seq, from.Leaf = 15, 13
	log := &logtest.Log{Entries: entries}

	rome, err := forked(t, log, from, 4) // none of its labels is on its path
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"<e1 message plan a trip", "e1<e2 message Where to?", "e2<e3 message Rome\nor so",
		"e3<e4 message In spring it is warm, and there are fewer people than in the summer",
		`e4<e5 label {"target_id":"e3","label":"first idea"}`, `<e6 delete {"target_id":"e3"}`}
	if diff := cmp.Diff(want, shape(rome.entries)); diff != "" {
		t.Error(diff)
	}
	if r := rome.record; r.ParentSession != from.ID || r.Leaf != 5 || r.MessageCount != 2 || r.TurnCount != 2 || r.State != sessions.StateActive ||
		r.Preview != "Rome or so" || !r.CreatedAt.Equal(logtest.Day().Add(time.Minute)) || r.UserID != from.UserID || r.ContextTokens != 0 {
		t.Errorf("%+v", r)
	}
	if at := rome.entries[2].Time; !at.Equal(entries[2].Time) {
		t.Errorf("times are kept: %v", at)
	}

	oslo, err := forked(t, log, from, 13) // labels of the other branch stay there
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"<e1 message plan a trip", "e1<e2 message Where to?", "e2<e3 message Oslo", "e3<e4 message <NO_REPLY>",
		`e4<e5 label {"target_id":"e2","label":"x"}`, `e5<e6 label {"target_id":"e2"}`, `e6<e7 label {"target_id":"e3","label":"north"}`, `<e8 delete {"target_id":"e3"}`}
	if diff := cmp.Diff(want, shape(oslo.entries)); diff != "" {
		t.Error(diff)
	}
	if oslo.record.ContextTokens != from.ContextTokens || oslo.record.Preview != from.Preview {
		t.Errorf("%+v", oslo.record)
	}
}

func texts(c sessions.Context) []string {
	var out []string
	for _, line := range c.Lines {
		out = append(out, line.Message.Text)
	}
	return out
}

func TestForkKeepsTheContext(t *testing.T) {
	t.Parallel()
	log := logtest.Chain(12)
	log.Entries[7] = logtest.Entry(t, 8, sessions.EntryCompaction, sessions.Compaction{Summary: "s", FirstKeptID: "e6"})
	log.Entries[4] = below(logtest.Entry(t, 5, sessions.EntryTurn, struct{}{}), 0)
	log.Entries[5].Parent = 4
	log.Entries[8] = logtest.Entry(t, 9, sessions.EntryBranchSummary, sessions.BranchSummary{Summary: "left", FromID: "e3"})
	log.Entries[9] = logtest.Entry(t, 10, sessions.EntryBranchSummary, sessions.BranchSummary{Summary: "left", FromID: "e5"})
	from := fullRecord()
	from.Seq, from.Leaf = 12, 12
	got, err := forked(t, log, from, 12)
	if err != nil {
		t.Fatal(err)
	}
	want, is := sessions.Rebuild(logtest.Read(t, log, sessions.BranchRequest{Leaf: 12})), sessions.Rebuild(logtest.Read(t, got.log(), sessions.BranchRequest{Leaf: got.record.Leaf}))
	if !slices.Equal(texts(want), texts(is)) || is.Compaction.FirstKeptID != "e5" {
		t.Errorf("%v became %v", texts(want), texts(is))
	}
	if a, b := string(got.entries[7].Payload), string(got.entries[8].Payload); a != `{"summary":"left","from_id":"e3"}` || b != `{"summary":"left","from_id":null}` {
		t.Errorf("%s %s", a, b)
	}
}

func TestForkAtTheEdges(t *testing.T) {
	t.Parallel()
	log, from := logtest.Chain(20), fullRecord()
	log.Entries[19] = below(logtest.Entry(t, 20, sessions.EntryTurn, struct{}{}), 0)
	from.Seq, from.Leaf = 20, 19
	got, err := forked(t, log, from, 0)
	if err != nil || len(got.entries) != 0 || got.record.State != sessions.StateCreated || got.record.Leaf != 0 {
		t.Errorf("before the first: %+v, %v", got, err)
	}
	log.Entries = log.Entries[10:]
	log.Entries[0].Parent, from.Cleared = 0, 10
	for _, leaf := range []int64{20, 21, 5, 10, -1} {
		if _, err := forked(t, log, from, leaf); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("at %d: %v", leaf, err)
		}
	}
	if got, err := forked(t, log, from, 19); err != nil || len(got.entries) != 9 {
		t.Errorf("of a cleared one: %d, %v", len(got.entries), err)
	}
	fork, err := transcript.Fork(t.Context(), log, transcript.ForkRequest{From: from, Leaf: 19, ID: "x", Now: logtest.Day(), UserID: "telegram:5", Participants: []string{"telegram:5"}})
	if err != nil || fork.Record.UserID != "telegram:5" || !slices.Equal(fork.Record.Participants, []string{"telegram:5"}) {
		t.Errorf("%+v, %v", fork, err)
	}
	log.Fail = sessions.ErrUnavailable
	if _, err := taken(fork); !errors.Is(err, sessions.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

func TestForkOfAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		log, from := logtest.Random(rt), fullRecord()
		from.Seq = int64(len(log.Entries))
		leaf := log.Entries[rapid.IntRange(0, len(log.Entries)-1).Draw(rt, "leaf")]
		if !leaf.Type.InTree() {
			return
		}
		want := logtest.Read(t, log, sessions.BranchRequest{Leaf: leaf.Seq, Whole: true})
		got, err := forked(t, log, from, leaf.Seq)
		if err != nil {
			rt.Fatal(err)
		}
		is := sessions.Lines(got.entries)
		if len(is) != len(want) {
			rt.Fatalf("%d entries of %d", len(is), len(want))
		}
		for i := range is {
			if is[i].Message.Text != want[i].Message.Text {
				rt.Fatalf("at %d %q instead of %q", i, is[i].Message.Text, want[i].Message.Text)
			}
		}
	})
}

func TestForkPrefix(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"cli:main": "cli:main~", "cli:main~abc": "cli:main~", "web:a:b": "web:a:b~", "telegram:2026-01-01-x": "telegram:2026-03-02-",
		"sub:cli:main": "sub:cli:main~", "flow__writer": "flow__writer~", "import:a:b": "import:2026-03-02-", "0b9e": "0b9e:2026-03-02-",
	} {
		if got := sessions.ForkPrefix(id, logtest.Day()); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}
