package markdown

import (
	"slices"
	"strings"
)

// infoMax is the longest info string that is repeated when a fence is
// reopened, in bytes.
const infoMax = 40

// fence is one block of a text that has to be opened again where it is cut: a
// fenced code block, or a table. By byte offsets, its opening line (a table's
// header and the rule below it) is [start,body), its content [body,bodyEnd),
// its closing line [bodyEnd,end). A table, and a fence that is never closed,
// has no closing line.
type fence struct {
	start, body, bodyEnd, end int
	header                    string // a table's; empty for code
	quote                     string // block quote markers before every line, or up to three spaces
	marker                    string // the run of ` or ~
	info                      string
}

// opening is the line that opens the fence again.
func (f fence) opening() string {
	if f.header != "" {
		return f.header
	}
	return f.quote + f.marker + f.info + "\n"
}

// closing is what closes the fence after content.
func (f fence) closing() string {
	if f.header != "" {
		return ""
	}
	return "\n" + f.quote + f.marker
}

// inside reports whether a cut at offset falls into the fence's content.
func (f fence) inside(offset int) bool { return f.body <= offset && offset <= f.bodyEnd }

// scanFences finds the fenced code blocks of a text, line by line, in linear
// time. It takes any indentation before an opening line, because it does not
// follow which list the line stands in.
func scanFences(text string) []fence {
	var fences []fence
	var current *fence
	indent := 0
	offset := 0
	for line := range strings.Lines(text) {
		start := offset
		offset += len(line)
		if current == nil {
			if opened, at, ok := openFence(line); ok {
				opened.start, opened.body = start, offset
				current, indent = &opened, at
			}
			continue
		}
		if closesFence(line, *current, indent) {
			current.bodyEnd, current.end = start, offset
			fences = append(fences, *current)
			current = nil
		}
	}
	if current != nil {
		current.bodyEnd, current.end = len(text), len(text)
		fences = append(fences, *current)
	}
	return fences
}

// openFence reads an opening line; the int is the column of its marker.
func openFence(line string) (fence, int, bool) {
	prefix, rest := cutContainers(line)
	marker := run(rest)
	if len(marker) < 3 {
		return fence{}, 0, false
	}
	info := strings.TrimSpace(rest[len(marker):])
	if marker[0] == '`' && strings.Contains(info, "`") {
		return fence{}, 0, false
	}
	if len(info) > infoMax {
		info = ""
	}
	return fence{quote: reopenedPrefix(prefix), marker: marker, info: info}, len(prefix), true
}

// reopenedPrefix is the prefix with which the fence can be opened outside its
// list: quote markers stay, of plain indentation at most three spaces.
func reopenedPrefix(prefix string) string {
	if strings.Contains(prefix, ">") {
		return strings.TrimLeft(prefix, " ")
	}
	return prefix[:min(len(prefix), 3)]
}

func closesFence(line string, opened fence, indent int) bool {
	trimmed := strings.TrimLeft(line, " >")
	marker := run(trimmed)
	return len(marker) >= len(opened.marker) && marker[0] == opened.marker[0] &&
		strings.TrimSpace(trimmed[len(marker):]) == "" && len(line)-len(trimmed) <= indent+3
}

// cutContainers splits a line into its quote markers, list markers and
// indentation, a list marker written as spaces, and the rest.
func cutContainers(line string) (prefix, rest string) {
	var out strings.Builder
	i := 0
	for i < len(line) {
		if c := line[i]; c == ' ' || c == '>' {
			out.WriteByte(c)
			i++
			continue
		}
		n := listMarker(line[i:])
		if n == 0 {
			break
		}
		out.WriteString(strings.Repeat(" ", n))
		i += n
	}
	return out.String(), line[i:]
}

// listMarker is the length of the list marker, with the space behind it, that
// text begins with, or 0.
func listMarker(text string) int {
	n := 0
	for n < len(text) && n < 9 && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	markers := "-+*"
	if n > 0 {
		markers = ".)"
	}
	if n+1 < len(text) && strings.IndexByte(markers, text[n]) >= 0 && text[n+1] == ' ' {
		return n + 2
	}
	return 0
}

// run is the run of one kind of fence character that text begins with.
func run(text string) string {
	if text == "" || text[0] != '`' && text[0] != '~' {
		return ""
	}
	return text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
}

// inOpening reports whether a cut at offset tears off the opening line.
func (f fence) inOpening(offset int) bool { return f.start < offset && offset <= f.body }

// fenceAt is the fence into whose content a cut at offset falls.
func fenceAt(fences []fence, offset int) (fence, bool) {
	f, found := fenceAround(fences, offset)
	return f, found && f.inside(offset)
}

// fenceAround is the fence that a cut at offset would tear or touch.
func fenceAround(fences []fence, offset int) (fence, bool) {
	i, _ := slices.BinarySearchFunc(fences, offset, func(f fence, at int) int {
		if f.end < at {
			return -1
		}
		return 1
	})
	if i < len(fences) && fences[i].start < offset {
		return fences[i], true
	}
	return fence{}, false
}
