package markdown

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Slack renders Markdown for a Block Kit block of type markdown, whose text
// Slack reads as Markdown itself. What such a block does not know is replaced:
// tables become fixed-width text. What could notify people is defused: see
// [SlackInert]. Everything else stays as it is written.
func Slack(source string) string {
	source = clean(source)
	return SlackInert(withoutTables(source))
}

// SlackLength is the length of [Slack]'s output in UTF-16 code units. Slack
// does not say what it counts; this is never less than its characters.
func SlackLength(source string) int { return UTF16Length(Slack(source)) }

// SlackEscaped is a text that Slack shows as it stands: with the three
// characters escaped that begin its own markup.
func SlackEscaped(plain string) string {
	return slackEscapes().Replace(strings.ToValidUTF8(plain, "\uFFFD"))
}

// A replacer costs more to make than to use on most texts.
var (
	slackEscapes = onceReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;") //nolint:gochecknoglobals // never changed
	slackAddress = onceReplacer("|", "%7C", "<", "%3C", ">", "%3E")     //nolint:gochecknoglobals // never changed
)

func onceReplacer(pairs ...string) func() *strings.Replacer {
	return sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer(pairs...) })
}

// SlackEscapedLength is the length of [SlackEscaped]'s output in UTF-16 code units.
func SlackEscapedLength(plain string) int { return UTF16Length(SlackEscaped(plain)) }

// SlackInert breaks every control sequence of Slack's own markup, by which a
// text could notify a channel or name people, with a zero-width space after
// its bracket. A declaration of HTML, such as <!DOCTYPE html>, is none.
func SlackInert(source string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(source, '<')
		if i < 0 {
			out.WriteString(source)
			return out.String()
		}
		out.WriteString(source[:i+1])
		source = source[i+1:]
		if isSlackControl(source) {
			out.WriteString("\u200b")
		}
	}
}

// isSlackControl reports whether a text that stands behind < is a control
// sequence: a notification, a date, or somebody's or something's id.
func isSlackControl(rest string) bool {
	if rest == "" {
		return false
	}
	if rest[0] == '@' || rest[0] == '#' {
		return len(rest) > 1 && util.IsAlphaNumeric(rest[1])
	}
	for _, word := range []string{"!channel", "!here", "!everyone", "!group", "!subteam", "!date"} {
		if len(rest) >= len(word) && strings.EqualFold(rest[:len(word)], word) {
			return true
		}
	}
	return false
}

// withoutTables replaces the tables that stand at the top level of a document
// by a fence with their columns laid out. A table inside a list or a quote
// keeps its source.
func withoutTables(source string) string {
	if !strings.Contains(source, "|") {
		return source
	}
	raw := []byte(source)
	document := parse(raw)
	if document == nil {
		return source
	}
	var out strings.Builder
	at := 0
	children(document, func(node ast.Node) {
		table, ok := node.(*extast.Table)
		if !ok {
			return
		}
		start, end, ok := tableSpan(table, raw)
		if !ok || start < at {
			return
		}
		out.WriteString(source[at:start])
		out.WriteString(fenced(tableText(table, raw)))
		at = end
	})
	out.WriteString(source[at:])
	return out.String()
}

// tableSpan is the range of source lines that a table stands in: from its
// header to its last row, and at least to the line below the header.
func tableSpan(table *extast.Table, source []byte) (start, end int, ok bool) {
	header, found := textSpan(table.FirstChild(), source)
	if !found {
		return 0, 0, false
	}
	start = lineStart(source, header.Start)
	end = lineEnd(source, header.Stop)
	if end < len(source) {
		end = lineEnd(source, end+1)
	}
	children(table, func(row ast.Node) {
		if span, found := textSpan(row, source); found {
			end = max(end, lineEnd(source, span.Stop))
		}
	})
	return start, end, true
}

// textSpan is the range from a node's first to its last piece of text.
func textSpan(node ast.Node, source []byte) (text.Segment, bool) {
	var spans []text.Segment
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, isText := n.(*ast.Text); isText && entering && t.Segment.Len() > 0 && t.Segment.Stop <= len(source) {
			spans = append(spans, t.Segment)
		}
		return ast.WalkContinue, nil
	})
	if len(spans) == 0 {
		return text.Segment{}, false
	}
	first := slices.MinFunc(spans, func(a, b text.Segment) int { return cmp.Compare(a.Start, b.Start) })
	last := slices.MaxFunc(spans, func(a, b text.Segment) int { return cmp.Compare(a.Stop, b.Stop) })
	return text.NewSegment(first.Start, last.Stop), true
}

func lineStart(source []byte, at int) int {
	return bytes.LastIndexByte(source[:at], '\n') + 1
}

// lineEnd is where the line that holds at ends, before its line break.
func lineEnd(source []byte, at int) int {
	if i := bytes.IndexByte(source[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(source)
}

// fenced puts text into a code fence that nothing in it closes.
func fenced(code string) string {
	longest, run := 0, 0
	for _, r := range code {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", max(3, longest+1))
	return fence + "\n" + code + "\n" + fence
}
