package bot

import (
	"context"
	"strings"
	"testing"

	"parley/adapters"
	"parley/api"
	"parley/bot/texts"
	"parley/sessions"
)

// What stands behind /new is the first message of the new conversation, once.
func TestNewBeginsWithWhatStandsBehindIt(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		old := s.talks("member", "old things")
		event := s.event("member", "/new ideas please", false)
		s.takeIn(event)
		s.takeIn(event)
		s.hears(texts.NewConversation)
		s.hears("echo: ideas please")
		record := s.idle("member")
		if record.ID == old.ID || record.MessageCount != 1 {
			t.Errorf("%+v", record)
		}
	})
}

// A program that speaks to a session by its id is at no place that could get
// another one: nothing is pretended.
func TestASessionsIDIsNoPlaceForAnotherConversation(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	record := s.talks("owner", "hello")
	page := adapters.Surface{Platform: adapters.API, Account: adapters.Local, Chat: record.ID}
	for _, text := range []string{"/new", "/fork", "/resume " + record.ID} {
		said, err := s.bot.Say(t.Context(), api.Say{Key: text, Surface: page, Session: record.ID, Text: text})
		if err != nil || said.Reply != texts.NoPlaceHere || said.MovedTo != "" {
			t.Errorf("%s: %+v, %v", text, said, err)
		}
	}
	if _, err := s.store.Bound(t.Context(), page.Key()); err == nil {
		t.Error("a place was made up")
	}
}

// What was erased is nowhere any more: a chat remembers of its commands what
// they were about, not what was answered.
func TestWhatIsClearedIsNotRememberedByCommands(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		record := s.talks("member", "my pin is 4711")
		s.ask("member", "/new")
		for _, text := range []string{"/resume " + record.ID, "/name the pin 4711", "/fork", "/resume " + record.ID, "/clear"} {
			s.ask("member", text)
		}
		lock, err := s.store.Lock(context.Background(), memoryName(s.event("member", "", false)), sessions.Claimer{Owner: "test", For: sessions.LeaseFor})
		if err != nil || lock.Data == "" || strings.Contains(lock.Data, "4711") {
			t.Fatalf("%+v, %v", lock, err)
		}
	})
}

// A prompt is shown in a list as it was written, not as the bot's own Markdown.
func TestPromptsInListsAreQuoted(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.ask("member", "/schedule add @yearly id=x [click `here`](http://evil.example)")
	if list := s.ask("owner", "/schedule list"); !strings.Contains(list, "\n  `[click 'here'](http://evil.example)`") {
		t.Errorf("%q", list)
	}
}
