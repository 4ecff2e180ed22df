package bot

import (
	"testing"

	"parley/adapters"
	"parley/api"
)

// A key counts in the place it was used in: programs number their messages in
// each conversation anew.
func TestAKeyCountsInItsOwnPlace(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	place := func(name string) adapters.Surface {
		return adapters.Surface{Platform: adapters.API, Account: adapters.Local, Chat: name}
	}
	say := func(where, session string) api.Said {
		t.Helper()
		said, err := s.bot.Say(t.Context(), api.Say{Key: "1", Surface: place(where), Session: session, Text: "hello", Append: true})
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	first, other := say("one", ""), say("two", "")
	if first.Duplicate || other.Duplicate || first.Session != "api:one" || other.Session != "api:two" {
		t.Errorf("said %+v and %+v", first, other)
	}
	if into := say("two", first.Session); !into.Duplicate || into.Session != other.Session {
		t.Errorf("sent again from a place that has moved on: %+v", into)
	}
	if again := say("one", ""); !again.Duplicate || again.Seq != first.Seq {
		t.Errorf("said again %+v", again)
	}
}

// A platform that tells of one message in two texts has its first one carried
// out, and is not told to send the second again.
func TestACommandThatComesAgainWithAnotherTextIsDropped(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.talks("owner", "hello")
	event := s.event("owner", "/name Rome", false)
	s.takeIn(event)
	event.Text = "/name Paris"
	s.takeIn(event)
	if got := s.record("owner").Name; got != "Rome" {
		t.Errorf("named %q", got)
	}
	if got := len(s.platform.texts()); got > 2 {
		t.Errorf("said %q", s.platform.texts())
	}
}
