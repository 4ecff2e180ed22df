package markdown

import (
	"strings"
	"sync"

	"github.com/yuin/goldmark/extension"

	"parley/adapters/markdown"
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

// Making a reader takes longer than reading an ordinary answer with it.
var reader = sync.OnceValue(func() *markdown.Reader { return markdown.NewReader(extension.GFM) }) //nolint:gochecknoglobals // never changed

// Render shows Markdown as lines of at most Options.Width cells, joined by
// line breaks, without one at the end. It never fails: what is not Markdown is
// text. Unfinished Markdown, as in an answer that is still being written, is
// shown as far as it goes, and what would cost too much is shown as it stands.
func Render(source string, options Options) string {
	width := max(options.Width, WidthMin)
	r := renderer{source: []byte(Clean(source))}
	lines := r.lines(width)
	var out strings.Builder
	for i, l := range lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		l.write(&out, options.Color)
	}
	return out.String()
}

func (r *renderer) lines(width int) []line {
	if document, ok := reader().Read(r.source); ok {
		return r.blocks(document, width, false)
	}
	var out []line
	for text := range strings.Lines(strings.ReplaceAll(string(r.source), "\t", tab)) {
		out = append(out, chop(strings.TrimSuffix(text, "\n"), 0, width)...)
	}
	return out
}
