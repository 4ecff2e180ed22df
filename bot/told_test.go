package bot

import (
	"testing"

	"parley/adapters"
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
