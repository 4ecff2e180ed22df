// Command cross checks that the whole project type-checks for every system that
// it is built for. What the compiler refuses, it refuses, in a fraction of the
// time, since no code is made: bodies of functions of other modules are not even
// read. `make cross` really builds.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	failed := false
	for _, system := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"} {
		problems, err := check(system)
		if err != nil {
			problems = append(problems, err.Error())
		}
		fmt.Printf("%-14s %s\n", system, verdict(problems))
		failed = failed || len(problems) > 0
	}
	if failed {
		os.Exit(1)
	}
}

func verdict(problems []string) string {
	if len(problems) == 0 {
		return "ok"
	}
	return "\n  " + strings.Join(problems, "\n  ")
}

// check type-checks all packages, tests too, for a system like linux/arm64.
func check(system string) (problems []string, err error) {
	goos, arch, _ := strings.Cut(system, "/")
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	all, err := packages.Load(&packages.Config{
		Mode:  packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesSizes,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0"),
		Tests: true,
		ParseFile: func(fset *token.FileSet, path string, text []byte) (*ast.File, error) {
			return parse(fset, dir, path, text)
		},
	}, "./...")
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if strings.HasSuffix(p.PkgPath, ".test") {
			continue // made by the go command, and no file of ours
		}
		for _, problem := range p.Errors {
			problems = append(problems, problem.Error())
		}
	}
	return problems, nil
}

// parse reads a file, of other modules without the bodies of functions.
func parse(fset *token.FileSet, dir, path string, text []byte) (*ast.File, error) {
	file, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
	if err != nil || strings.HasPrefix(path, dir+string(os.PathSeparator)) {
		return file, err
	}
	for _, declared := range file.Decls {
		if f, is := declared.(*ast.FuncDecl); is {
			f.Body = nil
		}
	}
	return file, nil
}
