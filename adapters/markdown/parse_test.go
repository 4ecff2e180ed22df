package markdown_test

import (
	"strings"
	"sync"
	"testing"

	"parley/adapters/markdown"
)

// A parser is made once: no text may find anything of another in it, whoever
// renders at the same time.
func TestTextsKnowNothingOfEachOther(t *testing.T) {
	t.Parallel()
	wide := "|" + strings.Repeat("a|", 60) + "\n|" + strings.Repeat("-|", 60) + "\n" // is read without tables
	texts := []struct{ source, want string }{
		{"[a][r]\n\n[r]: http://x.org", `<a href="http://x.org">a</a>`},
		{"[a][r]", "[a][r]"},
		{"*open\n\n```\ncode", "*open\n\n<pre>code</pre>"},
		{"closed*", "closed*"},
		{"- [x] done\n  1. one", "• ☑ done\n  1. one"},
		{"|a|b|\n|-|-|\n|c|d|", "<pre>a | b\n--+--\nc | d</pre>"},
		{wide, strings.TrimSuffix(wide, "\n")},
	}
	var renderers sync.WaitGroup
	for i := range 8 {
		renderers.Go(func() {
			for j := range 50 * len(texts) {
				text := texts[(i+j)%len(texts)]
				if got := markdown.Telegram(text.source); got != text.want {
					t.Errorf("%q gives %q, want %q", text.source, got, text.want)
				}
			}
		})
	}
	renderers.Wait()
}
