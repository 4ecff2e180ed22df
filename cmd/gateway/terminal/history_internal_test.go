package terminal

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

func open(t *testing.T, path string) *History {
	t.Helper()
	h, err := OpenHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHistoryIsKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	h := open(t, path)
	for _, text := range []string{"one", "two\nlines", "two\nlines", "three"} {
		if err := h.Add(text); err != nil {
			t.Fatal(err)
		}
	}
	if got := open(t, path).Lines(); !slices.Equal(got, []string{"one", "two\nlines", "three"}) {
		t.Errorf("got %q", got)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
}

func TestHistoryIsBoundedAndSurvivesDamage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(path, []byte("\"good\"\n\"cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := open(t, path)
	if !slices.Equal(h.Lines(), []string{"good"}) {
		t.Fatalf("got %q", h.Lines())
	}
	for i := range HistoryMax + 5 {
		if err := h.Add(strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	if got := open(t, path).Lines(); len(got) != HistoryMax || got[0] != "5" {
		t.Errorf("%d lines, the first is %q", len(got), got[0])
	}
}

func TestBrowsing(t *testing.T) {
	t.Parallel()
	b := newBrowser([]string{"a", "b"})
	if _, ok := b.newer(); ok {
		t.Error("nothing is newer than the draft")
	}
	var got []string
	for range 3 {
		text, ok := b.older("draft")
		got = append(got, text, strconv.FormatBool(ok))
	}
	for range 2 {
		text, _ := b.newer()
		got = append(got, text)
	}
	if !slices.Equal(got, []string{"b", "true", "a", "true", "", "false", "b", "draft"}) {
		t.Errorf("got %q", got)
	}
}
