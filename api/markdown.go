package api

import (
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
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// What is rendered at most, in bytes: a whole text, and what stands between two
// blank lines of it. Some Markdown costs the square of its length; a text
// beyond these limits is shown as it stands.
const (
	renderMax    = 128 << 10
	paragraphMax = 16 << 10
)

// renderer turns Markdown into HTML that is safe to put into a page: HTML in
// the source shows as text, images become links, only http, https and mailto
// links work, and a sanitizer goes over the result as a second net. All
// methods may be called from any goroutine.
type renderer struct {
	markdown goldmark.Markdown
	policy   *bluemonday.Policy
}

func newRenderer() *renderer {
	return &renderer{
		markdown: goldmark.New(
			goldmark.WithExtensions(
				extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
				extension.Strikethrough, extension.Linkify, extension.TaskList),
			goldmark.WithRendererOptions(
				gmhtml.WithHardWraps(), // in a chat a new line is meant
				gmrenderer.WithNodeRenderers(util.Prioritized(asText{}, 100))),
		),
		policy: pagePolicy(),
	}
}

// html renders a whole text.
func (r *renderer) html(markdown string) string {
	return strings.Join(r.blocks(markdown), "")
}

// blocks renders a text block by block: a growing text changes its last
// blocks only, as a rule. Joined they are the whole.
func (r *renderer) blocks(markdown string) []string {
	source := []byte(validText(markdown))
	if len(source) > renderMax || longestParagraph(source) > paragraphMax {
		return []string{"<pre>" + html.EscapeString(string(source)) + "</pre>"}
	}
	document := r.markdown.Parser().Parse(text.NewReader(source))
	var blocks []string
	for block := document.FirstChild(); block != nil; block = block.NextSibling() {
		var out bytes.Buffer
		if err := r.markdown.Renderer().Render(&out, source, block); err != nil {
			return []string{"<p>" + html.EscapeString(string(source)) + "</p>"}
		}
		blocks = append(blocks, r.policy.Sanitize(out.String()))
	}
	return blocks
}

func longestParagraph(source []byte) (longest int) {
	for paragraph := range bytes.SplitSeq(source, []byte("\n\n")) {
		longest = max(longest, len(paragraph))
	}
	return longest
}

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
