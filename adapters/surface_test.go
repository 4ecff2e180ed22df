package adapters_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"parley/adapters"
)

func TestSurfaceKeys(t *testing.T) {
	t.Parallel()
	tests := []struct {
		surface   adapters.Surface
		key, chat string
	}{
		{adapters.Surface{Platform: "telegram", Account: "77", Chat: "-100"}, "telegram:77:-100", "telegram:77:-100"},
		{adapters.Surface{Platform: "slack", Account: "T1", Chat: "C1", Thread: "17.5"}, "slack:T1:C1:17.5", "slack:T1:C1"},
		{adapters.Surface{Platform: "cli", Account: "local", Chat: "a b:c"}, "cli:local:a%20b%3Ac", "cli:local:a%20b%3Ac"},
		{adapters.Surface{Platform: "api", Account: "local", Chat: "{x}%", Thread: "\n"}, "api:local:%7Bx%7D%25:%0A", "api:local:%7Bx%7D%25"},
		{adapters.Surface{Platform: "web", Account: "local", Chat: "ümlaut日"}, "web:local:ümlaut日", "web:local:ümlaut日"},
		{adapters.Surface{Platform: "web", Account: "local", Chat: "a\u00a0b\u2028\u0085"}, "web:local:a%C2%A0b%E2%80%A8%C2%85", "web:local:a%C2%A0b%E2%80%A8%C2%85"},
		{adapters.Surface{Platform: "web", Account: "local", Chat: "a\xffb"}, "web:local:a%FFb", "web:local:a%FFb"},
	}
	for _, test := range tests {
		if got := test.surface.Key(); got != test.key {
			t.Errorf("key %q, want %q", got, test.key)
		}
		if got := test.surface.ChatKey(); got != test.chat {
			t.Errorf("chat key %q, want %q", got, test.chat)
		}
		if got, err := adapters.ParseSurface(test.key); err != nil || got != test.surface {
			t.Errorf("ParseSurface(%q) = %+v, %v", test.key, got, err)
		}
	}
}

func TestParseSurfaceRefuses(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"", "telegram", "telegram:1", "telegram:1:", ":1:2", "telegram::2", "a:b:c:", "a:b:c:d:e",
		"a:b:c%", "a:b:c%2", "a:b:c%zz", "a:b:c%3a", "a:b:c%41", "a:b:c d", "a:b:c\n", "a:b:{c}", "a:b:\xff", "a:b:\u2028", "a:b:\u202e",
		"a:b:" + strings.Repeat("c", adapters.SurfaceKeyMax),
	} {
		if got, err := adapters.ParseSurface(key); !errors.Is(err, adapters.ErrSurfaceKey) {
			t.Errorf("ParseSurface(%q) = %+v, %v", key, got, err)
		}
	}
}

// FuzzSurface: whatever the parts, the key reads back as the same surface,
// also through JSON, and what parses is written the same way.
func FuzzSurface(f *testing.F) {
	f.Add("telegram", "77", "-100", "4")
	f.Add("a:b", "%25", "{c}\x00", "")
	f.Add("a", "b", "\xff\xfe", "\u202e\u0085")
	f.Fuzz(func(t *testing.T, platform, account, chat, thread string) {
		surface := adapters.Surface{Platform: adapters.Platform(platform), Account: account, Chat: chat, Thread: thread}
		key := surface.Key()
		if platform == "" || account == "" || chat == "" || len(key) > adapters.SurfaceKeyMax {
			if _, err := adapters.ParseSurface(key); err == nil {
				t.Fatalf("%q parsed", key)
			}
			return
		}
		if got, err := adapters.ParseSurface(key); err != nil || got != surface {
			t.Fatalf("%q reads back as %+v, %v", key, got, err)
		}
		encoded, err := json.Marshal(surface)
		if err != nil {
			t.Fatal(err)
		}
		var decoded adapters.Surface
		if err := json.Unmarshal(encoded, &decoded); err != nil || decoded != surface {
			t.Fatalf("%s reads back as %+v, %v", encoded, decoded, err)
		}
	})
}

func FuzzParseSurface(f *testing.F) {
	f.Add("telegram:77:-100:4")
	f.Add("a:b%3A:%00")
	f.Fuzz(func(t *testing.T, key string) {
		surface, err := adapters.ParseSurface(key)
		if err == nil && surface.Key() != key {
			t.Fatalf("%q and %q are one surface", key, surface.Key())
		}
	})
}

func TestWhatASurfacesNameTells(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]adapters.Crowd{
		"telegram:1:500": adapters.CrowdDirect, "telegram:1:-500": adapters.CrowdGroup, "telegram:1:-100500:7": adapters.CrowdGroup, "telegram:1:x": adapters.CrowdUnknown,
		"slack:T1:D012": adapters.CrowdDirect, "slack:T1:C012": adapters.CrowdGroup, "slack:T1:G012:1.2": adapters.CrowdGroup,
		"discord:1:500": adapters.CrowdUnknown, "matrix:1:room": adapters.CrowdUnknown, "web:local:main": adapters.CrowdDirect, "schedule:local:x": adapters.CrowdDirect,
	} {
		surface, err := adapters.ParseSurface(key)
		if err != nil {
			t.Fatal(err)
		}
		if got := surface.Crowd(); got != want {
			t.Errorf("%s: %d, want %d", key, got, want)
		}
	}
}
