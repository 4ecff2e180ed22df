package markdown

import (
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
)

// Making a parser takes longer than reading an ordinary answer with it.
var reader = sync.OnceValue(func() *Reader { //nolint:gochecknoglobals // never changed
	return NewReader(extension.Strikethrough, extension.TaskList, extension.Table)
})

// parse reads source as CommonMark with tables, strikethrough and task lists;
// nil where it has to be shown as it stands.
func parse(source []byte) ast.Node {
	if document, ok := reader().Read(source); ok {
		return document
	}
	return nil
}

// clean makes a source valid UTF-8 with line breaks of one kind.
func clean(source string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(source, "\r\n", "\n"), "\uFFFD")
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
