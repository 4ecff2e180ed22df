package markdown_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"parley/cmd/gateway/terminal/markdown"
)

var update = flag.Bool("update", false, "write the golden files anew")

const divider = "\n======== "

// TestGolden reads one file per case: the source, then what it looks like
// without colour at 40 cells, and with colour at 72, escapes written as ␛.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source, _, _ := strings.Cut(string(content), divider)
			narrow := markdown.Render(source, markdown.Options{Width: 40})
			wide := strings.ReplaceAll(markdown.Render(source, markdown.Options{Width: 72, Color: true}), "\x1b", "␛")
			got := strings.TrimRight(source, "\n") + "\n" + divider + "plain, 40 cells\n" + narrow + "\n" + divider + "coloured, 72 cells\n" + wide + "\n"
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(content) {
				t.Errorf("got\n%s\nwant\n%s", got, content)
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"", "\n\n", "   "} {
		if got := markdown.Render(source, markdown.Options{Width: 40}); got != "" {
			t.Errorf("%q: got %q", source, got)
		}
	}
}

func TestHiddenEscapes(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"\x1b[31mred", "`\x1b]0;title\x07`", "&#27;[2J", "&#x1b;]52;c;x&#7;", "&#x9b;31m", "\u009b31m",
		"[a](http://x/\x1b[2J)", "[a](<http://x/&#27;>)", "```\x1b[1m\n\x1b[2J\n```", "<b\x1b[31m>", "<div>\n\x1b[2J\n</div>",
		"|a|b|\n|-|-|\n|\x1b[2J|\r|", "# \x1b[5m", "\u202egnp.exe", "&#x202e;gnp", "x\x00y\x7f\x08",
		"![\x1b](&#27;)", "~~\x1b~~", "<http://x/\x1b>", "a\rb",
	} {
		got := markdown.Render(source, markdown.Options{Width: 40})
		if strings.ContainsAny(got, "\x1b\x00\x07\x08\x7f\r\u009b\u202e") {
			t.Errorf("%q: got %q", source, got)
		}
	}
}

// ownStyles are the only sequences the renderer may write.
var ownStyles = regexp.MustCompile(`\x1b\[[0-9;]+m`)

func FuzzRender(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.md")
	for _, file := range files {
		if content, err := os.ReadFile(file); err == nil {
			f.Add(string(content), 40)
		}
	}
	f.Add("&#27;[2J `\x1b`", 20)
	f.Add(strings.Repeat("> ", 200)+"deep", 30)
	f.Add("日本語の長い文章です。", 20)
	f.Fuzz(func(t *testing.T, source string, width int) {
		width = min(max(width, 0), 200)
		plain := markdown.Render(source, markdown.Options{Width: width})
		colored := ownStyles.ReplaceAllString(markdown.Render(source, markdown.Options{Width: width, Color: true}), "")
		if plain != colored {
			t.Errorf("colour changes more than styles:\n%q\n%q", plain, colored)
		}
		for _, r := range plain {
			if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("%q has %q in it", plain, r)
			}
		}
		for l := range strings.SplitSeq(plain, "\n") {
			if got := displaywidth.String(l); got > max(width, markdown.WidthMin) {
				t.Fatalf("%q has %d cells, more than %d", l, got, width)
			}
		}
	})
}
