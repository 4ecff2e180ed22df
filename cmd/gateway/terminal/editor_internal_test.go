package terminal

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"
)

// press runs a script: names of bindings in <>, everything else is typed.
func press(e *editor, script string) {
	bindings := e.bindings()
	for script != "" {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(script, "<"), ">"); ok && strings.HasPrefix(script, "<") {
			bindings[name]()
			script = rest
			continue
		}
		text, rest, found := strings.Cut(script, "<")
		e.insert(text)
		if script = rest; found {
			script = "<" + rest
		}
	}
}

func TestEditing(t *testing.T) {
	t.Parallel()
	tests := map[string]string{ // script: text with | at the cursor
		"abc":                       "abc|",
		"abc<left><left>x":          "ax|bc",
		"abc<home>x<end>y":          "xabcy|",
		"one two<ctrl+w>":           "one |",
		"one two<alt+b><ctrl+k>":    "one |",
		"one two<home><alt+d>":      "| two",
		"one two<alt+b><ctrl+u>":    "|two",
		"ab<backspace><backspace>":  "|",
		"ab<home><delete>":          "|b",
		"a<alt+enter>b":             "a\nb|",
		"a<ctrl+j>b<ctrl+a>x":       "a\nx|b",
		"日本<left>x":                 "日x|本",
		"👩‍👩‍👧<backspace>":          "|",
		"é<left>":                   "|é",
		"a\tb\x1b[2J":               "a    b␛[2J|",
		"<left><right><backspace>":  "|",
		"a<ctrl+left><ctrl+right>b": "ab|",
	}
	for script, want := range tests {
		var e editor
		press(&e, script)
		if got := strings.Join(e.before, "") + "|" + strings.Join(e.after, ""); got != want {
			t.Errorf("%q: got %q, want %q", script, got, want)
		}
	}
}

func TestMovingBetweenLines(t *testing.T) {
	t.Parallel()
	var e editor
	e.set("first\nsecond\nx")
	if !e.up() || e.column() != 1 || !e.up() || e.up() {
		t.Fatalf("up: %q|%q", e.before, e.after)
	}
	if first, second, third := e.down(), e.down(), e.down(); !first || !second || third {
		t.Fatalf("down: %q|%q", e.before, e.after)
	}
}

func TestWrapped(t *testing.T) {
	t.Parallel()
	var e editor
	e.set("abcdef\n日本語")
	lines, x, y := e.wrapped(4)
	if got := strings.Join(lines, "/"); got != "abcd/ef/日本/語" || x != 2 || y != 3 {
		t.Errorf("got %q, %d, %d", got, x, y)
	}
	e.set("abcd")
	if lines, x, y = e.wrapped(4); len(lines) != 2 || x != 0 || y != 1 {
		t.Errorf("a full line: %q, %d, %d", lines, x, y)
	}
}

func TestEditorNeverLosesItsPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var e editor
		names := []string{"type", "up", "down"}
		for name := range e.bindings() {
			names = append(names, name)
		}
		for range rapid.IntRange(0, 40).Draw(t, "keys") {
			switch name := rapid.SampledFrom(names).Draw(t, "key"); name {
			case "type":
				e.insert(rapid.String().Draw(t, "text"))
			case "up":
				e.up()
			case "down":
				e.down()
			default:
				e.bindings()[name]()
			}
		}
		width := rapid.IntRange(2, 30).Draw(t, "width")
		lines, x, y := e.wrapped(width)
		if y < 0 || y >= len(lines) || x < 0 || x > width || strings.ContainsAny(e.text(), "\x1b\r\t") {
			t.Fatalf("cursor at %d,%d of %q", x, y, lines)
		}
		for _, line := range lines {
			if displaywidth.String(line) > width {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
	})
}
