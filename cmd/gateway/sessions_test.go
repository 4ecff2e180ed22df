package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/cmd/gateway/sessionscli"
	"parley/sessions"
	"parley/sessions/view"
)

// talks has a conversation under a terminal's name.
func (m *machine) talks(name string, lines ...string) {
	m.t.Helper()
	if code, out, errs := m.does(strings.Join(lines, "\n")+"\n", "chat", "--session", name); code != exitOK {
		m.t.Fatalf("%d, %q, %q", code, out, errs)
	}
}

// did is the output of a command that must succeed.
func (m *machine) did(stdin string, args ...string) string {
	m.t.Helper()
	code, out, errs := m.does(stdin, args...)
	if code != exitOK {
		m.t.Fatalf("%v: %d, %q, %q", args, code, out, errs)
	}
	return out
}

func (m *machine) refuses(want string, args ...string) {
	m.t.Helper()
	code, out, errs := m.does("", args...)
	oneLine(m.t, code, errs, want)
	if out != "" {
		m.t.Errorf("%v: it failed and wrote %q", args, out)
	}
}

func decoded[T any](t *testing.T, text string) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return value
}

// Both ways to reach sessions do and say the same.
func TestSessions(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string]bool{"straight on the store": false, "through the gateway": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.talks("trip", "where to?", "and when?")
			m.talks("work", "hello")
			if runs {
				m.runs()
			}
			m.sessionsAreListed()
			m.sessionsAreShown()
			file := m.sessionsAreExported()
			m.sessionsAreImported(file)
			m.sessionsAreForked()
			m.sessionsAreEmptied()
		})
	}
}

func (m *machine) sessionsAreListed() {
	m.t.Helper()
	lines := strings.Split(m.did("", "sessions", "list"), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "ID        STATE   MESSAGES  ACTIVITY") || !strings.HasPrefix(lines[1], "cli:work  active  1         20") || !strings.HasSuffix(lines[2], "where to?") {
		m.t.Errorf("list: %q", lines)
	}
	type found struct {
		Sessions []sessions.Record `json:"sessions"`
		Next     string            `json:"next"`
	}
	if f := decoded[found](m.t, m.did("", "sessions", "list", "--json", "--limit", "1")); len(f.Sessions) != 1 || f.Sessions[0].ID != "cli:work" || f.Next == "" {
		m.t.Errorf("%+v", f)
	}
	for _, filter := range [][]string{{"--state", "suspended"}, {"--type", "group"}, {"--user", "telegram:1"}, {"--workspace", "x"}, {"--surface", "cli:local:none"}} {
		if f := decoded[found](m.t, m.did("", append([]string{"sessions", "list", "--json"}, filter...)...)); len(f.Sessions) != 0 {
			m.t.Errorf("%v: %+v", filter, f)
		}
	}
	for _, filter := range [][]string{{"--all"}, {"--state", "active"}, {"--type", "direct"}, {"--user", "cli:owner"}, {"--since", "1h"}} {
		if f := decoded[found](m.t, m.did("", append([]string{"sessions", "list", "--json"}, filter...)...)); len(f.Sessions) != 2 {
			m.t.Errorf("%v: %+v", filter, f)
		}
	}
	if out := m.did("", "sessions", "list", "--state", "expired"); out != "no conversations\n" {
		m.t.Errorf("%q", out)
	}
	m.refuses("state", "sessions", "list", "--state", "asleep")
	m.refuses("--limit", "sessions", "list", "--limit", "0")
}

func (m *machine) sessionsAreShown() {
	m.t.Helper()
	out := m.did("", "sessions", "show", "cli:trip")
	for _, want := range []string{"cli:trip  active, idle\n", "  about         where to?\n", "  counts        2 messages, 2 turns, 4 entries\n", "  stands at     e4\n", ": and when?\n"} {
		if !strings.Contains(out, want) {
			m.t.Errorf("show lacks %q: %s", want, out)
		}
	}
	if out := m.did("", "sessions", "show", "cli:trip", "--last", "1"); strings.Contains(out, "and when?\n") {
		m.t.Errorf("--last 1: %s", out)
	}
	shown := decoded[sessionscli.ShownSession](m.t, m.did("", "sessions", "show", "cli:trip", "--json"))
	if shown.Session.ID != "cli:trip" || shown.Session.Leaf != "e4" || len(shown.Feed) != 4 || shown.Feed[0].Text != "where to?" {
		m.t.Errorf("%+v", shown)
	}
	if tree := m.did("", "sessions", "tree", "cli:trip"); !strings.HasPrefix(tree, "● e1 ") || !strings.Contains(tree, "◉ e4 bot: ") || !strings.HasSuffix(tree, "← here\n") {
		m.t.Errorf("tree: %s", tree)
	}
	if tree := decoded[view.Tree](m.t, m.did("", "sessions", "tree", "cli:trip", "--json", "--limit", "2")); len(tree.Nodes) < 2 || tree.Leaf != "e4" {
		m.t.Errorf("%+v", tree)
	}
	for _, verb := range []string{"show", "tree", "export", "fork"} {
		m.refuses(`there is no conversation "cli:none"; `, "sessions", verb, "cli:none")
	}
	m.refuses("sessions list --all", "sessions", "show")
	m.refuses("session id", "sessions", "show", "a b")
}

func (m *machine) sessionsAreExported() (file string) {
	m.t.Helper()
	file = filepath.Join(m.t.TempDir(), "trip.jsonl")
	m.did("", "sessions", "export", "cli:trip", file)
	content, err := os.ReadFile(file)
	if err != nil {
		m.t.Fatal(err)
	}
	if out := m.did("", "sessions", "export", "cli:trip"); out != string(content) || strings.Count(out, "\n") != 5 || !strings.HasPrefix(out, `{"type":"session_header","version":1,"id":"cli:trip"`) {
		m.t.Errorf("export: %s", out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		m.t.Errorf("%v, %v", info, err)
	}
	m.refuses("--force", "sessions", "export", "cli:work", file)
	m.did("", "sessions", "export", "cli:work", file, "--force")
	m.did("", "sessions", "export", "cli:trip", file, "--force")
	m.refuses("cannot write", "sessions", "export", "cli:trip", filepath.Join(file, "x"))
	m.refuses("no conversation", "sessions", "export", "cli:none", file+"2")
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*")); err != nil || len(left) != 1 {
		m.t.Errorf("an export that failed left something: %v, %v", left, err)
	}
	return file
}

func (m *machine) sessionsAreImported(file string) {
	m.t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		m.t.Fatal(err)
	}
	text := string(content)
	m.refuses("--new-id", "sessions", "import", file)
	m.refuses("--new-id", "sessions", "import", file, "--check")
	if out := m.did("", "sessions", "import", file, "--check", "--new-id"); out != "✓ "+file+" is in order: cli:trip with 4 entries\n" {
		m.t.Errorf("%q", out)
	}
	id := strings.TrimSpace(m.did("", "sessions", "import", file, "--new-id"))
	if !strings.HasPrefix(id, "cli:trip~") {
		m.t.Errorf("the new id is %q", id)
	}
	again := m.did("", "sessions", "export", id)
	if want := strings.Replace(text, `"id":"cli:trip"`, `"id":"`+id+`"`, 1); again != want {
		m.t.Errorf("what was imported differs:\n%s\n%s", again, want)
	}
	if code, _, errs := m.does(text, "sessions", "import", "-"); code != exitFailure || !strings.Contains(errs, "--new-id") {
		m.t.Errorf("%d, %q", code, errs)
	}
	if out := m.did(strings.Replace(text, "cli:trip", "api:moved", 1), "sessions", "import", "-", "--json"); decoded[map[string]string](m.t, out)["id"] != "api:moved" {
		m.t.Errorf("%q", out)
	}
	torn := m.file(text[:len(text)-20])
	for _, args := range [][]string{{"--check"}, {"--new-id"}} {
		m.refuses("line 5: the file ends in the middle", append([]string{"sessions", "import", torn}, args...)...)
	}
	bad := strings.Replace(strings.Replace(text, `"cli:trip"`, `"cli:bad"`, 1), `"parent_id":"e3"`, `"parent_id":"e9"`, 1)
	code, _, errs := m.does(bad, "sessions", "import", "-")
	oneLine(m.t, code, errs, `line 5: its parent_id "e9" is no entry of this file`)
	m.refuses("no conversation", "sessions", "show", "cli:bad")
	m.refuses("a folder", "sessions", "import", filepath.Dir(file))
	m.refuses("cannot read", "sessions", "import", file+"3")
}

func (m *machine) sessionsAreForked() {
	m.t.Helper()
	id := strings.TrimSpace(m.did("", "sessions", "fork", "cli:trip", "--at", "e2", "--name", "Second try"))
	shown := decoded[sessionscli.ShownSession](m.t, m.did("", "sessions", "show", id, "--json"))
	if s := shown.Session; !strings.HasPrefix(id, "cli:trip~") || s.ParentSession != "cli:trip" || s.Name != "Second try" || s.Seq != 2 || s.Leaf != "e2" {
		m.t.Errorf("%s: %+v", id, s)
	}
	whole := strings.TrimSpace(m.did("", "sessions", "fork", "cli:trip"))
	if s := decoded[sessionscli.ShownSession](m.t, m.did("", "sessions", "show", whole, "--json")).Session; s.Seq != 4 {
		m.t.Errorf("%+v", s)
	}
	m.refuses(`there is no entry "e99" in the tree of cli:trip`, "sessions", "fork", "cli:trip", "--at", "e99")
	m.refuses("e42", "sessions", "fork", "cli:trip", "--at", "nine")
}

func (m *machine) sessionsAreEmptied() {
	m.t.Helper()
	m.refuses("--yes", "sessions", "clear", "cli:trip")
	m.refuses("--yes", "sessions", "rm", "cli:trip")
	m.did("", "sessions", "clear", "cli:trip", "--yes")
	if s := decoded[sessionscli.ShownSession](m.t, m.did("", "sessions", "show", "cli:trip", "--json")); s.Session.Cleared != 4 || len(s.Feed) != 0 || s.Session.Leaf != "" {
		m.t.Errorf("%+v", s)
	}
	if tree := m.did("", "sessions", "tree", "cli:trip"); tree != "◉ the beginning  ← here\n" {
		m.t.Errorf("%q", tree)
	}
	if out := m.did("", "sessions", "rm", "cli:trip", "cli:work", "--yes"); out != "cli:trip is removed\ncli:work is removed\n" {
		m.t.Errorf("%q", out)
	}
	m.refuses("no conversation", "sessions", "rm", "cli:trip", "--yes")
}

func TestSessionsRefusesWhatIsNotDoneToGroups(t *testing.T) {
	t.Parallel()
	group := `{"type":"session_header","version":1,"id":"telegram:g","timestamp":"2026-03-02T10:00:00Z","source":{"kind":"channel","type":"group"},"state":"%s","last_activity_at":"2026-03-02T10:00:00Z","leaf_id":null}` + "\n"
	for name, runs := range map[string]bool{"straight on the store": false, "through the gateway": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			if runs {
				m.runs()
			}
			m.did(fmt.Sprintf(group, "active"), "sessions", "import", "-")
			m.refuses("sessions clear telegram:g", "sessions", "rm", "telegram:g", "--yes")
			m.did(strings.Replace(fmt.Sprintf(group, "expired"), "telegram:g", "telegram:x", 1), "sessions", "import", "-")
			m.refuses("sessions fork telegram:x", "sessions", "clear", "telegram:x", "--yes")
			m.did("", "sessions", "fork", "telegram:x")
		})
	}
}

func TestSessionsOfNothingLeaveNothing(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if out := m.did("", "sessions", "list"); !strings.HasPrefix(out, "no conversations") {
		t.Errorf("%q", out)
	}
	m.refuses("no conversation", "sessions", "show", "cli:main")
	if _, err := os.Stat(m.data); !os.IsNotExist(err) {
		t.Error("looking left something behind")
	}
}

// A conversation opened by hand leaves nothing behind until it was answered.
func TestSessionsNewAndChatLeaveNothingUnanswered(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string]bool{"a gateway of its own": false, "the gateway that runs": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			if runs {
				m.runs()
			}
			ids := func() string {
				type found struct {
					Sessions []sessions.Record `json:"sessions"`
				}
				var ids []string
				for _, s := range decoded[found](t, m.did("", "sessions", "list", "--all", "--json")).Sessions {
					ids = append(ids, s.ID)
				}
				return strings.Join(ids, " ")
			}
			m.did("", "sessions", "new", "quiet")
			m.did("/help\n", "sessions", "new")
			m.did("/new\n", "chat", "--session", "quiet")
			if got := ids(); got != "" {
				t.Errorf("left behind: %s", got)
			}
			m.did("hello\n", "sessions", "new", "idea")
			if got := ids(); got != "cli:idea" {
				t.Errorf("kept: %s", got)
			}
			m.refuses("chat --session idea", "sessions", "new", "idea")
			m.did("", "chat", "--continue") // says nothing, and takes nothing away
			if got := ids(); got != "cli:idea" {
				t.Errorf("kept: %s", got)
			}
			m.refuses("name of a conversation", "sessions", "new", "a/b")
		})
	}
}

func TestAFailedFirstAnswerLeavesNothing(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.env["OPENAI_BASE_URL"], m.env["OPENAI_API_KEY"] = "http://127.0.0.1:1/v1", "none"
	m.does("hello\n", "sessions", "new", "idea")
	if out := m.did("", "sessions", "list", "--all"); out != "no conversations\n" {
		t.Errorf("%q", out)
	}
}
