package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// place is a function of the product, as architecture.md writes it: its file
// and its name.
var place = regexp.MustCompile("`([a-z0-9_/]+\\.go:[A-Za-z0-9_]+)`")

// section is the part of architecture.md below a heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root(t), "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "## "+heading+"\n")
	if !found {
		t.Fatalf("architecture.md has no section %q", heading)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// functions are those of the product; true: it begins a goroutine.
func functions(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	eachSource(t, func(path string, source []byte) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "test/") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range file.Decls {
			if function, is := declared.(*ast.FuncDecl); is {
				name := path + ":" + function.Name.Name
				found[name] = found[name] || begins(function)
			}
		}
	})
	return found
}

// begins reports whether a function begins a goroutine.
func begins(function *ast.FuncDecl) (yes bool) {
	ast.Inspect(function, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GoStmt:
			yes = true
		case *ast.CallExpr:
			called, is := node.Fun.(*ast.SelectorExpr)
			yes = yes || is && (called.Sel.Name == "Go" || called.Sel.Name == "Spawn")
		}
		return !yes
	})
	return yes
}

// A newcomer follows one message through the rooms, and finds each step.
func TestTheWayOfAMessageIsThere(t *testing.T) {
	t.Parallel()
	all, steps := functions(t), 0
	for line := range strings.Lines(section(t, "One message, step by step")) {
		step := place.FindStringSubmatch(line)
		if step == nil {
			continue
		}
		steps++
		if _, there := all[step[1]]; !there {
			t.Errorf("architecture.md leads to %s, which is not there", step[1])
		}
	}
	if steps < 20 || steps > 40 {
		t.Errorf("a message takes %d steps", steps)
	}
}

// The table of goroutines names every function that begins one, and no other.
func TestEveryGoroutineHasALine(t *testing.T) {
	t.Parallel()
	all, told := functions(t), map[string]bool{}
	for _, named := range place.FindAllStringSubmatch(section(t, "Goroutines"), -1) {
		told[named[1]] = true
		if !all[named[1]] {
			t.Errorf("architecture.md says that %s begins a goroutine; it does not", named[1])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] && !told[name] {
			t.Errorf("%s begins a goroutine: give it a line in the table of docs/architecture.md, with its owner and its end", name)
		}
	}
}
