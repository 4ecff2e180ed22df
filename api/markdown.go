package api

import (
	"bufio"
	"bytes"
	"html"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	gmrenderer "github.com/yuin/goldmark/renderer"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"parley/adapters/markdown"
)

// renderedMax is how much HTML a text may become, in bytes. What would be more,
// or would cost too much to read, is shown as it stands.
const renderedMax = 1 << 20

// blocksMax is into how many blocks a text is divided; each has its price.
const blocksMax = 500

// renderer turns Markdown into HTML that is safe to put into a page: HTML in
// the source shows as text, images become links, only http, https and mailto
// links work, and a sanitizer goes over the result as a second net. All
// methods may be called from any goroutine.
type renderer struct {
	reader *markdown.Reader
	html   gmrenderer.Renderer
	policy *bluemonday.Policy
}

func newRenderer() *renderer {
	extensions := []goldmark.Extender{
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		extension.Strikethrough, extension.Linkify, extension.TaskList,
	}
	return &renderer{
		reader: markdown.NewReader(extensions...),
		html: goldmark.New(goldmark.WithExtensions(extensions...), goldmark.WithRendererOptions(
			gmhtml.WithHardWraps(), // in a chat a new line is meant
			gmrenderer.WithNodeRenderers(util.Prioritized(asText{}, 100)))).Renderer(),
		policy: pagePolicy(),
	}
}

// whole renders a text in one piece.
func (r *renderer) whole(text string) string {
	return strings.Join(r.blocks(text), "")
}

// blocks renders a text block by block: a growing text changes its last
// blocks only, as a rule. Joined they are the whole.
func (r *renderer) blocks(text string) []string {
	source := []byte(validText(text))
	document, ok := r.reader.Read(source)
	if !ok {
		return asItStands(source)
	}
	var blocks []string
	var out bytes.Buffer
	written := bufio.NewWriter(&out)
	room := renderedMax
	for block := document.FirstChild(); block != nil; block = block.NextSibling() {
		if err := r.html.Render(written, source, block); err != nil || out.Len() > room {
			return asItStands(source)
		}
		if len(blocks) >= blocksMax && block.NextSibling() != nil {
			continue // what is left is one
		}
		clean := r.policy.Sanitize(out.String())
		if room -= len(clean); room < 0 {
			return asItStands(source)
		}
		blocks = append(blocks, clean)
		out.Reset()
	}
	return blocks
}

// asItStands shows a source. What is longer than anything that is stored as one
// text is cut, and an ellipsis says so.
func asItStands(source []byte) []string {
	if len(source) > asItStandsMax {
		source = append(bytes.ToValidUTF8(source[:asItStandsMax], nil), "…"...)
	}
	return []string{"<pre>" + html.EscapeString(string(source)) + "</pre>"}
}

// asItStandsMax keeps a text that is escaped, at most five bytes for one, within
// renderedMax.
const asItStandsMax = renderedMax/5 - 64

// pagePolicy allows what the renderer writes, and nothing that runs, loads or
// imitates a part of the page.
func pagePolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "li",
		"em", "strong", "del", "code", "pre", "table", "thead", "tbody", "tr")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowElements("ol", "th", "td")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|center|right)$`)).OnElements("th", "td")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[\w+#.-]{1,40}$`)).OnElements("code")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").OnElements("input")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.RequireNoReferrerOnLinks(true)
	p.RequireNoFollowOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}

// asText renders what must not reach a page as it stands.
type asText struct{}

// RegisterFuncs takes over raw HTML and images.
func (a asText) RegisterFuncs(register gmrenderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindRawHTML, a.rawHTML)
	register.Register(ast.KindHTMLBlock, a.htmlBlock)
	register.Register(ast.KindImage, a.image)
}

func (asText) rawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if raw, is := node.(*ast.RawHTML); is && entering {
		for i := range raw.Segments.Len() {
			segment := raw.Segments.At(i)
			writeEscaped(w, segment.Value(source))
		}
	}
	return ast.WalkSkipChildren, nil
}

func (asText) htmlBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	block, is := node.(*ast.HTMLBlock)
	if !is || !entering {
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("<pre>")
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		writeEscaped(w, line.Value(source))
	}
	if block.HasClosure() {
		writeEscaped(w, block.ClosureLine.Value(source))
	}
	_, _ = w.WriteString("</pre>\n")
	return ast.WalkContinue, nil
}

// image becomes a link to it: nothing is loaded from elsewhere by looking at
// an answer.
func (asText) image(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	image, is := node.(*ast.Image)
	if !is {
		return ast.WalkContinue, nil
	}
	if entering {
		_, _ = w.WriteString(`<a href="`)
		writeEscaped(w, util.URLEscape(image.Destination, true))
		_, _ = w.WriteString(`">image: `)
		if !image.HasChildren() {
			writeEscaped(w, image.Destination)
		}
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("</a>")
	return ast.WalkContinue, nil
}

// writeEscaped ignores the error as the library's own renderers do: a
// BufWriter keeps it until it is flushed.
func writeEscaped(w util.BufWriter, raw []byte) {
	_, _ = w.WriteString(html.EscapeString(string(raw)))
}
