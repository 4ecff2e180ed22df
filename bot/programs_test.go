package bot

import (
	"errors"
	"strings"
	"testing"

	"parley/adapters"
	"parley/api"
	"parley/conversations"
	"parley/sessions"
)

// bridge says something by a channel's token, for a person of Telegram.
func (s *stage) bridge(session, sender, text string) (api.Said, error) {
	return s.bot.Say(s.t.Context(), api.Say{Surface: adapters.Surface{Platform: adapters.API, Account: adapters.Local, Chat: session},
		Session: session, Sender: adapters.Sender{ID: adapters.NewIdentity(adapters.Telegram, sender)}, Text: text,
		Namespace: "telegram", MaxRole: api.MaxRoleDefault})
}

func TestAChannelsTokenIsNeverMoreThanAMember(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if _, _, err := s.store.Open(t.Context(), sessions.NewSession{ID: "telegram:bridged", Source: sessions.Source{Type: sessions.Direct}}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.store.Open(t.Context(), sessions.NewSession{ID: "api:secret", Name: "the private word", UserID: "api:owner", Source: sessions.Source{Type: sessions.Direct}}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"/resume api:secret", "/link", "/link ABCD yes", "/allow telegram:1:-5", "/sessions all"} {
		said, err := s.bridge("telegram:bridged", "owner", text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if strings.Contains(said.Reply, "private word") || strings.Contains(said.Reply, "`/link ") || strings.Contains(said.Reply, "may now") || said.MovedTo != "" {
			t.Errorf("%s: %+v", text, said)
		}
	}
	if yes, err := s.store.ChatListed(t.Context(), "telegram:1:-5"); err != nil || yes {
		t.Errorf("a program's word for the owner allowed a group: %v", err)
	}
}

func TestAProgramSpeaksOnlyForWhoTakesPart(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for id, kind := range map[string]sessions.Type{"telegram:direct": sessions.Direct, "telegram:group": sessions.Group} {
		if _, _, err := s.store.Open(t.Context(), sessions.NewSession{ID: id, UserID: "telegram:member", Source: sessions.Source{Type: kind}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"hello", "/tree", "/name mine"} {
		if said, err := s.bridge("telegram:direct", "member2", text); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("%s of somebody else: %+v %v", text, said, err)
		}
	}
	owners := api.Say{Surface: adapters.Surface{Platform: adapters.API, Account: adapters.Local, Chat: "telegram:direct"}, Session: "telegram:direct",
		Sender: adapters.Sender{ID: "telegram:member2"}, Text: "hello"}
	if said, err := s.bot.Say(t.Context(), owners); !errors.Is(err, sessions.ErrNotFound) {
		t.Errorf("the owner's own program, for somebody else: %+v %v", said, err)
	}
	record, err := s.store.Get(t.Context(), "telegram:direct")
	if err != nil || len(record.Participants) != 1 || record.Seq != 0 {
		t.Errorf("%+v %v", record, err)
	}
	for session, sender := range map[string]string{"telegram:direct": "member", "telegram:group": "member2"} {
		if _, err := s.bridge(session, sender, "hello"); err != nil {
			t.Errorf("%s in %s: %v", sender, session, err)
		}
	}
}

func TestWhatASessionsPlaceWouldGetIsRefusedWhereItHasNone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.talks("member", "hello")
	record := s.record("member")
	place := adapters.Surface{Platform: adapters.API, Account: adapters.Local, Chat: record.ID}
	for _, text := range []string{"/new", "/fork", "/resume " + record.ID} {
		said, err := s.bot.Say(t.Context(), api.Say{Surface: place, Session: record.ID, Text: text})
		if err != nil || said.MovedTo != "" || said.Reply == "" || strings.Contains(said.Reply, "You are in") || strings.Contains(said.Reply, "started") {
			t.Errorf("%s: %+v %v", text, said, err)
		}
	}
	if now := s.record("member"); now.ID != record.ID || now.State != sessions.StateActive {
		t.Errorf("%+v", now)
	}
	if _, err := s.store.Bound(t.Context(), place.Key()); conversations.CodeOf(err) != conversations.NotFound {
		t.Errorf("a stray place has a session: %v", err)
	}
}
