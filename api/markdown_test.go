package api

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"parley/adapters/markdown"
	"parley/sessions"
	"parley/test/bombs"
)

func TestMarkdownForThePage(t *testing.T) {
	t.Parallel()
	r := newRenderer()
	for source, want := range map[string]string{
		"**b** *i* ~~s~~ `c`":              "<p><strong>b</strong> <em>i</em> <del>s</del> <code>c</code></p>\n",
		"a\nb":                             "<p>a<br>\nb</p>\n",
		"# Head":                           "<h1>Head</h1>\n",
		"```go\na < b\n```":                "<pre><code class=\"language-go\">a &lt; b\n</code></pre>\n",
		"```go\nopen":                      "<pre><code class=\"language-go\">open\n</code></pre>\n",
		"<script>alert(1)</script>":        "<pre>&lt;script&gt;alert(1)&lt;/script&gt;</pre>\n",
		"a <b onclick=x>b</b>":             "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>\n",
		"![alt](https://e.example/i.png)":  `<p><a href="https://e.example/i.png" rel="nofollow noreferrer noopener" target="_blank">image: alt</a></p>` + "\n",
		"[x](javascript:alert(1))":         "<p>x</p>\n",
		"[x](data:text/html,x)":            "<p>x</p>\n",
		"[x](//e.example)":                 "<p>x</p>\n",
		"https://e.example":                `<p><a href="https://e.example" rel="nofollow noreferrer noopener" target="_blank">https://e.example</a></p>` + "\n",
		"- [x] done":                       "<ul>\n<li><input checked=\"\" disabled=\"\" type=\"checkbox\"> done</li>\n</ul>\n",
		"|a|\n|-:|\n|1|":                   "<table>\n<thead>\n<tr>\n<th align=\"right\">a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td align=\"right\">1</td>\n</tr>\n</tbody>\n</table>\n",
		"\xff":                             "<p>\uFFFD</p>\n",
		"":                                 "",
		"```\" onmouseover=\"x\ncode\n```": "<pre><code>code\n</code></pre>\n",
		"<div>\n\n*text*\n\n</div>":        "<pre>&lt;div&gt;\n</pre>\n<p><em>text</em></p>\n<pre>&lt;/div&gt;</pre>\n",
		"<!-- a comment -->\nafter":        "<pre>&lt;!-- a comment --&gt;\n</pre>\n<p>after</p>\n",
		"&lt;script&gt;":                   "<p>&lt;script&gt;</p>\n",
		"[x]: https://e.example\n\n[x] and [y][]": `<p><a href="https://e.example" rel="nofollow noreferrer noopener" target="_blank">x</a> and [y][]</p>` + "\n",
	} {
		if got := r.whole(source); got != want {
			t.Errorf("%q\n got %q\nwant %q", source, got, want)
		}
	}
}

func TestCostlyMarkdownIsShownAsItStands(t *testing.T) {
	t.Parallel()
	r := newRenderer()
	for _, source := range []string{strings.Repeat("*a_", markdown.ParagraphMax/3+1), strings.Repeat("**b**\n\n", markdown.SourceMax/7+1)} {
		if got := r.whole(source); got != "<pre>"+source+"</pre>" {
			t.Errorf("%d bytes are rendered as %.40q", len(source), got)
		}
	}
	if got := r.whole(strings.Repeat("<", 1<<20)); len(got) > renderedMax || !strings.HasSuffix(got, "&lt;…</pre>") {
		t.Errorf("a very long text is %d bytes, and ends with %q", len(got), got[len(got)-20:])
	}
	if got := r.whole(strings.Repeat("**b**\n\n", 1000)); !strings.Contains(got, "<strong>") {
		t.Errorf("a long text is rendered as %.40q", got)
	}
}

// No text costs the page much, whoever had it written: an answer in the log is
// rendered whenever somebody looks at it.
func TestNoTextCostsThePageMuch(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	r := newRenderer()
	bombs.Defuse(t, renderedMax, func(source string) int { return len(r.whole(source)) })
}

// active reports the first thing in a piece of HTML that runs, loads or leads
// astray.
func active(source string) string {
	allowed := " p br hr h1 h2 h3 h4 h5 h6 blockquote ul ol li em strong del code pre table thead tbody tr th td a input "
	tokens := html.NewTokenizer(strings.NewReader(source))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			token := tokens.Token()
			if !strings.Contains(allowed, " "+token.Data+" ") {
				return token.String()
			}
			for _, attribute := range token.Attr {
				value := strings.ToLower(strings.TrimSpace(attribute.Val))
				switch {
				case strings.HasPrefix(attribute.Key, "on"), attribute.Key == "style", attribute.Key == "src", attribute.Key == "id", attribute.Key == "name":
					return token.String()
				case attribute.Key == "href" && (strings.HasPrefix(value, "javascript:") || strings.HasPrefix(value, "data:") || strings.HasPrefix(value, "vbscript:")):
					return token.String()
				}
			}
		}
	}
}

func FuzzMarkdownIsSafe(f *testing.F) {
	for _, seed := range []string{"<script>x</script>", "[a](javascript:x)", "![a](x \"t\")", "<img src=x onerror=y>", "```\n</code><script>", "<a href='jav&#x61;script:x'>", "[x](<javascript:a> \"q\")", "<svg><style><img src=x>", "|a|\n|-|\n|<b>|", "- [ ] <i>", "<!--><script>-->"} {
		f.Add(seed)
	}
	r := newRenderer()
	f.Fuzz(func(t *testing.T, source string) {
		if found := active(r.whole(source)); found != "" {
			t.Fatalf("%q renders %s", source, found)
		}
	})
}

func FuzzMarkdownCostsLittle(f *testing.F) {
	for _, source := range bombs.All(2 << 10) {
		f.Add(source)
	}
	r := newRenderer()
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > bombs.Size {
			return
		}
		var out string
		if allocated := bombs.Allocated(func() { out = r.whole(source) }); allocated > bombs.AllocatedMax || len(out) > renderedMax {
			t.Fatalf("%d bytes of source, %d allocated, %d given out", len(source), allocated, len(out))
		}
	})
}

// What a page puts together from the changed blocks of a growing draft is at
// every moment the rendering of what is known so far.
func TestDraftsGrowIntoTheWhole(t *testing.T) {
	t.Parallel()
	r := newRenderer()
	rapid.Check(t, func(rt *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"# h\n", "\n", "word ", "**bold", "** ", "```\n", "- item\n", "1. x\n", "> q\n", "|a|b|\n|-|-|\n", "é€", "<b>", "[l](http://x)"}), 1, 30).Draw(rt, "pieces")
		var d draft
		var page []string
		text := ""
		for _, piece := range pieces {
			delta, ok := d.add(sessions.LiveEvent{Epoch: 1, Offset: len(text), Text: piece})
			if text += piece; !ok || delta.Text != piece {
				rt.Fatalf("%+v %v", delta, ok)
			}
			from, blocks := d.changed(r)
			page = append(page[:from], blocks...)
			if got, want := strings.Join(page, ""), r.whole(text); got != want {
				rt.Fatalf("%q\n got %q\nwant %q", text, got, want)
			}
		}
	})
}

func TestDraftsOfOtherTurnsAndPlaces(t *testing.T) {
	t.Parallel()
	var d draft
	add := func(epoch int64, offset int, text string) bool {
		_, ok := d.add(sessions.LiveEvent{Epoch: epoch, Offset: offset, Text: text})
		return ok
	}
	for _, step := range []struct {
		epoch  int64
		offset int
		text   string
		ok     bool
		want   string
		base   int
	}{
		{2, 0, "hello ", true, "hello ", 0},
		{2, 6, "world", true, "hello world", 0},
		{1, 11, "old", false, "hello world", 0},
		{2, 6, "there", true, "hello there", 0},
		{2, 20, "gap", true, "gap", 20},
		{2, 0, "again", true, "again", 0},
		{2, -1, "x", false, "again", 0},
		{3, 4, "late", true, "late", 4},
	} {
		if ok := add(step.epoch, step.offset, step.text); ok != step.ok || d.text != step.want || d.base != step.base {
			t.Errorf("%+v: %v %q at %d", step, ok, d.text, d.base)
		}
	}
	add(4, 0, strings.Repeat("x", draftMax))
	if add(4, draftMax, "more"); len(d.text) != draftMax {
		t.Errorf("a draft of %d bytes", len(d.text))
	}
}
