package markdown

import (
	"slices"
	"strings"

	extast "github.com/yuin/goldmark/extension/ast"
)

// columnMin is the narrowest a column of a table may get.
const columnMin = 4

const separator = " │ "

// table draws aligned columns. One that cannot fit becomes a list of
// "header: value" lines per row.
func (r *renderer) table(n *extast.Table, width int) []line {
	rows := r.rows(n)
	columns := len(rows[0])
	available := width - (columns-1)*len([]rune(separator))
	if available < columns*columnMin {
		return listed(rows, width)
	}
	widths := columnWidths(rows, available)
	var out []line
	for i, row := range rows {
		out = append(out, drawRow(row, widths, n.Alignments)...)
		if i == 0 {
			out = append(out, rule(widths))
		}
	}
	return out
}

// rows are the cells' spans, all rows as long as the first.
func (r *renderer) rows(n *extast.Table) [][][]span {
	var rows [][][]span
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var base style
		if _, isHeader := row.(*extast.TableHeader); isHeader {
			base = bold
		}
		cells := make([][]span, len(n.Alignments))
		i := 0
		for cell := row.FirstChild(); cell != nil && i < len(cells); cell = cell.NextSibling() {
			cells[i] = slices.Concat(r.inlines(cell, base)...)
			i++
		}
		rows = append(rows, cells)
	}
	return rows
}

// columnWidths gives each column what it needs, and takes from the widest
// until all fit.
func columnWidths(rows [][][]span, available int) []int {
	widths := make([]int, len(rows[0]))
	total := 0
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], line(row[i]).width(), 1)
		}
		total += widths[i]
	}
	for ; total > available; total-- {
		widest := 0
		for i := range widths {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		widths[widest]--
	}
	return widths
}

func drawRow(row [][]span, widths []int, alignments []extast.Alignment) []line {
	columns := make([][]line, len(row))
	height := 1
	for i, spans := range row {
		columns[i] = wrap(spans, widths[i])
		height = max(height, len(columns[i]))
	}
	out := make([]line, height)
	for y := range out {
		for x, lines := range columns {
			var content line
			if y < len(lines) {
				content = lines[y]
			}
			if x > 0 {
				out[y] = append(out[y], span{separator, dim})
			}
			out[y] = append(out[y], align(content, widths[x], alignments[x], x == len(columns)-1)...)
		}
	}
	return out
}

// align fills content to width. The last column gets nothing on its right.
func align(content line, width int, alignment extast.Alignment, last bool) line {
	missing := max(width-content.width(), 0)
	left := 0
	switch alignment {
	case extast.AlignRight:
		left = missing
	case extast.AlignCenter:
		left = missing / 2
	case extast.AlignLeft, extast.AlignNone:
	}
	out := append(line{spaces(left)}, content...)
	if last {
		return out
	}
	return append(out, spaces(missing-left))
}

func rule(widths []int) line {
	parts := make([]string, len(widths))
	for i, width := range widths {
		parts[i] = strings.Repeat("─", width)
	}
	return line{{strings.Join(parts, "─┼─"), dim}}
}

// labelMax bounds a header that is repeated in every row, in cells.
const labelMax = 40

func labelOf(header []span) []span {
	if line(header).width() <= labelMax {
		return slices.Clone(header)
	}
	return wrap(header, labelMax)[0]
}

func listed(rows [][][]span, width int) []line {
	var out []line
	for i, row := range rows[1:] {
		if i > 0 {
			out = append(out, nil)
		}
		for x, value := range row {
			label := append(labelOf(rows[0][x]), span{": ", bold})
			out = append(out, wrap(append(label, value...), width)...)
		}
	}
	return out
}
