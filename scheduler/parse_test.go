package scheduler

import (
	"reflect"
	"testing"
)

func TestParseAdd(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Definition{
		`"0 9 * * 1-5" What is on today?`:                   {Cron: "0 9 * * 1-5", Prompt: "What is on today?"},
		`“0 9 * * 1-5” What?`:                               {Cron: "0 9 * * 1-5", Prompt: "What?"},
		"`0 9 * * 1-5`  zone=Europe/Berlin\nTwo\nlines":     {Cron: "0 9 * * 1-5", Timezone: "Europe/Berlin", Prompt: "Two\nlines"},
		`„0 9 * * *“ Guten Morgen`:                          {Cron: "0 9 * * *", Prompt: "Guten Morgen"},
		`@daily to=slack:T:C to=telegram:1:2 x=y is prompt`: {Cron: "@daily", DeliverTo: []string{"slack:T:C", "telegram:1:2"}, Prompt: "x=y is prompt"},
		`every 2h missed=skip overlap=queue Look.`:          {Every: "2h", Missed: "skip", Overlap: "queue", Prompt: "Look."},
		`"every 2 h" Look.`:                                 {Every: "2h", Prompt: "Look."},
		`30m id=tea Drink tea`:                              {Every: "30m", ID: "tea", Prompt: "Drink tea"},
		`"at 2026-05-01 09:00" May Day`:                     {At: "2026-05-01 09:00", Prompt: "May Day"},
		`at 2026-05-01T09:00 May Day`:                       {At: "2026-05-01T09:00", Prompt: "May Day"},
		`2026-05-01T09:00:00Z limit=5m jitter="1m" May Day`: {At: "2026-05-01T09:00:00Z", TimeLimit: "5m", Jitter: "1m", Prompt: "May Day"},
		`@daily ZONE=UTC`:                                   {Cron: "@daily", Timezone: "UTC"},
	} {
		got, err := ParseAdd(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v %v\nwant %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", `"0 9 * * *`, "tomorrow do it", "   "} {
		if got, err := ParseAdd(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func FuzzParseAdd(f *testing.F) {
	for _, text := range []string{`"0 9 * * 1-5" x`, "„", "“”", "every", "at", "=", "id= x", "'\xff", "2026"} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = ParseAdd(text)
	})
}
