package architecture_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A link of a page to a file of the project leads somewhere, and where it names
// a heading, that heading is there.
func TestEveryLinkBetweenPagesLeadsSomewhere(t *testing.T) {
	t.Parallel()
	links := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	eachSource(t, func(path string, source []byte) {
		if filepath.Ext(path) != ".md" || strings.Contains(path, "/testdata/") {
			return
		}
		for _, found := range links.FindAllStringSubmatch(string(source), -1) {
			checkLink(t, path, found[1])
		}
	})
}

func checkLink(t *testing.T, page, link string) {
	t.Helper()
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return
	}
	file, heading, _ := strings.Cut(link, "#")
	target := filepath.Join(filepath.Dir(page), file)
	if file == "" {
		target = page
	}
	text, err := os.ReadFile(filepath.Join(root(t), target))
	if info, statErr := os.Stat(filepath.Join(root(t), target)); statErr == nil && info.IsDir() {
		return
	}
	if err != nil {
		t.Errorf("%s links to %s, which is not there", page, link)
		return
	}
	if heading != "" && filepath.Ext(target) == ".md" && !hasHeading(string(text), heading) {
		t.Errorf("%s links to %s, and %s has no such heading", page, link, target)
	}
}

func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(text) {
		if title, is := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); is && line[0] == '#' && anchorOf(title) == anchor {
			return true
		}
	}
	return false
}

// anchorOf is what a heading is called in a link: lower case, hyphens for
// spaces, no punctuation.
func anchorOf(title string) string {
	keep := func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', r >= '0' && r <= '9', r >= 'a' && r <= 'z', r > 127:
			return r
		}
		return -1
	}
	return strings.Map(keep, strings.ToLower(strings.TrimSpace(title)))
}

// The table of words stays in alphabetical order, one sentence to a word.
func TestWordsAreInOrder(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root(t), "docs/words.md"))
	if err != nil {
		t.Fatal(err)
	}
	before, words := "", 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || strings.Contains(line, "---") || strings.TrimSpace(cells[1]) == "word" {
			continue
		}
		word, meaning := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		words++
		if word < before {
			t.Errorf("%q stands behind %q", word, before)
		}
		if meaning == "" || strings.Contains(meaning, ". ") {
			t.Errorf("%q wants one sentence", word)
		}
		before = word
	}
	if words < 30 {
		t.Errorf("only %d words are explained", words)
	}
}
