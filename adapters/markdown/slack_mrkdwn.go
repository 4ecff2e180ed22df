package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// SlackMrkdwn renders Markdown in Slack's older markup, mrkdwn: for the text
// that notifications show, and where blocks are refused. Every character that
// begins Slack's markup is escaped, so no text in it can name or notify
// anybody; a link leads only where [Slack]'s and Telegram's may.
func SlackMrkdwn(source string) string {
	source = clean(source)
	m := &mrkdwn{source: []byte(source)}
	if root := parse(m.source); root != nil {
		m.used = usedReferences(root)
		m.blocks(root, 2)
	}
	if strings.TrimSpace(m.out.String()) == "" {
		return SlackEscaped(strings.TrimSpace(source))
	}
	return m.out.String()
}

// mrkdwn writes one document.
type mrkdwn struct {
	source []byte
	used   map[string]bool // labels of link definitions in use
	out    strings.Builder
	gap    int    // line breaks owed before the next visible thing
	prefix string // what every new line begins with: indentation, quote marks
}

// text writes visible text.
func (m *mrkdwn) text(s string) {
	if s == "" {
		return
	}
	m.raw(strings.ReplaceAll(SlackEscaped(s), "\n", "\n"+m.prefix))
}

// raw writes markup after the line breaks that are owed.
func (m *mrkdwn) raw(s string) {
	if m.gap > 0 && m.out.Len() > 0 {
		m.out.WriteString(strings.Repeat("\n"+m.prefix, m.gap))
	}
	m.gap = 0
	m.out.WriteString(s)
}

// around writes body between two marks; nothing at all for an empty body.
func (m *mrkdwn) around(mark string, node ast.Node) {
	if strings.TrimSpace(visible(node, m.source)) == "" {
		m.inlines(node)
		return
	}
	m.raw(mark)
	m.inlines(node)
	m.out.WriteString(mark)
}

func (m *mrkdwn) blocks(node ast.Node, spacing int) {
	children(node, func(child ast.Node) {
		if child.PreviousSibling() != nil {
			m.gap = max(m.gap, spacing)
		}
		m.block(child)
	})
}

func (m *mrkdwn) block(node ast.Node) {
	switch n := node.(type) {
	case *ast.Heading:
		m.around("*", n)
	case *ast.FencedCodeBlock:
		m.code(rawLines(n, m.source))
	case *ast.CodeBlock:
		m.code(rawLines(n, m.source))
	case *extast.Table:
		m.code(tableText(n, m.source))
	case *ast.Blockquote:
		m.quote(n)
	case *ast.List:
		m.list(n)
	case *ast.ThematicBreak:
		m.text("──────────")
	case *ast.HTMLBlock:
		m.text(htmlBlock(n, m.source))
	case *ast.LinkReferenceDefinition:
		if !m.used[util.ToLinkReference(n.Label)] {
			m.text(rawLines(n, m.source))
		}
	default: // paragraphs, and what an extension may add
		m.inlines(n)
	}
}

func (m *mrkdwn) code(code string) {
	if strings.TrimSpace(code) == "" {
		return
	}
	before := m.prefix
	m.prefix = strings.Repeat(">", strings.Count(before, ">"))
	m.raw("```\n" + m.prefix)
	m.text(code)
	m.raw("\n" + m.prefix + "```")
	m.prefix = before
}

// quote writes a block quote; one inside another is the same quote, because
// mrkdwn has no deeper ones.
func (m *mrkdwn) quote(node *ast.Blockquote) {
	before := m.prefix
	if !strings.Contains(before, ">") {
		m.raw(">")
		m.prefix = before + ">"
	}
	m.blocks(node, 1)
	m.prefix = before
}

func (m *mrkdwn) list(list *ast.List) {
	number := list.Start
	spacing := 2
	if list.IsTight {
		spacing = 1
	}
	before := m.prefix
	children(list, func(item ast.Node) {
		if item.PreviousSibling() != nil {
			m.gap = max(m.gap, spacing)
		}
		marker := "• "
		if list.IsOrdered() {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		m.raw(marker)
		if len(before) < listIndentMax {
			m.prefix = before + "  "
		}
		m.blocks(item, spacing)
		m.prefix = before
	})
}

func (m *mrkdwn) inlines(node ast.Node) { children(node, m.inline) }

func (m *mrkdwn) inline(node ast.Node) {
	switch n := node.(type) {
	case *ast.Text:
		m.text(textOf(n, m.source))
		if n.SoftLineBreak() || n.HardLineBreak() {
			m.text("\n")
		}
	case *ast.String:
		m.text(string(n.Value))
	case *ast.Emphasis:
		m.around([]string{"_", "*"}[min(n.Level, 2)-1], n)
	case *extast.Strikethrough:
		m.around("~", n)
	case *ast.CodeSpan:
		m.text("`" + codeText(n, m.source) + "`")
	case *ast.Link:
		m.link(n.Destination, visible(n, m.source))
	case *ast.Image:
		m.link(n.Destination, visible(n, m.source))
	case *ast.AutoLink:
		m.link(n.URL(m.source), string(n.Label(m.source)))
	case *ast.RawHTML:
		m.text(string(n.Segments.Value(m.source)))
	case *extast.TaskCheckBox:
		m.text(checkbox(n))
	default:
		m.inlines(n)
	}
}

// link writes <url|label>. Neither part can hold what ends it: the label is
// escaped and its bars are replaced, the URL is percent-encoded.
func (m *mrkdwn) link(dest []byte, label string) {
	safe, ok := destination(dest)
	if !ok {
		m.text(label)
		if path, ok := relative(dest); ok && path != label {
			m.text(" (" + path + ")")
		}
		return
	}
	safe = slackAddress().Replace(safe)
	label = strings.ReplaceAll(strings.TrimSpace(label), "|", "¦")
	if label == "" || label == safe {
		m.raw("<" + SlackEscaped(safe) + ">")
		return
	}
	m.raw("<" + SlackEscaped(safe) + "|" + SlackEscaped(label) + ">")
}
