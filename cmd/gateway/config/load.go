package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// FileMax bounds a configuration file in bytes.
const FileMax = 1 << 20

// Loaded is a checked configuration and where it came from.
type Loaded struct {
	Config   Config
	File     string   // the file that was read; empty: none
	Warnings []string // one line each: what was found and has no effect
}

// Load reads, fills in and checks the configuration. path names the file; an
// empty one means [FileDefault] if that is there. Every problem of the content
// comes in one [Errors]; a file that cannot be read is an ordinary error.
// Warnings are there even with an error.
func Load(path string, environ Environ) (Loaded, error) {
	var loaded Loaded
	text, file, err := readFile(path)
	if err != nil {
		return loaded, err
	}
	loaded.File = file
	parsed, places, problems := parse(text, file, environ)
	if len(problems) > 0 {
		return loaded, problems
	}
	filled, warnings := fromEnvironment(parsed, environ)
	loaded.Config = filled.WithDefaults()
	loaded.Warnings = warnings
	if problems := place(loaded.Config.Validate(), file, places); len(problems) > 0 {
		return loaded, problems
	}
	return loaded, nil
}

// readFile gives no text and no name when no file was asked for and the
// default one is not there.
func readFile(path string) (text []byte, file string, err error) {
	optional := path == ""
	if optional {
		path = FileDefault
	}
	f, err := os.Open(path)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, path, fmt.Errorf("cannot read the configuration: %w; check --config", err)
	}
	defer func() { _ = f.Close() }() // only read from
	text, err = io.ReadAll(io.LimitReader(f, FileMax+1))
	if err != nil {
		return nil, path, fmt.Errorf("cannot read the configuration: %w; check --config", err)
	}
	if len(text) > FileMax {
		return nil, path, fmt.Errorf("%s is larger than %d bytes: that is no configuration", path, FileMax)
	}
	return text, path, nil
}

// parse turns YAML into a Config as the file sets it, without defaults.
func parse(text []byte, file string, environ Environ) (Config, map[string]ast.Node, Errors) {
	b := &binder{file: file, environ: environ, places: make(map[string]ast.Node)}
	var config Config
	tree, err := parser.ParseBytes(text, 0)
	if err != nil {
		return config, nil, Errors{syntaxProblem(file, err)}
	}
	for i, document := range tree.Docs {
		if i > 0 && document.Body != nil {
			b.complain(document.Body, "", "a second YAML document; the gateway reads only one")
			break
		}
		b.refuseIndirection(document.Body)
		if len(b.problems) == 0 {
			b.bind(document.Body, reflect.ValueOf(&config).Elem(), "")
		}
	}
	return config, b.places, b.problems
}

// refuseIndirection finds anchors, aliases, tags and merge keys: nothing here
// needs them, and they can blow up a small file.
func (b *binder) refuseIndirection(root ast.Node) {
	if root == nil {
		return
	}
	for _, kind := range []ast.NodeType{ast.AnchorType, ast.AliasType, ast.TagType, ast.MergeKeyType} {
		for _, node := range ast.Filter(kind, root) {
			b.complain(node, "", "YAML anchors, aliases, tags and merge keys are not supported; write the value out")
		}
	}
}

func syntaxProblem(file string, err error) Problem {
	problem := Problem{File: file}
	var syntax yaml.Error
	if !errors.As(err, &syntax) {
		problem.What = "not valid YAML: " + firstLine(err.Error())
		return problem
	}
	problem.What = "not valid YAML: " + firstLine(syntax.GetMessage())
	if token := syntax.GetToken(); token != nil && token.Position != nil {
		problem.Line, problem.Column = token.Position.Line, token.Position.Column
	}
	return problem
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// place adds to each problem where in the file its path, or the nearest part
// of it that is there, was set.
func place(problems Errors, file string, places map[string]ast.Node) Errors {
	for i := range problems {
		if node, ok := places[problems[i].Path]; ok {
			problems[i].File = file
			problems[i].Line, problems[i].Column = position(node)
		}
	}
	return problems
}
