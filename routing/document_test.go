package routing

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of commands into the documentation")

const (
	document   = "../docs/chat-commands.md"
	tableBegin = "<!-- made from the table in routing: go test ./routing -run Document -update -->\n"
	tableEnd   = "<!-- end -->\n"
)

// The table of the documentation is the one that decides.
func TestTheDocumentHasTheTableOfCommands(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(raw), tableBegin)
	_, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", document)
	}
	want := before + tableBegin + commandTable() + tableEnd + after
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(raw) != want {
		t.Errorf("%s is not what routing decides; go test ./routing -run Document -update writes it", document)
	}
}

func commandTable() string {
	var out strings.Builder
	out.WriteString("| command | what it does | member, alone | guest, alone | member, in a group | guest, in a group |\n|---|---|---|---|---|---|\n")
	for _, spec := range Commands() {
		usage := strings.ReplaceAll(spec.Usage, "|", "\\|")
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s | %s | %s |\n", usage, spec.Description,
			allowedWord(spec.Direct.Member), allowedWord(spec.Direct.Guest), allowedWord(spec.Group.Member), allowedWord(spec.Group.Guest))
	}
	return out.String()
}

func allowedWord(p Permission) string {
	return map[Permission]string{PermRefused: "–", PermAllowed: "yes", PermOwnTurn: "what they asked for", PermIfOpen: "if `access.dm` is `anyone`"}[p]
}
