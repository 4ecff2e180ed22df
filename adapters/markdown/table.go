package markdown

import (
	"strings"

	"github.com/rivo/uniseg"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// cellPadMax is the widest a cell is padded to, in columns. A longer cell is
// shown whole and only unsettles its own line.
const cellPadMax = 40

const columnGap = " | "

// tableText lays a table out in columns of a fixed-width font, the header
// underlined.
func tableText(table *extast.Table, source []byte) string {
	rows := tableCells(table, source)
	widths := columnWidths(rows)
	lines := make([]string, 0, len(rows)+1)
	for i, row := range rows {
		lines = append(lines, tableLine(row, widths, table.Alignments))
		if i == 0 {
			lines = append(lines, tableRule(widths))
		}
	}
	return strings.Join(lines, "\n")
}

func tableCells(table *extast.Table, source []byte) [][]string {
	var rows [][]string
	children(table, func(row ast.Node) {
		var cells []string
		children(row, func(cell ast.Node) {
			cells = append(cells, strings.Join(strings.Fields(visible(cell, source)), " "))
		})
		rows = append(rows, cells)
	})
	return rows
}

func columnWidths(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 1)
			}
			widths[i] = max(widths[i], min(uniseg.StringWidth(cell), cellPadMax))
		}
	}
	return widths
}

func tableLine(row []string, widths []int, alignments []extast.Alignment) string {
	cells := make([]string, len(row))
	for i, cell := range row {
		alignment := extast.AlignNone
		if i < len(alignments) {
			alignment = alignments[i]
		}
		cells[i] = pad(cell, widths[i], alignment)
	}
	return strings.TrimRight(strings.Join(cells, columnGap), " ")
}

func tableRule(widths []int) string {
	rules := make([]string, len(widths))
	for i, width := range widths {
		rules[i] = strings.Repeat("-", width)
	}
	return strings.Join(rules, "-+-")
}

func pad(cell string, width int, alignment extast.Alignment) string {
	missing := max(0, width-uniseg.StringWidth(cell))
	left := 0
	switch alignment {
	case extast.AlignRight:
		left = missing
	case extast.AlignCenter:
		left = missing / 2
	case extast.AlignLeft, extast.AlignNone:
	}
	return strings.Repeat(" ", left) + cell + strings.Repeat(" ", missing-left)
}
