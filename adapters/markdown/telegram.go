package markdown

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// Telegram renders Markdown as the HTML subset that Telegram's Bot API parses:
// headings are bold, lists get bullets or numbers, tables become fixed-width
// text, images become links. A source that shows nothing otherwise, such as an
// empty code block, is shown as it stands.
func Telegram(source string) string { return renderTelegram(source).out.String() }

// TelegramText is what [Telegram]'s output shows, without its formatting and
// without where its links lead.
func TelegramText(source string) string {
	t := telegram{bare: true}
	return t.render(source).out.String()
}

// TelegramLength is the length of [Telegram]'s output as Telegram counts it:
// UTF-16 code units after the tags have been parsed.
func TelegramLength(source string) int { return renderTelegram(source).units }

// TelegramSize is what Telegram bounds in one message.
type TelegramSize struct {
	Units       int // visible UTF-16 code units
	Entities    int // pieces of formatting; those beyond a hundred vanish
	EntityBytes int // what they take with their addresses, at most
}

// entityBytes is what an entity takes besides its address.
const entityBytes = 12

// MeasureTelegram is the size of [Telegram]'s output.
func MeasureTelegram(source string) TelegramSize {
	t := renderTelegram(source)
	return TelegramSize{Units: t.units, Entities: t.entities, EntityBytes: t.entityBytes}
}

// UTF16Length is the number of UTF-16 code units of text.
func UTF16Length(text string) int {
	units := 0
	for _, r := range text {
		units += max(1, utf16.RuneLen(r))
	}
	return units
}

// listIndentMax bounds how far nested lists move to the right, in columns.
const listIndentMax = 16

// telegram writes one document. Nothing is opened inside itself: Telegram has
// no nested quotes, and nested bold is bold.
type telegram struct {
	source                []byte
	used                  map[string]bool // labels of link definitions in use
	out                   strings.Builder
	bare                  bool // write no tags and escape nothing
	units                 int  // visible UTF-16 code units written
	entities, entityBytes int  // see [TelegramSize]
	shown                 bool // something other than white space was written
	gap                   int  // line breaks owed before the next visible thing
	indent                int  // columns each new line begins with
	open                  map[string]bool
}

func renderTelegram(source string) *telegram { return (&telegram{}).render(source) }

func (t *telegram) render(source string) *telegram {
	source = clean(source)
	t.source, t.open = []byte(source), map[string]bool{}
	if root := parse(t.source); root != nil {
		t.used = usedReferences(root)
		t.blocks(root, 2)
	}
	if !t.shown && strings.TrimSpace(source) != "" {
		t = &telegram{bare: t.bare}
		t.text(strings.TrimSpace(source))
	}
	return t
}

// text writes visible text; every line after the first is indented.
func (t *telegram) text(s string) {
	if s == "" {
		return
	}
	t.flush()
	if t.indent > 0 {
		s = strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", t.indent))
	}
	t.verbatim(s)
}

// verbatim writes visible text without indenting its lines.
func (t *telegram) verbatim(s string) {
	t.units += UTF16Length(s)
	t.shown = t.shown || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsSpace(r) })
	if t.bare {
		t.out.WriteString(s)
		return
	}
	writeEscaped(&t.out, s)
}

func writeEscaped(out *strings.Builder, s string) {
	for {
		i := strings.IndexAny(s, `&<>"`)
		if i < 0 {
			out.WriteString(s)
			return
		}
		out.WriteString(s[:i])
		switch s[i] {
		case '&':
			out.WriteString("&amp;")
		case '<':
			out.WriteString("&lt;")
		case '>':
			out.WriteString("&gt;")
		case '"':
			out.WriteString("&quot;")
		}
		s = s[i+1:]
	}
}

func escapeHTML(s string) string {
	var out strings.Builder
	writeEscaped(&out, s)
	return out.String()
}

// owe asks for at least n line breaks before what comes next.
func (t *telegram) owe(n int) { t.gap = max(t.gap, n) }

func (t *telegram) flush() {
	if t.gap > 0 && t.units > 0 {
		t.verbatim(strings.Repeat("\n", t.gap) + strings.Repeat(" ", t.indent))
	}
	t.gap = 0
}

// element writes body inside a tag, unless that tag is open already.
func (t *telegram) element(name, attributes string, body func()) {
	if t.open[name] || t.bare {
		body()
		return
	}
	t.flush()
	t.open[name] = true
	t.entities++
	t.entityBytes += entityBytes + len(attributes)
	t.out.WriteString("<" + name + attributes + ">")
	body()
	t.out.WriteString("</" + name + ">")
	delete(t.open, name)
}

// blocks writes the block children of node, spacing line breaks apart.
func (t *telegram) blocks(node ast.Node, spacing int) {
	children(node, func(child ast.Node) {
		if child.PreviousSibling() != nil {
			t.owe(spacing)
		}
		t.block(child)
	})
}

func (t *telegram) block(node ast.Node) {
	switch n := node.(type) {
	case *ast.Heading:
		t.element("b", "", func() { t.inlines(n) })
	case *ast.FencedCodeBlock:
		t.code(rawLines(n, t.source), string(n.Language(t.source)))
	case *ast.CodeBlock:
		t.code(rawLines(n, t.source), "")
	case *extast.Table:
		t.code(tableText(n, t.source), "")
	case *ast.Blockquote:
		t.quote(n)
	case *ast.List:
		t.list(n)
	case *ast.ThematicBreak:
		t.text("──────────")
	case *ast.HTMLBlock:
		t.text(htmlBlock(n, t.source))
	case *ast.LinkReferenceDefinition:
		if !t.used[util.ToLinkReference(n.Label)] {
			t.text(rawLines(n, t.source))
		}
	default: // paragraphs, and what an extension may add
		t.inlines(n)
	}
}

func htmlBlock(node *ast.HTMLBlock, source []byte) string {
	raw := string(node.Lines().Value(source))
	if node.HasClosure() {
		raw += string(node.ClosureLine.Value(source))
	}
	return strings.TrimRight(raw, "\n")
}

func (t *telegram) code(text, language string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if t.atMarker() {
		t.owe(1)
	}
	body := func() { t.verbatim(text) }
	t.atLeftEdge(func() {
		t.element("pre", "", func() {
			if !isLanguage(language) {
				body()
				return
			}
			t.element("code", ` class="language-`+language+`"`, body)
		})
	})
}

// atLeftEdge writes body without the indentation of the list around it.
func (t *telegram) atLeftEdge(body func()) {
	before := t.indent
	t.indent = 0
	body()
	t.indent = before
}

// atMarker reports whether a list item's marker was just written, beside which
// a block of code would not look right.
func (t *telegram) atMarker() bool {
	return t.indent > 0 && t.gap == 0 && strings.HasSuffix(t.out.String(), " ")
}

func isLanguage(word string) bool {
	const languageMax = 32
	return word != "" && len(word) <= languageMax && !strings.ContainsFunc(word, func(r rune) bool {
		return r >= 0x80 || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+-#._", r)
	})
}

// quote writes a block quote; it begins at the left edge, also inside a list.
func (t *telegram) quote(node *ast.Blockquote) {
	if !node.HasChildren() {
		return
	}
	t.atLeftEdge(func() {
		t.element("blockquote", "", func() { t.blocks(node, 2) })
	})
}

func (t *telegram) list(list *ast.List) {
	number := list.Start
	spacing := 2
	if list.IsTight {
		spacing = 1
	}
	children(list, func(item ast.Node) {
		if item.PreviousSibling() != nil {
			t.owe(spacing)
		}
		marker := "• "
		if list.IsOrdered() {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		t.item(item, marker, spacing)
	})
}

func (t *telegram) item(item ast.Node, marker string, spacing int) {
	before := t.indent
	t.text(marker)
	t.indent = min(before+2, listIndentMax)
	t.blocks(item, spacing)
	t.indent = before
}

func (t *telegram) inlines(node ast.Node) { children(node, t.inline) }

func (t *telegram) inline(node ast.Node) {
	switch n := node.(type) {
	case *ast.Text:
		t.text(textOf(n, t.source))
		if n.SoftLineBreak() || n.HardLineBreak() {
			t.text("\n")
		}
	case *ast.String:
		t.text(string(n.Value))
	case *ast.Emphasis:
		t.element([]string{"i", "b"}[min(n.Level, 2)-1], "", func() { t.inlines(n) })
	case *extast.Strikethrough:
		t.element("s", "", func() { t.inlines(n) })
	case *ast.CodeSpan:
		t.element("code", "", func() { t.text(codeText(n, t.source)) })
	case *ast.Link:
		t.link(n.Destination, visible(n, t.source), func() { t.inlines(n) })
	case *ast.Image:
		t.link(n.Destination, visible(n, t.source), func() { t.text(visible(n, t.source)) })
	case *ast.AutoLink:
		label := string(n.Label(t.source))
		t.link(n.URL(t.source), label, func() { t.text(label) })
	case *ast.RawHTML:
		t.text(string(n.Segments.Value(t.source)))
	case *extast.TaskCheckBox:
		t.text(checkbox(n))
	default:
		t.inlines(n)
	}
}

// telegramAddressMax is the longest address that becomes a link, in bytes. A
// longer one is shown, so that it can be cut like any text.
const telegramAddressMax = 2048

// link writes a link whose text is written by body and reads label.
func (t *telegram) link(dest []byte, label string, body func()) {
	safe, ok := destination(dest)
	switch {
	case ok && strings.TrimSpace(label) == "":
		t.text(safe)
	case len(safe) > telegramAddressMax:
		body()
		t.text(" (" + safe + ")")
	case ok:
		t.element("a", ` href="`+escapeHTML(safe)+`"`, body)
	default:
		body()
		if path, ok := relative(dest); ok && path != label {
			t.text(" (" + path + ")")
		}
	}
}
