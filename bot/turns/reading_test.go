package turns

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

// What a branch was found to come from counts for what descends from it only.
func TestWhatIsKnownAboveABranch(t *testing.T) {
	t.Parallel()
	line := func(seq, parent int64, kind sessions.EntryType, payload any) sessions.Line {
		encoded, err := json.Marshal(payload)
		if err != nil {
			t.Fatal(err)
		}
		return sessions.Lines([]sessions.Entry{{Seq: seq, Parent: parent, Type: kind, Payload: encoded}})[0]
	}
	user := sessions.Message{Role: sessions.RoleUser, Text: "x", Triggered: true}
	whole := []sessions.Line{
		line(1, 0, sessions.EntryCompaction, sessions.Compaction{Summary: "s"}), line(2, 1, sessions.EntryMessage, user), line(3, 2, sessions.EntryMessage, user),
	}
	known := aboveFrom(whole, sessions.Rebuild(whole))
	below := []sessions.Line{whole[2], line(4, 3, sessions.EntryMessage, user)}
	if got := known.complete(below); !known.under(below) || got.Compaction == nil || got.Compaction.Summary != "s" {
		t.Fatalf("%+v", got)
	}
	beside := []sessions.Line{whole[1], line(5, 2, sessions.EntryMessage, user)}
	if got := known.complete(beside); known.under(beside) || got.Compaction != nil {
		t.Fatalf("%+v", got)
	}
	newer := slices.Concat(below, []sessions.Line{line(6, 4, sessions.EntryCompaction, sessions.Compaction{Summary: "newer"})})
	if got := known.complete(newer); got.Compaction.Summary != "newer" {
		t.Fatalf("%+v", got)
	}
}

// In a group too, nobody's own words pass for a summary.
func TestASummaryIsNoLine(t *testing.T) {
	t.Parallel()
	got := request(sessions.Record{Source: sessions.Source{Type: sessions.Group}}, "telegram:1:2", "", time.Time{}, reading{summary: "  S  "})
	if len(got.Messages) != 0 || !strings.HasSuffix(got.System, "\n\nS") || !strings.Contains(got.System, "# How to behave in this group") {
		t.Fatalf("%+v", got)
	}
}
