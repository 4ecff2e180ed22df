package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// place is the best offset for a cut in (start, want]: the last one of the
// best kind in the second half, or else of any kind at all.
func (s *splitter) place(start, want int) int {
	low := start + (want-start)/2
	for _, find := range []func(low, want int) int{s.paragraph, s.line, s.sentence, s.word} {
		if at := s.snap(start, find(low, want)); at > start {
			return at
		}
	}
	if at := s.snap(start, s.word(start, want)); at > start {
		return at
	}
	at := s.grapheme(start, want)
	if snapped := s.snap(start, at); snapped > start {
		return snapped
	}
	return at
}

// snap moves a cut out of a fence's own lines: from the opening line before
// the fence, or to 0 (no place) where the part begins with it, and from the
// closing line to the end of the content.
func (s *splitter) snap(start, at int) int {
	f, found := fenceAround(s.fences, at)
	switch {
	case !found:
		return at
	case f.inOpening(at) && f.start > start:
		return f.start
	case f.inOpening(at):
		return 0
	case f.bodyEnd < at && at < f.end:
		return f.bodyEnd
	}
	return at
}

// paragraph is the last blank line in text[low:want] outside a fence, or 0.
func (s *splitter) paragraph(low, want int) int {
	for want > low {
		i := strings.LastIndex(s.text[low:want], "\n\n")
		if i < 0 {
			return 0
		}
		f, inside := fenceAt(s.fences, low+i)
		if !inside {
			return low + i
		}
		want = f.start
	}
	return 0
}

// line is the last line break in text[low:want] that does not leave a fence's
// opening line alone, or 0.
func (s *splitter) line(low, want int) int {
	for want > low {
		i := strings.LastIndexByte(s.text[low:want], '\n')
		if i < 0 {
			return 0
		}
		if f, inside := fenceAt(s.fences, low+i+1); !inside || low+i+1 > f.body {
			return low + i
		}
		want = low + i
	}
	return 0
}

// sentence is the last end of a sentence in text[low:want], or 0.
func (s *splitter) sentence(low, want int) int {
	after := rune(' ')
	for at := want; at > low; {
		r, size := utf8.DecodeLastRuneInString(s.text[low:at])
		if strings.ContainsRune("。！？", r) || strings.ContainsRune(".!?…", r) && unicode.IsSpace(after) && s.cuttable(at) {
			return at
		}
		after = r
		at -= size
	}
	return 0
}

// cuttable reports whether a sentence that ends at offset is really over, and
// not just cut off by the window.
func (s *splitter) cuttable(at int) bool {
	r, _ := utf8.DecodeRuneInString(s.text[at:])
	return at == len(s.text) || unicode.IsSpace(r)
}

// word is the last white space in text[low:want], or 0.
func (s *splitter) word(low, want int) int {
	i := strings.LastIndexFunc(s.text[low:want], unicode.IsSpace)
	if i < 0 {
		return 0
	}
	return low + i
}

// graphemeLookBack bounds the search for the start of the grapheme cluster
// that a cut would tear, in bytes. A longer cluster is torn between runes.
const graphemeLookBack = 256

// grapheme is the last boundary of grapheme clusters in (start, want].
func (s *splitter) grapheme(start, want int) int {
	for want > start && !utf8.RuneStart(s.text[want]) {
		want--
	}
	from := max(start, want-graphemeLookBack)
	for from < want && !utf8.RuneStart(s.text[from]) {
		from++
	}
	rest, state, at := s.text[from:min(len(s.text), want+graphemeLookBack)], -1, from
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if at+len(cluster) > want {
			break
		}
		at += len(cluster)
	}
	if at > start && at > from {
		return at
	}
	return want
}
