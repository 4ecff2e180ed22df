package telegram

import (
	"strings"
	"testing"

	"parley/adapters/markdown"
)

// What is taken for short without being rendered must fit.
func FuzzShortSourcesFit(f *testing.F) {
	for _, unit := range []string{"- ", "> ", "1. ", "x\n", "- - a\n", "&nGtv;", "---\n", "![](a)", "[^1]", "<a@b>", "# \n", "\t\n"} {
		f.Add(strings.Repeat(unit, shortSource/len(unit)))
		f.Add("- - - - - - - - a\n" + strings.Repeat(unit, (shortSource-18)/len(unit)))
	}
	f.Fuzz(func(t *testing.T, source string) {
		if measure(source) > TextMax || len(source) > shortSource || strings.Contains(source, "|") {
			return
		}
		if shows := markdown.TelegramLength(source); shows > TextMax {
			t.Errorf("%q shows %d", source, shows)
		}
	})
}
