package view

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"parley/sessions"
)

// How much of a log one tree shows.
const (
	TreeDefault = 500  // nodes, where nothing else is said
	TreeMax     = 2000 // nodes
	// treePath is how many entries of the current branch a tree has at least,
	// where there are so many, also when they are older than all others.
	treePath = 50
)

// TreeNode is an entry of the tree, in short.
type TreeNode struct {
	ID       string             `json:"id"`
	Seq      int64              `json:"seq"`
	ParentID *string            `json:"parent_id"` // null: the root; it may be older than all nodes
	Children []string           `json:"children,omitempty"`
	Type     sessions.EntryType `json:"type"`
	Role     sessions.Role      `json:"role,omitempty"` // of a message
	By       string             `json:"by,omitempty"`   // who said it, or which program
	Text     string             `json:"text,omitempty"` // one line, cut to PreviewMax runes
	Label    string             `json:"label,omitempty"`
	Time     time.Time          `json:"timestamp"`
	Current  bool               `json:"current,omitempty"` // on the branch that the model sees
	Leaf     bool               `json:"leaf,omitempty"`    // where the conversation stands
}

// Tree is the newest part of a session's tree. It is a list, not nested, since
// a conversation is deep.
type Tree struct {
	Nodes []TreeNode `json:"nodes"`          // by seq
	Leaf  string     `json:"leaf,omitempty"` // empty: before the first entry
	Older bool       `json:"older,omitempty"`
}

// ReadTree reads the newest entries of a session's tree, at most limit (1 to
// TreeMax; 0: TreeDefault), and of the branch where it stands at least the end.
func ReadTree(ctx context.Context, log sessions.Log, record sessions.Record, limit int, shown Shown) (Tree, error) {
	if limit == 0 {
		limit = TreeDefault
	}
	limit = min(max(limit, 1), TreeMax)
	b := treeBuilder{nodes: map[int64]TreeNode{}, parents: map[int64]int64{}, shown: shown}
	to := record.Seq
	for pages := 0; to > record.Cleared && len(b.nodes) < limit && pages < treePages(limit); pages++ {
		from := max(record.Cleared, to-sessions.TailMax) + 1
		entries, err := log.Range(ctx, record.ID, from, to)
		if err != nil {
			return Tree{}, err
		}
		b.add(sessions.Lines(entries))
		to = from - 1
	}
	b.cut(limit)
	older := to > record.Cleared || b.dropped
	if err := b.extend(ctx, log, record); err != nil {
		return Tree{}, err
	}
	tree := b.tree(record.Leaf)
	tree.Older = older
	return tree, nil
}

// treePages bounds the reading of a log that has much beside its tree.
func treePages(limit int) int { return 4*limit/sessions.TailMax + 1 }

type treeBuilder struct {
	nodes   map[int64]TreeNode
	parents map[int64]int64 // of the nodes
	labels  []sessions.Entry
	dropped bool
	shown   Shown
}

func (b *treeBuilder) add(lines []sessions.Line) {
	for _, line := range lines {
		e := line.Entry
		if e.Waiting || !e.Type.InTree() {
			continue
		}
		if e.Type == sessions.EntryLabel {
			b.labels = append(b.labels, e)
		}
		b.nodes[e.Seq], b.parents[e.Seq] = b.node(line), e.Parent
	}
}

func (b *treeBuilder) node(line sessions.Line) TreeNode {
	e := line.Entry
	node := TreeNode{ID: e.ID(), Seq: e.Seq, Type: e.Type, Time: e.Time}
	if e.Parent != 0 {
		parent := sessions.EntryID(e.Parent)
		node.ParentID = &parent
	}
	text := ""
	if m := line.Message; m != nil {
		node.Role, node.By, text = m.Role, by(*m), b.textOf(*m)
	} else if e.Type != sessions.EntryMessage {
		h, _ := sessions.PayloadAs[happening](e)
		node.By, text = h.Name, cmp.Or(h.Summary, h.Text, h.Model, h.Thinking, h.Label)
	}
	node.By, node.Text = sessions.PreviewOf(visible(node.By)), sessions.PreviewOf(visible(text))
	return node
}

func by(m sessions.Message) string {
	switch m.Role {
	case sessions.RoleAssistant:
		return m.Model
	case sessions.RoleTool:
		return m.ToolName
	case sessions.RoleUser:
	}
	return speaker(m)
}

// textOf is what a message says to people: its text, else what it is.
func (b *treeBuilder) textOf(m sessions.Message) string {
	text := m.Text
	if m.Role == sessions.RoleAssistant {
		if shown, silent := b.shown(text); silent || m.Silent {
			text = "(silent)"
		} else {
			text = shown
		}
	}
	if strings.TrimSpace(text) != "" {
		return text
	}
	var words []string
	for _, call := range m.ToolCalls {
		words = append(words, "⚙ "+call.Name)
	}
	for _, file := range m.Attachments {
		words = append(words, "("+file.Kind+")")
	}
	return strings.Join(words, " ")
}

// cut leaves the newest nodes.
func (b *treeBuilder) cut(limit int) {
	seqs := b.seqs()
	for _, seq := range seqs[:max(0, len(seqs)-limit)] {
		delete(b.nodes, seq)
		delete(b.parents, seq)
		b.dropped = true
	}
}

func (b *treeBuilder) seqs() []int64 {
	seqs := make([]int64, 0, len(b.nodes))
	for seq := range b.nodes {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	return seqs
}

// extend adds the end of the current branch, where it is older than the rest.
func (b *treeBuilder) extend(ctx context.Context, log sessions.Log, record sessions.Record) error {
	path, next := b.path(record.Leaf)
	if next == 0 || len(path) >= treePath {
		return nil
	}
	more := treePath - len(path)
	lines, err := sessions.ReadBranch(ctx, log, sessions.BranchRequest{Session: record.ID, Leaf: next, Whole: true,
		Enough: func(end []sessions.Line) bool { return len(end) >= more }})
	b.add(lines[max(0, len(lines)-more):])
	return err
}

// path is the current branch through the nodes, newest first, and its first
// entry that is no node.
func (b *treeBuilder) path(leaf int64) (path []int64, next int64) {
	for seq := leaf; seq != 0; seq = b.parents[seq] {
		if _, found := b.nodes[seq]; !found {
			return path, seq
		}
		if len(path) > len(b.nodes) {
			return path, 0 // a broken log
		}
		path = append(path, seq)
	}
	return path, 0
}

func (b *treeBuilder) tree(leaf int64) Tree {
	path, _ := b.path(leaf)
	for _, seq := range path {
		b.change(seq, func(n *TreeNode) { n.Current = true })
	}
	b.change(leaf, func(n *TreeNode) { n.Leaf = true })
	b.label()
	seqs := b.seqs()
	for _, seq := range seqs {
		b.change(b.parents[seq], func(n *TreeNode) { n.Children = append(n.Children, sessions.EntryID(seq)) })
	}
	tree := Tree{Nodes: make([]TreeNode, 0, len(seqs)), Leaf: sessions.EntryID(leaf)}
	for _, seq := range seqs {
		tree.Nodes = append(tree.Nodes, b.nodes[seq])
	}
	return tree
}

func (b *treeBuilder) label() {
	slices.SortFunc(b.labels, func(x, y sessions.Entry) int { return cmp.Compare(x.Seq, y.Seq) })
	for _, e := range b.labels {
		label, _ := sessions.PayloadAs[sessions.Label](e)
		if target, err := sessions.ParseEntryID(label.TargetID); err == nil {
			b.change(target, func(n *TreeNode) { n.Label = sessions.PreviewOf(visible(label.Label)) })
		}
	}
}

func (b *treeBuilder) change(seq int64, change func(*TreeNode)) {
	if node, found := b.nodes[seq]; found {
		change(&node)
		b.nodes[seq] = node
	}
}

// visible drops what a terminal acts upon or what turns text around; line
// breaks and tabs stay for [sessions.PreviewOf].
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
}
