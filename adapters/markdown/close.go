package markdown

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Close completes the Markdown of an answer that is still being written, so
// that it can be shown: what is open is closed, and a marker that has only
// just begun is left out. Where nothing is open, the text comes back as it is.
// It looks at the last block only, and by simple rules: pure, and it costs
// time linear in the text.
func Close(partial string) string {
	fences := scanFences(partial)
	if n := len(fences); n > 0 && fences[n-1].bodyEnd == len(partial) {
		return closeFence(partial, fences[n-1])
	}
	from := 0
	if n := len(fences); n > 0 {
		from = fences[n-1].end
	}
	from += lastBlock(partial[from:])
	return partial[:from] + closeInline(partial[from:])
}

// closeFence closes an open fence; a closing line that has only begun is
// completed.
func closeFence(text string, open fence) string {
	if open.body == len(text) && !strings.HasSuffix(text, "\n") {
		return text[:open.start]
	}
	last := strings.LastIndexByte(text, '\n') + 1
	begun := strings.TrimLeft(text[last:], " >")
	if begun != "" && strings.HasPrefix(open.marker, begun) {
		return text[:last] + open.closing()[1:]
	}
	return strings.TrimSuffix(text, "\n") + open.closing()
}

// lastBlock is the offset where the last block of inline text begins: after
// the last blank line, or at the last line that begins a block by its marker.
func lastBlock(text string) int {
	at, offset := 0, 0
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			at = offset + len(line)
		} else if listMarker(strings.TrimLeft(line, " >")) > 0 || strings.HasPrefix(trimmed, "#") {
			at = offset
		}
		offset += len(line)
	}
	return at
}

// closeInline closes code spans and emphasis, and shows of a link whose
// destination is still being written only its text.
func closeInline(text string) string {
	text = dropBegunLink(dropBegunMarker(text))
	var open []string
	for i := skipListMarker(text); i < len(text); {
		switch c := text[i]; c {
		case '\\':
			i += 2
		case '`':
			ticks := run(text[i:])
			length, closed := codeSpan(text[i:], ticks)
			if !closed {
				return text + ticks + closers(open)
			}
			i += length
		case '*', '_', '~':
			marker := text[i : i+runLength(text[i:])]
			open = emphasis(open, marker, before(text, i), after(text, i+len(marker)))
			i += len(marker)
		default:
			i++
		}
	}
	trimmed := strings.TrimRightFunc(text, unicode.IsSpace)
	if len(open) == 0 {
		return text
	}
	return trimmed + closers(open)
}

func skipListMarker(text string) int {
	indent := len(text) - len(strings.TrimLeft(text, " >"))
	return indent + listMarker(text[indent:])
}

// dropBegunMarker leaves out markers at the very end that nothing follows yet
// and that would open something.
func dropBegunMarker(text string) string {
	kept := strings.TrimRight(text, "*_~`")
	if kept == text || strings.HasSuffix(kept, `\`) {
		return text
	}
	if kept == "" || unicode.IsSpace(before(text, len(kept))) {
		return kept
	}
	return text
}

// dropBegunLink reduces "[text](destin" at the end to "text".
func dropBegunLink(text string) string {
	i := strings.LastIndex(text, "](")
	if i < 0 || strings.ContainsAny(text[i:], ") \n") {
		return text
	}
	open := strings.LastIndexByte(text[:i], '[')
	if open < 0 {
		return text
	}
	head := strings.TrimSuffix(text[:open], "!")
	if strings.Count(head, "`")%2 == 1 {
		return text
	}
	return head + text[open+1:i]
}

// codeSpan is the length of the code span that text begins with.
func codeSpan(text, ticks string) (length int, closed bool) {
	for i := len(ticks); i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		end := run(text[i:])
		i += len(end)
		if end == ticks {
			return i, true
		}
	}
	return 0, false
}

func runLength(text string) int { return len(text) - len(strings.TrimLeft(text, text[:1])) }

func before(text string, i int) rune {
	if i == 0 {
		return ' '
	}
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return r
}

func after(text string, i int) rune {
	if i >= len(text) {
		return ' '
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return r
}

// emphasis takes a run of markers: it closes what it can and opens the rest.
func emphasis(open []string, run string, before, after rune) []string {
	inWord := run[0] == '_' && isWord(before) && isWord(after)
	for !unicode.IsSpace(before) && !inWord && len(open) > 0 && run != "" {
		last := open[len(open)-1]
		if last[0] != run[0] || len(last) > len(run) {
			break
		}
		open, run = open[:len(open)-1], run[len(last):]
	}
	if run == "" || unicode.IsSpace(after) || inWord || len(run) > 3 || run == "~" {
		return open
	}
	if len(run) == 3 {
		return append(open, run[:1], run[:2])
	}
	return append(open, run)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func closers(open []string) string {
	var out strings.Builder
	for _, marker := range slices.Backward(open) {
		out.WriteString(marker)
	}
	return out.String()
}
