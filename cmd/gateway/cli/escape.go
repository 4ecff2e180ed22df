package cli

import (
	"fmt"
	"io"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"parley/cmd/gateway/logging"
)

// Escaped writes JSON to out as JSON that says the same, with the characters
// that a terminal acts upon, or that turn the writing direction, as \u
// sequences: strangers write texts and names. Line breaks stay; Go's encoder
// escapes those that stand in a text itself.
func Escaped(out io.Writer) io.Writer { return &escaped{out: out} }

type escaped struct {
	out  io.Writer
	tail []byte // the beginning of a character whose end was not written yet
}

// Write implements io.Writer.
func (e *escaped) Write(text []byte) (int, error) {
	rest := slices.Concat(e.tail, text)
	line := make([]byte, 0, len(rest)+16)
	for len(rest) > 0 && utf8.FullRune(rest) {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == '\n' || !logging.Invisible(r):
			line = append(line, rest[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			line = fmt.Appendf(line, `\u%04x\u%04x`, high, low)
		default:
			line = fmt.Appendf(line, `\u%04x`, r)
		}
		rest = rest[size:]
	}
	e.tail = append(e.tail[:0:0], rest...)
	if _, err := e.out.Write(line); err != nil {
		return 0, err
	}
	return len(text), nil
}
