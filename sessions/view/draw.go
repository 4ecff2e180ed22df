package view

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"parley/sessions"
)

// Drawing is how a tree is drawn as text.
type Drawing struct {
	Width int // runes of a line; 0: 80; at least 24
	Lines int // at most; the oldest are left out; 0: 40
}

// Defaults and bounds of a drawing.
const (
	drawWidth    = 80
	drawWidthMin = 24
	drawLines    = 40
	drawDepth    = 6 // branches within branches that are indented further
	drawHead     = 1 // of a run of plain entries: how many are drawn first,
	drawTail     = 3 // and last
)

// Draw draws a tree, oldest first: the current branch runs down the left edge,
// and what was left stands indented where it branched off.
//
//	● e1 Ada: plan a trip
//	● e2 bot: Where to?
//	├─○ e3 Ada: Rome [first idea]
//	│ ○ e4 bot: In spring …
//	● e7 Ada: Oslo
//	◉ e8 bot: …  ← here
func (t Tree) Draw(d Drawing) string {
	d = d.withDefaults()
	p := newPlan(t)
	rows := collapse(p.rows())
	var out strings.Builder
	if cut := len(rows) - d.Lines; cut > 0 || t.Older {
		rows = rows[max(0, cut):]
		out.WriteString("┆ older\n")
	}
	if p.start {
		out.WriteString("◉ the beginning  ← here\n")
	}
	for _, r := range rows {
		out.WriteString(r.draw(d.Width))
		out.WriteByte('\n')
	}
	return out.String()
}

func (d Drawing) withDefaults() Drawing {
	if d.Width == 0 {
		d.Width = drawWidth
	}
	if d.Lines <= 0 {
		d.Lines = drawLines
	}
	d.Width = max(d.Width, drawWidthMin)
	return d
}

// plan is the tree of what is drawn: only what people would miss. Nodes are
// indices of the tree's; -1 is the root.
type plan struct {
	nodes    []TreeNode
	parents  []int // the nearest ancestor that is drawn
	children map[int][]int
	newest   []int64 // the newest seq below each, or its own
	here     int     // the node that stands for the leaf; -1: none is drawn
	start    bool    // the conversation stands before everything that is drawn
}

func newPlan(t Tree) *plan {
	p := &plan{nodes: t.Nodes, parents: make([]int, len(t.Nodes)), children: map[int][]int{}, newest: make([]int64, len(t.Nodes)), here: -1, start: t.Leaf == ""}
	byID := make(map[string]int, len(t.Nodes))
	for i, node := range t.Nodes {
		byID[node.ID] = i
	}
	for i, node := range t.Nodes {
		p.parents[i] = p.drawnAbove(byID, node)
		if node.Leaf {
			if p.here = i; !node.drawn() {
				p.here = p.parents[i]
			}
			p.start = p.here < 0
		}
		if node.drawn() {
			p.children[p.parents[i]] = append(p.children[p.parents[i]], i)
		}
	}
	p.age()
	return p
}

func (p *plan) drawnAbove(byID map[string]int, node TreeNode) int {
	for range len(p.nodes) { // a broken log has cycles
		if node.ParentID == nil {
			return -1
		}
		i, found := byID[*node.ParentID]
		if !found {
			return -1
		}
		if p.nodes[i].drawn() {
			return i
		}
		node = p.nodes[i]
	}
	return -1
}

// drawn: results of tools, labels, names and what programs keep are not.
func (n TreeNode) drawn() bool {
	switch n.Type {
	case sessions.EntryMessage:
		return n.Role != sessions.RoleTool
	case sessions.EntryLabel, sessions.EntrySessionName, sessions.EntryCustomInfo:
		return false
	}
	return true
}

// age finds the newest seq below each node, without recursion.
func (p *plan) age() {
	for i := range p.nodes {
		seq := p.nodes[i].Seq
		for at := i; at >= 0 && p.newest[at] < seq; at = p.parents[at] {
			p.newest[at] = seq
		}
	}
}

// next is the child with which a node goes on in its own column, -1 for none:
// that of the current branch, else the one that was last used. The children
// of the leaf are all branches that were left.
func (p *plan) next(node int) int {
	best := -1
	for _, child := range p.children[node] {
		if p.nodes[child].Current {
			return child
		}
		if best < 0 || p.newest[child] > p.newest[best] {
			best = child
		}
	}
	if node == p.here || node >= 0 && p.nodes[node].Current {
		return -1
	}
	return best
}

// row is a line of the drawing.
type row struct {
	node    *TreeNode
	parent  int    // index of the node above
	index   int    // of the node
	prefix  string // of all rows in this column
	branch  string // what connects the first one to its branch point
	plain   bool   // one of many in a run
	here    bool
	omitted int // instead of a node: how many were left out
}

// rows walks the plan, what was left before what goes on.
func (p *plan) rows() []row {
	rows := make([]row, 0, len(p.nodes))
	stack := p.below(nil, -1, "", 0)
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		node := &p.nodes[at.node]
		rows = append(rows, row{
			node: node, index: at.node, parent: p.parents[at.node], prefix: at.prefix, branch: at.branch, here: at.node == p.here,
			plain: at.branch == "" && node.Label == "" && at.node != p.here && len(p.children[at.node]) < 2,
		})
		stack = p.below(stack, at.node, at.prefix+at.inner, at.depth)
	}
	return rows
}

type place struct {
	node   int
	prefix string
	branch string // of its own row
	inner  string // of the rows below it, instead of branch
	depth  int
}

// below pushes the children of a node, in the reverse of the order in which
// they are drawn: what was left, then what goes on in this column.
func (p *plan) below(stack []place, node int, prefix string, depth int) []place {
	next := p.next(node)
	if next >= 0 {
		stack = append(stack, place{node: next, prefix: prefix, depth: depth})
	}
	children := p.children[node]
	last := next < 0
	for _, child := range slices.Backward(children) {
		if child == next {
			continue
		}
		at := place{node: child, prefix: prefix, branch: "├─", inner: "│ ", depth: depth + 1}
		if last {
			at.branch, at.inner = "└─", "  "
		}
		if depth >= drawDepth {
			at.inner = ""
		}
		last = false
		stack = append(stack, at)
	}
	return stack
}

// collapse leaves out the middle of long runs.
func collapse(rows []row) []row {
	var out []row
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && rows[from].plain && rows[to].plain && rows[to].parent == rows[to-1].index && rows[to].prefix == rows[from].prefix {
			to++
		}
		if omitted := to - from - drawHead - drawTail; omitted > 1 {
			out = append(out, rows[from:from+drawHead]...)
			out = append(out, row{prefix: rows[from].prefix, omitted: omitted})
			out = append(out, rows[to-drawTail:to]...)
		} else {
			out = append(out, rows[from:to]...)
		}
		from = to
	}
	return out
}

func (r row) draw(width int) string {
	if r.node == nil {
		return fmt.Sprintf("%s┆ %d more", r.prefix, r.omitted)
	}
	head := r.prefix + r.branch + r.mark() + " " + r.node.ID + " " + r.node.who()
	tail := ""
	if r.node.Label != "" {
		tail += " [" + cutRunes(r.node.Label, width/3) + "]"
	}
	if r.here {
		tail += "  ← here"
	}
	room := width - utf8.RuneCountInString(head) - utf8.RuneCountInString(tail)
	return strings.TrimRight(head+cutRunes(r.node.Text, max(room, 8)), " ") + tail
}

func (r row) mark() string {
	switch {
	case r.here:
		return "◉"
	case r.node.Current:
		return "●"
	}
	return "○"
}

func (n TreeNode) who() string {
	switch {
	case n.Type != sessions.EntryMessage:
		return "(" + strings.ReplaceAll(string(n.Type), "_", " ") + ") "
	case n.Role == sessions.RoleAssistant:
		return "bot: "
	}
	return cutRunes(n.By, 20) + ": "
}
