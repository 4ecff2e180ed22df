package bot

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"parley/agent"
	"parley/routing"
	"parley/sessions"
)

// happened stores a message of the owner's and, as its turn, the entries.
func (s *stage) happened(text string, entries ...sessions.NewEntry) []sessions.Entry {
	s.t.Helper()
	event := s.event("owner", text, false)
	result, err := s.store.Post(s.t.Context(), sessions.PostRequest{
		Surface: event.Surface.Key(), New: newSession(event, "telegram:owner"), UserID: "telegram:owner",
		Trigger: true, Rights: string(routing.Owner), Claim: &sessions.Claimer{Owner: "test", For: sessions.LeaseFor},
		Message: message(arrival{event: event, role: routing.Owner, decision: routing.Decision{Action: routing.ActionTurn}}),
	})
	if err != nil || result.Turn == nil {
		s.t.Fatalf("%+v, %v", result, err)
	}
	commit, err := s.store.Commit(s.t.Context(), sessions.CommitRequest{Lease: result.Turn.Lease, Outcome: sessions.Done, Entries: entries})
	if err != nil {
		s.t.Fatal(err)
	}
	return commit.Entries
}

func note(t *testing.T, kind sessions.EntryType, payload any) sessions.NewEntry {
	t.Helper()
	entry, err := sessions.NewNote(kind, payload)
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

func answerEntry(t *testing.T, text string) sessions.NewEntry {
	t.Helper()
	entry, err := sessions.NewMessage(sessions.Message{Role: sessions.RoleAssistant, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

func read(request agent.Request) string {
	var out strings.Builder
	for _, m := range request.Messages {
		fmt.Fprintf(&out, "%s: %s\n", m.Role, m.Text)
	}
	return out.String()
}

// The summary of what was compacted away reaches the model once, as a layer of
// its own; behind it what was kept; no setting is read as if somebody had said
// it.
func TestACompactionIsReadOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.happened("forgotten", answerEntry(t, "forgotten too"))
	kept := s.happened("kept", answerEntry(t, "kept answer"), note(t, sessions.EntryLabel, sessions.Label{TargetID: "e1", Label: "a label"}))
	s.happened("later", answerEntry(t, "later answer"), note(t, sessions.EntrySessionName, sessions.SessionName{Name: "a name"}),
		note(t, sessions.EntryCompaction, sessions.Compaction{Summary: "THE SUMMARY", FirstKeptID: sessions.EntryID(kept[0].Seq - 1)}),
		note(t, sessions.EntryBranchSummary, sessions.BranchSummary{Summary: "THE OTHER BRANCH"}),
		note(t, sessions.EntryCustomMessage, sessions.CustomMessage{Text: "FOR THE MODEL", ForModel: true}),
		note(t, sessions.EntryCustomMessage, sessions.CustomMessage{Text: "for people"}))
	for i := range 2 { // from the log, then from the cache
		text := fmt.Sprint("now ", i)
		s.says("owner", text)
		s.hears("echo: " + text)
		s.idle("owner")
		asked := s.brain.asked()[i]
		all := asked.System + read(asked)
		if strings.Count(all, "THE SUMMARY") != 1 || strings.Count(asked.System, "THE SUMMARY") != 1 {
			t.Fatalf("the summary is not there once, in the system prompt:\n%s", all)
		}
		want := []string{"user: kept\n", "assistant: kept answer\n", "user: later\n", "assistant: later answer\n", "THE OTHER BRANCH\n", "FOR THE MODEL\n", "user: " + text + "\n"}
		at := 0
		for _, part := range want {
			next := strings.Index(all[at:], part)
			if next < 0 {
				t.Fatalf("%q is missing or out of place:\n%s", part, all)
			}
			at += next
		}
		for _, part := range []string{"forgotten", "a label", "a name", "for people"} {
			if strings.Contains(all, part) {
				t.Fatalf("the model reads %q:\n%s", part, all)
			}
		}
	}
}

// Far below a compaction its summary is still read; the log is not, once the
// session is warm.
func TestASummaryFarAboveIsReadFromTheLogOnce(t *testing.T) {
	t.Parallel()
	ranges := &rangeSpy{}
	s := newStage(t, ranges.install)
	s.happened("forgotten", answerEntry(t, "x"), note(t, sessions.EntryCompaction, sessions.Compaction{Summary: "THE SUMMARY"}))
	for i := range sessions.TailMax {
		s.happened(fmt.Sprint("message ", i), answerEntry(t, "answer"))
	}
	s.says("owner", "now")
	s.hears("echo: now")
	s.idle("owner")
	before := ranges.count.Load()
	s.says("owner", "again")
	s.hears("echo: again")
	if ranges.count.Load() != before {
		t.Fatal("a warm session was read from the log")
	}
	for _, request := range s.brain.asked() {
		if strings.Count(request.System, "THE SUMMARY") != 1 || strings.Contains(read(request), "forgotten") {
			t.Fatalf("%s\n%s", request.System, read(request))
		}
	}
}

type rangeSpy struct {
	sessions.Store
	count atomic.Int32
}

func (s *rangeSpy) install(c *Config) { s.Store, c.Store = c.Store, s }

func (s *rangeSpy) Range(ctx context.Context, session string, from, to int64) ([]sessions.Entry, error) {
	s.count.Add(1)
	return s.Store.Range(ctx, session, from, to)
}
