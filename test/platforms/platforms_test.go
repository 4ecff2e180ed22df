package platforms_test

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"parley/adapters"
	"parley/adapters/discord"
	"parley/adapters/slack"
	"parley/adapters/telegram"
	"parley/internal/secret"
)

var update = flag.Bool("update", false, "write docs/platforms.md anew")

const (
	page  = "../../docs/platforms.md"
	begin = "<!-- made from the adapters' Capabilities: go test ./test/platforms -update -->\n"
	end   = "<!-- end -->\n"
)

// all are the adapters, in the order of the table. None of them connects.
func all(t *testing.T) []adapters.Adapter {
	t.Helper()
	must := func(adapter adapters.Adapter, err error) adapters.Adapter {
		if err != nil {
			t.Fatal(err)
		}
		return adapter
	}
	return []adapters.Adapter{
		must(telegram.New(telegram.Config{Token: secret.New("1:a"), Logger: slog.New(slog.DiscardHandler)})),
		must(discord.New(discord.Config{Token: secret.New("a.b.c")})),
		must(slack.New(slack.Config{BotToken: secret.New("xoxb-1"), AppToken: secret.New("xapp-1")})),
	}
}

// row is one line of the table.
type row struct {
	what string
	cell func(adapters.Adapter, adapters.Capabilities) string
}

func rows() []row {
	can := func(field func(adapters.Capabilities) bool) func(adapters.Adapter, adapters.Capabilities) string {
		return func(_ adapters.Adapter, c adapters.Capabilities) string { return yes(field(c)) }
	}
	return []row{
		{"Longest message", func(_ adapters.Adapter, c adapters.Capabilities) string {
			return fmt.Sprintf("%d UTF-16 units", c.TextMax)
		}},
		{"Shows that it writes", func(a adapters.Adapter, c adapters.Capabilities) string {
			_, typer := a.(adapters.Typer)
			return yes(typer && c.TypingFor > 0)
		}},
		{"Commands are registered by the gateway", func(a adapters.Adapter, _ adapters.Capabilities) string {
			_, registrar := a.(adapters.CommandRegistrar)
			return yes(registrar)
		}},
		{"A message sent twice shows once", can(func(c adapters.Capabilities) bool { return c.IdempotentKey })},
		{"A message of unknown fate is looked up", can(func(c adapters.Capabilities) bool { return c.CanLookUp })},
		{"Can be asked who is in a group", func(a adapters.Adapter, _ adapters.Capabilities) string {
			_, roll := a.(adapters.Roll)
			return yes(roll)
		}},
		{"`gateway doctor` finds what makes it deaf", func(a adapters.Adapter, _ adapters.Capabilities) string {
			_, doctor := a.(adapters.Doctor)
			return yes(doctor)
		}},
	}
}

func yes(can bool) string {
	if can {
		return "yes"
	}
	return "–"
}

func table(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	head, rule := "| |", "|---|"
	every := all(t)
	for _, adapter := range every {
		head += " " + adapter.Capabilities().Platform.Traits().Title + " |"
		rule += "---|"
	}
	out.WriteString(head + "\n" + rule + "\n")
	for _, r := range rows() {
		line := "| " + r.what + " |"
		for _, adapter := range every {
			line += " " + r.cell(adapter, adapter.Capabilities()) + " |"
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

func TestPageSaysWhatTheAdaptersSay(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(raw), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s lacks the marks between which the table stands", page)
	}
	want := before + begin + "\n" + table(t) + "\n" + end + after
	if want == string(raw) {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date; run: go test ./test/platforms -update", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil { //nolint:gosec // a page for everybody to read
		t.Fatal(err)
	}
}
