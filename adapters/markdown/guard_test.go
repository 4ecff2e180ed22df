package markdown_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"parley/adapters/markdown"
	"parley/test/bombs"
)

func renderers() map[string]func(string) string {
	return map[string]func(string) string{
		"Telegram": markdown.Telegram, "Discord": markdown.Discord, "Slack": markdown.Slack, "SlackMrkdwn": markdown.SlackMrkdwn,
	}
}

// outputMax is what one text may become: the largest is a source of SourceMax
// that is shown as it stands, each of its characters escaped.
const outputMax = 4 << 20

func TestNoTextCostsMuchToRender(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	for name, render := range renderers() {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // likewise
			bombs.Defuse(t, outputMax, func(source string) int { return len(render(source)) })
		})
	}
}

// A table that is too big is shown as its lines, wherever it stands, and what
// is around it is rendered.
// The bound is on the text as a whole: each of its paragraphs may be short.
func TestATextThatIsTooLongIsNotRead(t *testing.T) {
	t.Parallel()
	reader := markdown.NewReader()
	line := "a short paragraph\n\n"
	fits := strings.Repeat(line, markdown.SourceMax/len(line))
	if _, ok := reader.Read([]byte(fits)); !ok {
		t.Errorf("%d bytes are too long", len(fits))
	}
	if _, ok := reader.Read([]byte(fits + line)); ok {
		t.Errorf("%d bytes are read", len(fits+line))
	}
}

func TestTooBigATableShowsItsLines(t *testing.T) {
	t.Parallel()
	wide := func(in string) string {
		return in + strings.Repeat("|a", 60) + "|\n" + in + strings.Repeat("|-", 60) + "|\n" + in + "|b|\n"
	}
	long := "|a|b|\n|-|-|\n" + strings.Repeat("|c|d|\n", markdown.CellsMax/3)
	for name, table := range map[string]string{"wide": wide(""), "in a quote": wide("> "), "long": long} {
		out := markdown.Telegram("**before**\n\n" + table + "\n**after**")
		if strings.Contains(out, "<pre>") || !strings.Contains(out, "<b>before</b>") || !strings.Contains(out, "<b>after</b>") || !strings.Contains(out, "|a") {
			t.Errorf("%s: %.200q", name, out)
		}
	}
	if out := markdown.Telegram("> " + strings.Repeat("|a", 40) + "|\n> " + strings.Repeat("|-", 40) + "|\n> |b|"); !strings.Contains(out, "<pre>") {
		t.Errorf("a table of 40 columns is none: %q", out)
	}
}

// Addresses count as often as they are used, so one definition cannot be
// multiplied.
func TestOneAddressIsNotMultiplied(t *testing.T) {
	t.Parallel()
	source := "[a]: http://x/" + strings.Repeat("y", 8000) + "\n\n" + strings.Repeat("[a] ", 4000)
	for name, render := range renderers() {
		if out := render(source); len(out) > 8*len(source) {
			t.Errorf("%s makes %d bytes of %d", name, len(out), len(source))
		}
	}
}

func FuzzGuard(f *testing.F) {
	for _, source := range bombs.All(2 << 10) {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > bombs.Size {
			return
		}
		for name, render := range renderers() {
			var out string
			if allocated := bombs.Allocated(func() { out = render(source) }); allocated > bombs.AllocatedMax || len(out) > outputMax {
				t.Fatalf("%s: %d bytes of source, %d allocated, %d given out", name, len(source), allocated, len(out))
			}
			if !utf8.ValidString(out) {
				t.Fatalf("%s: not UTF-8", name)
			}
		}
	})
}

// BenchmarkWorstBomb tells how long the slowest attack takes.
func BenchmarkWorstBomb(b *testing.B) {
	for name, render := range renderers() {
		for attack, source := range bombs.All(bombs.Size) {
			b.Run(name+"/"+strings.ReplaceAll(attack, "/", "_"), func(b *testing.B) {
				for b.Loop() {
					render(source)
				}
			})
		}
	}
}

// Splitting measures a window of the source again and again. What it measures
// altogether is bounded by the text's length.
func TestSplittingMeasuresEachPartAFewTimes(t *testing.T) {
	t.Parallel()
	const timesMax = 128
	for name, source := range bombs.All(32 << 10) {
		measured := 0
		markdown.Split(source, 4096, func(text string) int {
			measured += len(text)
			return markdown.TelegramLength(text)
		})
		if measured > timesMax*(len(source)+4096) {
			t.Errorf("%s: of %d bytes %d were measured", name, len(source), measured)
		}
	}
}
