package view_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"parley/sessions"
	"parley/sessions/logtest"
	"parley/sessions/view"
)

// read is the tree of a whole log.
func read(tb testing.TB, entries []sessions.Entry, leaf int64) view.Tree {
	tb.Helper()
	record := sessions.Record{ID: "x", Leaf: leaf}
	for _, e := range entries {
		record.Seq = max(record.Seq, e.Seq)
	}
	tree, err := view.ReadTree(tb.Context(), &logtest.Log{Entries: entries}, record, view.TreeMax, unmarked)
	if err != nil {
		tb.Fatal(err)
	}
	return tree
}

func TestTree(t *testing.T) {
	t.Parallel()
	tree := read(t, logtest.Trips(t), 12)
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
		drawing view.Drawing
		want    string
	}{
		"branches": {logtest.Trips(t), 12, view.Drawing{Width: 40}, `
● e1 Ada: plan a trip
● e2 bot: Where to?
├─○ e3 Ada: Rome or so [first idea]
│ ○ e4 bot: In spring it is warm, and t…
● e9 Ada: Oslo
◉ e10 bot: (silent)  ← here
`},
		"stands in the middle": {logtest.Trips(t), 2, view.Drawing{Width: 30}, `
● e1 Ada: plan a trip
◉ e2 bot: Where to?  ← here
├─○ e3 Ada: Rome or… [first idea]
│ ○ e4 bot: In spring it is w…
└─○ e9 Ada: Oslo
  ○ e10 bot: (silent)
`},
		"stands before the first": {logtest.Trips(t)[:2], 0, view.Drawing{}, `
◉ the beginning  ← here
└─○ e1 Ada: plan a trip
  ○ e2 bot: Where to?
`},
		"nothing":           {nil, 0, view.Drawing{}, "\n◉ the beginning  ← here\n"},
		"few lines":         {logtest.Trips(t), 12, view.Drawing{Lines: 2}, "\n┆ older\n● e9 Ada: Oslo\n◉ e10 bot: (silent)  ← here\n"},
		"a long run":        {logtest.Chain(30).Entries, 30, view.Drawing{}, "\n● e1 user: m1\n┆ 25 more\n● e27 user: m27\n● e28 user: m28\n● e29 user: m29\n◉ e30 user: m30  ← here\n"},
		"a terminal's evil": {[]sessions.Entry{logtest.Says(t, 1, 0, "\x1b[2Ja\u202eb\x07c")}, 1, view.Drawing{}, "\n◉ e1 Ada: [2Jabc  ← here\n"},
		"tools and notes": {[]sessions.Entry{
			logtest.Entry(t, 1, sessions.EntryMessage, sessions.Message{Role: sessions.RoleAssistant, ToolCalls: []sessions.ToolCall{{ID: "c", Name: "search"}}}),
			logtest.Entry(t, 2, sessions.EntryMessage, sessions.Message{Role: sessions.RoleTool, CallID: "c", ToolName: "search", Text: "found"}),
			logtest.Entry(t, 3, sessions.EntryModelChange, sessions.ModelChange{ModelID: "big"}),
			logtest.Entry(t, 4, sessions.EntryCompaction, sessions.Compaction{Summary: "all of it"}),
			logtest.Entry(t, 5, sessions.EntryMessage, sessions.Message{Role: sessions.RoleUser, Attachments: []sessions.Attachment{{Kind: "image"}}}),
		}, 5, view.Drawing{}, "\n● e1 bot: ⚙ search\n● e3 (model change) big\n● e4 (compaction) all of it\n◉ e5 user: (image)  ← here\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := "\n" + read(t, c.entries, c.leaf).Draw(c.drawing)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadTreeIsBoundedAndHasTheBranch(t *testing.T) {
	t.Parallel()
	log := logtest.Chain(100_000)
	log.Entries = append(log.Entries, logtest.Entry(t, 100_001, sessions.EntryLabel, sessions.Label{TargetID: "e99999", Label: "here"}))
	record := sessions.Record{ID: "x", Seq: 100_001, Leaf: 100_001}
	tree, err := view.ReadTree(t.Context(), log, record, 0, unmarked)
	if err != nil || len(tree.Nodes) != view.TreeDefault || !tree.Older || log.EntriesRead > 2*view.TreeDefault {
		t.Fatalf("%d nodes of %d entries, %v", len(tree.Nodes), log.EntriesRead, err)
	}
	if n := tree.Nodes[len(tree.Nodes)-3]; n.Label != "here" || !n.Current {
		t.Errorf("%+v", n)
	}
	record.Leaf = 1000 // he went far back
	tree, err = view.ReadTree(t.Context(), log, record, 0, unmarked)
	leaf := slices.IndexFunc(tree.Nodes, func(n view.TreeNode) bool { return n.Leaf })
	if err != nil || leaf != 49 || tree.Nodes[0].ID != "e951" || !tree.Nodes[0].Current || tree.Nodes[50].Current {
		t.Errorf("leaf at %d, %v", leaf, err)
	}
}

// Whatever the tree: each node is drawn once or counted, within the bounds.
func TestDrawTreeOfAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		log := logtest.Random(rt)
		leaf := int64(rapid.IntRange(0, len(log.Entries)).Draw(rt, "leaf"))
		tree := read(t, log.Entries, leaf)
		width := rapid.IntRange(40, 100).Draw(rt, "width")
		drawn := 0
		for line := range strings.Lines(tree.Draw(view.Drawing{Width: width, Lines: 10_000})) {
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
