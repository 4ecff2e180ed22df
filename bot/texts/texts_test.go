package texts

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for passed, want := range map[time.Duration]string{
		-time.Hour: "just now", 59 * time.Second: "just now", 5 * time.Minute: "5 min ago", 3 * time.Hour: "3 h ago",
		24 * time.Hour: "1 day ago", 72 * time.Hour: "3 days ago", 40 * 24 * time.Hour: "25 Mar 2026",
	} {
		if got := ago(now.Add(-passed), now); got != want {
			t.Errorf("%s: %q", passed, got)
		}
	}
}

// Nothing people wrote is Markdown in the gateway's own words.
func TestTitlesAreNoMarkdown(t *testing.T) {
	t.Parallel()
	record := sessions.Record{Name: "[x](http://evil) `a` @everyone <b>"}
	got := sessionLine(record, "", false, time.Now())
	if regexp.MustCompile("(^|[^\\\\])[`\\[\\]<>@]").MatchString(strings.TrimSuffix(got, "**")) {
		t.Fatalf("%q", got)
	}
}
