package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Bounds on what a reader has to hold in mind at once, for code that is not a test.
const (
	fileLinesMax     = 450
	functionLinesMax = 60
	botFieldsMax     = 15
	botMethodsMax    = 50
	roomMethodsMax   = 60 // of a type in one of the bot's rooms
)

// source is a Go file of the product, parsed.
type source struct {
	path, folder string
	fset         *token.FileSet
	file         *ast.File
}

func (s source) lines(from, to token.Pos) int {
	return s.fset.Position(to).Line - s.fset.Position(from).Line + 1
}

// product visits each Go file of ours that people run: no test, no suite, no
// fake, nothing generated.
func product(t *testing.T, visit func(source)) {
	t.Helper()
	eachSource(t, func(path string, text []byte) {
		infra := strings.HasPrefix(path, "test/") || strings.Contains(path, "storetest/") || strings.Contains(path, "adaptertest/") || strings.Contains(path, "apitest/")
		if filepath.Ext(path) != ".go" || infra || strings.HasSuffix(path, "_test.go") {
			return
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if !ast.IsGenerated(file) {
			visit(source{path: path, folder: filepath.Dir(path), fset: fset, file: file})
		}
	})
}

func TestFilesAndFunctionsAreShort(t *testing.T) {
	t.Parallel()
	lines, files := 0, 0
	product(t, func(s source) {
		files++
		n := s.lines(s.file.FileStart, s.file.FileEnd)
		lines += n
		if n > fileLinesMax {
			t.Errorf("%s has %d lines, of at most %d", s.path, n, fileLinesMax)
		}
		for _, declared := range s.file.Decls {
			if f, is := declared.(*ast.FuncDecl); is && s.lines(f.Pos(), f.End()) > functionLinesMax {
				t.Errorf("%s: %s has %d lines, of at most %d", s.path, f.Name.Name, s.lines(f.Pos(), f.End()), functionLinesMax)
			}
		}
	})
	t.Logf("%d lines in %d files", lines, files)
}

// What joins the rooms of the bot stays a joint: no object in it gathers the
// fields and methods of all others.
func TestNothingInTheBotGathersAllOfIt(t *testing.T) {
	t.Parallel()
	fields, methods := map[string]int{}, map[string]int{}
	product(t, func(s source) {
		if s.folder != "bot" && !strings.HasPrefix(s.folder, "bot/") {
			return
		}
		countTypes(s, fields, methods)
	})
	for _, name := range sorted(methods) {
		bound := roomMethodsMax
		if name == "bot.Bot" {
			bound = botMethodsMax
		}
		if methods[name] > bound {
			t.Errorf("%s has %d methods, of at most %d", name, methods[name], bound)
		}
	}
	if fields["bot.Bot"] > botFieldsMax {
		t.Errorf("bot.Bot has %d fields, of at most %d", fields["bot.Bot"], botFieldsMax)
	}
	t.Logf("bot.Bot: %d fields, %d methods", fields["bot.Bot"], methods["bot.Bot"])
}

// countTypes adds the fields and methods of a file's types that have methods,
// by folder and name.
func countTypes(s source, fields, methods map[string]int) {
	for _, declared := range s.file.Decls {
		switch d := declared.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				methods[s.folder+"."+receiver(d.Recv.List[0].Type)]++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if typed, is := spec.(*ast.TypeSpec); is {
					if of, is := typed.Type.(*ast.StructType); is {
						fields[s.folder+"."+typed.Name.Name] = fieldsOf(of)
					}
				}
			}
		}
	}
}

func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return "?"
}

func fieldsOf(of *ast.StructType) (n int) {
	for _, field := range of.Fields.List {
		n += max(1, len(field.Names))
	}
	return n
}

func sorted(counts map[string]int) []string {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// The contract of the rooms can be read in one sitting.
func TestSessionsExportsWhatOneSittingHolds(t *testing.T) {
	t.Parallel()
	const exportedMax = 310
	n := 0
	product(t, func(s source) {
		if s.folder == "sessions" {
			n += exportedIn(s.file)
		}
	})
	if n > exportedMax {
		t.Errorf("sessions exports %d names, of at most %d", n, exportedMax)
	}
	t.Logf("sessions exports %d names", n)
}

func exportedIn(file *ast.File) (n int) {
	count := func(name *ast.Ident) {
		if name.IsExported() {
			n++
		}
	}
	for _, declared := range file.Decls {
		switch d := declared.(type) {
		case *ast.FuncDecl:
			count(d.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					count(spec.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						count(name)
					}
				}
			}
		}
	}
	return n
}
