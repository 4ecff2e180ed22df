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
