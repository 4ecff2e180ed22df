package markdown_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"parley/adapters/markdown"
)

func TestClose(t *testing.T) {
	t.Parallel()
	tests := []struct{ partial, want string }{
		{"", ""},
		{"done **bold** and `code`.", "done **bold** and `code`."},
		{"some **bo", "some **bo**"},
		{"some **bold and *it", "some **bold and *it***"},
		{"some ***bo", "some ***bo***"},
		{"some ~~gone", "some ~~gone~~"},
		{"a `co", "a `co`"},
		{"a ``co`d", "a ``co`d``"},
		{"a `*` b", "a `*` b"},
		{"snake_case_name", "snake_case_name"},
		{"- item\n* other", "- item\n* other"},
		{"- **x", "- **x**"},
		{"a **", "a "},
		{"**a *b* c", "**a *b* c**"},
		{"see [the docs](http://exa", "see the docs"},
		{"see [the docs](http://x.org) now", "see [the docs](http://x.org) now"},
		{"```go\nx", "```go\nx\n```"},
		{"```go\nx\n", "```go\nx\n```"},
		{"```go\nx\n``", "```go\nx\n```"},
		{"```go\nx\n```", "```go\nx\n```"},
		{"text\n```g", "text\n"},
		{"```\n**a\n```\nb **c", "```\n**a\n```\nb **c**"},
		{"**a\n\nb", "**a\n\nb"},
		{`\*a`, `\*a`},
	}
	for _, test := range tests {
		if got := markdown.Close(test.partial); got != test.want {
			t.Errorf("Close(%q) = %q, want %q", test.partial, got, test.want)
		}
	}
}

// Every prefix of an answer must show without a loose fence or a begun link.
func TestCloseEveryPrefix(t *testing.T) {
	t.Parallel()
	text := "# Title\n\nSome **bold *and* more** text, `code`.\n\n1. one\n   ```py\n   x = `1`\n   ```\n2. [two](http://x.org/y)\n\n> ```\n> q\n> ```\n\nend"
	for i := range text {
		out := markdown.Telegram(markdown.Close(text[:i]))
		if strings.Contains(out, "```") || strings.Contains(out, "](") || strings.Contains(out, "**") {
			t.Errorf("prefix %q shows %q", text[:i], out)
		}
	}
}

func FuzzClose(f *testing.F) {
	f.Add("a **b `c\n```\nx")
	f.Add("[a](b")
	f.Fuzz(func(t *testing.T, partial string) {
		got := markdown.Close(partial)
		if utf8.ValidString(partial) && !utf8.ValidString(got) {
			t.Fatalf("Close(%q) = %q", partial, got)
		}
		if len(got) > 2*len(partial)+8 {
			t.Fatalf("Close(%q) grew to %d bytes", partial, len(got))
		}
	})
}
