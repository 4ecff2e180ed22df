package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// inlines turns the inline children of a block into paragraphs of spans: one
// per hard line break.
func (r *renderer) inlines(block ast.Node, base style) [][]span {
	w := inlineWriter{source: r.source, paragraphs: [][]span{nil}}
	w.children(block, base)
	return w.paragraphs
}

type inlineWriter struct {
	source     []byte
	paragraphs [][]span
}

func (w *inlineWriter) add(text string, s style) {
	if text == "" {
		return
	}
	last := len(w.paragraphs) - 1
	w.paragraphs[last] = append(w.paragraphs[last], span{cleanInline(text), s})
}

func (w *inlineWriter) breakLine() { w.paragraphs = append(w.paragraphs, nil) }

func (w *inlineWriter) children(n ast.Node, s style) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.node(c, s)
	}
}

func (w *inlineWriter) node(n ast.Node, s style) {
	switch n := n.(type) {
	case *ast.Text:
		w.text(n, s)
	case *ast.String:
		w.add(plain(n.Value), s)
	case *ast.CodeSpan:
		w.children(n, s|cyan)
	case *ast.Emphasis:
		w.children(n, s|emphasis(n.Level))
	case *extast.Strikethrough:
		w.children(n, s|strike)
	case *ast.Link:
		w.link(n, string(n.Destination), s)
	case *ast.Image:
		w.link(n, string(n.Destination), s)
	case *ast.AutoLink:
		w.add(string(n.URL(w.source)), s|underline)
	case *extast.TaskCheckBox:
		w.checkBox(n, s)
	case *ast.RawHTML:
		w.add(string(n.Segments.Value(w.source)), s|dim)
	default:
		w.children(n, s)
	}
}

func (w *inlineWriter) text(n *ast.Text, s style) {
	value := n.Segment.Value(w.source)
	if _, inCode := n.Parent().(*ast.CodeSpan); inCode || n.IsRaw() {
		w.add(string(value), s)
	} else {
		w.add(plain(value), s)
	}
	switch {
	case n.HardLineBreak():
		w.breakLine()
	case n.SoftLineBreak():
		w.add(" ", s)
	}
}

// link shows the text and, unless it says so itself, where it leads.
func (w *inlineWriter) link(n ast.Node, destination string, s style) {
	inner := inlineWriter{source: w.source, paragraphs: [][]span{nil}}
	inner.children(n, s|underline)
	var text strings.Builder
	for _, paragraph := range inner.paragraphs {
		for _, span := range paragraph {
			text.WriteString(span.text)
			w.add(span.text, span.style)
		}
	}
	shown := plain([]byte(destination))
	if text.String() == "" {
		w.add(shown, s|underline)
	} else if shown != "" && text.String() != cleanInline(shown) {
		w.add(" ("+shown+")", s|dim)
	}
}

func (w *inlineWriter) checkBox(n *extast.TaskCheckBox, s style) {
	if n.IsChecked {
		w.add("☑ ", s)
		return
	}
	w.add("☐ ", s)
}

func emphasis(level int) style {
	if level > 1 {
		return bold
	}
	return italic
}

// plain resolves backslash escapes and character references.
func plain(value []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value))))
}
