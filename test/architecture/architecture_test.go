// Package architecture_test holds the rules of the house that no compiler
// checks: which package may import which, and what no file may contain.
package architecture_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "parley"

// mayImport lists, for each package (or a folder, with /...), what of our own
// it may import. internal/... is open to all and imports nothing of ours.
// A package that is not listed fails the test: give it a line here.
var mayImport = map[string][]string{
	"adapters":               {},
	"adapters/markdown":      {},
	"adapters/telegram":      {"adapters", "adapters/markdown"},
	"adapters/discord":       {"adapters", "adapters/markdown"},
	"adapters/slack":         {"adapters", "adapters/markdown"},
	"adapters/adaptertest":   {"adapters"},
	"routing":                {"adapters"},
	"sessions":               {},
	"sessions/leaselock":     {"adapters", "sessions"},
	"sessions/storewrap/...": {"sessions"},
	"sessions/transcript":    {"sessions"},
	"sessions/archive":       {"sessions"},
	"sessions/view":          {"sessions"},
	"sessions/logtest":       {"sessions"},
	"sessions/storetest":     {"sessions", "sessions/storewrap", "sessions/archive", "sessions/transcript"},
	"agent":                  {"sessions"},
	"agent/endpoint":         {"agent"},
	"agent/openai":           {"agent", "agent/endpoint", "sessions"},
	"agent/anthropic":        {"agent", "agent/endpoint", "sessions"},
	"agent/demo":             {"agent", "sessions"},
	"drafts":                 {"sessions"},
	"api/...":                {"adapters", "adapters/markdown", "sessions", "conversations", "people", "api/...", "sessions/transcript", "sessions/view"},
	"sqlitestore":            {"sessions", "sessions/archive"},
	"redisstore":             {"sessions", "sessions/archive"},
	"scheduler":              {"sessions"},
	"people":                 {"adapters", "routing", "sessions"},
	"bot/budget":             {"routing"},
	"bot/metrics":            {"adapters", "routing", "sessions", "sessions/storewrap", "agent", "scheduler"},
	"bot/life":               {"sessions"},
	"bot/due":                {"sessions", "bot/life"},
	"bot/checkpoints":        {"adapters", "routing", "sessions", "agent", "bot/life", "bot/delivery", "bot/metrics", "bot/texts"},
	"bot/delivery":           {"adapters", "sessions", "bot/life"},
	"bot/turns":              {"adapters", "routing", "sessions", "agent", "bot/life", "bot/delivery", "bot/metrics", "bot/texts"},
	"bot/commands":           {"adapters", "routing", "sessions", "sessions/view", "conversations", "people", "scheduler", "bot/texts"},
	"bot/texts":              {"adapters", "people", "routing", "sessions"},
	"bot":                    {"adapters", "routing", "sessions", "agent", "api", "scheduler", "conversations", "people", "bot/...", "sessions/transcript", "sessions/view"},
	"conversations":          {"routing", "sessions", "sessions/transcript", "sessions/view"},
	"cmd/gateway/config":     {"adapters", "redisstore", "routing", "scheduler"},
	"cmd/gateway/...":        {"..."},
	"test/...":               {"..."},
	"internal/...":           {},
}

func TestDependenciesPointOneWay(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		rule, found := ruleFor(name)
		if !found {
			t.Errorf("%s has no line in mayImport: say there what it may import", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			own, ours := strings.CutPrefix(imported, module+"/")
			if !ours || strings.HasPrefix(own, "internal/") {
				continue
			}
			if !slices.ContainsFunc(mayImport[rule], func(allowed string) bool { return covers(allowed, own) }) {
				t.Errorf("%s imports %s, which its room may not (see mayImport)", p.ImportPath, imported)
			}
		}
	}
}

func ruleFor(name string) (string, bool) {
	best, found := "", false
	for rule := range mayImport {
		if covers(rule, name) && len(rule) > len(best) {
			best, found = rule, true
		}
	}
	return best, found
}

func covers(rule, name string) bool {
	if rule == "..." {
		return true
	}
	if folder, ok := strings.CutSuffix(rule, "/..."); ok {
		return name == folder || strings.HasPrefix(name, folder+"/")
	}
	return rule == name
}

type listed struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...")
	command.Dir = root(t)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func root(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestEveryPackageHasADocFile(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		folder := filepath.Join(root(t), strings.TrimPrefix(p.ImportPath, module))
		if strings.HasPrefix(p.ImportPath, module+"/test/") || p.ImportPath == module+"/internal/secret" {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, "doc.go")); err != nil {
			t.Errorf("%s has no doc.go", p.ImportPath)
		}
	}
}

func TestNoSleepInTests(t *testing.T) {
	t.Parallel()
	eachSource(t, func(path string, source []byte) {
		if strings.HasSuffix(path, ".go") && bytes.Contains(source, []byte("time."+"Sleep(")) {
			t.Errorf("%s sleeps: wait for a signal, or use testing/synctest", path)
		}
	})
}

func eachSource(t *testing.T, visit func(path string, source []byte)) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", "ls-files")
	command.Dir = root(t)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		source, err := os.ReadFile(filepath.Join(root(t), path))
		if err == nil {
			visit(path, source)
		}
	}
}
