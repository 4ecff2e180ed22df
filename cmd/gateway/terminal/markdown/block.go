package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// blocks renders the children of n, an empty line between two unless tight.
func (r *renderer) blocks(n ast.Node, width int, tight bool) []line {
	var out []line
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		lines := r.block(c, width)
		if len(out) > 0 && len(lines) > 0 && !tight {
			out = append(out, nil)
		}
		out = append(out, lines...)
	}
	return out
}

func (r *renderer) block(n ast.Node, width int) []line {
	switch n := n.(type) {
	case *ast.Heading:
		return r.heading(n, width)
	case *ast.Paragraph, *ast.TextBlock:
		return r.paragraph(n, 0, width)
	case *ast.List:
		return r.list(n, width)
	case *ast.Blockquote:
		return r.quote(n, width)
	case *ast.FencedCodeBlock:
		return r.code(n, string(n.Language(r.source)), width)
	case *ast.CodeBlock:
		return r.code(n, "", width)
	case *ast.HTMLBlock:
		return r.html(n, width)
	case *ast.ThematicBreak:
		return []line{{{strings.Repeat("─", width), dim}}}
	case *extast.Table:
		return r.table(n, width)
	}
	return r.blocks(n, width, false)
}

func (r *renderer) paragraph(n ast.Node, base style, width int) []line {
	var out []line
	for _, spans := range r.inlines(n, base) {
		out = append(out, wrap(spans, width)...)
	}
	return out
}

// heading shows its level by the style: underlined, bold, and dimmer below.
func (r *renderer) heading(n *ast.Heading, width int) []line {
	switch n.Level {
	case 1:
		return r.paragraph(n, bold|underline|yellow, width)
	case 2:
		return r.paragraph(n, bold|yellow, width)
	case 3:
		return r.paragraph(n, bold, width)
	}
	return r.paragraph(n, bold|dim, width)
}

func (r *renderer) list(n *ast.List, width int) []line {
	var out []line
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		marker := "• "
		if n.IsOrdered() {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		if len(out) > 0 && !n.IsTight {
			out = append(out, nil)
		}
		out = append(out, r.inside(item, width, n.IsTight, span{marker, cyan}, spaces(len([]rune(marker))))...)
	}
	return out
}

func (r *renderer) quote(n ast.Node, width int) []line {
	bar := span{"▌ ", dim}
	return r.inside(n, width, false, bar, bar)
}

// inside renders the children of n behind a prefix. Deep in nested blocks
// there is no room for another prefix: then they stand where they are.
func (r *renderer) inside(n ast.Node, width int, tight bool, first, rest span) []line {
	inner := width - line{first}.width()
	if inner < contentMin {
		return r.blocks(n, width, tight)
	}
	lines := r.blocks(n, inner, tight)
	if len(lines) == 0 {
		lines = []line{nil}
	}
	return prefixed(lines, line{first}, line{rest})
}

func (r *renderer) code(n ast.Node, language string, width int) []line {
	bar := span{"│ ", dim}
	inner := width - 2 // never nothing: blocks are at least contentMin wide
	var out []line
	if language = cleanInline(language); language != "" {
		out = append(out, chop(language, dim, inner)[0])
	}
	for _, text := range r.rawLines(n) {
		out = append(out, chop(text, cyan, inner)...)
	}
	return prefixed(out, line{bar}, line{bar})
}

// html is shown as it was written: a terminal has no use for it.
func (r *renderer) html(n *ast.HTMLBlock, width int) []line {
	var out []line
	texts := r.rawLines(n)
	if n.HasClosure() {
		texts = append(texts, cleanInline(strings.TrimRight(string(n.ClosureLine.Value(r.source)), "\n")))
	}
	for _, text := range texts {
		out = append(out, chop(text, dim, width)...)
	}
	return out
}

func (r *renderer) rawLines(n ast.Node) []string {
	lines := n.Lines()
	var out []string
	for i := range lines.Len() {
		segment := lines.At(i)
		text := strings.ReplaceAll(Clean(string(segment.Value(r.source))), "\t", tab)
		out = append(out, strings.Split(strings.TrimRight(text, "\n"), "\n")...)
	}
	return out
}

func spaces(n int) span { return span{text: strings.Repeat(" ", n)} }
