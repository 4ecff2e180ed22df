package bot

import (
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

// runOnce makes a schedule, runs it once, and removes it.
func (s *stage) runOnce(who, id, prompt string) {
	s.t.Helper()
	s.asks(who, "/schedule add @yearly id="+id+" "+prompt, "Schedule `"+id+"` is set")
	s.asks(who, "/schedule run "+id, "Schedule `"+id+"` runs now")
	s.hears("echo: " + prompt)
	planned := s.runsOf(id, 1)[0].Planned
	s.asks(who, "/schedule rm "+id, "Schedule `"+id+"` is removed")
	for !time.Now().Truncate(time.Second).After(planned) { // two firings of one id in one second are one
		wait(s.t.Context(), dueEvery)
	}
}

// What was said under a schedule's id is not read by whoever uses the id next.
func TestAScheduleDoesNotTakeOverAnotherMakersConversation(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, who := range []string{"owner", "member"} {
		s.runOnce(who, "report", "Secret of the "+who)
	}
	requests := s.brain.asked()
	for _, m := range requests[len(requests)-1].Messages {
		if strings.Contains(m.Text, "owner") {
			t.Errorf("the member's run reads %q", m.Text)
		}
	}
	first, err := s.store.Get(t.Context(), "schedule:report")
	if err != nil {
		t.Fatal(err)
	}
	if sessions.Reach(first, sessions.Caller{User: alone("telegram:member")}) == nil {
		t.Error("the member takes part in the owner's conversation")
	}
}

// The same maker goes on where his schedule of that id was.
func TestAScheduleGoesOnInItsMakersConversation(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, text := range []string{"first", "second"} {
		s.runOnce("member", "report", "The "+text+" wish")
	}
	requests := s.brain.asked()
	if n := len(requests[len(requests)-1].Messages); n != 3 {
		t.Errorf("the model reads %d messages", n)
	}
}
