package redisstore

import (
	"io/fs"
	"strings"
	"testing"
)

// Every script tells in its head what it takes and returns, and is one of the
// operations; every operation has one.
func TestEveryScriptSaysWhatItTakes(t *testing.T) {
	t.Parallel()
	loaded, err := loadScripts()
	if err != nil {
		t.Fatal(err)
	}
	known := loaded.byName()
	files, err := fs.Glob(luaFiles, "lua/*.lua")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := luaFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(file, "lua/"), ".lua")
		if known[name] == nil {
			t.Errorf("%s is no operation", file)
		}
		if !strings.HasPrefix(string(text), "#!lua") {
			t.Errorf("%s does not declare itself in its first line", file)
		}
		for _, part := range []string{"-- " + name + ": ", "\n-- KEYS[1] ", "\n-- ARGV    ", "\n-- Returns "} {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s has no %q in its head", file, strings.TrimSpace(part))
			}
		}
	}
	if len(files) != len(known) {
		t.Errorf("%d files, %d operations", len(files), len(known))
	}
}

// What no operation uses is not part of the library.
func TestLibraryHasNothingUnused(t *testing.T) {
	t.Parallel()
	loaded, err := loadScripts()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range library() {
		text, err := luaFiles.ReadFile("lua/lib/" + part + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		for _, definition := range definitions(code(string(text))) {
			found := false
			for _, s := range loaded.byName() {
				found = found || strings.Contains((*s).source, definition)
			}
			if !found {
				t.Errorf("%s: nothing uses %v", part, defined(definition))
			}
		}
	}
}

// A definition stands wherever its first use is, so that a script's own names
// must not be those of the library.
func TestScriptsDoNotShadowTheLibrary(t *testing.T) {
	t.Parallel()
	library := libraryNames(t)
	loaded, err := loadScripts()
	if err != nil {
		t.Fatal(err)
	}
	for name := range loaded.byName() {
		text, err := luaFiles.ReadFile("lua/" + name + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range statements(code(string(text))) {
			if !strings.HasPrefix(statement, "local ") {
				continue
			}
			for _, own := range defined(statement) {
				if library[own] {
					t.Errorf("%s: %s is a name of the library", name, own)
				}
			}
		}
	}
}

func libraryNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, part := range library() {
		text, err := luaFiles.ReadFile("lua/lib/" + part + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		for _, definition := range definitions(code(string(text))) {
			for _, name := range defined(definition) {
				names[name] = true
			}
		}
	}
	return names
}
