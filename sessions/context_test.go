package sessions_test

import (
	"slices"
	"testing"

	"parley/sessions"
	"parley/sessions/logtest"
)

func user(tb testing.TB, seq int64, text string) sessions.Entry {
	tb.Helper()
	return logtest.Entry(tb, seq, sessions.EntryMessage, sessions.Message{Role: sessions.RoleUser, Text: text, Triggered: true})
}

func texts(c sessions.Context) []string {
	var out []string
	for _, line := range c.Lines {
		out = append(out, line.Message.Text)
	}
	return out
}

func TestRebuildWithoutACompaction(t *testing.T) {
	t.Parallel()
	c := sessions.Rebuild(sessions.Lines([]sessions.Entry{
		user(t, 1, "a"),
		logtest.Entry(t, 2, sessions.EntryModelChange, sessions.ModelChange{ModelID: "old"}),
		logtest.Entry(t, 3, sessions.EntryThinking, sessions.ThinkingLevelChange{ThinkingLevel: "high"}),
		logtest.Entry(t, 4, sessions.EntryBranchSummary, sessions.BranchSummary{Summary: "left", FromID: "e9"}),
		logtest.Entry(t, 5, sessions.EntryCustomMessage, sessions.CustomMessage{Text: "told", ForModel: true}),
		logtest.Entry(t, 6, sessions.EntryCustomMessage, sessions.CustomMessage{Text: "only shown"}),
		logtest.Entry(t, 7, sessions.EntryCustomInfo, sessions.CustomInfo{Name: "x"}),
		logtest.Entry(t, 8, sessions.EntryLabel, sessions.Label{TargetID: "e1", Label: "x"}),
		logtest.Entry(t, 9, sessions.EntryModelChange, sessions.ModelChange{ModelID: "new"}),
		logtest.Entry(t, 10, sessions.EntryModelChange, []int{1}),
		logtest.Entry(t, 11, sessions.EntryMessage, []int{1}),
		user(t, 12, "b"),
	}))
	if got := texts(c); !slices.Equal(got, []string{"a", "left", "told", "b"}) || c.ModelID != "new" || c.ThinkingLevel != "high" || c.Compaction != nil {
		t.Errorf("%v, %+v", got, c)
	}
	if line := c.Lines[1]; line.Entry.Type != sessions.EntryBranchSummary || line.Message.Role != sessions.RoleUser || !line.Message.Triggered {
		t.Errorf("%+v", line)
	}
}

func TestRebuildWithCompactions(t *testing.T) {
	t.Parallel()
	for kept, want := range map[string][]string{"e3": {"c", "e", "g"}, "": {"g"}, "e99": {"g"}, "e5": {"e", "g"}} {
		c := sessions.Rebuild(sessions.Lines([]sessions.Entry{
			user(t, 1, "a"),
			logtest.Entry(t, 2, sessions.EntryModelChange, sessions.ModelChange{ModelID: "m1"}),
			user(t, 3, "c"),
			logtest.Entry(t, 4, sessions.EntryCompaction, sessions.Compaction{Summary: "first", FirstKeptID: "e1"}),
			user(t, 5, "e"),
			logtest.Entry(t, 6, sessions.EntryCompaction, sessions.Compaction{Summary: "second", FirstKeptID: kept, ModelID: "m1", ThinkingLevel: "low"}),
			user(t, 7, "g"),
		}))
		if got := texts(c); !slices.Equal(got, want) || c.Compaction.Summary != "second" || c.ModelID != "m1" || c.ThinkingLevel != "low" {
			t.Errorf("kept %q: %v, %+v", kept, got, c)
		}
	}
}

// What a compaction carries stands for the changes before it that are not read.
func TestRebuildOfWhatACompactionLeftHasItsSettings(t *testing.T) {
	t.Parallel()
	log := logtest.Chain(100)
	log.Entries[9] = logtest.Entry(t, 10, sessions.EntryModelChange, sessions.ModelChange{ModelID: "m1"})
	log.Entries[79] = logtest.Entry(t, 80, sessions.EntryCompaction, sessions.Compaction{Summary: "s", FirstKeptID: "e70", ModelID: "m1"})
	log.Entries[89] = logtest.Entry(t, 90, sessions.EntryThinking, sessions.ThinkingLevelChange{ThinkingLevel: "high"})
	c := sessions.Rebuild(logtest.Read(t, log, sessions.BranchRequest{Leaf: 100}))
	if c.ModelID != "m1" || c.ThinkingLevel != "high" || len(c.Lines) != 29 || c.Lines[0].Entry.Seq != 70 {
		t.Errorf("%+v", c)
	}
	whole := sessions.Rebuild(logtest.Read(t, log, sessions.BranchRequest{Leaf: 100, Whole: true}))
	if whole.ModelID != c.ModelID || len(whole.Lines) != len(c.Lines) {
		t.Errorf("the whole branch gives another context: %d lines, model %q", len(whole.Lines), whole.ModelID)
	}
}

func TestRebuildOfNothing(t *testing.T) {
	t.Parallel()
	if c := sessions.Rebuild(nil); c.Compaction != nil || len(c.Lines) != 0 {
		t.Errorf("%+v", c)
	}
}
