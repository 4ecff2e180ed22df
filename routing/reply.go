package routing

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// StripLabel takes off a label that a model put before its reply, with the
// prefix if there is one, since it saw its input so: "[Alice] hello" becomes
// "hello". A label is square brackets on one line around a name of at most
// LabelNameMax runes, with at least one letter and no bracket in it, followed
// by white space and by text; so links, references such as "[1] ", and a
// bracket that is the whole reply stay. Without a label the reply is returned
// as it is.
func StripLabel(reply string) string {
	var stripper labelStripper
	return stripper.write(reply) + stripper.close(false)
}

// labelStripper strips leading labels from a text that arrives in pieces of
// whole characters.
type labelStripper struct {
	held    string // undecided beginning
	decided bool
}

func (l *labelStripper) write(text string) string {
	if l.decided {
		return text
	}
	l.held += text
	for {
		length, verdict := leadingLabel(l.held)
		switch verdict {
		case isLabel:
			l.held = l.held[length:]
		case mayBeLabel:
			return ""
		default:
			return l.release()
		}
	}
}

// close returns what is still held. Of a marked reply a label without a text
// behind it is dropped.
func (l *labelStripper) close(marked bool) string {
	if marked {
		if _, verdict := leadingLabel(l.held + " ."); verdict == isLabel {
			l.held = ""
		}
	}
	return l.release()
}

func (l *labelStripper) release() string {
	out := l.held
	l.held, l.decided = "", true
	return out
}

type labelVerdict int

const (
	noLabel labelVerdict = iota
	mayBeLabel
	isLabel
)

// leadingLabel says whether text begins with a label, and where the text
// behind it begins.
func leadingLabel(text string) (length int, verdict labelVerdict) {
	start := skipSpace(text, 0)
	if start == len(text) {
		return 0, mayBeLabel
	}
	if text[start] != '[' {
		return 0, noLabel
	}
	end, verdict := labelEnd(text, start+1)
	if verdict != isLabel {
		return 0, verdict
	}
	behind := skipSpace(text, end)
	switch {
	case behind == len(text):
		return 0, mayBeLabel
	case behind == end:
		return 0, noLabel
	default:
		return behind, isLabel
	}
}

// labelEnd finds the end of a label whose name begins at start.
func labelEnd(text string, start int) (end int, verdict labelVerdict) {
	letter := false
	for i, count := start, 0; i < len(text) && count <= LabelNameMax; count++ {
		r, width := utf8.DecodeRuneInString(text[i:])
		i += width
		switch {
		case r == ']' && letter:
			return i, isLabel
		case r == ']', r == '[', isLineBreak(r):
			return 0, noLabel
		case unicode.IsLetter(r):
			letter = true
		}
		if i == len(text) && count < LabelNameMax {
			return 0, mayBeLabel
		}
	}
	if start == len(text) {
		return 0, mayBeLabel
	}
	return 0, noLabel
}

func skipSpace(text string, from int) int {
	rest := strings.TrimLeftFunc(text[from:], unicode.IsSpace)
	return len(text) - len(rest)
}
