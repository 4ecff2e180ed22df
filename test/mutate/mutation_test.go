package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The list stays true while the source changes: each mutation has its place,
// changes something, and names a test that exists.
func TestEachMutationHasItsPlaceAndItsTest(t *testing.T) {
	root := filepath.Join("..", "..")
	all, err := decode(list)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range all {
		if seen[m.Promise] {
			t.Errorf("%q stands there twice", m.Promise)
		}
		seen[m.Promise] = true
		text, err := os.ReadFile(filepath.Join(root, m.File))
		if err != nil {
			t.Error(err)
			continue
		}
		if changed, err := m.apply(text); err != nil || string(changed) == string(text) {
			t.Errorf("%s: %v", m.Promise, err)
		}
		if names := testsOf(t, filepath.Join(root, m.Package)); !matchesOne(t, m.Run, names) {
			t.Errorf("%s: %s has no test %s", m.Promise, m.Package, m.Run)
		}
	}
}

var declared = regexp.MustCompile(`(?m)^func (Test\w+|Fuzz\w+)\(`)

func testsOf(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range declared.FindAllStringSubmatch(string(text), -1) {
			names = append(names, found[1])
		}
	}
	return names
}

func matchesOne(t *testing.T, run string, names []string) bool {
	t.Helper()
	first, _, _ := strings.Cut(run, "/")
	pattern, err := regexp.Compile(first)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(names, pattern.MatchString)
}

func TestWhatBecameOfAMutation(t *testing.T) {
	failed := exec.Command("go", "tool", "nothing-of-this-name").Run()
	if _, is := errors.AsType[*exec.ExitError](failed); !is {
		t.Skipf("no go command: %v", failed)
	}
	for _, test := range []struct {
		out  string
		err  error
		want string
	}{
		{"ok  \tparley/routing\t0.1s", nil, survived},
		{"ok  \tparley/routing\t0.1s [no tests to run]", nil, broken},
		{"--- FAIL: TestX (0.00s)\nFAIL", failed, caught},
		{"panic: boom\nFAIL\tparley/routing", failed, caught},
		{"FAIL\tparley/routing [build failed]", failed, broken},
		{"", failed, broken},
		{"FAIL", errors.New("killed"), broken},
	} {
		if got, _ := judge(test.out, test.err); got != test.want {
			t.Errorf("%q, %v: %s, not %s", test.out, test.err, got, test.want)
		}
	}
}
