package bot

import (
	"strings"
	"testing"
	"time"

	"parley/bot/due"
	"parley/internal/pause"
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
		pause.For(s.t.Context(), due.Every)
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
	if sessions.Reach(first, sessions.Caller{User: sessions.User{ID: "telegram:member", Identities: []string{"telegram:member"}}}) == nil {
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

// Whoever made a schedule as an owner and is none any more keeps what goes to
// their own chat, and nothing else.
func TestADemotedOwnersSchedulesStayAtHome(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	role := func(role string) {
		t.Helper()
		if _, err := s.store.SetRole(t.Context(), "telegram:boss", role); err != nil {
			t.Fatal(err)
		}
		s.bot.people.Forget("telegram:boss")
	}
	role("owner")
	s.asks("boss", "/schedule add @yearly id=far to=telegram:77:group Tell them all", "Schedule `far` is set")
	s.asks("boss", "/schedule add @yearly id=near Tell me", "Schedule `near` is set")
	role("member")
	s.asks("boss", "/schedule run far", "Schedule `far` runs now")
	if run := s.runsOf("far", 1)[0]; !strings.Contains(run.Error, "own chat") {
		t.Errorf("%+v", run)
	}
	s.asks("boss", "/schedule run near", "Schedule `near` runs now")
	s.hears("echo: Tell me")
	for _, request := range s.brain.asked() {
		if strings.Contains(read(request), "Tell them all") {
			t.Error("the model was asked for what nobody may have delivered")
		}
	}
}
