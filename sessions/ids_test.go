package sessions

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func wantInvalid(t *testing.T, err error) {
	t.Helper()
	invalid, ok := errors.AsType[*InvalidError](err)
	if !ok || invalid.What == "" || invalid.Why == "" {
		t.Fatalf("error %v, want an InvalidError that says what and why", err)
	}
}

func TestCheckID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "cli:work", "telegram:2026-01-02-abc", "flow__role", "sub:cli:work:1", "web:gerät", strings.Repeat("x", IDMax)} {
		if err := CheckID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{"", " ", "a b", "a\tb", "a\x00", "\x7f", "a{b", "a}b", "a/b", strings.Repeat("x", IDMax+1)} {
		wantInvalid(t, CheckID(id))
	}
}

func TestBareIDAndPrefix(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 1, 23, 30, 0, 0, time.FixedZone("west", -3*3600))
	for _, c := range []struct{ surface, bare, prefix, home string }{
		{"cli:local:work", "cli:work", "cli:work~", "cli:work"},
		{"web:local:phone:1", "web:phone:1", "web:phone:1~", "web:phone:1"},
		{"api:a:b", "api:b", "api:b~", "api:b"},
		{"schedule:x:daily", "schedule:daily", "schedule:daily~", "schedule:daily"},
		{"telegram:1:-100:7", "", "telegram:2026-03-02-", "telegram:1:-100:7"},
		{"discord:1:2", "", "discord:2026-03-02-", "discord:1:2"},
		{"cli:short", "", "cli:2026-03-02-", "cli:short"},
	} {
		if got := BareID(c.surface); got != c.bare {
			t.Errorf("BareID(%q) = %q, want %q", c.surface, got, c.bare)
		}
		if got := IDPrefix(c.surface, day); got != c.prefix {
			t.Errorf("IDPrefix(%q) = %q, want %q", c.surface, got, c.prefix)
		}
		if got := SurfaceHome(c.surface); got != c.home {
			t.Errorf("SurfaceHome(%q) = %q, want %q", c.surface, got, c.home)
		}
	}
}

func TestDrawID(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		id := DrawID("telegram:2026-03-02-", nil)
		if seen[id] || CheckID(id) != nil || !strings.HasPrefix(id, "telegram:2026-03-02-") {
			t.Fatalf("drew %q", id)
		}
		seen[id] = true
	}
	tries := 0
	DrawID("x", func(string) bool { tries++; return tries == 5 })
	if tries != 5 {
		t.Errorf("%d tries, want 5", tries)
	}
}

func TestHome(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"cli:work": "cli:work", "sub:cli:work": "cli:work", "sub:sub:cli:work": "cli:work",
		"flow1__writer": "flow1", "sub:flow1__writer": "flow1", "telegram:2026-03-02-abc": "telegram:2026-03-02-abc",
	} {
		if got := Home(id); got != want {
			t.Errorf("Home(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestEntryID(t *testing.T) {
	t.Parallel()
	for seq, want := range map[int64]string{0: "", 1: "e1", 42: "e42", 1 << 60: "e1152921504606846976"} {
		if got := EntryID(seq); got != want {
			t.Errorf("EntryID(%d) = %q, want %q", seq, got, want)
		}
		if got, err := ParseEntryID(want); err != nil || got != seq {
			t.Errorf("ParseEntryID(%q) = %d, %v", want, got, err)
		}
	}
	for _, id := range []string{"e", "e0", "e-1", "e01", "e+1", "42", "E42", "e42 ", "e9999999999999999999"} {
		_, err := ParseEntryID(id)
		wantInvalid(t, err)
	}
}

func FuzzParseEntryID(f *testing.F) {
	f.Add("e42")
	f.Fuzz(func(t *testing.T, id string) {
		if seq, err := ParseEntryID(id); err == nil && EntryID(seq) != id {
			t.Errorf("%q is read as %d, which is %q", id, seq, EntryID(seq))
		}
	})
}
