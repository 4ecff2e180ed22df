package markdown

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// entityMax is longer than the longest named character reference.
const entityMax = 40

// unescape resolves backslash escapes and character references, each once.
func unescape(raw []byte) string {
	var out strings.Builder
	for i := 0; i < len(raw); {
		switch {
		case raw[i] == '\\' && i+1 < len(raw) && util.IsPunct(raw[i+1]):
			out.WriteByte(raw[i+1])
			i += 2
		case raw[i] == '&':
			reference := referenceAt(raw[i:])
			out.WriteString(html.UnescapeString(reference))
			i += len(reference)
		default:
			out.WriteByte(raw[i])
			i++
		}
	}
	return out.String()
}

// referenceAt is the character reference raw begins with, or just its "&".
func referenceAt(raw []byte) string {
	for i := 1; i < len(raw) && i < entityMax; i++ {
		switch c := raw[i]; {
		case c == ';':
			return string(raw[:i+1])
		case c != '#' && !util.IsAlphaNumeric(c):
			return "&"
		}
	}
	return "&"
}

// visible is the text of a node's inline content without any markup.
func visible(node ast.Node, source []byte) string {
	var out strings.Builder
	writeVisible(&out, node, source)
	return out.String()
}

func writeVisible(out *strings.Builder, node ast.Node, source []byte) {
	switch n := node.(type) {
	case *ast.Text:
		out.WriteString(textOf(n, source))
		if n.SoftLineBreak() || n.HardLineBreak() {
			out.WriteByte(' ')
		}
	case *ast.String:
		out.Write(n.Value)
	case *ast.AutoLink:
		out.Write(n.Label(source))
	case *ast.RawHTML:
		out.Write(n.Segments.Value(source))
	case *extast.TaskCheckBox:
		out.WriteString(checkbox(n))
	default:
		children(node, func(child ast.Node) { writeVisible(out, child, source) })
	}
}

func textOf(node *ast.Text, source []byte) string {
	if node.IsRaw() {
		return string(node.Value(source))
	}
	return unescape(node.Value(source))
}

func checkbox(node *extast.TaskCheckBox) string {
	if node.IsChecked {
		return "☑ "
	}
	return "☐ "
}

// codeText is the content of a code span: line breaks count as spaces.
func codeText(node *ast.CodeSpan, source []byte) string {
	var out strings.Builder
	children(node, func(child ast.Node) {
		if t, ok := child.(*ast.Text); ok {
			out.Write(t.Value(source))
		}
	})
	return strings.ReplaceAll(out.String(), "\n", " ")
}
