package routing

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

var markerPattern = regexp.MustCompile(`<(?:[Nn][Oo]_[Rr][Ee][Pp][Ll][Yy]|[Ee][Mm][Pp][Tt][Yy]_[Rr][Ee][Ss][Pp][Oo][Nn][Ss][Ee])>`)

// naiveStrip is the rule as a person would carry it out with an eraser: find
// the first marker, rub out it and what goes with it, start again.
func naiveStrip(reply string) (shown string, silent, marked bool) {
	text := reply
	for {
		at := markerPattern.FindStringIndex(text)
		if at == nil {
			break
		}
		marked = true
		before, after := text[:at[0]], text[at[1]:]
		for strings.HasSuffix(before, "`") && strings.HasPrefix(after, "`") {
			before, after = before[:len(before)-1], after[1:]
		}
		left, right := strings.TrimRightFunc(before, unicode.IsSpace), strings.TrimLeftFunc(after, unicode.IsSpace)
		gap := ""
		if left != before || right != after {
			gap = " "
		}
		text = left + gap + right
	}
	if !marked {
		return reply, false, false
	}
	text = strings.TrimSpace(text)
	if strings.Trim(strings.Join(strings.Fields(text), ""), "`*_~") == "" {
		text = ""
	}
	return text, text == "", true
}

func TestStripSilence(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, reply, shown string
		marked             bool
	}{
		{"alone", "<NO_REPLY>", "", true},
		{"legacy", "<EMPTY_RESPONSE>", "", true},
		{"any case", "<no_Reply> <eMPTY_rESPONSE>", "", true},
		{"with white space around", "\n <NO_REPLY>\t\n", "", true},
		{"beside text", "Fine. <NO_REPLY>", "Fine.", true},
		{"before text", "<NO_REPLY>\n\nFine.", "Fine.", true},
		{"between words", "one <NO_REPLY> two", "one two", true},
		{"between lines", "one\n\n<NO_REPLY>\n\ntwo", "one two", true},
		{"inside a word", "on<NO_REPLY>ce", "once", true},
		{"several", "a <NO_REPLY> <NO_REPLY><EMPTY_RESPONSE> b", "a b", true},
		{"in back-ticks", "`<NO_REPLY>`", "", true},
		{"in many back-ticks", "say ```<NO_REPLY>``` it", "say it", true},
		{"in a fence", "```\n<NO_REPLY>\n```", "", true},
		{"back-ticks that do not match", "``<NO_REPLY>` x", "` x", true},
		{"back-ticks of others", "`a` <NO_REPLY> `b`", "`a` `b`", true},
		{"back-ticks apart after it", "x `<NO_REPLY> `y", "x ` `y", true},
		{"back-ticks apart before it", "x` <NO_REPLY>`y", "x` `y", true},
		{"one back-tick", "`<NO_REPLY>", "", true},
		{"nested", "<NO_<EMPTY_RESPONSE>REPLY>", "", true},
		{"nested in back-ticks", "<NO_`<EMPTY_RESPONSE>`REPLY>", "", true},
		{"nested deep", "<N<NO_RE<NO_REPLY>PLY>O_REPLY>", "", true},
		{"nested with a space", "<NO_ <EMPTY_RESPONSE>REPLY>", "<NO_ REPLY>", true},
		{"ends are trimmed, all of them", "  a\n<NO_REPLY> b  \n", "a b", true},
		{"other white space", "a\u00a0<NO_REPLY>\u2003b\u3000", "a b", true},
		{"no marker", "  a  b `<` \n", "  a  b `<` \n", false},
		{"almost a marker", "<NO_REPLY", "<NO_REPLY", false},
		{"a foreign letter", "<NO_REPLY\u200b>", "<NO_REPLY\u200b>", false},
		{"case of other alphabets", "<EMPTY_RE\u017fPONSE>", "<EMPTY_RE\u017fPONSE>", false},
		{"nothing", "", "", false},
		{"only white space", " \n", " \n", false},
		{"only back-ticks", "```", "```", false},
		{"not text", "\xff<NO_REPLY>\xc3", "\xff\xc3", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			shown, silent, marked := StripSilence(tc.reply)
			if shown != tc.shown || marked != tc.marked || silent != (tc.marked && tc.shown == "") {
				t.Errorf("StripSilence(%q) = %q, silent %v, marked %v; want %q, marked %v",
					tc.reply, shown, silent, marked, tc.shown, tc.marked)
			}
		})
	}
}

// stream feeds pieces and checks that every state shows a prefix of the end.
func stream(t *testing.T, labels bool, pieces []string) (shown string, silent bool) {
	t.Helper()
	want, _, _ := StripReply(strings.Join(pieces, ""), labels)
	stripper := Stripper{Labels: labels}
	for _, piece := range pieces {
		shown += stripper.Write(piece)
		if !strings.HasPrefix(want, shown) {
			t.Fatalf("pieces %q: showed %q on the way to %q", pieces, shown, want)
		}
	}
	rest, silent := stripper.Close()
	return shown + rest, silent
}

func checkSplits(t *testing.T, reply string, cuts ...int) {
	t.Helper()
	wantShown, wantSilent, wantMarked := naiveStrip(reply)
	shown, silent, marked := StripSilence(reply)
	if shown != wantShown || silent != wantSilent || marked != wantMarked {
		t.Fatalf("StripSilence(%q) = %q, %v, %v; want %q, %v, %v",
			reply, shown, silent, marked, wantShown, wantSilent, wantMarked)
	}
	for _, labels := range []bool{false, true} {
		wantShown, wantSilent, _ := StripReply(reply, labels)
		ways := [][]string{bytewise(reply), {"", reply, ""}}
		for _, cut := range cuts {
			ways = append(ways, []string{reply[:cut], reply[cut:]})
		}
		for _, pieces := range ways {
			if shown, silent := stream(t, labels, pieces); shown != wantShown || silent != wantSilent {
				t.Fatalf("labels %v, pieces %q: showed %q, silent %v; want %q, %v", labels, pieces, shown, silent, wantShown, wantSilent)
			}
		}
	}
}

func bytewise(s string) []string {
	pieces := make([]string, len(s))
	for i := range len(s) {
		pieces[i] = s[i : i+1]
	}
	return pieces
}

func everyCut(s string) []int {
	cuts := make([]int, len(s)+1)
	for i := range cuts {
		cuts[i] = i
	}
	return cuts
}

// TestStripperSmallWorld runs every reply of up to four words of a language
// made of what is dangerous.
func TestStripperSmallWorld(t *testing.T) {
	t.Parallel()
	words := []string{"<NO_REPLY>", "<empty_response>", "<NO_", "REPLY>", "`", " ", "\u2003\n", "a", "[A]"}
	const depth = 4
	var grow func(reply string, left int)
	grow = func(reply string, left int) {
		checkSplits(t, reply, len(reply)/3, len(reply)/2)
		if left == 0 {
			return
		}
		for _, word := range words {
			grow(reply+word, left-1)
		}
	}
	grow("", depth)
}

func FuzzStripper(f *testing.F) {
	for _, seed := range []string{
		"hello", "<NO_REPLY>", "a `<NO_REPLY>` b", "<NO_<EMPTY_RESPONSE>REPLY>", "  x <no_reply> ",
		"a`<NO_REPLY> `b", "a` <NO_REPLY>`<NO_REPLY>``b", "```\n<NO_REPLY>\n```", "[Alice] <NO_REPLY>", "[Alice] [not directed at you] hi", "\u3000\xe3\x80<NO_REPLY>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		if len(reply) > 300 {
			t.Skip("the oracle is quadratic")
		}
		checkSplits(t, reply, everyCut(reply)...)
		shown, _, _ := StripSilence(reply)
		if markerPattern.MatchString(shown) {
			t.Fatalf("%q shows a marker: %q", reply, shown)
		}
	})
}

// TestStripperShowsEarly: an oracle of equality alone would be satisfied by
// showing everything at the end.
func TestStripperShowsEarly(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		labels             bool
		written, shownThen string
	}{
		{false, "Hello", "Hello"},
		{false, "Hello ", "Hello"},
		{false, "Hello  `", "Hello"},
		{false, "Hello <NO_REPL", "Hello"},
		{false, "Hello <NO_REPLX", "Hello <NO_REPLX"},
		{false, "a < b", "a < b"},
		{false, "a <<<", "a"},
		{false, "```go\nfunc", "```go\nfunc"},
		{false, "<NO_REPLY>  so", "so"},
		{false, "\n\nnot before the end", ""},
		{true, "[Ali", ""},
		{true, "[Alice] hello", "hello"},
		{true, "[a](b", "[a](b"},
		{true, "Hello", "Hello"},
	} {
		stripper := Stripper{Labels: tc.labels}
		if got := stripper.Write(tc.written); got != tc.shownThen {
			t.Errorf("after %q shown %q, want %q", tc.written, got, tc.shownThen)
		}
	}
}

// TestStripperWork: however nasty a megabyte is, and in pieces of whatever
// size, each byte is handled a bounded number of times.
func TestStripperWork(t *testing.T) {
	t.Parallel()
	const stepsPerByte = 4
	const labelBytesMax = utf8.UTFMax * (LabelNameMax + 2)
	for _, unit := range []string{
		"<", "`", " ", "\u3000", "a", "<NO_", "<NO_REPLY>", " <NO_REPLY> ", "`<NO_REPLY>", "` <", "[A] ", "[", "\xe3",
	} {
		for _, tail := range []string{"x", "<NO_REPLY>"} {
			for size, piece := range map[int]int{1 << 16: 1, 1 << 20: 1 << 21} {
				reply := strings.Repeat(unit, size/len(unit)) + tail
				stripper := Stripper{Labels: true}
				for rest := reply; rest != ""; {
					n := min(piece, len(rest))
					stripper.Write(rest[:n])
					rest = rest[n:]
					if len(stripper.label.held) > labelBytesMax {
						t.Fatalf("%q: %d bytes wait for a label", unit, len(stripper.label.held))
					}
				}
				stripper.Close()
				if stripper.work > stepsPerByte*len(reply) {
					t.Errorf("%q × %d in pieces of %d: %d steps for %d bytes", unit, size/len(unit), piece, stripper.work, len(reply))
				}
			}
		}
	}
}

func TestStripReply(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reply, shown   string
		silent, marked bool
	}{
		{"[Alice] hello", "hello", false, false},
		{"[Alice] <NO_REPLY>", "", true, true},
		{"<NO_REPLY> [Alice] hello", "hello", false, true},
		{"[Alice] [not directed at you] <NO_REPLY>", "", true, true},
		{"[Alice]", "[Alice]", false, false},
		{"", "", false, false},
		{"no label\n", "no label\n", false, false},
	} {
		shown, silent, marked := StripReply(tc.reply, true)
		if shown != tc.shown || silent != tc.silent || marked != tc.marked {
			t.Errorf("StripReply(%q) = %q, %v, %v; want %q, %v, %v", tc.reply, shown, silent, marked, tc.shown, tc.silent, tc.marked)
		}
	}
}

func FuzzStripLabel(f *testing.F) {
	f.Add("Alice", "hello")
	f.Add("not directed at you", "[Bob] x")
	f.Fuzz(func(t *testing.T, name, text string) {
		if once := StripLabel(text); StripLabel(once) != once {
			t.Fatalf("StripLabel(%q) = %q still begins with a label", text, once)
		}
		if !strings.HasSuffix(text, StripLabel(text)) {
			t.Fatalf("StripLabel(%q) = %q takes more than a beginning", text, StripLabel(text))
		}
		if label := LabelName(name, "telegram:1"); strings.ContainsFunc(label, unicode.IsLetter) {
			if got := StripLabel(Label(Said{Name: name, ID: "telegram:1", Group: true, OwnerUndirected: true, Text: "hello"})); got != "hello" {
				t.Fatalf("the label of %q was not stripped: %q", name, got)
			}
		}
	})
}

func TestStripLabel(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]string{
		"[Alice] hello":                       "hello",
		"\n [Alice]\nhello":                   "hello",
		"[Alice] [not directed at you] hello": "hello",
		"[Parley] [Alice] hello":              "hello",
		"[telegram:12] hello":                 "hello",
		"[a link](https://example.org) x":     "[a link](https://example.org) x",
		"[1] the first source":                "[1] the first source",
		"[ ] to do":                           "[ ] to do",
		"[OK]":                                "[OK]",
		"[OK]\n":                              "[OK]\n",
		"[[Alice]] hello":                     "[[Alice]] hello",
		"[Ali\nce] hello":                     "[Ali\nce] hello",
		" hello [Alice] x":                    " hello [Alice] x",
		"[" + strings.Repeat("a", LabelNameMax) + "] x":   "x",
		"[" + strings.Repeat("a", LabelNameMax+1) + "] x": "[" + strings.Repeat("a", LabelNameMax+1) + "] x",
	} {
		if got := StripLabel(reply); got != want {
			t.Errorf("StripLabel(%q) = %q, want %q", reply, got, want)
		}
	}
}

// Stress marks around a marker must not be left behind: alone they show as a
// rule.
func TestAStressedMarkerLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{"**<NO_REPLY>**", "*<NO_REPLY>*", "__<no_reply>__", "~~<EMPTY_RESPONSE>~~", "***`<NO_REPLY>`***", " ** <NO_REPLY> ** "} {
		if shown, silent, marked := StripReply(reply, false); shown != "" || !silent || !marked {
			t.Errorf("%q: shown %q, silent %v, marked %v", reply, shown, silent, marked)
		}
	}
	if shown, silent, _ := StripReply("**<NO_REPLY>** well, **yes**", false); silent || shown != "**** well, **yes**" {
		t.Errorf("what is left is %q", shown)
	}
}
