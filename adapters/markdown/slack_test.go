package markdown_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"parley/adapters/markdown"
)

func TestSlack(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, source, want string }{
		{"stays", "# A\n\n**b** _c_ <https://x.org> `d` a < b & c", "# A\n\n**b** _c_ <https://x.org> `d` a < b & c"},
		{"notifies nobody", "<!channel> <!here|here> <!EVERYONE> <@U12> <#C1|x> <!subteam^S1>",
			"<\u200b!channel> <\u200b!here|here> <\u200b!EVERYONE> <\u200b@U12> <\u200b#C1|x> <\u200b!subteam^S1>"},
		{"not in code either", "```\n<!channel>\n```", "```\n<\u200b!channel>\n```"},
		{"HTML stays", "`<!DOCTYPE html>` <!-- x --> List<#> <@>", "`<!DOCTYPE html>` <!-- x --> List<#> <@>"},
		{"table", "a\n\n|x|yy|\n|-|-:|\n|ccc|d|\n\nb", "a\n\n```\nx   | yy\n----+---\nccc |  d\n```\n\nb"},
		{"table alone", "|x|y|\n|-|-|", "```\nx | y\n--+--\n```"},
		{"table with ticks", "|x|\n|-|\n|```|", "````\nx\n---\n```\n````"},
		{"two tables", "|a|b|\n|-|-|\n|1|2|\n\n|c|d|\n|-|-|\n|3|4|", "```\na | b\n--+--\n1 | 2\n```\n\n```\nc | d\n--+--\n3 | 4\n```"},
		{"table in a list", "- |a|b|\n  |-|-|\n  |1|2|", "- |a|b|\n  |-|-|\n  |1|2|"},
		{"pipes", "a | b", "a | b"},
		{"invalid UTF-8", "a\xffb", "a\uFFFDb"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := markdown.Slack(test.source); got != test.want {
				t.Errorf("Slack(%q)\n got %q\nwant %q", test.source, got, test.want)
			}
		})
	}
}

func TestSlackMrkdwn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, source, want string }{
		{"plain", "hello world", "hello world"},
		{"escapes", "a < b & c > d", "a &lt; b &amp; c &gt; d"},
		{"notifies nobody", "<!channel> <@U1>", "&lt;!channel&gt; &lt;@U1&gt;"},
		{"emphasis", "*i* **b** ~~s~~", "_i_ *b* ~s~"},
		{"heading and paragraph", "# A\nb\n\nc", "*A*\n\nb\n\nc"},
		{"code", "`a < b`\n\n```go\nx & y\n```", "`a &lt; b`\n\n```\nx &amp; y\n```"},
		{"bullets", "- a\n- b\n  - c\n\nd", "• a\n• b\n  • c\n\nd"},
		{"numbers", "3. a\n4. b", "3. a\n4. b"},
		{"tasks", "- [ ] a\n- [x] b", "• ☐ a\n• ☑ b"},
		{"quote", "> a\n> b\n\nc", ">a\n>b\n\nc"},
		{"nested quote", "> a\n>> b", ">a\n>b"},
		{"table", "|a|b|\n|-|-|\n|1|2|", "```\na | b\n--+--\n1 | 2\n```"},
		{"link", "[a|b](https://x.org/?a=1&b=2)", "<https://x.org/?a=1&amp;b=2|a¦b>"},
		{"auto link", "<https://x.org>", "<https://x.org>"},
		{"link that breaks out", "[<!here>](https://x.org/%3E|x)", "<https://x.org/%3E%7Cx|&lt;!here&gt;>"},
		{"dangerous link", "[a](javascript:alert(1)) [b](slack://x)", "a b"},
		{"image", "![alt](https://x.org/i.png)", "<https://x.org/i.png|alt>"},
		{"raw html", "<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"},
		{"shows nothing", "```\n```", "```\n```"},
		{"blank", " \n ", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := markdown.SlackMrkdwn(test.source); got != test.want {
				t.Errorf("SlackMrkdwn(%q)\n got %q\nwant %q", test.source, got, test.want)
			}
		})
	}
}

// control is what Slack could take for a notification or a mention.
var control = regexp.MustCompile(`(?i)<(!(channel|here|everyone|group|subteam|date)|[@#][a-z0-9])`)

func FuzzSlack(f *testing.F) {
	for _, seed := range []string{
		"<!channel>", "[x](<!here>)", "<<!channel>", "|<!here>|\n|-|\n|a|", "|a|b|\n|-|-|\n|| |\n|x", "```\n<@U1>", "> <@U1>\n- *a*", "[a](https://x|<!channel>)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		block, old := markdown.Slack(source), markdown.SlackMrkdwn(source)
		if found := control.FindString(block); found != "" {
			t.Errorf("%q keeps %q", block, found)
		}
		if found := control.FindString(old); found != "" {
			t.Errorf("mrkdwn %q keeps %q", old, found)
		}
		for name, rendered := range map[string]string{"block": block, "mrkdwn": old} {
			if (strings.TrimFunc(rendered, unicode.IsSpace) == "") != (strings.TrimFunc(strings.ToValidUTF8(source, "\uFFFD"), unicode.IsSpace) == "") {
				t.Errorf("%s shows %q for %q", name, rendered, source)
			}
		}
	})
}

func TestSlackSplitFits(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("|<!channel>|<@U1>|\n|-|-|\n|a|b|\n\ntext & more\n\n```go\nx < y\n```\n\n", 300)
	parts := markdown.Split(text, 2000, markdown.SlackLength)
	if len(parts) < 5 {
		t.Fatalf("%d parts", len(parts))
	}
	for _, part := range parts {
		if n := markdown.SlackLength(part); n > 2000 {
			t.Errorf("a part measures %d", n)
		}
	}
}
