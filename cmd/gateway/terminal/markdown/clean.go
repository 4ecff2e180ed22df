package markdown

import (
	"strings"
	"sync"
	"unicode"
)

const replacement = unicode.ReplacementChar

// tab is what a tab becomes where lines are measured.
const tab = "    "

// Clean makes text harmless for a terminal and leaves line breaks and tabs as
// they are. Every other control character becomes its picture
// (ESC shows as ␛), and what turns the writing direction or separates lines
// invisibly becomes a replacement character.
func Clean(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(cleanRune, strings.ToValidUTF8(text, string(replacement)))
}

func cleanRune(r rune) rune {
	switch {
	case r == '\n', r == '\t':
		return r
	case r < ' ':
		return '\u2400' + r
	case r == 0x7f:
		return '\u2421'
	case r < 0xa0 && r > 0x7f:
		return replacement
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r == '\u2028', r == '\u2029':
		return replacement
	}
	return r
}

// cleanInline is Clean for text that has to stay on its line.
func cleanInline(text string) string {
	return onOneLine().Replace(Clean(text))
}

// A replacer costs more to make than to use on most texts.
var onOneLine = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer("\n", " ", "\t", tab) }) //nolint:gochecknoglobals // never changed
