package redisstore

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/sessions"
)

// These strings are in people's databases: a change of any is a new layout.
func TestKeysAreTheseForEver(t *testing.T) {
	t.Parallel()
	s := &Store{parts: partitions("parley:", 64)}
	for what, pair := range map[string][2]string{
		"first tag":  {s.parts[0].base, "parley:{1bz}"},
		"second tag": {s.parts[1].base, "parley:{nbd}"},
		"last tag":   {s.parts[63].base, "parley:{abt}"},
		"session":    {s.of("cli:main").key("s", "cli:main"), "parley:{30f}:s:cli:main"},
		"sub-agent":  {s.of("sub:cli:main").base, s.of("cli:main").base},
		"role":       {s.of("flow9__writer").base, s.of("flow9__reader").base},
		"surface":    {s.ofSurface("telegram:1:-100").key("b", "telegram:1:-100"), "parley:{5f}:b:telegram:1:-100"},
		"named":      {s.ofSurface("cli:local:main").base, s.of("cli:main").base},
		"wake":       {s.parts[0].wakeChannel(), s.parts[0].base + ":wake"},
		"live":       {s.parts[0].liveChannel("cli:main"), s.parts[0].base + ":live:cli:main"},
		"timer":      {timerRef("flow/9", "idle"), "flow%2F9/idle"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %s, want %s", what, pair[0], pair[1])
		}
	}
}

func TestSlotsAreRedisSlots(t *testing.T) {
	t.Parallel()
	// From the cluster specification and CLUSTER KEYSLOT.
	for tag, slot := range map[string]int{"123456789": 12739, "foo": 12182, "": 0} {
		if got := slotOf(tag); got != slot {
			t.Errorf("slot of %q: %d, want %d", tag, got, slot)
		}
	}
}

func TestTagsLieEvenlyApart(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 3, 64, 100, PartitionsMax} {
		for i, p := range partitions("x:", count) {
			if p.slot != i*slotCount/count {
				t.Fatalf("%d partitions: the slot of number %d is %d", count, i, p.slot)
			}
		}
	}
}

func TestHomesSpreadEvenly(t *testing.T) {
	t.Parallel()
	seen := make([]int, 64)
	for range 6400 {
		seen[partitionOf(sessions.DrawID("telegram:2026-11-21-", nil), 64)]++
	}
	if slices.Min(seen) < 40 || slices.Max(seen) > 180 {
		t.Fatalf("6400 sessions over 64 partitions: %v", seen)
	}
}

func TestTimerRefsGoBothWays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		home, name := rapid.String().Draw(t, "home"), rapid.String().Draw(t, "name")
		item, ok := workItem("timer:"+timerRef(home, name), time.Time{})
		if !ok || item.Home != home || item.ID != name {
			t.Fatalf("%q %q became %+v", home, name, item)
		}
	})
}

func TestDrawnIDsAreInTheSurfacesPartition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		surface := rapid.SampledFrom([]string{"telegram:1:-100", "slack:T1:C1:17.5", "cli:local:main", "cli:local:a__b", "api:x:sub:y"}).Draw(t, "surface")
		count := rapid.IntRange(1, PartitionsMax).Draw(t, "count")
		id := drawID(surface, time.Unix(0, 0), count)
		if partitionOf(id, count) != partitionOf(sessions.SurfaceHome(surface), count) {
			t.Fatalf("%s of %s is elsewhere", id, surface)
		}
		if err := sessions.CheckID(id); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzParseEntry(f *testing.F) {
	f.Add("0;1700000000000;message;t;\n{}")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parseEntry(7, text)
		if err == nil && e.Seq != 7 {
			t.Fatalf("%+v", e)
		}
	})
}
