package markdown_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"parley/adapters/markdown"
)

func TestTelegram(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, source, want string }{
		{"plain", "hello world", "hello world"},
		{"escapes", `a < b & c > d "e"`, "a &lt; b &amp; c &gt; d &quot;e&quot;"},
		{"backslash and entity, once", `\*a\* &amp;lt; \&amp;`, "*a* &amp;lt; &amp;amp;"},
		{"emphasis", "*i* **b** ~~s~~ ***both***", "<i>i</i> <b>b</b> <s>s</s> <i><b>both</b></i>"},
		{"bold in a heading once", "# A **B** *c*", "<b>A B <i>c</i></b>"},
		{"heading and paragraph", "# A\nb\n\nc", "<b>A</b>\n\nb\n\nc"},
		{"line breaks stay", "a\nb\\\nc  \nd", "a\nb\nc\nd"},
		{"code span", "run `a < *b*`", "run <code>a &lt; *b*</code>"},
		{"fence", "```go\nif a < b {\n}\n```", "<pre><code class=\"language-go\">if a &lt; b {\n}</code></pre>"},
		{"fence without language", "```\nx\n```\nafter", "<pre>x</pre>\n\nafter"},
		{"fence with a bad language", "```\"><b>\nx\n```", "<pre>x</pre>"},
		{"fence of another system", "```\r\nx\r\ny\r\n```\r\nafter", "<pre>x\ny</pre>\n\nafter"},
		{"indented code", "    x\n    y", "<pre>x\ny</pre>"},
		{"bullets", "- a\n- b\n  - c\n\nd", "• a\n• b\n  • c\n\nd"},
		{"numbers", "3. a\n4. b\n   more", "3. a\n4. b\n  more"},
		{"loose list", "- a\n\n- b", "• a\n\n• b"},
		{"tasks", "- [ ] a\n- [x] b", "• ☐ a\n• ☑ b"},
		{"code in a list", "- a\n  ```\n  x\n  y\n  ```\n- b", "• a\n<pre>x\ny</pre>\n• b"},
		{"quote", "> a\n> b\n\nc", "<blockquote>a\nb</blockquote>\n\nc"},
		{"nested quote", "> a\n>> b", "<blockquote>a\n\nb</blockquote>"},
		{"rule", "a\n\n---\n\nb", "a\n\n──────────\n\nb"},
		{"table", "|a|bb|\n|-|-:|\n|ccc|d|", "<pre>a   | bb\n----+---\nccc |  d</pre>"},
		{"wide characters in a table", "|日本|b|\n|-|-|\n|c|d|", "<pre>日本 | b\n-----+--\nc    | d</pre>"},
		{"link with title", `[a *b*](https://x.org/?a=1&b=2 "title")`, `<a href="https://x.org/?a=1&amp;b=2">a <i>b</i></a>`},
		{"reference", "[a][r] [b]\n\n[r]: http://x.org\n[q]: http://y.org", "<a href=\"http://x.org\">a</a> [b]\n\n[q]: http://y.org"},
		{"image", "![alt](http://x.org/i.png)", `<a href="http://x.org/i.png">alt</a>`},
		{"image without text", "![](http://x.org/i.png)", "http://x.org/i.png"},
		{"image in a link", "[![alt](http://x.org/i.png)](http://y.org)", `<a href="http://y.org">alt</a>`},
		{"auto link", "<http://x.org>", `<a href="http://x.org">http://x.org</a>`},
		{"dangerous links", "[a](javascript:alert(1)) [b](data:text/html,x) [c](tg://user?id=1) [d](JaVaScRiPt:x) [e](vbscript:x)", "a b c d e"},
		{"relative link", "[docs](docs/a.md)", "docs (docs/a.md)"},
		{"raw html", "<b>x</b> <script>\n\n<div>\ny\n</div>", "&lt;b&gt;x&lt;/b&gt; &lt;script&gt;\n\n&lt;div&gt;\ny\n&lt;/div&gt;"},
		{"comment", "<!-- hi -->", "&lt;!-- hi --&gt;"},
		{"shows nothing", "```\n```", "```\n```"},
		{"unfinished", "**a `b", "**a `b"},
		{"invalid UTF-8", "a\xffb", "a\uFFFDb"},
		{"blank", " \n ", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := markdown.Telegram(test.source); got != test.want {
				t.Errorf("Telegram(%q)\n got %q\nwant %q", test.source, got, test.want)
			}
		})
	}
}

var tag = regexp.MustCompile(`<[^>]*>`)

// FuzzTelegram holds the renderer to its promises: valid UTF-8, a length equal
// to the visible text's, and nothing blank out of something.
func FuzzTelegram(f *testing.F) {
	for _, seed := range []string{"# a\n> - b\n```go\nx", "|a|b|\n|-|-|\n|c|", "[a](javascript:x) ![b](http://c)", "1. x\n   ```\ny", "<b>&lt;", "**a *b** c*", "- - - > a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		out := markdown.Telegram(source)
		if !utf8.ValidString(out) {
			t.Fatalf("not UTF-8: %q", out)
		}
		shown := html.UnescapeString(tag.ReplaceAllString(out, ""))
		if got, want := markdown.TelegramLength(source), markdown.UTF16Length(shown); got != want && !strings.ContainsRune(source, 0) && !strings.ContainsRune(source, '\r') {
			t.Fatalf("length %d, visible text has %d: %q", got, want, out)
		}
		if strings.TrimSpace(source) != "" && utf8.ValidString(source) && !visible(shown) {
			t.Fatalf("%q shows nothing: %q", source, out)
		}
		if strings.Contains(strings.ToLower(out), `href="javascript`) {
			t.Fatalf("dangerous link: %q", out)
		}
	})
}

func visible(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsSpace(r) })
}

func TestTelegramBoundsHostileSources(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"> ", "[a](", "1. ", "|a", "- ", "*a_b", "`", "[", "&"} {
		source := strings.Repeat(unit, 2<<20/len(unit))
		if got := markdown.TelegramLength(source); got < len(source)/2 {
			t.Errorf("%q: %d units of %d bytes shown", unit, got, len(source))
		}
	}
	wide := strings.Repeat("|a", 1000) + "|\n" + strings.Repeat("|-", 1000) + "|\n" + strings.Repeat("x\n", 2000)
	if got := len(markdown.Telegram(wide)); got > 10*len(wide) {
		t.Errorf("a wide table of %d bytes becomes %d", len(wide), got)
	}
}
