package bot

import (
	"errors"
	"strings"
	"testing"

	"parley/adapters"
	"parley/sessions"
)

// greets has the bot speak first in a chat, as a schedule or the heartbeat does.
func (s *stage) greets(chat string) sessions.Record {
	s.t.Helper()
	surface := adapters.Surface{Platform: adapters.Telegram, Account: account, Chat: chat}
	if err := s.bot.announcer.record(s.t.Context(), "greeting:"+chat, surface, sessions.Message{Role: sessions.RoleAssistant, Text: "Good morning!"}); err != nil {
		s.t.Fatal(err)
	}
	return s.record(chat)
}

func TestAGroupThatTheBotSpeaksToFirstIsAGroup(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, chat := range []string{"-500", "group"} { // the name of the one tells, of the other it does not
		if record := s.greets(chat); record.Source.Type != sessions.Group {
			t.Errorf("%s is %+v before anybody has spoken there", chat, record.Source)
		}
	}
	s.saysInGroup("owner", "@bot Good morning to you")
	s.hears("echo: [OWNER] @bot Good morning to you")
	record := s.idle("group")
	if record.Source.Type != sessions.Group {
		t.Errorf("it is %+v", record.Source)
	}
	requests := s.brain.asked()
	if system := requests[len(requests)-1].System; !strings.Contains(system, "kind: group") {
		t.Errorf("the model is not told that it speaks to a group: %s", system)
	}
	if err := s.store.Delete(t.Context(), record.ID); !errors.Is(err, sessions.ErrGroup) {
		t.Errorf("deleting it: %v", err)
	}
}

func TestAPersonThatTheBotSpeaksToFirstIsAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if record := s.greets("500"); record.Source.Type != sessions.Direct || record.Source.Assumed {
		t.Errorf("it is %+v, and its name tells that it is one person's", record.Source)
	}
	s.greets("owner")
	s.says("owner", "Good morning to you")
	s.hears("echo: Good morning to you")
	if record := s.idle("owner"); record.Source.Type != sessions.Direct || record.Source.Assumed {
		t.Errorf("it is %+v after a direct message", record.Source)
	}
}
