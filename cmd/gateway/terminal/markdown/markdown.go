package markdown

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// WidthMin is the narrowest width that is rendered to.
const WidthMin = 20

// contentMin is the least room that is left for text inside nested blocks.
const contentMin = 12

// Options say how to render.
type Options struct {
	Width int  // cells of a line; less than WidthMin counts as WidthMin
	Color bool // write styles as escape sequences
}

type renderer struct{ source []byte }

// Render shows Markdown as lines of at most Options.Width cells, joined by
// line breaks, without one at the end. It never fails: what is not Markdown is
// text. Unfinished Markdown, as in an answer that is still being written, is
// shown as far as it goes.
func Render(source string, options Options) string {
	width := max(options.Width, WidthMin)
	r := renderer{source: []byte(Clean(source))}
	parser := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
	lines := r.blocks(parser.Parse(text.NewReader(r.source)), width, false)
	var out strings.Builder
	for i, l := range lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		l.write(&out, options.Color)
	}
	return out.String()
}
