package markdown

import (
	"slices"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// style is a set of text attributes.
type style uint16

const (
	bold style = 1 << iota
	dim
	italic
	underline
	strike
	cyan
	yellow
)

// sgr are the terminal's numbers of the styles.
func (s style) sgr() string {
	numbers := []struct {
		style  style
		number int
	}{{bold, 1}, {dim, 2}, {italic, 3}, {underline, 4}, {strike, 9}, {yellow, 33}, {cyan, 36}}
	var set []string
	for _, n := range numbers {
		if s&n.style != 0 {
			set = append(set, strconv.Itoa(n.number))
		}
	}
	return "\x1b[" + strings.Join(set, ";") + "m"
}

// span is text in one style. Its text is clean and has no line break.
type span struct {
	text  string
	style style
}

// line is one line of the screen.
type line []span

func (l line) width() int {
	total := 0
	for _, s := range l {
		total += displaywidth.String(s.text)
	}
	return total
}

func (l line) blank() bool {
	return !slices.ContainsFunc(l, func(s span) bool { return strings.Trim(s.text, " ") != "" })
}

// write appends the line, with escape sequences only where color is set.
func (l line) write(out *strings.Builder, color bool) {
	for _, s := range l {
		if !color || s.style == 0 || s.text == "" {
			out.WriteString(s.text)
			continue
		}
		out.WriteString(s.style.sgr() + s.text + "\x1b[0m")
	}
}

// prefixed puts first before the first line and rest before the others.
func prefixed(lines []line, first, rest line) []line {
	out := make([]line, len(lines))
	for i, l := range lines {
		prefix := rest
		if i == 0 {
			prefix = first
		}
		if len(l) > 0 || !prefix.blank() {
			out[i] = append(append(line{}, prefix...), l...)
		}
	}
	return out
}

// cell is one user-perceived character.
type cell struct {
	text  string
	width int
	style style
}

func cellsOf(spans []span) []cell {
	var cells []cell
	for _, s := range spans {
		clusters := displaywidth.StringGraphemes(s.text)
		for clusters.Next() {
			cells = append(cells, cell{clusters.Value(), clusters.Width(), s.style})
		}
	}
	return cells
}

func lineOf(cells []cell) line {
	var out line
	for _, c := range cells {
		if last := len(out) - 1; last >= 0 && out[last].style == c.style {
			out[last].text += c.text
			continue
		}
		out = append(out, span{c.text, c.style})
	}
	return out
}

// wrap breaks spans into lines of at most width cells: at spaces, between wide
// characters, and inside a word only where it fits no line. A single character
// wider than width gets a line of its own. There is always one line.
func wrap(spans []span, width int) []line {
	cells := cellsOf(spans)
	var lines []line
	for {
		end, next := breakAt(cells, width)
		lines = append(lines, lineOf(cells[:end]))
		if next >= len(cells) {
			return lines
		}
		cells = cells[next:]
	}
}

// breakAt says where the first line ends and where the second begins.
func breakAt(cells []cell, width int) (end, next int) {
	used, end, next := 0, 0, 0
	for i, c := range cells {
		if c.text == " " {
			if used > 0 || i == 0 {
				end, next = i, i+1
			}
		} else if c.width > 1 && i > 0 && cells[i-1].text != " " {
			end, next = i, i
		}
		if used += c.width; used <= width || i == 0 {
			continue
		}
		if next == 0 || end == 0 {
			return i, i
		}
		return end, skipSpaces(cells, next)
	}
	return len(cells), len(cells)
}

func skipSpaces(cells []cell, from int) int {
	for from < len(cells) && cells[from].text == " " {
		from++
	}
	return from
}

// chop breaks text at exactly width cells, for code, where spaces matter.
func chop(text string, style style, width int) []line {
	var lines []line
	used, from, at := 0, 0, 0
	clusters := displaywidth.StringGraphemes(text)
	for clusters.Next() {
		if at > from && used+clusters.Width() > width {
			lines = append(lines, line{{text[from:at], style}})
			used, from = 0, at
		}
		used += clusters.Width()
		at += len(clusters.Value())
	}
	if at > from {
		return append(lines, line{{text[from:at], style}})
	}
	return append(lines, nil)
}
