package main

import (
	"path/filepath"
	"strings"
	"testing"

	"parley/people"
	"parley/routing"
	"parley/sqlitestore"
)

// knock keeps the wishes of strangers in the machine's store, and gives their
// codes.
func (m *machine) knock(requests ...people.Request) (codes []string) {
	m.t.Helper()
	store, err := sqlitestore.Open(m.t.Context(), sqlitestore.Config{Path: filepath.Join(m.data, "gateway.db")})
	if err != nil {
		m.t.Fatal(err)
	}
	room := &people.Room{Store: store}
	for _, request := range requests {
		kept, err := room.Knock(m.t.Context(), request)
		if err != nil {
			m.t.Error(err)
		}
		codes = append(codes, kept.Code)
	}
	if err := store.Close(); err != nil {
		m.t.Fatal(err)
	}
	return codes
}

// Both ways to reach people do and say the same.
func TestPeople(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string]bool{"straight on the store": false, "through the gateway": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.env["GATEWAY_OWNERS"] = "telegram:1"
			codes := m.knock(people.Request{Identity: "telegram:8", Name: "Bob \x1b[2J", Surface: "telegram:1:8"},
				people.Request{Identity: "telegram:9", Name: "Eve", Surface: "telegram:1:9"})
			if runs {
				m.runs()
			}
			m.listsPeople(codes)
			m.changesPeople(codes, runs)
			m.refusesPeople(codes[0])
		})
	}
}

func (m *machine) listsPeople(codes []string) {
	m.t.Helper()
	out := m.did("", "people", "list")
	for _, want := range []string{"telegram:1  ", "owner  configuration", codes[0] + "  telegram:8  2", "Bob", codes[1] + "  telegram:9", "gateway people allow"} {
		if !strings.Contains(out, want) || strings.Contains(out, "\x1b") {
			m.t.Errorf("list, want %q: %q", want, out)
		}
	}
	all := decoded[people.Everybody](m.t, m.did("", "people", "list", "--json"))
	if len(all.People) != 4 || len(all.Requests) != 2 || all.Requests[0].Code != codes[0] {
		m.t.Errorf("%+v", all)
	}
}

func (m *machine) changesPeople(codes []string, runs bool) {
	m.t.Helper()
	for _, c := range []struct {
		line     string
		id       string
		role     people.Role
		stored   people.Role
		untold   bool // where no gateway runs
		requests int  // that wait afterwards
	}{
		{"allow " + strings.ToLower(codes[0]), "telegram:8", routing.Member, routing.Member, true, 1},
		{"block " + codes[1], "telegram:9", routing.Blocked, routing.Blocked, false, 0},
		{"allow telegram:7 --role owner", "telegram:7", routing.Owner, routing.Owner, true, 0},
		{"role telegram:7 guest", "telegram:7", routing.Guest, routing.Guest, false, 0},
		{"remove telegram:9", "telegram:9", routing.Guest, "", false, 0},
		{"remove telegram:1", "telegram:1", routing.Owner, "", false, 0},
	} {
		args := append([]string{"people"}, strings.Fields(c.line)...)
		out := m.did("", args...)
		if !strings.HasPrefix(out, c.id+" has the role "+string(c.role)+" now") || strings.Contains(out, "tell them yourself") != (c.untold && !runs) {
			m.t.Errorf("%s: %q", c.line, out)
		}
		all := decoded[people.Everybody](m.t, m.did("", "people", "list", "--json"))
		if len(all.Requests) != c.requests {
			m.t.Errorf("%s: %+v wait", c.line, all.Requests)
		}
		for _, person := range all.People {
			if person.ID == c.id && (person.Role != c.role || person.Stored != c.stored) {
				m.t.Errorf("%s: %+v", c.line, person)
			}
		}
	}
	person := decoded[people.Person](m.t, m.did("", "people", "role", "telegram:7", "member", "--json"))
	if person.ID != "telegram:7" || person.Role != routing.Member {
		m.t.Errorf("%+v", person)
	}
	if out := m.did("", "people", "list"); !strings.Contains(out, "member  given") || strings.Contains(out, "CODE") {
		m.t.Errorf("list: %q", out)
	}
}

func (m *machine) refusesPeople(answered string) {
	m.t.Helper()
	for line, want := range map[string]string{
		"allow ZZZZZZ":                 "`gateway people list` shows who does",
		"block " + answered:            "`gateway people list` shows who does",
		"block telegram:1":             "gateway: the configuration makes telegram:1 an owner, which is stronger; change it there\n",
		"role telegram:8 king":         "gateway: a role is owner, member, guest or blocked, or empty to take it back\n",
		"allow telegram:":              "telegram:",
		"allow telegram:8 --role king": "a member or an owner",
		"allow":                        "accepts 1 arg",
		"bloc telegram:8":              "did you mean `gateway people block`?",
	} {
		m.refuses(want, append([]string{"people"}, strings.Fields(line)...)...)
	}
	if out := m.did("", "people", "allow", answered); !strings.Contains(out, "has the role member now") {
		m.t.Errorf("the same answer again: %q", out)
	}
}

func TestLookingAtPeopleLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if out := m.did("", "people", "list"); !strings.Contains(out, "cli:owner  ") || strings.Contains(out, "CODE") {
		t.Errorf("%q", out)
	}
	if found, err := filepath.Glob(filepath.Join(m.data, "*")); err != nil || len(found) != 0 {
		t.Errorf("it made %v, %v", found, err)
	}
}
