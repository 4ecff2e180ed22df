package markdown

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Measure gives the length of a text after rendering, in the unit that a
// platform counts. It should grow with the text, roughly.
type Measure func(text string) int

// Split cuts Markdown into parts that each measure at most limit, at the best
// place near the limit: between paragraphs, lines, sentences, words, and only
// then inside a word, between two grapheme clusters.
//
// No character but white space at a cut is lost. A fenced code block that is
// cut is closed in one part and opened again, with its info string, in the
// next; a table that is cut gets its header again. No part is blank, each is valid UTF-8, and a blank text gives none. A
// text that fits is returned as it is. A limit below what a single character
// measures is exceeded by single characters.
func Split(text string, limit int, measure Measure) []string {
	return split(text, limit, measure, scanBlocks)
}

// SplitPlain is [Split] for a text whose fences mean nothing.
func SplitPlain(text string, limit int, measure Measure) []string {
	return split(text, limit, measure, func(string) []fence { return nil })
}

func split(text string, limit int, measure Measure, scan func(string) []fence) []string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	limit = max(limit, 1)
	s := splitter{text: text, limit: limit, measure: measure, window: windowFor(limit)}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if len(text) <= s.window && measure(text) <= limit {
		return []string{text}
	}
	s.fences = reopenable(scan(text), limit)
	var parts []string
	for _, p := range s.pieces() {
		parts = append(parts, s.render(p))
	}
	return parts
}

// reopenable leaves out the blocks whose opening and closing lines would take
// most of every part.
func reopenable(blocks []fence, limit int) []fence {
	return slices.DeleteFunc(blocks, func(f fence) bool {
		return len(f.opening())+len(f.closing()) > limit*3/4
	})
}

// windowFor bounds how much source one part is looked for in, in bytes:
// enough for links, whose source is longer than what shows.
func windowFor(limit int) int {
	const perUnit, atMost = 16, SourceMax * 3 / 4
	return max(min(limit*perUnit, atMost), 2*limit)
}

// piece is one part: text[start:end] between what closes and reopens a fence.
type piece struct {
	start, end   int
	open, closed string
}

type splitter struct {
	text    string
	limit   int
	window  int
	measure Measure
	fences  []fence
}

func (s *splitter) render(p piece) string { return p.open + s.text[p.start:p.end] + p.closed }

func (s *splitter) pieces() []piece {
	var pieces []piece
	for at := s.skip(0); at < len(s.text); {
		next := s.next(at)
		pieces = append(pieces, next)
		at = s.skip(next.end)
	}
	return pieces
}

// skip moves over the white space at a cut: all of it outside a fence, blank
// lines inside, and a closing line that would stand alone.
func (s *splitter) skip(at int) int {
	for {
		f, inside := fenceAt(s.fences, at)
		if !inside || at == f.end {
			return at + leadingSpace(s.text[at:])
		}
		to := at + blankLines(s.text[at:f.bodyEnd])
		if to < f.bodyEnd {
			return to
		}
		at = f.end
	}
}

func leadingSpace(text string) int {
	return len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
}

// blankLines is the length of the blank lines that text begins with.
func blankLines(text string) int {
	space := leadingSpace(text)
	if space == len(text) {
		return space
	}
	return strings.LastIndexByte(text[:space], '\n') + 1
}

// attemptsMax bounds the guesses for one part; after it the guess is halved
// until the part fits.
const attemptsMax = 6

// next finds the part that begins at start. It guesses how much source fits,
// measures what that renders to, and corrects the guess by the ratio.
func (s *splitter) next(start int) piece {
	var best piece
	size := s.runes(start, s.limit)
	for attempt := 0; ; attempt++ {
		candidate := s.cut(start, start+size)
		measured := s.measure(s.render(candidate))
		taken := candidate.end - start
		if measured > s.limit {
			if best.end > 0 {
				return best
			}
			if taken <= s.first(start) {
				return s.single(start)
			}
			size = shrunk(taken, s.limit, measured, attempt)
			continue
		}
		grown := candidate.end > best.end
		if grown {
			best = candidate
		}
		if !grown || s.full(best, measured) || attempt >= attemptsMax {
			return best
		}
		size = min(s.window, max(taken, size)*s.limit/max(measured, s.limit/8, 1))
	}
}

// full reports whether trying for a longer part is not worth the while.
func (s *splitter) full(p piece, measured int) bool {
	return p.end == len(s.text) || p.end-p.start >= s.window*3/4 || measured >= s.limit/2
}

func shrunk(taken, limit, measured, attempt int) int {
	if attempt >= attemptsMax {
		return taken / 2
	}
	return min(taken*limit/measured, taken-1)
}

// runes is the length in bytes of the n runes from start on, at least one and
// at most to the end of the text.
func (s *splitter) runes(start, n int) int {
	count := 0
	for i := range s.text[start:] {
		if count == n {
			return i
		}
		count++
	}
	return len(s.text) - start
}

// first is the length in bytes of the first rune at start, with the white
// space before it.
func (s *splitter) first(start int) int {
	space := leadingSpace(s.text[start:])
	_, size := utf8.DecodeRuneInString(s.text[start+space:])
	return space + size
}

// single is the part of last resort: the first character at start, with no
// fence around it if there is no room for one.
func (s *splitter) single(start int) piece {
	p := s.piece(start, start+s.first(start))
	if s.measure(s.render(p)) > s.limit {
		p.open, p.closed = "", ""
	}
	return p
}

// cut makes the part from start to the best place that is not beyond want.
func (s *splitter) cut(start, want int) piece {
	if want >= len(s.text) {
		return s.piece(start, len(s.text))
	}
	end := s.place(start, max(want, start+1))
	if trimmed := s.trimmed(start, end); s.snap(start, trimmed) == trimmed && trimmed > start {
		end = trimmed
	}
	return s.piece(start, max(end, start+s.first(start)))
}

func (s *splitter) trimmed(start, end int) int {
	return start + len(strings.TrimRightFunc(s.text[start:end], unicode.IsSpace))
}

// piece puts a fence around the ends of a part that lie inside one.
func (s *splitter) piece(start, end int) piece {
	p := piece{start: start, end: end}
	if f, inside := fenceAt(s.fences, start); inside && start < f.bodyEnd {
		p.open = f.opening()
		if start > f.body && s.text[start-1] != '\n' && strings.Contains(f.quote, ">") {
			p.open += f.quote
		}
	}
	if f, inside := fenceAt(s.fences, end); inside && end > f.body {
		p.closed = f.closing()
	}
	return p
}
