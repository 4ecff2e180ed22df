package main

import (
	"strings"
	"testing"

	"parley/cmd/gateway/client"
	"parley/sessions"
)

// in is the machine with commands run in another directory.
func (m *machine) in(dir string) *machine {
	there := *m
	there.dir = dir
	return &there
}

// place is the terminal that a chat is held at.
func (m *machine) place(args ...string) string {
	m.t.Helper()
	out := m.did("/whoami\n", append([]string{"chat"}, args...)...)
	_, place, _ := strings.Cut(strings.TrimSpace(out), "cli:local:")
	name, _, _ := strings.Cut(place, "`")
	return name
}

func TestChatContinuesWhatWasSaidInItsDirectory(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string]bool{"a gateway of its own": false, "the gateway that runs": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			if runs {
				m.runs()
			}
			a, b := m.in("/src/a"), m.in("/src/b")
			if got := a.place("--continue"); got != sessionDefault {
				t.Errorf("where nothing was said: %q", got)
			}
			a.talks("one", "hello")
			b.talks("two", "hello")
			a.talks("three", "hello")
			a.did("", "chat", "--session", "ghost")
			if got := a.place("--continue"); got != "three" {
				t.Errorf("in a: %q", got)
			}
			if got := b.place("--continue"); got != "two" {
				t.Errorf("in b: %q", got)
			}
			b.talks("one", "again") // it stays the other directory's
			if got := a.place("--continue"); got != "one" {
				t.Errorf("what was said last, from elsewhere: %q", got)
			}
		})
	}
}

func TestSessionsOfADirectory(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	a := m.in("/src/a")
	a.talks("one", "hello", "/new", "hello again")
	m.in("/src/b").talks("two", "hello")
	ids := func(args ...string) string {
		var ids []string
		for _, s := range decoded[client.Found](t, a.did("", append([]string{"sessions", "list", "--json"}, args...)...)).Sessions {
			if s.WorkspaceID == "" {
				t.Errorf("%s has no workspace", s.ID)
			}
			ids = append(ids, s.ID)
		}
		return strings.Join(ids, " ")
	}
	if got := ids("--workspace", "/src/b"); got != "cli:two" {
		t.Errorf("by name: %s", got)
	}
	if got := ids("--here", "--all"); strings.Count(got, " ") != 1 || !strings.HasSuffix(got, "cli:one") {
		t.Errorf("here: %s", got)
	}
	if out := a.did("", "sessions", "export", "cli:two"); !strings.Contains(out, `"cwd":"/src/b"`) {
		t.Errorf("the transcript: %s", out)
	}
	m.refuses("leave out --here", "sessions", "list", "--here")
	long := m.in("/" + strings.Repeat("x", sessions.KeyMax))
	long.talks("far", "hello") // a name that is too long is left out
	if got := long.place("--continue"); got != sessionDefault {
		t.Errorf("where no directory can be told: %q", got)
	}
}
