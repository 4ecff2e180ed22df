package sessions_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"parley/sessions"
)

func says(tb testing.TB, seq, parent int64, text string) sessions.Entry {
	tb.Helper()
	m := sessions.Message{Role: sessions.RoleUser, Text: text, Sender: &sessions.Sender{Name: "Ada"}}
	if bot, found := strings.CutPrefix(text, "bot: "); found {
		m = sessions.Message{Role: sessions.RoleAssistant, Text: bot}
	}
	e := entryOf(tb, seq, sessions.EntryMessage, m)
	e.Parent = parent
	return e
}

// trips is a conversation with two branches, labels and things beside it.
func trips(tb testing.TB) []sessions.Entry {
	tb.Helper()
	label := func(seq int64, target, text string) sessions.Entry {
		return entryOf(tb, seq, sessions.EntryLabel, sessions.Label{TargetID: target, Label: text})
	}
	return []sessions.Entry{
		says(tb, 1, 0, "plan a trip"),
		says(tb, 2, 1, "bot: Where to?"),
		says(tb, 3, 2, "Rome\nor so"),
		says(tb, 4, 3, "bot: In spring it is warm, and there are fewer people than in the summer"),
		entryOf(tb, 5, sessions.EntryTurn, struct{}{}),
		label(6, "e3", "wrong"),
		label(7, "e3", "first idea"), // below e6
		entryOf(tb, 8, sessions.EntryLeaf, sessions.LeafEntry{TargetID: "e2"}),
		says(tb, 9, 2, "Oslo"),
		says(tb, 10, 9, "bot: <NO_REPLY>"),
		label(11, "e2", "x"),
		label(12, "e2", ""),
		{Seq: 13, Waiting: true, Type: sessions.EntryMessage, Payload: []byte(`{"role":"user"}`)},
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	tree := sessions.NewTree(sessions.Lines(trips(t)), 12, unmarked)
	var ids, current, branches []string
	labels := map[string]string{}
	for _, n := range tree.Nodes {
		ids = append(ids, n.ID)
		if n.Current {
			current = append(current, n.ID)
		}
		if len(n.Children) > 1 {
			branches = append(branches, n.ID+":"+strings.Join(n.Children, ","))
		}
		if n.Label != "" {
			labels[n.ID] = n.Label
		}
		if n.Leaf != (n.ID == "e12") {
			t.Errorf("the leaf is said to be %s", n.ID)
		}
	}
	if diff := cmp.Diff([]string{"e1", "e2", "e3", "e4", "e6", "e7", "e9", "e10", "e11", "e12"}, ids); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"e1", "e2", "e9", "e10", "e11", "e12"}, current); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"e2:e3,e9"}, branches); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"e3": "first idea"}, labels); diff != "" {
		t.Error(diff)
	}
}

func TestDrawTree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		entries []sessions.Entry
		leaf    int64
		drawing sessions.Drawing
		want    string
	}{
		"branches": {trips(t), 12, sessions.Drawing{Width: 40}, `
● e1 Ada: plan a trip
● e2 bot: Where to?
├─○ e3 Ada: Rome or so [first idea]
│ ○ e4 bot: In spring it is warm, and t…
● e9 Ada: Oslo
◉ e10 bot: (silent)  ← here
`},
		"stands in the middle": {trips(t), 2, sessions.Drawing{Width: 30}, `
● e1 Ada: plan a trip
◉ e2 bot: Where to?  ← here
├─○ e3 Ada: Rome or… [first idea]
│ ○ e4 bot: In spring it is w…
└─○ e9 Ada: Oslo
  ○ e10 bot: (silent)
`},
		"stands before the first": {trips(t)[:2], 0, sessions.Drawing{}, `
◉ the beginning  ← here
└─○ e1 Ada: plan a trip
  ○ e2 bot: Where to?
`},
		"nothing":           {nil, 0, sessions.Drawing{}, "\n◉ the beginning  ← here\n"},
		"few lines":         {trips(t), 12, sessions.Drawing{Lines: 2}, "\n┆ older\n● e9 Ada: Oslo\n◉ e10 bot: (silent)  ← here\n"},
		"a long run":        {chain(t, 30).entries, 30, sessions.Drawing{}, "\n● e1 user: m1\n┆ 25 more\n● e27 user: m27\n● e28 user: m28\n● e29 user: m29\n◉ e30 user: m30  ← here\n"},
		"a terminal's evil": {[]sessions.Entry{says(t, 1, 0, "\x1b[2Ja\u202eb\x07c")}, 1, sessions.Drawing{}, "\n◉ e1 Ada: [2Jabc  ← here\n"},
		"tools and notes": {[]sessions.Entry{
			entryOf(t, 1, sessions.EntryMessage, sessions.Message{Role: sessions.RoleAssistant, ToolCalls: []sessions.ToolCall{{ID: "c", Name: "search"}}}),
			entryOf(t, 2, sessions.EntryMessage, sessions.Message{Role: sessions.RoleTool, CallID: "c", ToolName: "search", Text: "found"}),
			entryOf(t, 3, sessions.EntryModelChange, sessions.ModelChange{ModelID: "big"}),
			entryOf(t, 4, sessions.EntryCompaction, sessions.Compaction{Summary: "all of it"}),
			entryOf(t, 5, sessions.EntryMessage, sessions.Message{Role: sessions.RoleUser, Attachments: []sessions.Attachment{{Kind: "image"}}}),
		}, 5, sessions.Drawing{}, "\n● e1 bot: ⚙ search\n● e3 (model change) big\n● e4 (compaction) all of it\n◉ e5 user: (image)  ← here\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := "\n" + sessions.NewTree(sessions.Lines(c.entries), c.leaf, unmarked).Draw(c.drawing)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadTreeIsBoundedAndHasTheBranch(t *testing.T) {
	t.Parallel()
	log := chain(t, 100_000)
	log.entries = append(log.entries, entryOf(t, 100_001, sessions.EntryLabel, sessions.Label{TargetID: "e99999", Label: "here"}))
	record := sessions.Record{ID: "x", Seq: 100_001, Leaf: 100_001}
	tree, err := sessions.ReadTree(t.Context(), log, record, 0, unmarked)
	if err != nil || len(tree.Nodes) != sessions.TreeDefault || !tree.Older || log.entriesRead > 2*sessions.TreeDefault {
		t.Fatalf("%d nodes of %d entries, %v", len(tree.Nodes), log.entriesRead, err)
	}
	if n := tree.Nodes[len(tree.Nodes)-3]; n.Label != "here" || !n.Current {
		t.Errorf("%+v", n)
	}
	record.Leaf = 1000 // he went far back
	tree, err = sessions.ReadTree(t.Context(), log, record, 0, unmarked)
	leaf := slices.IndexFunc(tree.Nodes, func(n sessions.TreeNode) bool { return n.Leaf })
	if err != nil || leaf != 49 || tree.Nodes[0].ID != "e951" || !tree.Nodes[0].Current || tree.Nodes[50].Current {
		t.Errorf("leaf at %d, %v", leaf, err)
	}
}

// Whatever the tree: each node is drawn once or counted, within the bounds.
func TestDrawTreeOfAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		log := randomLog(t, rt)
		leaf := int64(rapid.IntRange(0, len(log.entries)).Draw(rt, "leaf"))
		tree := sessions.NewTree(sessions.Lines(log.entries), leaf, unmarked)
		width := rapid.IntRange(40, 100).Draw(rt, "width")
		drawn := 0
		for line := range strings.Lines(tree.Draw(sessions.Drawing{Width: width, Lines: 10_000})) {
			if utf8.RuneCountInString(line) > width+30 {
				rt.Errorf("a line of %d runes: %s", utf8.RuneCountInString(line), line)
			}
			if _, rest, found := strings.Cut(line, "┆ "); found && strings.HasSuffix(line, " more\n") {
				n := 0
				for _, digit := range strings.TrimSuffix(rest, " more\n") {
					n = 10*n + int(digit-'0')
				}
				drawn += n
			} else if !strings.Contains(line, "the beginning") {
				drawn++
			}
		}
		if drawn != len(tree.Nodes) {
			rt.Errorf("%d drawn of %d", drawn, len(tree.Nodes))
		}
	})
}
