package markdown

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// Discord renders Markdown in Discord's own dialect of it: tables become
// fixed-width code, headings below the third level bold text, images links,
// and what would mean something to Discord but nothing in CommonMark (spoilers,
// underlining, small print) is escaped. A source that shows nothing otherwise
// is shown as it stands.
func Discord(source string) string {
	source = clean(source)
	d := &discord{source: []byte(source)}
	if root := parse(d.source); root != nil {
		d.used = usedReferences(root)
		d.blocks(root, 2)
	}
	out := strings.TrimRight(d.out.String(), "\n")
	if strings.TrimSpace(out) == "" && strings.TrimSpace(source) != "" {
		return escapeDiscord(strings.TrimSpace(source), true)
	}
	return out
}

// DiscordLength is the length of [Discord]'s output as Discord counts it, in
// UTF-16 code units: the markup counts.
func DiscordLength(source string) int { return UTF16Length(Discord(source)) }

// DiscordPlain shows a text in Discord exactly as it stands.
func DiscordPlain(text string) string {
	return escapeDiscord(strings.ToValidUTF8(text, "\uFFFD"), true)
}

// DiscordPlainLength is the length of [DiscordPlain]'s output.
func DiscordPlainLength(text string) int { return UTF16Length(DiscordPlain(text)) }

// discord writes one document. prefix begins every line: quote markers and the
// indentation of lists.
type discord struct {
	source []byte
	used   map[string]bool
	out    strings.Builder
	prefix string
	gap    int  // line breaks owed before the next visible thing
	fresh  bool // nothing stands in the current line yet but its prefix
	quoted bool // Discord has no nested quotes
}

func (d *discord) owe(n int) { d.gap = max(d.gap, n) }

// flush writes the owed line breaks, each new line with its prefix.
func (d *discord) flush() {
	if d.out.Len() == 0 {
		d.out.WriteString(d.prefix)
		d.fresh = true
	} else if d.gap > 0 {
		d.out.WriteString(strings.Repeat("\n"+strings.TrimRight(d.prefix, " "), d.gap-1) + "\n" + d.prefix)
		d.fresh = true
	}
	d.gap = 0
}

// raw writes markup or text that needs no escaping; it contains no line break.
func (d *discord) raw(s string) {
	if s == "" {
		return
	}
	d.flush()
	d.out.WriteString(s)
	d.fresh = false
}

// text writes visible text, escaped where Discord would read markup in it.
func (d *discord) text(s string) {
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			d.owe(1)
			d.flush()
		}
		if line == "" {
			continue
		}
		d.flush()
		d.out.WriteString(escapeDiscord(line, d.fresh))
		d.fresh = false
	}
}

func (d *discord) blocks(node ast.Node, spacing int) {
	children(node, func(child ast.Node) {
		if child.PreviousSibling() != nil {
			d.owe(spacing)
		}
		d.block(child)
	})
}

func (d *discord) block(node ast.Node) {
	switch n := node.(type) {
	case *ast.Heading:
		d.heading(n)
	case *ast.FencedCodeBlock:
		d.code(rawLines(n, d.source), string(n.Language(d.source)))
	case *ast.CodeBlock:
		d.code(rawLines(n, d.source), "")
	case *extast.Table:
		d.code(tableText(n, d.source), "")
	case *ast.Blockquote:
		d.quote(n)
	case *ast.List:
		d.list(n)
	case *ast.ThematicBreak:
		d.raw("──────────")
	case *ast.HTMLBlock:
		d.text(htmlBlock(n, d.source))
	case *ast.LinkReferenceDefinition:
		if !d.used[util.ToLinkReference(n.Label)] {
			d.text(rawLines(n, d.source))
		}
	default: // paragraphs, and what an extension may add
		d.inlines(n)
	}
}

// headingMax is the deepest heading that Discord has.
const headingMax = 3

func (d *discord) heading(n *ast.Heading) {
	if visible(n, d.source) == "" {
		return
	}
	if n.Level <= headingMax && d.prefix == "" {
		d.raw(strings.Repeat("#", n.Level) + " ")
		d.inlines(n)
		return
	}
	d.raw("**")
	d.text(visible(n, d.source))
	d.raw("**")
}

// code writes a fenced block with a fence longer than any in it. In a list it
// stands at the left edge.
func (d *discord) code(text, language string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	before := d.prefix
	if !d.quoted {
		d.prefix = ""
	}
	if d.out.Len() > 0 {
		d.owe(1)
	}
	if !isLanguage(language) {
		language = ""
	}
	d.raw("```" + language)
	// Discord knows only fences of three; a zero-width space breaks one inside.
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "```", "`\u200B`\u200B`"), "\n") {
		d.owe(1)
		d.flush()
		d.out.WriteString(line)
	}
	d.fresh = false
	d.owe(1)
	d.raw("```")
	d.prefix = before
	d.owe(1)
}

func (d *discord) quote(n *ast.Blockquote) {
	if !n.HasChildren() {
		return
	}
	if d.quoted {
		d.blocks(n, 2)
		return
	}
	before := d.prefix
	if d.out.Len() > 0 {
		d.owe(1)
	}
	d.prefix, d.quoted = "> ", true
	d.blocks(n, 2)
	d.prefix, d.quoted = before, false
	d.owe(1)
}

func (d *discord) list(list *ast.List) {
	number, spacing := list.Start, 2
	if list.IsTight {
		spacing = 1
	}
	children(list, func(item ast.Node) {
		if item.PreviousSibling() != nil {
			d.owe(spacing)
		}
		marker := "- "
		if list.IsOrdered() {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		d.raw(marker)
		d.fresh = true
		before := d.prefix
		if len(before) < listIndentMax {
			d.prefix += strings.Repeat(" ", len(marker))
		}
		d.blocks(item, spacing)
		d.prefix = before
		d.fresh = false
	})
}

// inlines writes inline content. Text that the parser has cut up is put
// together again, since what has to be escaped depends on its neighbours.
func (d *discord) inlines(node ast.Node) {
	var run strings.Builder
	flush := func() {
		d.text(run.String())
		run.Reset()
	}
	children(node, func(child ast.Node) {
		text, ok := child.(*ast.Text)
		if !ok {
			flush()
			d.inline(child)
			return
		}
		run.WriteString(textOf(text, d.source))
		if text.SoftLineBreak() || text.HardLineBreak() {
			flush()
			d.owe(1)
		}
	})
	flush()
}

func (d *discord) inline(node ast.Node) {
	switch n := node.(type) {
	case *ast.String:
		d.text(string(n.Value))
	case *ast.Emphasis:
		d.wrapped([]string{"*", "**"}[min(n.Level, 2)-1], n)
	case *extast.Strikethrough:
		d.wrapped("~~", n)
	case *ast.CodeSpan:
		d.codeSpan(codeText(n, d.source))
	case *ast.Link:
		d.link(n.Destination, visible(n, d.source), func() { d.inlines(n) })
	case *ast.Image:
		label := visible(n, d.source)
		d.link(n.Destination, label, func() { d.text(label) })
	case *ast.AutoLink:
		label := string(n.Label(d.source))
		if _, ok := destination(n.URL(d.source)); ok {
			d.raw(label)
			return
		}
		d.text(label)
	case *ast.RawHTML:
		d.text(string(n.Segments.Value(d.source)))
	case *extast.TaskCheckBox:
		d.raw(checkbox(n))
	default:
		d.inlines(n)
	}
}

func (d *discord) wrapped(marker string, node ast.Node) {
	d.raw(marker)
	d.inlines(node)
	d.raw(marker)
}

// codeSpan writes code in as many back-ticks as it needs; Discord knows one
// and two.
func (d *discord) codeSpan(code string) {
	switch {
	case !strings.Contains(code, "`"):
		d.raw("`" + code + "`")
	case !strings.Contains(code, "``"):
		d.raw("`` " + code + " ``")
	default:
		d.text(code)
	}
}

// link writes a link whose text is written by body and reads label. Discord
// does not open a link whose text looks like another address, so that is not
// used as its text.
func (d *discord) link(dest []byte, label string, body func()) {
	safe, ok := destination(dest)
	switch {
	case ok && (strings.TrimSpace(label) == "" || label == safe):
		d.raw(safe)
	case ok && !strings.Contains(label, "://"):
		d.raw("[")
		body()
		d.raw("](" + discordAddress().Replace(safe) + ")")
	case ok:
		body()
		d.raw(" (" + safe + ")")
	default:
		body()
		if path, ok := relative(dest); ok && path != label {
			d.text(" (" + path + ")")
		}
	}
}

var discordAddress = onceReplacer("(", "%28", ")", "%29", " ", "%20") //nolint:gochecknoglobals // never changed

// escapeDiscord puts a backslash before what Discord would read as markup. An
// address is left alone, since a backslash would become part of it. first says
// that text begins a line.
func escapeDiscord(text string, first bool) string {
	var out strings.Builder
	lineStart := first
	for i := 0; i < len(text); {
		if n := addressLength(text, i); n > 0 {
			out.WriteString(text[i : i+n])
			i, lineStart = i+n, false
			continue
		}
		c := text[i]
		if strings.IndexByte("\\*~`|[", c) >= 0 || c == '_' && !insideWord(text, i) || lineStart && opensBlock(text[i:]) {
			if digits := leadingDigits(text[i:]); lineStart && digits > 0 {
				out.WriteString(text[i : i+digits])
				i += digits
				c = text[i]
			}
			out.WriteByte('\\')
		}
		out.WriteByte(c)
		lineStart = c == '\n' || lineStart && (c == ' ' || c == '\t')
		i++
	}
	return out.String()
}

// addressLength is the length of the web address at text[i:], or 0.
func addressLength(text string, i int) int {
	if !strings.HasPrefix(text[i:], "http://") && !strings.HasPrefix(text[i:], "https://") {
		return 0
	}
	if end := strings.IndexFunc(text[i:], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<>|*`[]", r) }); end >= 0 {
		return end
	}
	return len(text) - i
}

// insideWord reports whether the underscore at i joins a word, where Discord
// sees no markup; two in a row always are.
func insideWord(text string, i int) bool {
	left, _ := utf8.DecodeLastRuneInString(text[:i])
	right, _ := utf8.DecodeRuneInString(text[i+1:])
	return isWord(left) && isWord(right)
}

// opensBlock reports whether a line that begins so would be a heading, small
// print, a quote or a list item.
func opensBlock(line string) bool {
	if n := leadingDigits(line); n > 0 {
		return strings.HasPrefix(line[n:], ". ")
	}
	return line[0] == '>' || line[0] == '#' || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "-#") || strings.HasPrefix(line, "+ ")
}

func leadingDigits(text string) int {
	return len(text) - len(strings.TrimLeft(text, "0123456789"))
}
