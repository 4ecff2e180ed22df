package markdown_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"parley/adapters/markdown"
)

func TestSplitPlaces(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		limit      int
		want       []string
	}{
		{"fits", " a\n\nb ", 10, []string{" a\n\nb "}},
		{"blank", " \n\t", 10, nil},
		{"paragraphs", "aaaa\n\nbbbb cccc", 10, []string{"aaaa", "bbbb cccc"}},
		{"lines", "aaaa bb\ncccc dddd", 12, []string{"aaaa bb", "cccc dddd"}},
		{"sentences", "Aaaa bb. Cccc dd ee", 15, []string{"Aaaa bb.", "Cccc dd ee"}},
		{"words", "aaaa bbbb cccc", 10, []string{"aaaa bbbb", "cccc"}},
		{"inside a word", "aaaaaaaaaabbbbb", 10, []string{"aaaaaaaaaa", "bbbbb"}},
		{"grapheme clusters", "aaaaaa👩‍👩‍👧‍👦b", 10, []string{"aaaaaa", "👩‍👩‍👧‍👦b"}},
		{"fence reopened", "```go\naaaa\nbbbb\ncccc\n```\nend", 21, []string{"```go\naaaa\nbbbb\n```", "```go\ncccc\n```\nend"}},
		{"fence kept whole", "intro text\n\n```go\naaaa\n```", 20, []string{"intro text", "```go\naaaa\n```"}},
		{"indentation kept in a fence", "```\naaaa\n\n  bbbb\n```", 14, []string{"```\naaaa\n```", "```\n  bbbb\n```"}},
		{"table keeps its header", "|a|b|\n|-|-|\n|cc|d|\n|ee|f|\n\nend", 24, []string{"|a|b|\n|-|-|\n|cc|d|", "|a|b|\n|-|-|\n|ee|f|\n\nend"}},
		{"table kept whole", "some words\n\n|a|b|\n|-|-|\n|c|d|", 22, []string{"some words", "|a|b|\n|-|-|\n|c|d|"}},
		{"quoted fence", "> ```\n> aaaa\n> bbbb\n> ```", 22, []string{"> ```\n> aaaa\n> ```", "> ```\n> bbbb\n> ```"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := markdown.Split(test.text, test.limit, utf8.RuneCountInString)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestSplitPlainKnowsNoFences(t *testing.T) {
	t.Parallel()
	got := markdown.SplitPlain("```\naaaa bbbb", 9, utf8.RuneCountInString)
	if want := []string{"```\naaaa", "bbbb"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSplitPacksByWhatShows(t *testing.T) {
	t.Parallel()
	link := "[word](https://example.org/" + strings.Repeat("p", 60) + ") "
	text := strings.TrimSpace(strings.Repeat(strings.Repeat(link, 100)+"\n\n", 8))
	if got := len(markdown.Split(text, 4096, markdown.TelegramLength)); got > 2 {
		t.Errorf("4,000 visible characters became %d messages", got)
	}
}

func TestSplitRendersEachFenceWhole(t *testing.T) {
	t.Parallel()
	text := "Look:\n\n```go\n" + strings.Repeat("fmt.Println(\"hello\")\n", 900) + "```\n\nDone."
	parts := markdown.Split(text, 4096, markdown.TelegramLength)
	for i, part := range parts {
		out := markdown.Telegram(part)
		if strings.Contains(out, "```") || strings.Count(out, "<pre>") != 1 {
			t.Errorf("part %d shows its fence: %.80q … %q", i, out, out[len(out)-40:])
		}
	}
	if len(parts) < 4 || len(parts) > 7 {
		t.Errorf("%d parts", len(parts))
	}
}

// BenchmarkSplit shows that the cost grows with the length, not faster.
func BenchmarkSplit(b *testing.B) {
	for name, unit := range splitUnits() {
		for _, size := range []int{64 << 10, 1 << 20} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(name+"/"+map[bool]string{true: "64K", false: "1M"}[size < 1<<20], func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					markdown.Split(text, 4096, markdown.TelegramLength)
				}
			})
		}
	}
}

func splitUnits() map[string]string {
	return map[string]string{
		"prose": "Some words *here* and `there`, with a [link](http://x.org). And more.\n\n",
		"word":  "x", "emoji": "👩‍👩‍👧‍👦", "code": "```go\nx := 1\n```\n", "newlines": "a\n", "list": "- item\n",
	}
}

// TestSplitIsNearLinear counts measured bytes, which no machine's speed moves.
func TestSplitIsNearLinear(t *testing.T) {
	t.Parallel()
	for name, unit := range splitUnits() {
		text := strings.Repeat(unit, 1<<20/len(unit))
		measured := 0
		began := time.Now()
		parts := markdown.Split(text, 4096, func(part string) int {
			measured += len(part)
			return markdown.UTF16Length(part)
		})
		if measured > 8*len(text) {
			t.Errorf("%s: %d bytes measured to split %d", name, measured, len(text))
		}
		t.Logf("%s: %d parts, %d× measured, %v", name, len(parts), measured/len(text), time.Since(began))
	}
}
