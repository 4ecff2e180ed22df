package sessions_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"parley/sessions"
)

func TestBranchFollowsParents(t *testing.T) {
	t.Parallel()
	entries := []sessions.Entry{{Seq: 1}, {Seq: 2, Parent: 1}, {Seq: 3, Parent: 2}, {Seq: 4, Parent: 2}, {Seq: 5, Waiting: true}, {Seq: 6, Parent: 4}}
	path, missing := sessions.Branch(sessions.Lines(entries), 6)
	if got := seqs(path); !slices.Equal(got, []int64{1, 2, 4, 6}) || missing != 0 {
		t.Fatalf("got %v, missing %d", got, missing)
	}
	path, missing = sessions.Branch(sessions.Lines(entries[2:]), 6)
	if got := seqs(path); !slices.Equal(got, []int64{4, 6}) || missing != 2 {
		t.Fatalf("got %v, missing %d", got, missing)
	}
}

func TestBranchFollowsAParentThatIsYoungerBySeq(t *testing.T) {
	t.Parallel()
	// 2 was posted while the turn that wrote 3 ran.
	path, missing := sessions.Branch(sessions.Lines([]sessions.Entry{{Seq: 1}, {Seq: 2, Parent: 3}, {Seq: 3, Parent: 1}}), 2)
	if got := seqs(path); !slices.Equal(got, []int64{1, 3, 2}) || missing != 0 {
		t.Fatalf("got %v, missing %d", got, missing)
	}
}

func TestBranchOfABrokenLogEnds(t *testing.T) {
	t.Parallel()
	path, _ := sessions.Branch(sessions.Lines([]sessions.Entry{{Seq: 1, Parent: 2}, {Seq: 2, Parent: 1}}), 2)
	if len(path) != 2 {
		t.Fatalf("a cycle gave %d entries", len(path))
	}
}

func TestBranchOf100000EntriesNeedsNoRecursion(t *testing.T) {
	t.Parallel()
	entries := make([]sessions.Entry, 100_000)
	for i := range entries {
		entries[i] = sessions.Entry{Seq: int64(i + 1), Parent: int64(i)}
	}
	if path, missing := sessions.Branch(sessions.Lines(entries), 100_000); len(path) != 100_000 || missing != 0 {
		t.Fatalf("%d entries, missing %d", len(path), missing)
	}
}

func seqs(path []sessions.Line) []int64 {
	out := make([]int64, len(path))
	for i, line := range path {
		out[i] = line.Entry.Seq
	}
	return out
}

// conversation builds a branch, each entry the child of the one before it.
type conversation struct {
	t    rapid.TB
	path []sessions.Entry
}

func (c *conversation) say(m sessions.Message) int64 {
	entry, err := sessions.NewMessage(m)
	if err != nil {
		c.t.Fatal(err)
	}
	seq := int64(len(c.path) + 1)
	c.path = append(c.path, sessions.Entry{Seq: seq, Parent: seq - 1, Type: entry.Type, Payload: entry.Payload})
	return seq
}

func (c *conversation) asks(text string) int64 {
	return c.say(sessions.Message{Role: sessions.RoleUser, Text: text, Triggered: true})
}

func (c *conversation) logged(text string) int64 {
	return c.say(sessions.Message{Role: sessions.RoleUser, Text: text, Group: true})
}

func (c *conversation) answers(text string) int64 {
	return c.say(sessions.Message{Role: sessions.RoleAssistant, Text: text})
}

// usesTool is a call with n results and a final answer.
func (c *conversation) usesTool(n int) {
	c.say(sessions.Message{Role: sessions.RoleAssistant, ToolCalls: []sessions.ToolCall{{ID: "c", Name: "t"}}})
	for range n {
		c.say(sessions.Message{Role: sessions.RoleTool, CallID: "c", Text: "result"})
	}
	c.answers("done")
}

func TestSelectKeepsUnheardLinesApart(t *testing.T) {
	t.Parallel()
	c := conversation{t: t}
	c.asks("q1")
	c.answers("a1")
	for range 60 {
		c.logged("chatter")
	}
	present := c.asks("q2")
	got, _ := sessions.Select(sessions.Lines(c.path), present)
	if len(got.Unheard) != sessions.UnheardLines {
		t.Fatalf("%d unheard lines, want the newest %d", len(got.Unheard), sessions.UnheardLines)
	}
	if got.Unheard[len(got.Unheard)-1].Entry.Seq != present-1 {
		t.Fatal("the newest line must be kept")
	}
	if len(got.History) != 2 || len(got.Present) != 1 || got.Present[0].Lines[0].Message.Text != "q2" {
		t.Fatalf("history %d, present %d", len(got.History), len(got.Present))
	}
}

func TestSelectBoundsUnheardCharacters(t *testing.T) {
	t.Parallel()
	c := conversation{t: t}
	for range 10 {
		c.logged(string(make([]byte, 3000)))
	}
	present := c.asks("q")
	got, _ := sessions.Select(sessions.Lines(c.path), present)
	if len(got.Unheard) != 2 {
		t.Fatalf("%d lines of 3000 characters, want 2 within %d", len(got.Unheard), sessions.UnheardChars)
	}
}

func TestSelectTakesTheLast20Messages(t *testing.T) {
	t.Parallel()
	c := conversation{t: t}
	for range 30 {
		c.asks("q")
		c.answers("a")
	}
	present := c.asks("now")
	got, _ := sessions.Select(sessions.Lines(c.path), present)
	if len(got.History) != sessions.HistoryMessages {
		t.Fatalf("%d blocks of history", len(got.History))
	}
}

func TestSelectKeepsThreeExchangesWholeAboveTheCap(t *testing.T) {
	t.Parallel()
	c := conversation{t: t}
	for range 5 {
		c.asks("q")
		c.usesTool(10)
	}
	present := c.asks("now")
	got, _ := sessions.Select(sessions.Lines(c.path), present)
	if triggers := countTriggers(got); triggers != sessions.HistoryExchanges {
		t.Fatalf("%d exchanges, want %d", triggers, sessions.HistoryExchanges)
	}
}

func countTriggers(s sessions.Selection) int {
	n := 0
	for _, block := range s.History {
		if block.Lines[0].Message.Triggered {
			n++
		}
	}
	return n
}

func TestSelectPassesOverWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	c := conversation{t: t}
	c.asks("q")
	c.path = append(c.path,
		sessions.Entry{Seq: 2, Parent: 1, Type: sessions.EntryCustomInfo, Payload: json.RawMessage(`{}`)},
		sessions.Entry{Seq: 3, Parent: 2, Type: sessions.EntryMessage, Payload: json.RawMessage(`"broken`)})
	present := c.asks("now")
	got, _ := sessions.Select(sessions.Lines(c.path), present)
	if len(got.History) != 1 {
		t.Fatalf("%d blocks of history, want 1", len(got.History))
	}
}

// In any conversation: tool units are never torn, the order stays, the present
// messages are all there, and Enough says yes only where a longer path would
// give the same selection.
func TestSelectProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := conversation{t: t}
		for range rapid.IntRange(0, 80).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				c.asks("q")
				c.answers("a")
			case 1:
				c.asks("q")
				c.usesTool(rapid.IntRange(1, 5).Draw(t, "results"))
			case 2:
				c.logged("chatter")
			case 3:
				c.asks("unanswered")
			}
		}
		present := c.asks("now")
		whole, _ := sessions.Select(sessions.Lines(c.path), present)
		requireWholeUnits(t, whole)
		from := rapid.IntRange(0, len(c.path)-1).Draw(t, "from")
		if got, enough := sessions.Select(sessions.Lines(c.path[from:]), present); enough && !slices.Equal(allSeqs(got), allSeqs(whole)) {
			t.Fatalf("it was not enough: %v, whole path %v", allSeqs(got), allSeqs(whole))
		}
	})
}

func requireWholeUnits(t *rapid.T, s sessions.Selection) {
	all := allSeqs(s)
	if !slices.IsSorted(all) {
		t.Fatalf("out of order: %v", all)
	}
	for i, block := range s.History {
		if block.Lines[0].Message.Role == sessions.RoleTool {
			t.Fatalf("block %d begins with a tool result", i)
		}
		calls := len(block.Lines[0].Message.ToolCalls)
		if calls > 0 && len(block.Lines) < 2 {
			t.Fatalf("block %d has a call without results", i)
		}
	}
}

func allSeqs(s sessions.Selection) []int64 {
	var out []int64
	for _, block := range s.History {
		for _, line := range block.Lines {
			out = append(out, line.Entry.Seq)
		}
	}
	for _, line := range s.Unheard {
		out = append(out, line.Entry.Seq)
	}
	for _, block := range s.Present {
		for _, line := range block.Lines {
			out = append(out, line.Entry.Seq)
		}
	}
	return out
}
