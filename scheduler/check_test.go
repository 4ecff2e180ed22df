package scheduler

import (
	"errors"
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	good := Definition{ID: "a", Cron: "0 9 * * 1-5", Timezone: "Europe/Berlin", Prompt: "Good morning.", DeliverTo: []string{"telegram:1:2"}}
	world := World{Surface: func(key string) string {
		if key == "telegram:1:2" {
			return ""
		}
		return "no connection to it is configured"
	}}
	if err := good.Check(world, start); err != nil {
		t.Fatal(err)
	}
	cron := func(text string) func(*Definition) { return func(d *Definition) { d.Cron = text } }
	for name, tt := range map[string]struct {
		change func(*Definition)
		want   string
	}{
		"30 February":       {cron("0 0 30 2 *"), "cron: \"0 0 30 2 *\" never comes"},
		"31 April and June": {cron("0 0 31 4,6 *"), "never comes"},
		"six fields":        {cron("* * * * * *"), "it has 6 fields instead of five"},
		"four fields":       {cron("* * * *"), "it has 4 fields"},
		"a minute too many": {cron("60 * * * *"), "above maximum"},
		"sunday is 7":       {cron("0 0 * * 7"), "Sunday is 0"},
		"a long step":       {cron("*/90 * * * *"), "longer than its whole range"},
		"nothing in a list": {cron(", * * * *"), "empty part"},
		"a zone in it":      {cron("TZ=UTC 0 0 * * *"), "belongs into timezone"},
		"only a zone":       {cron("CRON_TZ=UTC"), "belongs into timezone"},
		"an interval":       {cron("@every 5m"), "use every"},
		"an unknown word":   {cron("@fortnightly"), "cron:"},
		"words":             {cron("every day at nine please"), "cron:"},
		"a long one":        {cron(strings.Repeat("1,", 500) + "1 * * * *"), "at most 256 bytes"},
		"nothing":           {cron(""), "exactly one of"},
		"two times":         {func(d *Definition) { d.Every = "1h" }, "exactly one of"},
		"an unknown zone":   {func(d *Definition) { d.Timezone = "Europe/Atlantis" }, "timezone: \"Europe/Atlantis\" is not a time zone"},
		"a path as a zone":  {func(d *Definition) { d.Timezone = "../../etc/passwd" }, "is not a time zone"},
		"the local zone":    {func(d *Definition) { d.Timezone = "Local" }, "is not a time zone"},
		"a past time":       {func(d *Definition) { d.Cron, d.At = "", "2026-01-05 08:59" }, "at: 2026-01-05T07:59:00Z is past"},
		"30 February once":  {func(d *Definition) { d.Cron, d.At = "", "2026-02-30 09:00" }, "is not a time that exists"},
		"a far time":        {func(d *Definition) { d.Cron, d.At = "", "2126-01-01 09:00" }, "within 10 years"},
		"no duration":       {func(d *Definition) { d.Cron, d.Every = "", "often" }, "every: \"often\" is not a duration"},
		"no interval":       {func(d *Definition) { d.Cron, d.Every = "", "0s" }, "every: 0s is not possible"},
		"half a second":     {func(d *Definition) { d.Cron, d.Every = "", "1500ms" }, "whole seconds"},
		"an empty prompt":   {func(d *Definition) { d.Prompt = " \n" }, "prompt: it must not be empty"},
		"a prompt of 1 MB":  {func(d *Definition) { d.Prompt = strings.Repeat("x", 1<<20) }, "prompt: it has 1048576 bytes; at most 32768"},
		"a broken prompt":   {func(d *Definition) { d.Prompt = "\xff" }, "valid UTF-8"},
		"an unknown place":  {func(d *Definition) { d.DeliverTo = []string{"discord:1:2"} }, "deliver_to: \"discord:1:2\": no connection"},
		"a place twice":     {func(d *Definition) { d.DeliverTo = []string{"telegram:1:2", "telegram:1:2"} }, "stands there twice"},
		"many places":       {func(d *Definition) { d.DeliverTo = make([]string, TargetsMax+1) }, "at most 20"},
		"nobody to tell":    {func(d *Definition) { d.ReportTo = "x" }, "report_to:"},
		"an unknown agent":  {func(d *Definition) { d.Agent = "smith" }, "there is no agent"},
		"an unknown tool":   {func(d *Definition) { d.Tools = []string{"rm"} }, "there is no tool"},
		"a session":         {func(d *Definition) { d.Session = "mine" }, "session:"},
		"missed":            {func(d *Definition) { d.Missed = "twice" }, "missed:"},
		"overlap":           {func(d *Definition) { d.Overlap = "kill" }, "overlap:"},
		"a long jitter":     {func(d *Definition) { d.Jitter = "2h" }, "jitter:"},
		"jitter, interval":  {func(d *Definition) { d.Cron, d.Every, d.Jitter = "", "1m", "2m" }, "longer than the interval"},
		"no time":           {func(d *Definition) { d.TimeLimit = "0s" }, "time_limit:"},
		"no id":             {func(d *Definition) { d.ID = "" }, "id:"},
		"an id with spaces": {func(d *Definition) { d.ID = "a b" }, "id:"},
		"a flow's id":       {func(d *Definition) { d.ID = "a__b" }, "id:"},
		"the gateway's id":  {func(d *Definition) { d.ID = "gateway.x" }, "the gateway's own"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := good
			tt.change(&d)
			err := d.Check(world, start)
			if _, refused := errors.AsType[*RefusedError](err); !refused || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestAllProblemsAreSaid(t *testing.T) {
	t.Parallel()
	err := Definition{ID: "a b", Cron: "x", Missed: "y"}.Check(World{}, start)
	refused, ok := errors.AsType[*RefusedError](err)
	if !ok || len(refused.Problems) != 4 {
		t.Errorf("%v", err)
	}
}

func TestTheNextTimesAreShown(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	view := s.add(Definition{Cron: "30 2 * * *", Timezone: "Europe/Berlin"})
	if len(view.Next) != Preview || !strings.HasPrefix(view.ID, "s-") || view.Next[0].Format(time.RFC3339) != "2026-01-06T02:30:00+01:00" {
		t.Errorf("%s: %v", view.ID, view.Next)
	}
	if _, err := s.book.Add(t.Context(), Definition{ID: view.ID, Every: "1h", Prompt: "x"}); !errors.Is(err, sessions.ErrConflict) {
		t.Errorf("an id that is taken: %v", err)
	}
	for i := range MaxPerMaker + 1 {
		_, err := s.book.Add(t.Context(), Definition{Every: "1h", Prompt: "x", By: "telegram:9"})
		if _, tooMany := errors.AsType[*TooManyError](err); tooMany != (i == MaxPerMaker) {
			t.Fatalf("schedule %d: %v", i, err)
		}
	}
}

func TestTimesWithAnOffsetAndWithout(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	for text, want := range map[string]string{
		"2026-05-01T09:00:00+02:00": "2026-05-01T07:00:00Z", "2026-05-01T09:00:00Z": "2026-05-01T09:00:00Z",
		"2026-05-01 09:00": "2026-05-01T07:00:00Z", "2026-12-01T09:00:30": "2026-12-01T08:00:30Z",
		"2026-03-29 02:30": "2026-03-29T01:00:00Z", // jumped over
		"2026-10-25 02:30": "2026-10-25T00:30:00Z", // shown twice
	} {
		got, err := parseAt(text, berlin)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %v %v, want %s", text, got, err, want)
		}
	}
}

func TestJitter(t *testing.T) {
	t.Parallel()
	spread := map[time.Duration]bool{}
	for i := range 1000 {
		planned := start.Add(time.Duration(i) * time.Hour)
		j := jitterOf("a", planned, 10*time.Minute)
		if j < 0 || j >= 10*time.Minute || j != jitterOf("a", planned, 10*time.Minute) {
			t.Fatalf("jitter %v", j)
		}
		spread[j] = true
	}
	if len(spread) < 300 {
		t.Errorf("only %d different delays of 600 in 1000 firings", len(spread))
	}
	if jitterOf("a", start, time.Hour) == jitterOf("b", start, time.Hour) && jitterOf("a", start, time.Hour) == jitterOf("c", start, time.Hour) {
		t.Error("three schedules are late by the same")
	}
}

func TestDeclaredSchedules(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.replica()
	s.add(Definition{ID: "mine", Every: "1h", By: "telegram:7"})
	declare := func(definitions ...Definition) error { return s.book.Declare(t.Context(), definitions) }
	a := Definition{ID: "a", Every: "1h", Prompt: "x"}
	b := Definition{ID: "b", Cron: "@daily", Prompt: "y"}
	for range 2 {
		if err := declare(a, b); err != nil {
			t.Fatal(err)
		}
		s.clock.advance(10 * time.Minute)
	}
	want(t, "undisturbed", s.get("a").Next[0], start.Add(time.Hour))
	if _, err := s.book.Pause(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	a.Prompt = "z"
	b.Cron = "@hourly"
	if err := declare(a, b, Definition{ID: "bad", Cron: "x", Prompt: "x"}, Definition{ID: "mine", Every: "1h", Prompt: "x"}); err == nil ||
		!strings.Contains(err.Error(), "schedule bad: cron") || !strings.Contains(err.Error(), "made by telegram:7") {
		t.Fatalf("%v", err)
	}
	if got := s.get("a"); got.Prompt != "z" || !got.Next[0].Equal(start.Add(time.Hour)) {
		t.Errorf("changed: %+v", got)
	}
	if got := s.get("b"); got.Cron != "@hourly" || got.Status != Paused {
		t.Errorf("retimed: %+v", got)
	}
	if err := s.book.Remove(t.Context(), "a"); !errors.Is(err, ErrDeclared) {
		t.Errorf("a declared one was removed: %v", err)
	}
	if err := declare(b); err != nil {
		t.Fatal(err)
	}
	if _, err := s.book.Get(t.Context(), "a"); !errors.Is(err, sessions.ErrNotFound) {
		t.Errorf("what is declared no more: %v", err)
	}
	s.through(r, "mine", start.Add(90*time.Minute), 10*time.Minute)
	want(t, "the others", len(planned(s.runs("mine"), Silent)), 1)
	views, _, err := s.book.List(t.Context(), sessions.ScheduleList{Limit: 10})
	if err != nil || len(views) != 2 {
		t.Errorf("list %v %v", views, err)
	}
}

func TestAScheduleTakesTheGatewaysZoneAndKeepsIt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	nine := Definition{ID: "old", Cron: "0 9 * * *", Prompt: "p", By: "telegram:1"}
	if view, err := s.book.Add(t.Context(), nine); err != nil || view.Timezone != "UTC" {
		t.Fatalf("%+v %v", view, err)
	}
	declared := []Definition{{ID: "file", Cron: "0 9 * * *", Prompt: "p"}}
	if err := s.book.Declare(t.Context(), declared); err != nil {
		t.Fatal(err)
	}
	s.book.Zone = "Europe/Berlin"
	nine.ID = "new"
	view, err := s.book.Add(t.Context(), nine)
	if err != nil || view.Timezone != "Europe/Berlin" || view.Next[0].Format("15:04 MST") != "09:00 CET" {
		t.Errorf("%+v %v", view, err)
	}
	nine.ID, nine.Timezone = "own", "Asia/Tokyo"
	if view, err := s.book.Add(t.Context(), nine); err != nil || view.Timezone != "Asia/Tokyo" {
		t.Errorf("a zone that is named wins: %+v %v", view, err)
	}
	declared = append(declared, Definition{ID: "file2", Cron: "0 9 * * *", Prompt: "p"})
	if err := s.book.Declare(t.Context(), declared); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"old": "UTC", "file": "UTC", "file2": "Europe/Berlin"} {
		if view, err := s.book.Get(t.Context(), id); err != nil || view.Timezone != want {
			t.Errorf("%s is in %s (%v), want %s", id, view.Timezone, err, want)
		}
	}
	declared[0].Timezone = "Asia/Tokyo"
	if err := s.book.Declare(t.Context(), declared); err != nil {
		t.Fatal(err)
	}
	if view, err := s.book.Get(t.Context(), "file"); err != nil || view.Timezone != "Asia/Tokyo" {
		t.Errorf("a zone that the file names counts: %+v %v", view, err)
	}
}
