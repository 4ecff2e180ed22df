package markdown_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"parley/adapters/markdown"
)

func TestDiscord(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, source, want string }{
		{"plain", "hello world", "hello world"},
		{"emphasis", "*i* _i_ **b** __b__ ~~s~~ ***both***", "*i* *i* **b** **b** ~~s~~ ***both***"},
		{"headings", "# A\n\n### C\n\n#### D *e*\n\ntext", "# A\n\n### C\n\n**D e**\n\ntext"},
		{"line breaks stay", "a\nb\\\nc  \nd", "a\nb\nc\nd"},
		{"escapes", `\*a\* 2 * 3 ||x|| a|b ~ x`, `\*a\* 2 \* 3 \|\|x\|\| a\|b \~ x`},
		{"words", "snake_case_name _x", `snake_case_name \_x`},
		{"address", "see https://x.org/a_b_c*d and **https://x.org/_a**", "see https://x.org/a_b_c\\*d and **https://x.org/_a**"},
		{"not markup here", "\\# a\n\\> b\n\\- c\n1\\. d\n\\-# e", "\\# a\n\\> b\n\\- c\n1\\. d\n\\-# e"},
		{"code span", "run `a *b* c`", "run `a *b* c`"},
		{"ticks in code", "``a`b``", "`` a`b ``"},
		{"fence", "a\n```go\nif *x* < 1 {}\n```\nb", "a\n\n```go\nif *x* < 1 {}\n```\n\nb"},
		{"fence in a fence", "````\n```\nx\n```\n````", "```\n`\u200B`\u200B`\nx\n`\u200B`\u200B`\n```"},
		{"indented code", "    x\n    y", "```\nx\ny\n```"},
		{"bullets", "* a\n* b\n  * c\n\nd", "- a\n- b\n  - c\n\nd"},
		{"numbers", "3. a\n4. b\n   more", "3. a\n4. b\n   more"},
		{"loose list", "- a\n\n- b", "- a\n\n- b"},
		{"tasks", "- [ ] a\n- [x] b", "- ☐ a\n- ☑ b"},
		{"code in a list", "- a\n  ```\n  x\n  ```\n- b", "- a\n```\nx\n```\n- b"},
		{"quote", "> a\n> b\n\nc", "> a\n> b\n\nc"},
		{"quote of two paragraphs", "> a\n>\n> b", "> a\n>\n> b"},
		{"nested quote", "> a\n>> b\n\nc", "> a\n>\n> b\n\nc"},
		{"list in a quote", "> - a\n> - b", "> - a\n> - b"},
		{"fence in a quote", "> ```\n> x\n> ```", "> ```\n> x\n> ```"},
		{"rule", "a\n\n---\n\nb", "a\n\n──────────\n\nb"},
		{"table", "|a|bb|\n|-|-:|\n|ccc|d|", "```\na   | bb\n----+---\nccc |  d\n```"},
		{"link", "[a *b*](https://x.org/p(q) \"t\")", "[a *b*](https://x.org/p%28q%29)"},
		{"link that shows itself", "[https://x.org](https://x.org) <https://y.org>", "https://x.org https://y.org"},
		{"link that shows another", "[https://bank.example](https://x.org)", "https://bank.example (https://x.org)"},
		{"dangerous links", "[a](javascript:alert(1)) [b](discord://x)", "a b"},
		{"image", "![alt](https://x.org/i.png) ![](https://x.org/j.png)", "[alt](https://x.org/i.png) https://x.org/j.png"},
		{"raw html", "<b>x</b>", "<b>x</b>"},
		{"mention syntax", "<@123> @everyone", "<@123> @everyone"},
		{"nothing to show", "```\n```", "\\`\\`\\`\n\\`\\`\\`"},
		{"empty", " \n", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := markdown.Discord(test.source); got != test.want {
				t.Errorf("Discord(%q)\n got %q\nwant %q", test.source, got, test.want)
			}
		})
	}
}

func TestDiscordPlain(t *testing.T) {
	t.Parallel()
	const source = "# not *bold* `x`\n> _y_\n1. z https://x.org/_a_"
	const want = "\\# not \\*bold\\* \\`x\\`\n\\> \\_y\\_\n1\\. z https://x.org/_a_"
	if got := markdown.DiscordPlain(source); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzDiscord(f *testing.F) {
	for _, seed := range []string{"a *b* [c](https://d)", "```\nx\n``", "> - 1. #", "|a|\n|-|\n|b|", "\\", "\xff", "1.", "> ```\n> x", "http://_[x](http://y)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 4<<10 {
			return // the parser takes its time for hostile sources
		}
		for _, render := range []func(string) string{markdown.Discord, markdown.DiscordPlain} {
			out := render(source)
			if !utf8.ValidString(out) {
				t.Fatalf("invalid UTF-8: %q", out)
			}
			if strings.TrimSpace(strings.ToValidUTF8(source, "?")) != "" && strings.TrimSpace(out) == "" {
				t.Fatalf("%q shows nothing: %q", source, out)
			}
		}
		const limit = 50
		for _, part := range markdown.Split(source, limit, markdown.DiscordLength) {
			if strings.TrimSpace(part) == "" {
				t.Fatalf("a blank part of %q", source)
			}
			if n := markdown.DiscordLength(part); n > limit {
				t.Fatalf("a part of %q has %d: %q", source, n, part)
			}
		}
	})
}
