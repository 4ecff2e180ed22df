package bot

import (
	"context"
	"strings"
	"testing"

	"parley/adapters"
	"parley/agent"
	"parley/scheduler"
	"parley/sessions"
)

// told are the places where a failing schedule of the configuration is told.
func (s *stage) told() []adapters.Surface {
	s.t.Helper()
	surfaces, err := s.bot.schedules.responsible(s.t.Context(), &scheduler.Plan{})
	if err != nil {
		s.t.Fatal(err)
	}
	return surfaces
}

func (s *stage) wantTold(when string, chats ...string) {
	s.t.Helper()
	surfaces := s.told()
	same := len(surfaces) == len(chats)
	for i := range min(len(surfaces), len(chats)) {
		same = same && surfaces[i].Chat == chats[i]
	}
	if !same {
		s.t.Errorf("%s: told in %v, want %v", when, surfaces, chats)
	}
}

func TestOwnersAreToldWhateverTheyLinked(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.wantTold("before anybody has spoken")
	s.talks("owner", "hello")
	s.wantTold("alone", "owner")
	code, err := s.store.OfferLink(t.Context(), "telegram:member")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.store.TakeLink(t.Context(), code, "telegram:owner"); err != nil {
		t.Fatal(err)
	}
	s.wantTold("after the account was linked into another", "owner")
}

func TestOwnersAreToldWhoseverConversationTheirChatGoesOnWith(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	theirs := s.talks("member", "hello from me")
	s.talks("owner", "hello")
	surface := adapters.Surface{Platform: adapters.Telegram, Account: account, Chat: "owner"}
	if _, _, err := s.store.Attach(t.Context(), sessions.AttachRequest{Session: theirs.ID, Surface: surface.Key()}); err != nil {
		t.Fatal(err)
	}
	s.wantTold("after going on with a member's", "owner")
	s.talks("owner", "and from me")
	s.talks("member", "what now?")
	s.saysInGroup("owner", "@bot hello all")
	s.hears("@bot hello all")
	s.wantTold("when the member has spoken there since", "owner")
}

// An empty answer is no answer and no silence. In a group an owner is told,
// alone and once in a row; a person alone with the bot is told each time.
func TestAnEmptyAnswerInAGroupIsToldToAnOwnerOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.talks("owner", "hello")
	s.saysInGroup("owner", "@bot hello all")
	s.hears("hello all")
	s.idle("group")
	empty := func(context.Context, agent.Request, func(string)) (agent.Answer, error) {
		return agent.Answer{Text: " "}, nil
	}
	s.brain.answers(empty)
	for _, text := range []string{"@bot one", "@bot two"} {
		s.saysInGroup("member", text)
		s.hears("empty answer in the group")
		s.idle("group")
	}
	s.brain.answers(nil)
	s.saysInGroup("member", "@bot three")
	s.hears("@bot three")
	s.idle("group")
	s.brain.answers(empty)
	s.saysInGroup("member", "@bot four")
	s.says("member", "alone")
	s.platform.until(t, "a second notice", func() bool {
		return strings.Count(strings.Join(textsOf(s.platform.sent), "\n"), "empty answer in the group") == 2
	})
	s.idle("group")
	s.idle("member")
	s.end()
	told := map[string]int{}
	for _, sent := range s.platform.sent {
		told[sent.Surface.Chat]++
	}
	if told["group"] != 2 || told["owner"] != 3 || told["member"] != 1 {
		t.Errorf("told %v: %q", told, s.platform.texts())
	}
}
