package terminal

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"parley/cmd/gateway/terminal/markdown"
)

// editor is the line being written: user-perceived characters and a cursor
// between them. It may hold line breaks. The zero value is empty.
type editor struct {
	before []string // characters left of the cursor
	after  []string // characters right of it
}

func (e *editor) text() string  { return strings.Join(e.before, "") + strings.Join(e.after, "") }
func (e *editor) isEmpty() bool { return len(e.before)+len(e.after) == 0 }
func (e *editor) clear()        { *e = editor{} }

// set replaces the whole and puts the cursor at the end.
func (e *editor) set(text string) { e.before, e.after = characters(text), nil }

// insert puts text at the cursor. Control characters are shown, not obeyed.
func (e *editor) insert(text string) {
	e.before = append(e.before, characters(text)...)
}

func characters(text string) []string {
	text = strings.ReplaceAll(markdown.Clean(strings.ReplaceAll(text, "\r", "\n")), "\t", "    ")
	var out []string
	clusters := displaywidth.StringGraphemes(text)
	for clusters.Next() {
		out = append(out, clusters.Value())
	}
	return out
}

func (e *editor) left() {
	if n := len(e.before); n > 0 {
		e.after = append([]string{e.before[n-1]}, e.after...)
		e.before = e.before[:n-1]
	}
}

func (e *editor) right() {
	if len(e.after) > 0 {
		e.before = append(e.before, e.after[0])
		e.after = e.after[1:]
	}
}

// lineStart and lineEnd stay within the present line.
func (e *editor) lineStart() {
	for len(e.before) > 0 && e.before[len(e.before)-1] != "\n" {
		e.left()
	}
}

func (e *editor) lineEnd() {
	for len(e.after) > 0 && e.after[0] != "\n" {
		e.right()
	}
}

func (e *editor) wordLeft() {
	for len(e.before) > 0 && isSpace(e.before[len(e.before)-1]) {
		e.left()
	}
	for len(e.before) > 0 && !isSpace(e.before[len(e.before)-1]) {
		e.left()
	}
}

func (e *editor) wordRight() {
	for len(e.after) > 0 && isSpace(e.after[0]) {
		e.right()
	}
	for len(e.after) > 0 && !isSpace(e.after[0]) {
		e.right()
	}
}

func isSpace(character string) bool { return strings.TrimSpace(character) == "" }

func (e *editor) backspace() {
	if n := len(e.before); n > 0 {
		e.before = e.before[:n-1]
	}
}

func (e *editor) deleteRight() {
	if len(e.after) > 0 {
		e.after = e.after[1:]
	}
}

// deleteTo removes what a movement passes over.
func (e *editor) deleteTo(move func()) {
	start := len(e.before)
	move()
	if end := len(e.before); end < start {
		e.after = e.after[start-end:]
	} else {
		e.before = e.before[:start]
	}
}

// up and down move between lines and report whether there was one.
func (e *editor) up() bool {
	column := e.column()
	e.lineStart()
	if len(e.before) == 0 {
		e.toColumn(column)
		return false
	}
	e.left()
	e.lineStart()
	e.toColumn(column)
	return true
}

func (e *editor) down() bool {
	column := e.column()
	e.lineEnd()
	if len(e.after) == 0 {
		return false
	}
	e.right()
	e.toColumn(column)
	return true
}

func (e *editor) column() int {
	column := 0
	for i := len(e.before) - 1; i >= 0 && e.before[i] != "\n"; i-- {
		column++
	}
	return column
}

func (e *editor) toColumn(column int) {
	e.lineStart()
	for range column {
		if len(e.after) == 0 || e.after[0] == "\n" {
			return
		}
		e.right()
	}
}

// wrapped lays the text out in lines of at most width cells and says where
// the cursor is.
func (e *editor) wrapped(width int) (lines []string, x, y int) {
	lines = []string{""}
	used := 0
	put := func(character string) {
		w := displaywidth.String(character)
		if character == "\n" || used+w > width {
			lines = append(lines, "")
			used = 0
		}
		if character != "\n" {
			lines[len(lines)-1] += character
			used += w
		}
	}
	for _, character := range e.before {
		put(character)
	}
	x, y = used, len(lines)-1
	for _, character := range e.after {
		put(character)
	}
	if x >= width {
		x, y = 0, y+1
		if y == len(lines) {
			lines = append(lines, "")
		}
	}
	return lines, x, y
}
