package markdown

import (
	"bytes"
	"errors"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// What one text may cost, whoever renders it. Markdown lets few bytes ask for
// much work: a wide header fills every row of its table, one link definition
// is repeated by every link, brackets and quotes nest. A text beyond these
// limits is shown as it stands; a table beyond them is shown as its lines.
const (
	SourceMax    = 64 << 10 // bytes of the source
	ParagraphMax = 12 << 10 // bytes between two blank lines: some inline markup costs the square of it
	NestingMax   = 64       // quotes and list items that one line begins with
	ColumnsMax   = 50       // columns of a table
	CellsMax     = 4 << 10  // cells of all tables of a text
	AddressesMax = 96 << 10 // bytes of all addresses and titles of links and images, each as often as it is used
	DepthMax     = 192      // nodes inside each other, inline ones too: a list item counts twice
)

// Reader parses Markdown within the limits of this package. Every renderer
// reads through one, also those outside of this package. It keeps nothing of a
// text; any goroutine may use it.
type Reader struct{ parser parser.Parser }

// NewReader makes a Reader of CommonMark with extensions.
func NewReader(extensions ...goldmark.Extender) *Reader {
	return &Reader{goldmark.New(
		goldmark.WithExtensions(extensions...),
		goldmark.WithParserOptions(parser.WithParagraphTransformers(util.Prioritized(tableGuard{}, tableGuardPriority))),
	).Parser()}
}

// Read parses source. False says that it would cost too much to render: then
// the caller shows it as it stands, as plain or preformatted text.
//
// What is rendered from a document that was read has a size that is bounded by
// the source's: a renderer that writes each node once, pads a table's cells to
// at most 40 columns and indents a line by at most 16 writes at most 4 MB.
func (r *Reader) Read(source []byte) (document ast.Node, ok bool) {
	if !readable(source) {
		return nil, false
	}
	document = r.parser.Parse(text.NewReader(source))
	return document, renderable(document)
}

// readable goes by the source alone, before anything is spent on it.
func readable(source []byte) bool {
	if len(source) > SourceMax {
		return false
	}
	paragraph := 0
	for line := range bytes.Lines(source) {
		paragraph += len(line)
		if len(bytes.TrimSpace(line)) == 0 {
			paragraph = 0
		}
		if paragraph > ParagraphMax || nesting(line) > NestingMax {
			return false
		}
	}
	return true
}

// nesting is how many quotes and list items a line begins with, at most.
func nesting(line []byte) (depth int) {
	for len(line) > 0 {
		switch line[0] {
		case '>':
			depth++
			line = line[1:]
		case ' ', '\t':
			line = line[1:]
		default:
			n := listMarkerLength(line)
			if n == 0 {
				return depth
			}
			depth++
			line = line[n:]
		}
	}
	return depth
}

// listMarkerLength is the length of the list marker that line begins with, or 0.
func listMarkerLength(line []byte) int {
	digits := 0
	for digits < len(line) && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	markers := "-+*"
	if digits > 0 {
		markers = ".)"
	}
	if digits < len(line) && bytes.IndexByte([]byte(markers), line[digits]) >= 0 &&
		(digits+1 == len(line) || bytes.IndexByte([]byte(" \t\r\n"), line[digits+1]) >= 0) {
		return digits + 1
	}
	return 0
}

// renderable goes by what the parser made of the source.
func renderable(document ast.Node) bool {
	depth, addresses := 0, 0
	err := ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			depth--
			return ast.WalkContinue, nil
		}
		depth++
		switch n := node.(type) {
		case *ast.Link:
			addresses += len(n.Destination) + len(n.Title)
		case *ast.Image:
			addresses += len(n.Destination) + len(n.Title)
		}
		if depth > DepthMax || addresses > AddressesMax {
			return ast.WalkStop, errTooCostly
		}
		return ast.WalkContinue, nil
	})
	return err == nil
}

var errTooCostly = errors.New("too costly to render")

// tableGuardPriority lies between goldmark's link definitions (100), which
// take lines away from a paragraph, and its tables (200).
const tableGuardPriority = 150

// tableGuard keeps a paragraph that would become too big a table from becoming
// one. It sees paragraphs as the parser does: without the marks of the quotes
// and lists around them.
type tableGuard struct{}

// Transform implements goldmark's parser.ParagraphTransformer.
func (tableGuard) Transform(paragraph *ast.Paragraph, reader text.Reader, context parser.Context) {
	columns, cells := tableSize(paragraph, reader.Source())
	if cells == 0 {
		return
	}
	so, _ := context.Get(cellsKey).(int)
	if columns <= ColumnsMax && so+cells <= CellsMax {
		context.Set(cellsKey, so+cells)
		return
	}
	lines := paragraph.Lines()
	last := lines.Len() - 1
	end := lines.At(last)
	lines.Set(last, end.TrimRightSpace(reader.Source()))
	block := ast.NewTextBlock() // what no table is made of
	block.SetLines(lines)
	block.SetBlankPreviousLines(paragraph.HasBlankPreviousLines())
	paragraph.Parent().ReplaceChild(paragraph.Parent(), paragraph, block)
}

var cellsKey = parser.NewContextKey() //nolint:gochecknoglobals // a key, never changed

// tableSize is the most that a paragraph's table could have; no cells: it is
// none.
func tableSize(paragraph *ast.Paragraph, source []byte) (columns, cells int) {
	lines := paragraph.Lines()
	for i := 1; i < lines.Len(); i++ {
		segment := lines.At(i)
		line := segment.Value(source)
		if len(bytes.Trim(line, "|:- \t\r\n")) > 0 {
			continue
		}
		wide := bytes.Count(line, []byte("|")) + 1
		columns, cells = max(columns, wide), max(cells, wide*(lines.Len()-i+1))
	}
	return columns, cells
}
