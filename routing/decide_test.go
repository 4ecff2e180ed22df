package routing

import (
	"os"
	"slices"
	"strings"
	"testing"

	"parley/adapters"
)

const testBot = "parley_bot"

// The dimensions of the truth table, in the order of the table's columns.
const (
	colKind = iota
	colWho
	colRole
	colPlace
	colListed
	colDM
	colGroups
	colOwnerAlways
	colFollow
	colSaid
	columns
)

type situation [columns]string

type tableRow struct {
	text string
	fits [columns]map[string]bool
	want string
	used bool
}

// readTable reads testdata/decisions.txt; a pattern that fits no value of its
// column is an error, so that a misspelt row cannot hide.
func readTable(t *testing.T, domains [columns][]string) []tableRow {
	t.Helper()
	data, err := os.ReadFile("testdata/decisions.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rows []tableRow
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		left, right, ok := strings.Cut(line, "=>")
		cells := strings.Fields(left)
		if want := strings.Fields(right); !ok || len(cells) != columns || len(want) != 5 {
			t.Fatalf("malformed row: %s", line)
		}
		row := tableRow{text: line, want: strings.Join(strings.Fields(right), " ")}
		for i, cell := range cells {
			row.fits[i] = expand(t, cell, domains[i])
		}
		rows = append(rows, row)
	}
	return rows
}

func expand(t *testing.T, cell string, domain []string) map[string]bool {
	t.Helper()
	fits := map[string]bool{}
	for pattern := range strings.SplitSeq(cell, "|") {
		prefix, open := strings.CutSuffix(pattern, "*")
		found := false
		for _, value := range domain {
			if value == pattern || open && strings.HasPrefix(value, prefix) {
				fits[value], found = true, true
			}
		}
		if !found {
			t.Fatalf("the pattern %q fits nothing of %q", pattern, domain)
		}
	}
	return fits
}

func (r *tableRow) matches(s situation) bool {
	for i, value := range s {
		if !r.fits[i][value] {
			return false
		}
	}
	return true
}

// sayings are the things somebody can say, by the name they have in the table.
func sayings() map[string]adapters.Event {
	photo := []adapters.Attachment{{Kind: "photo"}}
	said := map[string]adapters.Event{
		"plain":         {Text: "hello"},
		"photo":         {Attachments: photo},
		"empty":         {Text: " \n"},
		"unknown":       {Text: "/frobnicate now"},
		"bare":          {Mentioned: true},
		"mention":       {Text: "hello @" + testBot, Mentioned: true},
		"reply":         {Text: "stop", ReplyToBot: true},
		"both":          {Text: "stop", ReplyToBot: true, Mentioned: true},
		"thread":        {Text: "hello", InBotThread: true},
		"other":         {Text: "/new@other_bot"},
		"other+mention": {Text: "/new@other_bot please, @" + testBot, Mentioned: true},
		"other+reply":   {Text: "/frobnicate@other_bot", ReplyToBot: true},
		"other+thread":  {Text: "/new@other_bot", InBotThread: true},
		// forms that all commands share are tried with one of them
		"cmd:new/addressed": {Text: "/NEW@Parley_Bot", Mentioned: true},
		"cmd:new/named":     {Text: "@parley_bot new", Mentioned: true},
		"cmd:new/cut":       {Text: "new", Mentioned: true},
	}
	for name, event := range map[string]adapters.Event{
		"text": {Text: "hello"}, "command": {Text: "/allow"}, "link": {Text: "/link code yes"}, "mention": {Text: "@" + testBot + " new", Mentioned: true},
		"reply": {Text: "/new", ReplyToBot: true}, "thread": {Text: "hello", InBotThread: true},
	} {
		event.Forwarded = &adapters.Forward{}
		said["passed:"+name] = event
		event.Forwarded, event.Via = nil, "somebot"
		said["passed:"+name+"/via"] = event
	}
	for _, name := range []string{"start", "help", "whoami", "new", "status", "stop", "retry", "allow"} {
		said["cmd:"+name+"/slash"] = adapters.Event{Text: "/" + name + " x"}
		said["cmd:"+name+"/native"] = adapters.Event{Command: &adapters.NativeCommand{Name: name}}
	}
	return said
}

// spot is one platform and what it says of Direct.
type spot struct {
	platform adapters.Platform
	direct   bool
	place    string
}

func spots() []spot {
	var all []spot
	for _, p := range []adapters.Platform{adapters.Telegram, adapters.Discord, adapters.Slack} {
		all = append(all, spot{p, true, "direct"}, spot{p, false, "group"})
	}
	for _, p := range []adapters.Platform{adapters.Web, adapters.CLI, adapters.API} {
		all = append(all, spot{p, true, "local"}, spot{p, false, "local"})
	}
	return append(all, spot{adapters.Schedule, true, "schedule"}, spot{adapters.Schedule, false, "schedule"})
}

func domains() [columns][]string {
	said := []string{}
	for name := range sayings() {
		said = append(said, name)
	}
	slices.Sort(said)
	return [columns][]string{
		colKind:   {"message", "other"},
		colWho:    {"person", "self", "bot", "unverified"},
		colRole:   {"owner", "member", "guest", "blocked", "none"},
		colPlace:  {"direct", "group", "local", "schedule"},
		colListed: {"yes", "no"},
		colDM:     {"known", "anyone", "none"}, colGroups: {"listed", "anyone", "none"},
		colOwnerAlways: {"on", "off"}, colFollow: {"on", "off"},
		colSaid: said,
	}
}

func otherKinds() []adapters.EventKind {
	return []adapters.EventKind{
		adapters.EventEdit, adapters.EventDelete, adapters.EventReaction, adapters.EventButton,
		adapters.EventMember, adapters.EventMigrate, "", "something new",
	}
}

func word(value string) string {
	if value == "none" {
		return "Anyone" // not the word, but near it
	}
	return value
}

func inputOf(s situation, at spot, kind adapters.EventKind, said adapters.Event) Input {
	said.Kind = kind
	said.Surface = adapters.Surface{Platform: at.platform, Account: "1", Chat: "2"}
	said.Direct = at.direct
	said.Sender = adapters.Sender{
		ID: "telegram:7", Bot: s[colWho] == "bot" || s[colWho] == "self",
		Self: s[colWho] == "self", Unverified: s[colWho] == "unverified",
	}
	return Input{
		Event: said, BotName: testBot, Role: Role(word(s[colRole])), Listed: s[colListed] == "yes",
		Policy: Policy{
			Access:      Access{DM: DMAccess(word(s[colDM])), Groups: GroupAccess(word(s[colGroups]))},
			OwnerAlways: s[colOwnerAlways] == "on", ThreadFollow: s[colFollow] == "on",
		},
	}
}

// inWords writes a decision as the table does.
func inWords(d Decision) string {
	extra := string(d.Notice) + string(d.Permission)
	if extra == "" {
		extra = "-"
	}
	return strings.Join([]string{string(d.Action), string(d.Reason), yesNo(d.Directed), extra, yesNo(d.ListChat)}, " ")
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// wanted is the row's answer with its "new" worked out for the situation.
func (r *tableRow) wanted(s situation) string {
	if front, ok := strings.CutSuffix(r.want, " new"); ok {
		isNew := s[colRole] == "owner" && s[colListed] == "no" && s[colGroups] != "anyone"
		return front + " " + yesNo(isNew)
	}
	return r.want
}

// forEachSituation walks the whole product of the domains.
func forEachSituation(domains [columns][]string, visit func(situation)) {
	var s situation
	var walk func(column int)
	walk = func(column int) {
		if column == columns {
			visit(s)
			return
		}
		for _, value := range domains[column] {
			s[column] = value
			walk(column + 1)
		}
	}
	walk(0)
}

func TestDecideTruthTable(t *testing.T) {
	t.Parallel()
	domains, said := domains(), sayings()
	rows := readTable(t, domains)
	reasons := map[Reason]bool{}
	forEachSituation(domains, func(s situation) {
		row := slices.IndexFunc(rows, func(row tableRow) bool { return row.matches(s) })
		if row < 0 {
			t.Fatalf("no row for %v", s)
		}
		rows[row].used = true
		kinds := []adapters.EventKind{adapters.EventMessage}
		if s[colKind] == "other" {
			kinds = otherKinds()
		}
		for _, at := range spots() {
			if at.place != s[colPlace] {
				continue
			}
			for _, kind := range kinds {
				got := Decide(inputOf(s, at, kind, said[s[colSaid]]))
				reasons[got.Reason] = true
				if want := rows[row].wanted(s); inWords(got) != want {
					t.Fatalf("%v, kind %q on %s (direct %v): got %q, want %q by the row\n%s",
						s, kind, at.platform, at.direct, inWords(got), want, rows[row].text)
				}
			}
		}
	})
	for _, row := range rows {
		if !row.used {
			t.Errorf("this row decides nothing: %s", row.text)
		}
	}
	for _, reason := range Reasons() {
		if !reasons[reason] && reason != ReasonDuplicate {
			t.Errorf("no event has the reason %q", reason)
		}
		delete(reasons, reason)
	}
	if len(reasons) > 0 {
		t.Errorf("reasons that Reasons does not list: %v", reasons)
	}
}

func TestDecideHandsOnTheCommand(t *testing.T) {
	t.Parallel()
	got := Decide(Input{
		Event: adapters.Event{
			Kind: adapters.EventMessage, Text: "/allow  telegram:1:2 ",
			Surface: adapters.Surface{Platform: adapters.Telegram, Account: "1", Chat: "3"},
		},
		Role: Owner,
	})
	if got.Command == nil || *got.Command != (Command{Name: "allow", Args: "telegram:1:2"}) || !got.ListChat {
		t.Errorf("got %+v, command %+v", got, got.Command)
	}
}

func TestReasonsHaveMeanings(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, reason := range Reasons() {
		meaning := reason.Meaning()
		if meaning == "" || strings.Contains(meaning, "\n") || seen[meaning] || seen[string(reason)] {
			t.Errorf("reason %q: no, repeated or long meaning %q", reason, meaning)
		}
		seen[meaning], seen[string(reason)] = true, true
	}
	if Reason("nonsense").Meaning() != "" {
		t.Error("an unknown reason has a meaning")
	}
}

func TestRankOrdersRights(t *testing.T) {
	t.Parallel()
	roles := []Role{Blocked, Guest, Member, Owner}
	for i := 1; i < len(roles); i++ {
		if roles[i-1].Rank() >= roles[i].Rank() {
			t.Errorf("%s ranks not below %s", roles[i-1], roles[i])
		}
	}
	for _, unknown := range []Role{"", "Owner", "admin"} {
		if unknown.Rank() != Blocked.Rank() {
			t.Errorf("%q has rights", unknown)
		}
	}
}
