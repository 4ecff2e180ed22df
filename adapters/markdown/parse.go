package markdown

import (
	"bytes"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// SourceMax bounds the source that is parsed, in bytes. A longer one is shown
// as plain text: nested brackets and quotes cost the parser quadratic time.
const SourceMax = 64 << 10

// tableColumnsMax bounds a table's columns. The parser fills every row up to
// the header's width, so a wide header over many short rows explodes; such a
// source is parsed without tables.
const tableColumnsMax = 50

// Making a parser takes longer than reading an ordinary answer with it. It
// keeps nothing of a text, and any goroutine may use it.
var (
	tabular = sync.OnceValue(func() parser.Parser { return newParser(extension.Table) }) //nolint:gochecknoglobals // never changed
	plain   = sync.OnceValue(func() parser.Parser { return newParser() })                //nolint:gochecknoglobals // never changed
)

func newParser(more ...goldmark.Extender) parser.Parser {
	extensions := append([]goldmark.Extender{extension.Strikethrough, extension.TaskList}, more...)
	return goldmark.New(goldmark.WithExtensions(extensions...)).Parser()
}

// parse reads source as CommonMark with tables, strikethrough and task lists.
func parse(source []byte) ast.Node {
	read := tabular
	if hasWideTable(source) {
		read = plain
	}
	return read().Parse(text.NewReader(source))
}

// hasWideTable reports whether some line could be the delimiter row of a table
// with more than tableColumnsMax columns.
func hasWideTable(source []byte) bool {
	for line := range bytes.Lines(source) {
		if bytes.Count(line, []byte("|")) > tableColumnsMax && len(bytes.Trim(line, "|:- \t\r\n>")) == 0 {
			return true
		}
	}
	return false
}

// rawLines is the source text of a block, without its last line break.
func rawLines(node ast.Node, source []byte) string {
	return strings.TrimRight(string(node.Lines().Value(source)), "\n")
}

// children calls visit for each child of node, in order.
func children(node ast.Node, visit func(ast.Node)) {
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		visit(child)
	}
}
