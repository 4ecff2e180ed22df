package bot

import (
	"context"
	"strings"
	"testing"

	"parley/adapters"
	"parley/agent"
	"parley/api"
	"parley/bot/texts"
	"parley/conversations"
	"parley/sessions"
)

// answers says something and returns what came back, which must be one message.
func (s *stage) answers(event adapters.Event) string {
	s.t.Helper()
	s.platform.mu.Lock()
	before := len(s.platform.sent)
	s.platform.mu.Unlock()
	s.takeIn(event)
	s.platform.until(s.t, "an answer to "+event.Text, func() bool { return len(s.platform.sent) > before })
	s.platform.mu.Lock()
	defer s.platform.mu.Unlock()
	return s.platform.sent[before].Text
}

func (s *stage) ask(who, text string) string {
	s.t.Helper()
	return s.answers(s.event(who, text, false))
}

// talks says something, waits for its answer and for rest.
func (s *stage) talks(who, text string) sessions.Record {
	s.t.Helper()
	s.says(who, text)
	s.hears("echo: " + text)
	return s.idle(who)
}

func expect(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Fatalf("%q is not in %q", part, got)
		}
	}
}

func TestSessionsAreListedAndTakenUpAgain(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		first := s.talks("member", "about *Rome*")
		s.ask("member", "/new")
		second := s.talks("member", "about Oslo")
		s.talks("owner", "the owner's own")

		list := s.ask("member", "/sessions")
		expect(t, list, "1. **about Oslo** just now, Telegram ← here", "`/sessions all`")
		if strings.Contains(list, "Rome") || strings.Contains(list, "owner's") {
			t.Fatalf("a hidden or another's session is listed: %q", list)
		}
		expect(t, s.ask("owner", "/sessions"), "1. **the owner's own**")
		if got := s.ask("owner", "/sessions"); strings.Contains(got, "Oslo") {
			t.Fatalf("the owner is shown everybody's: %q", got)
		}
		expect(t, s.ask("member", "/sessions all"), "1. **about Oslo**", `2. **about \*Rome\***`, "suspended", "`"+first.ID+"`")
		expect(t, s.ask("member", "/resume"), "Which one?", "1. **about Oslo**")
		s.ask("member", "/sessions all")
		expect(t, s.ask("member", "/resume 2"), `“about \*Rome\*”`, "`/resume "+second.ID+"` goes back")
		if got := s.record("member"); got.ID != first.ID || got.State != sessions.StateActive {
			t.Fatalf("%+v", got)
		}
		s.talks("member", "and Rome again")
		requests := s.brain.asked()
		expect(t, read(requests[len(requests)-1]), "about *Rome*", "and Rome again")
		expect(t, s.ask("member", "/resume "+second.ID), "“about Oslo”", "goes back")
		if got := s.record("member"); got.ID != second.ID {
			t.Fatalf("%+v", got)
		}
	})
}

func TestWhoMayResumeWhat(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		owners := s.talks("owner", "secret plans")
		s.saysInGroup("owner", "@bot hello")
		s.hears("echo: [OWNER] @bot hello")
		group := s.idle("group")
		for _, text := range []string{"/resume " + owners.ID, "/resume telegram:2026-01-01-nobody", "/resume 9", "/resume " + strings.Repeat("x", 300), "/resume {a}", "/resume " + group.ID} {
			if got := s.ask("member", text); got != texts.NoSuchSession {
				t.Errorf("%s: a stranger was told %q", text, got)
			}
		}
		members := s.talks("member", "mine")
		expect(t, s.ask("owner", "/resume "+members.ID), "“mine”", "`/resume "+owners.ID+"` goes back")
		if record, err := s.store.Get(t.Context(), members.ID); err != nil || len(record.Participants) != 1 {
			t.Fatalf("an owner who only looked was added: %+v, %v", record, err)
		}
		if got := s.answers(s.event("owner", "/resume "+owners.ID, true)); got != texts.DirectInGroup {
			t.Fatalf("a group was told %q", got)
		}
		if got := s.record("group"); got.ID != group.ID {
			t.Fatalf("the group has a direct conversation: %+v", got)
		}
		list := s.answers(s.event("owner", "/sessions", true))
		if strings.Contains(list, "secret") || !strings.Contains(list, "hello") {
			t.Fatalf("the group is shown %q", list)
		}
		expect(t, s.answers(s.event("member", "/sessions", true)), "may not use this command")
	})
}

// Delivered again, whatever was said since, a command does nothing more.
func TestAConversationCommandDeliveredAgainDoesNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		first := s.talks("member", "one")
		s.ask("member", "/new")
		s.talks("member", "two")
		s.ask("member", "/sessions all")
		var again []adapters.Event
		for _, text := range []string{"/resume 2", "/name called so", "/label here", "/branch e1", "/fork", "/clear"} {
			event := s.event("member", text, false)
			s.answers(event)
			again = append(again, event)
		}
		s.ask("member", "/new")
		s.talks("member", "three")
		s.ask("member", "/whoami") // goes out when the receipt of what went before is stored
		last := s.record("member")
		before, err := s.store.Get(t.Context(), first.ID)
		if err != nil {
			t.Fatal(err)
		}
		sent := len(s.platform.texts())
		for _, event := range again {
			s.takeIn(event)
		}
		if got := s.record("member"); got.ID != last.ID || got.Version != last.Version || got.Cleared != 0 {
			t.Fatalf("%+v became %+v", last, got)
		}
		if after, err := s.store.Get(t.Context(), first.ID); err != nil || after.Version != before.Version {
			t.Fatalf("%+v became %+v, %v", before, after, err)
		}
		s.talks("member", "four")
		if got := s.platform.texts(); len(got) != sent+1 {
			t.Fatalf("answered again: %q", got[sent:])
		}
	})
}

func TestNameAndLabelsAreInTheLogAndNotInThePrompt(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		s.talks("member", "hello")
		expect(t, s.ask("member", "/name"), "has no name")
		expect(t, s.ask("member", "/name Trip to *Oslo*"), `called “Trip to \*Oslo\*” now`)
		expect(t, s.ask("member", "/name Trip"), "`/name Trip to *Oslo*` goes back")
		expect(t, s.ask("member", "/label"), "Write `/label`")
		expect(t, s.ask("member", "/label the answer"), "`e2` is labelled “the answer” now", "`/label e2` takes it off")
		expect(t, s.ask("member", "/label e1 the question"), "`e1` is labelled")
		expect(t, s.ask("member", "/label e99 nothing"), texts.NoSuchEntry)
		expect(t, s.ask("member", "/name "+strings.Repeat("x", 90)), conversations.CheckName("\n").Error())
		expect(t, s.ask("member", "/name two\nlines"), conversations.CheckName("\n").Error())
		tree := s.ask("member", "/tree")
		expect(t, tree, "```\n", "e1", "[the question]", "[the answer]", "← here")
		if s.record("member").Name != "Trip" {
			t.Fatalf("%+v", s.record("member"))
		}
		s.talks("member", "again")
		requests := s.brain.asked()
		if got := read(requests[len(requests)-1]); got != "user: hello\nassistant: echo: hello\nuser: again\n" {
			t.Fatalf("the model reads %q", got)
		}
	})
}

func TestABranchIsLeftAndGoneBackTo(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		s.talks("member", "where to?")
		record := s.talks("member", "Rome")
		expect(t, s.ask("member", "/branch"), "Write `/branch e12`")
		expect(t, s.ask("member", "/branch e77"), texts.NoSuchEntry)
		expect(t, s.ask("member", "/branch e2"), "goes on from `e2`", "`/branch "+record.LeafID()+"` goes back")
		s.talks("member", "Oslo")
		requests := s.brain.asked()
		if got := read(requests[len(requests)-1]); strings.Contains(got, "Rome") || !strings.Contains(got, "where to?") {
			t.Fatalf("the model reads %q", got)
		}
		expect(t, s.ask("member", "/tree"), "Rome", "Oslo")
		expect(t, s.ask("member", "/branch "+record.LeafID()), "goes on from")
		s.talks("member", "back")
		requests = s.brain.asked()
		if got := read(requests[len(requests)-1]); strings.Contains(got, "Oslo") || !strings.Contains(got, "Rome") {
			t.Fatalf("the model reads %q", got)
		}
		expect(t, s.ask("member", "/branch start"), "from the beginning")
		s.talks("member", "afresh")
		requests = s.brain.asked()
		if got := read(requests[len(requests)-1]); got != "user: afresh\n" {
			t.Fatalf("the model reads %q", got)
		}
	})
}

func TestTreeCommandsAreRefusedWhileATurnRuns(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.talks("member", "one")
	started, release := make(chan struct{}), make(chan struct{})
	s.brain.answers(func(ctx context.Context, _ agent.Request, _ func(string)) (agent.Answer, error) {
		close(started)
		select {
		case <-release:
		case <-ctx.Done():
		}
		return agent.Answer{Text: "done"}, ctx.Err()
	})
	s.says("member", "two")
	<-started
	for _, text := range []string{"/branch e1", "/fork", "/clear"} {
		if got := s.ask("member", text); got != texts.StillRunning {
			t.Errorf("%s: %q", text, got)
		}
	}
	expect(t, s.ask("member", "/name meanwhile"), "called “meanwhile” now")
	close(release)
	s.hears("done")
}

func TestAForkGoesOnByItself(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		s.talks("member", "one")
		from := s.talks("member", "two")
		expect(t, s.ask("member", "/fork e2"), "copy of the conversation now, up to `e2`", "`/resume "+from.ID+"` goes back")
		forked := s.record("member")
		if forked.ID == from.ID || forked.ParentSession != from.ID || len(forked.Participants) != 1 {
			t.Fatalf("%+v", forked)
		}
		s.talks("member", "three")
		requests := s.brain.asked()
		if got := read(requests[len(requests)-1]); got != "user: one\nassistant: echo: one\nuser: three\n" {
			t.Fatalf("the model reads %q", got)
		}
		// Not its Seq: the receipt of its last answer may be written later.
		if got, err := s.store.Get(t.Context(), from.ID); err != nil || got.Leaf != from.Leaf || got.MessageCount != from.MessageCount {
			t.Fatalf("%+v, %v", got, err)
		}
	})
}

func TestAnEndedSessionGoesOnInACopy(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		ended := s.talks("member", "long ago")
		if _, err := s.store.Expire(t.Context(), ended.ID); err != nil {
			t.Fatal(err)
		}
		expect(t, s.ask("member", "/sessions all"), "expired")
		expect(t, s.ask("member", "/resume "+ended.ID), "has ended; you are in a copy of it now")
		if got := s.record("member"); got.ID == ended.ID || got.ParentSession != ended.ID {
			t.Fatalf("%+v", got)
		}
		s.talks("member", "and on")
		requests := s.brain.asked()
		expect(t, read(requests[len(requests)-1]), "long ago", "and on")
	})
}

func TestClearErasesWhatWasSaid(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		before := s.talks("member", "forget this")
		s.ask("member", "/name kept")
		expect(t, s.ask("member", "/clear"), texts.Cleared)
		record := s.record("member")
		if record.ID != before.ID || record.Cleared == 0 || record.Name != "kept" {
			t.Fatalf("%+v", record)
		}
		s.talks("member", "afresh")
		requests := s.brain.asked()
		if got := read(requests[len(requests)-1]); got != "user: afresh\n" {
			t.Fatalf("the model reads %q", got)
		}
		s.saysInGroup("owner", "/allow")
		s.saysInGroup("member", "/clear")
		s.hears("may not use this command")
	})
}

// One conversation, in a chat and on the page.
func TestAChatsConversationGoesOnOnThePage(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on, func(c *Config) { c.Fanout = true })
		chat := s.talks("owner", "from the chat")
		page := adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "phone"}
		said, err := s.bot.Say(t.Context(), api.Say{Surface: page, Text: "/resume " + chat.ID})
		if err != nil || said.Session != chat.ID || !strings.Contains(said.Reply, "from the chat") || said.Turn {
			t.Fatalf("%+v, %v", said, err)
		}
		said, err = s.bot.Say(t.Context(), api.Say{Surface: page, Text: "from the page"})
		if err != nil || said.Session != chat.ID || !said.Turn {
			t.Fatalf("%+v, %v", said, err)
		}
		s.hears("echo: from the page") // by fanout
		s.talks("owner", "from the chat again")
		requests := s.brain.asked()
		expect(t, read(requests[len(requests)-1]), "from the chat\n", "from the page\n", "from the chat again\n")
	})
}

// A command's place in the log of another program: its number is its own.
func TestTheNumbersAreThoseOfTheListShown(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	first := s.talks("member", "one")
	surface := s.event("member", "", false).Surface
	surface.Thread = "7"
	s.ask("member", "/sessions")
	event := s.event("member", "two", false)
	event.Surface = surface
	s.takeIn(event) // is the newest now
	s.hears("echo: two")
	expect(t, s.ask("member", "/resume 1"), "“one”")
	if got := s.record("member"); got.ID != first.ID {
		t.Fatalf("%+v", got)
	}
}
