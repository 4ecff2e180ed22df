package bombs

import (
	"fmt"
	"maps"
	"strings"
)

// Size is what a bomb has at most, in bytes: what nobody means to read.
const Size = 100 << 10

// All are the attacks by name, each as a text of about n bytes.
func All(n int) map[string]string {
	all := map[string]string{}
	for _, unit := range units() {
		all["many "+fmt.Sprintf("%q", unit)] = strings.Repeat(unit, max(1, n/len(unit)))
	}
	maps.Copy(all, nested(n))
	maps.Copy(all, tables(n))
	maps.Copy(all, references(n))
	return all
}

// units are what is costly when it stands there often.
func units() []string {
	return []string{
		"word ", "a", "a\n", "a\n\n", "\n", " ", "\t", "a\r\n\r\n", "\r", "漢", "👩🏽\u200d🚀", "a\u0301\u0301\u0301", "\u202e", "\x00", "\xff",
		"[", "]", "![", "[](", "[a](", "[a](b", "[a](<b", "[a](b \"", "[a][", "[a]", "![a](b)", "[a](b) ", "[a](http://b) ",
		"*", "_", "~", "*a ", "**a ", "_a ", "~~a ", "*a_ ", "**x* ", "*a **b ", "*a* ", "***a** b* ", "a_b_", "a**b c* ",
		"`", "`a", "``a`", "`a` ", "<", "<a ", "<a b=", "a <!-- ", "a <? ", "a <![CDATA[ ", "</a", "<a@b.c", "<http:", "<b>", "<div>\n", "<div>\n\n", "<script>\n\n",
		"&", "&a", "&#1", "&amp;", "\\", "\\[", "\"", "http://a ", "http://a.b/(", "www.a.", "a@b.c ", "a.b@c.",
		"> a\n", "> a\n\n", "- a\n", "- a\n\n", "1. a\n", "- [ ] a\n", "-\n", "- \n\n", "# a\n", "#", "a\n=\n", "---\n", "    a\n", "    a\n\n",
		"```\n", "```a\n```\n", "```go\na\n```\n\n", "~~~\n", "> ```\n> a\n> ```\n", "- ```\n  a\n",
		"|", "a|b\n", "|a|\n|-|\n|b|\n\n", "|-|-|\n", "| \\|", "[a]: b\n", "[a]:\n", "[a\n", "<!channel>", "<@U1> ", "@everyone ",
	}
}

func nested(n int) map[string]string {
	line := strings.Repeat
	return map[string]string{
		"brackets":           line("[", n/2) + "a" + line("]", n/2),
		"links":              line("[", n/6) + "a" + line("](b)", n/6),
		"images":             line("![", n/7) + "a" + line("](b)", n/7),
		"emphasis":           line("*a ", n/4) + line("*", n/4),
		"strong in emphasis": line("*a **a ", n/14) + line("** *", n/8),
		"ticks of each length": grown(n, func(i int) string {
			return line("`", i%3000+1) + "a"
		}),
		"quotes":             line("> ", n/2),
		"quotes, then lines": line("> ", 2000) + "a\n" + line("a\n", n/2),
		"quotes on each":     line(line(">", 100)+"a\n", n/102),
		"quotes growing":     grown(n, func(i int) string { return line(">", i%2000+1) + "a\n\n" }),
		"lists":              line("- ", n/2),
		"lists, then lines":  line("- ", 2000) + "a\n" + line("a\n", n/2),
		"lists at the limit": line("- ", 60) + "a\n" + line("a\n", n/2),
		"quotes at limit":    line("> ", 60) + "a\n" + line("a\n", n/2),
		"lists growing":      grown(n, func(i int) string { return line("  ", i) + "- a\n" }),
		"numbers growing":    grown(n, func(i int) string { return line("   ", i) + "1. a\n\n" }),
		"lists and quotes":   line("> - ", n/4),
		"deep items":         line("- ", 200) + "a\n" + line("\n"+line("  ", 200)+"a\n", n/403),
	}
}

// tables are wide, long, and inside of quotes and lists, where their lines do
// not look like a table's.
func tables(n int) map[string]string {
	all := map[string]string{}
	for _, columns := range []int{40, 50, 51, 400, 2000} {
		for name, in := range map[string][2]string{"": {"", ""}, " in a quote": {"> ", "> "}, " in a list": {"- ", "  "}, " in a number": {"1. ", "   "}, " deep": {"> - > ", ">   > "}} {
			head := in[0] + strings.Repeat("|a", columns) + "|\n" + in[1] + strings.Repeat("|-", columns) + "|\n"
			row := in[1] + "a\n"
			all[fmt.Sprintf("table of %d columns%s", columns, name)] = head + strings.Repeat(row, max(1, (n-len(head))/len(row)))
		}
	}
	all["a header alone"] = strings.Repeat("|a", n/8) + "|\n" + strings.Repeat("|-", n/8) + "|\n" + strings.Repeat("|a", n/8) + "|\n"
	all["many middling tables"] = strings.Repeat(strings.Repeat("|a", 40)+"|\n"+strings.Repeat("|-", 40)+"|\n"+strings.Repeat("a\n", 40)+"\n", max(1, n/244))
	return all
}

// references repeat one long address.
func references(n int) map[string]string {
	all := map[string]string{}
	for _, length := range []int{2000, 8000, n / 2} {
		definition := "[a]: http://x/" + strings.Repeat("y", length) + "\n\n"
		for _, use := range []string{"[a]", "![a]", "[a]\n\n", "[a][a] ", "- [a]\n", "|[a]|[a]|\n"} {
			all[fmt.Sprintf("%q to %d bytes", use, length)] = definition + strings.Repeat(use, max(1, (n-len(definition))/len(use)))
		}
	}
	return all
}

func grown(n int, line func(i int) string) string {
	var out strings.Builder
	for i := 0; out.Len() < n; i++ {
		out.WriteString(line(i))
	}
	return out.String()
}
