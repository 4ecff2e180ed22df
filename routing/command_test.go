package routing

import (
	"strings"
	"testing"

	"parley/adapters"
)

// TestWhoMay writes the table of rights out by person: what he may run, and
// by leaving out, what not.
func TestWhoMay(t *testing.T) {
	t.Parallel()
	const own = "sessions resume name label tree branch fork checkpoint clear"
	const all = "start help whoami new status stop retry allow link pair people schedule " + own
	known, open := Access{DM: DMKnown}, Access{DM: DMAnyone}
	for _, tc := range []struct {
		role    Role
		direct  bool
		access  Access
		may     string
		ownTurn string
	}{
		{Owner, true, known, all, ""},
		{Owner, false, known, all, ""},
		{Member, true, known, "start help whoami new status stop retry link schedule " + own, ""},
		{Member, true, open, "start help whoami new status stop retry link schedule " + own, ""},
		{Member, false, open, "help whoami status", "stop"},
		{Guest, true, known, "start help whoami link", ""}, // with a code that somebody known gave him
		{Guest, true, Access{}, "start help whoami link", ""},
		{Guest, true, open, "start help whoami new status stop retry link", ""},
		{Guest, false, open, "help whoami", ""},
		{Blocked, true, open, "", ""},
		{Blocked, false, open, "", ""},
		{"", true, open, "", ""},
	} {
		for _, spec := range Commands() {
			want := PermRefused
			if contains(tc.may, spec.Name) {
				want = PermAllowed
			} else if contains(tc.ownTurn, spec.Name) {
				want = PermOwnTurn
			}
			if got := MayRun(spec.Name, tc.role, tc.direct, tc.access); got != want {
				t.Errorf("%s, direct %v, %+v: /%s is %q, want %q", tc.role, tc.direct, tc.access, spec.Name, got, want)
			}
		}
	}
	if got := MayRun("frobnicate", Owner, true, open); got != PermRefused {
		t.Errorf("a command that does not exist is %q", got)
	}
}

func contains(words, word string) bool { return strings.Contains(" "+words+" ", " "+word+" ") }

func TestCommandTableIsFitForMenus(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, spec := range Commands() {
		if !isCommandName(spec.Name) || spec.Name != strings.ToLower(spec.Name) || seen[spec.Name] {
			t.Errorf("%q is not a name for a command, or not a new one", spec.Name)
		}
		seen[spec.Name] = true
		if !strings.HasPrefix(spec.Usage+" ", "/"+spec.Name+" ") {
			t.Errorf("the usage of %s is %q", spec.Name, spec.Usage)
		}
		// Telegram: 256 characters, Discord: 100.
		if n := len(spec.Description); n == 0 || n > 100 || strings.Contains(spec.Description, "\n") {
			t.Errorf("the description of %s has %d bytes or several lines", spec.Name, n)
		}
	}
}

func TestParseCommand(t *testing.T) {
	t.Parallel()
	const bot = "Parley.Bot-1"
	native := func(name, args string) adapters.Event {
		return adapters.Event{Command: &adapters.NativeCommand{Name: name, Args: args}}
	}
	said := func(text string) adapters.Event { return adapters.Event{Text: text} }
	named := func(text string) adapters.Event { return adapters.Event{Text: text, Mentioned: true} }
	for _, tc := range []struct {
		what     string
		event    adapters.Event
		name     string
		args     string
		otherBot bool
	}{
		{"native", native("stop", ""), "stop", "", false},
		{"native with arguments", native("allow", " telegram:1:2 "), "allow", "telegram:1:2", false},
		{"native unknown", native("frobnicate", ""), "", "", false},
		{"slash", said("/new"), "new", "", false},
		{"slash in capitals", said("/NEW"), "new", "", false},
		{"slash after white space", said(" \n/new \t"), "new", "", false},
		{"slash with arguments", said("/start  deep link"), "start", "deep link", false},
		{"slash and the next line", said("/new\nidea"), "new", "idea", false},
		{"slash to this bot", said("/new@parley.bot-1 x"), "new", "x", false},
		{"slash to another bot", said("/new@other"), "", "", true},
		{"slash to a bot with a longer name", said("/new@Parley.Bot-1-dev"), "", "", true},
		{"unknown to another bot", said("/x@other"), "", "", true},
		{"unknown to this bot", said("/x@parley.bot-1"), "", "", false},
		{"unknown", said("/newer"), "", "", false},
		{"path", said("/new/file"), "", "", false},
		{"address", said("/home@example.org/x"), "", "", false},
		{"slash to nobody", said("/new@"), "", "", false},
		{"slash alone", said("/"), "", "", false},
		{"slash apart", said("/ new"), "", "", false},
		{"two slashes", said("//new"), "", "", false},
		{"too long", said("/" + strings.Repeat("n", 33) + "@other"), "", "", false},
		{"later in the text", said("try /new"), "", "", false},
		{"plain word", said("new"), "", "", false},
		{"mention and name", named("@parley.BOT-1 New"), "new", "", false},
		{"mention and name, next line", named("@Parley.Bot-1\nnew"), "new", "", false},
		{"mention, name, more", named("@Parley.Bot-1 new ideas?"), "", "", false},
		{"mention and sentence mark", named("@Parley.Bot-1 new?"), "", "", false},
		{"mention of a longer name", named("@Parley.Bot-1-dev new"), "", "", false},
		{"mention that is not one", said("@Parley.Bot-1 new"), "", "", false},
		{"mention behind", named("new @Parley.Bot-1"), "", "", false},
		{"mention and slash", named("@Parley.Bot-1 /allow x"), "allow", "x", false},
		{"mention and another bot's", named("@Parley.Bot-1 /new@other"), "", "", true},
		{"mention alone", named("@Parley.Bot-1"), "", "", false},
		{"mention taken out", named(" stop "), "stop", "", false},
		{"mention taken out, more", named("stop that"), "", "", false},
		{"mention taken out, slash", named(" /stop now"), "stop", "now", false},
		{"ping of a reply", adapters.Event{Text: "stop", Mentioned: true, ReplyToBot: true}, "", "", false},
		{"reply that names the bot", adapters.Event{Text: "@Parley.Bot-1 stop", Mentioned: true, ReplyToBot: true}, "stop", "", false},
		{"reply with a slash", adapters.Event{Text: "/stop", ReplyToBot: true}, "stop", "", false},
		{"nothing", said(""), "", "", false},
	} {
		cmd, otherBot := ParseCommand(tc.event, bot)
		if cmd == nil {
			cmd = &Command{}
		}
		if *cmd != (Command{Name: tc.name, Args: tc.args}) || otherBot != tc.otherBot {
			t.Errorf("%s: got %+v, other bot %v", tc.what, *cmd, otherBot)
		}
	}
}

func TestParseCommandWithoutBotName(t *testing.T) {
	t.Parallel()
	if cmd, otherBot := ParseCommand(adapters.Event{Text: "/new@anybody"}, ""); cmd != nil || !otherBot {
		t.Errorf("/new@anybody for a bot without a name: %v, %v", cmd, otherBot)
	}
	if cmd, _ := ParseCommand(adapters.Event{Text: "@ new", Mentioned: true}, ""); cmd != nil {
		t.Errorf("@ alone names a bot without a name: %v", cmd)
	}
}

func FuzzParseCommand(f *testing.F) {
	f.Add("/new", "bot", false, false)
	f.Add("/new@bot ideas", "bot", false, false)
	f.Add("@bot new", "bot", true, false)
	f.Add("/x@\u212aot", "bot", true, true)
	f.Fuzz(func(t *testing.T, text, bot string, mentioned, reply bool) {
		event := adapters.Event{Text: text, Mentioned: mentioned, ReplyToBot: reply}
		cmd, otherBot := ParseCommand(event, bot)
		if otherBot && cmd != nil {
			t.Fatalf("%q is a command of ours and of another bot", text)
		}
		if otherBot && !strings.Contains(text, "/") {
			t.Fatalf("%q is for another bot without a slash", text)
		}
		if cmd == nil {
			return
		}
		if spec, ok := FindCommand(cmd.Name); !ok || spec.Name != cmd.Name {
			t.Fatalf("%q gives %q, which is no command", text, cmd.Name)
		}
		if !mentioned && !strings.HasPrefix(strings.TrimSpace(text), "/") {
			t.Fatalf("%q is a command without slash or mention", text)
		}
		if cmd.Args != strings.TrimSpace(cmd.Args) || !strings.HasSuffix(strings.TrimSpace(text), cmd.Args) {
			t.Fatalf("%q has arguments %q", text, cmd.Args)
		}
		again, _ := ParseCommand(adapters.Event{Text: "/" + cmd.Name + " " + cmd.Args}, bot)
		if again == nil || *again != *cmd {
			t.Fatalf("%q: written out, %+v reads as %+v", text, cmd, again)
		}
	})
}
