package bot

import (
	"fmt"
	"strings"
	"testing"

	"parley/people"
	"parley/sessions/storetest"
)

// pairCode is the code of a request in what was said of it.
func pairCode(t *testing.T, text string) string {
	t.Helper()
	_, rest, _ := strings.Cut(text, "/pair allow ")
	code, _, found := strings.Cut(rest, "`")
	if !found {
		t.Fatalf("no code in %q", text)
	}
	return code
}

// heard is the first text that holds part.
func (s *stage) heard(part string) string {
	s.t.Helper()
	s.hears(part)
	for _, text := range s.platform.texts() {
		if strings.Contains(text, part) {
			return text
		}
	}
	return ""
}

func TestOwnersAreAskedAboutAStranger(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.asks("owner", "hello", "echo: hello")
	s.says("bob", "may I?")
	s.says("bob", "may I come in?")
	asked := s.heard("asks to talk to me")
	code := pairCode(t, asked)
	if !strings.Contains(asked, "“BOB” (`telegram:bob`)") {
		t.Errorf("who asks: %q", asked)
	}
	if line := s.heard("I don't know you yet"); !strings.Contains(line, "I have asked an owner") || !strings.Contains(line, code) {
		t.Errorf("the stranger hears %q", line)
	}
	waiting, err := s.bot.People().Waiting(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].Code != code || waiting[0].Surface != s.event("bob", "", false).Surface.Key() {
		t.Fatalf("%+v %v", waiting, err)
	}
	for i := range people.WaitMax {
		s.says(fmt.Sprint("stranger", i), "let me in")
	}
	s.hears("too many people already wait")
	s.hears("“STRANGER0” (`telegram:stranger0`) asks")
	s.hears("“STRANGER1” (`telegram:stranger1`) asks")
	for _, text := range s.platform.texts() {
		if strings.Contains(text, "“STRANGER2”") {
			t.Errorf("owners were asked about one too many: %q", text)
		}
	}
}

func TestAStrangerHearsTheirCodeWhereNoOwnerCanBeTold(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.says("bob", "hello")
	if line := s.heard("I don't know you yet"); strings.Contains(line, "asked an owner") || !strings.Contains(line, "your code") {
		t.Errorf("%q", line)
	}
}

func TestAnOwnerLetsAStrangerInFromTheirChat(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.asks("owner", "hello", "echo: hello")
	s.says("bob", "/start")
	code := pairCode(t, s.heard("asks to talk to me"))
	if line := s.heard("Hello! I am"); !strings.Contains(line, code) {
		t.Errorf("/start says %q", line)
	}
	s.asks("owner", "/pair list", "- `"+code+"` “BOB”")
	s.asks("owner", "/allow "+s.event("bob", "", false).Surface.Key(), "`/pair allow "+code+"` does it")
	s.asks("owner", "/pair allow "+strings.ToLower(code), "`telegram:bob` may talk to me now")
	s.hears("You may talk to me now")
	s.asks("bob", "good morning", "echo: good morning")
	s.asks("owner", "/pair list", "Nobody asks")
	s.asks("owner", "/people", "- `telegram:bob` member\n")
	s.asks("owner", "/people block telegram:bob", "is blocked")
	s.asks("owner", "/people block telegram:member", "the configuration makes telegram:member a member")
	s.asks("owner", "/pair allow nothing", "Nobody waits with that code")
	s.asks("owner", "/people role telegram:bob emperor", "a role is owner")
}

// Whatever fails while an owner lets somebody in, what they wrote comes again
// and is answered as it would have been.
func TestLettingSomebodyInIsAnsweredAlthoughItIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		var faulty *storetest.Faulty
		s := newStage(t, on, func(c *Config) { faulty = storetest.NewFaulty(c.Store); c.Store = faulty })
		s.asks("owner", "hello", "echo: hello")
		for i, fault := range []storetest.Fault{
			{Op: "SetRole", When: storetest.After},
			{Op: "Enqueue", When: storetest.After},           // the stranger is told
			{Op: "SaveLock", Call: 2, When: storetest.After}, // behind the command's own
			{Op: "Enqueue", Call: 2, When: storetest.Before}, // the owner is not
		} {
			who := fmt.Sprint("bob", i)
			s.says(who, "may I?")
			code := pairCode(t, s.heard("(`telegram:"+who+"`) asks"))
			event := s.event("owner", "/pair allow "+code, false)
			faulty.Fail(fault)
			if err := s.sink(t.Context(), event); err == nil || faulty.Armed() != 0 {
				t.Fatalf("%s: nothing failed (%d armed)", fault.Op, faulty.Armed())
			}
			s.takeIn(event)
			s.hears("`telegram:" + who + "` may talk to me now")
		}
		s.idle("owner")
		for _, text := range s.platform.texts() {
			if strings.Contains(text, "Nobody waits") {
				t.Errorf("an owner was told %q", text)
			}
		}
	})
}
