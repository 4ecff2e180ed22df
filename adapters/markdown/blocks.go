package markdown

import (
	"slices"
	"strings"
)

// scanBlocks finds what has to be opened again where it is cut, in order: the
// fenced code blocks and, outside of them, the tables. Linear in the text.
func scanBlocks(text string) []fence {
	fences := scanFences(text)
	blocks := slices.Clone(fences)
	from := 0
	for _, f := range fences {
		blocks = append(blocks, scanTables(text, from, f.start)...)
		from = f.end
	}
	blocks = append(blocks, scanTables(text, from, len(text))...)
	slices.SortFunc(blocks, func(a, b fence) int { return a.start - b.start })
	return blocks
}

// scanTables finds the tables in text[from:to]: a line with a pipe, a rule
// below it, and the lines with a pipe that follow.
func scanTables(text string, from, to int) []fence {
	var tables []fence
	var table *fence
	above, offset := from, from // where the line above and this line begin
	for line := range strings.Lines(text[from:to]) {
		next := offset + len(line)
		piped := strings.Contains(line, "|")
		switch {
		case table != nil && piped:
			table.bodyEnd, table.end = next, next
		case table != nil:
			tables, table = appendTable(tables, table), nil
		case isRule(line) && strings.Contains(text[above:offset], "|"):
			table = &fence{start: above, body: next, bodyEnd: next, end: next, header: text[above:next]}
		}
		above, offset = offset, next
	}
	return appendTable(tables, table)
}

// appendTable takes a table that has rows; nothing else is ever cut.
func appendTable(tables []fence, table *fence) []fence {
	if table == nil || table.bodyEnd == table.body {
		return tables
	}
	return append(tables, *table)
}

func isRule(line string) bool {
	return strings.Contains(line, "|") && strings.Contains(line, "-") && strings.Trim(line, "|:- \t\r\n") == ""
}
