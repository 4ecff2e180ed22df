package markdown

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func spaceless(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// checkSplit is the oracle: in order, the pieces' source plus the closing
// lines that were skipped is the whole text, white space aside.
func checkSplit(t *testing.T, text string, limit int, measure Measure, scan func(string) []fence) {
	t.Helper()
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	s := splitter{text: text, limit: limit, measure: measure, window: windowFor(limit), fences: reopenable(scan(text), limit)}
	at := 0
	for _, p := range s.pieces() {
		checkGap(t, s, at, p.start)
		at = p.end
		part := s.render(p)
		if strings.TrimSpace(text[p.start:p.end]) == "" || !utf8.ValidString(part) {
			t.Fatalf("part %q of %q", part, text)
		}
		if got := measure(part); got > limit && utf8.RuneCountInString(spaceless(text[p.start:p.end])) > 1 {
			t.Fatalf("part measures %d of %d: %q", got, limit, part)
		}
		if len(scan("x")) == 0 && strings.Count(p.open, s.marker(p.start))+strings.Count(p.closed, s.marker(p.end)) > 2 {
			t.Fatalf("fences added twice: %q", part)
		}
	}
	checkGap(t, s, at, len(text))
}

func (s *splitter) marker(at int) string {
	f, _ := fenceAt(s.fences, at)
	return f.marker + "\x00"
}

func checkGap(t *testing.T, s splitter, from, to int) {
	t.Helper()
	if from > to {
		t.Fatalf("parts overlap at %d in %q", to, s.text)
	}
	lost := spaceless(s.text[from:to])
	for _, f := range s.fences {
		if f.bodyEnd >= from && f.end <= to {
			lost = strings.Replace(lost, spaceless(s.text[f.bodyEnd:f.end]), "", 1)
		}
	}
	if lost != "" {
		t.Fatalf("lost %q between %d and %d of %q", lost, from, to, s.text)
	}
}

func measures() map[string]Measure {
	return map[string]Measure{
		"telegram": TelegramLength, "utf16": UTF16Length, "runes": utf8.RuneCountInString,
		"growing": func(text string) int { return len(text) * 3 },
	}
}

func TestSplitKeepsEverything(t *testing.T) {
	t.Parallel()
	words := []string{"word", "日本語", "👩‍👩‍👧‍👦", "e\u0301", "a. ", "\n", "\n\n", "```go\n", "\n```\n", "> ", "- ", "    ", "**", "`", "~~~\n", "\t", "|a|b|\n|-|-|\n", "[a](http://x.org/aaaaaaaaaaaaaaaaaaaaaaaaaaaa)", strings.Repeat("x", 50), "> ```\n> ", "1. ```py\n   "}
	for name, measure := range measures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 2))
			for range 400 {
				var text strings.Builder
				for range random.IntN(60) {
					text.WriteString(words[random.IntN(len(words))])
				}
				limit := 1 + random.IntN(80)
				checkSplit(t, text.String(), limit, measure, scanBlocks)
				checkSplit(t, text.String(), limit, measure, func(string) []fence { return nil })
			}
		})
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("```go\naaaa bbbb\n```\ncc", 12)
	f.Add("> ```\n> aaaaaaaaaaaaaaaaaa\n> b", 14)
	f.Add("a. b! c? ddddddd", 4)
	f.Add("~~~ x y z\n\n\n~~~\n\n```", 7)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 1 || limit > 5000 || len(text) > 20000 {
			t.Skip()
		}
		for _, measure := range measures() {
			checkSplit(t, text, limit, measure, scanBlocks)
		}
		for _, part := range Split(text, limit, UTF16Length) {
			if strings.TrimSpace(part) == "" {
				t.Fatal("blank part")
			}
		}
	})
}
