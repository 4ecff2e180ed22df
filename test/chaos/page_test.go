package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run of a few experiments leaves on the page what it tells of the others.
func TestThePageKeepsWhatWasNotRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte("# Before\n"+tableBegins+tableEnds+"\nAfter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	poisoned := result{Experiment: "poison", Store: onRedis, Runs: 1, Notes: []string{"killed a1"}}
	first := report{about: facts{Date: "Monday", Commit: "c1"}, results: []result{
		{Experiment: "kill", Store: onSQLite, Runs: 200, Violations: []string{"one\nwas lost"}}, poisoned, {Experiment: "no more", Store: onRedis},
	}}
	second := report{about: facts{Date: "Tuesday", Commit: "c2"}, results: []result{{Experiment: "kill", Store: onSQLite, Runs: 7}, {Experiment: "storm", Store: onSQLite}}}
	for _, r := range []report{first, second} {
		if err := writePage(path, r); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	if !strings.HasPrefix(text, "# Before\n") || !strings.HasSuffix(text, "\nAfter\n") {
		t.Fatalf("the rest of the page is changed:\n%s", text)
	}
	rows := linesOf(text)
	var got []string
	for _, l := range rows {
		got = append(got, l.experiment+" "+l.cells[3]+" "+l.cells[len(l.cells)-1])
	}
	if want := "kill 7 Tuesday, c2; storm 0 Tuesday, c2; poison 1 Monday, c1"; strings.Join(got, "; ") != want {
		t.Fatalf("%q, want %q", strings.Join(got, "; "), want)
	}
	if strings.Contains(text, "was lost") || strings.Count(text, "- poison on redis: killed a1") != 1 {
		t.Fatalf("the notes are wrong:\n%s", text)
	}
}
