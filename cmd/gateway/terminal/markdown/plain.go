package markdown

import "strings"

// Plain shows text as it stands, cleaned and wrapped to the width, for what is
// not Markdown.
func Plain(source string, options Options) string {
	width := max(options.Width, WidthMin)
	var out strings.Builder
	for i, text := range strings.Split(strings.ReplaceAll(Clean(source), "\t", tab), "\n") {
		for j, l := range wrap([]span{{text: text}}, width) {
			if i+j > 0 {
				out.WriteByte('\n')
			}
			l.write(&out, false)
		}
	}
	return out.String()
}
