package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"parley/adapters"
	"parley/bot/texts"
	"parley/sessions"
)

// census is a store of people that counts and can be away.
type census struct {
	sessions.Store
	user     sessions.User
	asked    atomic.Int32
	away     atomic.Bool
	answered func() // after the answer was read
}

func (c *census) Who(_ context.Context, identity string) (sessions.User, error) {
	c.asked.Add(1)
	if c.away.Load() {
		return sessions.User{}, sessions.ErrUnavailable
	}
	if c.answered != nil {
		c.answered()
	}
	if c.user.Is(identity) {
		return c.user, nil
	}
	return sessions.User{ID: identity, Identities: []string{identity}}, nil
}

func (c *census) install(config *Config) { c.Store, config.Store = config.Store, c }

func TestNobodyIsLetInWhileTheStoreCannotSayWhoHeIs(t *testing.T) {
	t.Parallel()
	store := &census{}
	s := newStage(t, store.install)
	store.away.Store(true)
	for _, event := range []adapters.Event{s.event("owner", "hello", false), s.event("owner", "@bot hello", true), s.event("owner", "/new", false)} {
		if err := s.sink(t.Context(), event); !errors.Is(err, sessions.ErrUnavailable) {
			t.Fatalf("acknowledged: %v", err)
		}
	}
	store.away.Store(false)
	s.says("owner", "hello again")
	s.hears("echo: hello again")
	if got := s.platform.texts(); len(got) != 1 {
		t.Fatalf("sent %q", got)
	}
}

// A participant is a user, a speaker an identity.
func TestParticipantsAreUsersAndSpeakersIdentities(t *testing.T) {
	t.Parallel()
	store := &census{user: sessions.User{ID: "slack:U1", Identities: []string{"slack:U1", "telegram:owner"}}}
	s := newStage(t, store.install)
	s.says("owner", "hello")
	s.hears("echo: hello")
	record := s.idle("owner")
	if len(record.Participants) != 1 || record.Participants[0] != "slack:U1" || record.UserID != "slack:U1" {
		t.Fatalf("participants %q of %q", record.Participants, record.UserID)
	}
	if m, err := s.entries(record)[0].Message(); err != nil || m.Sender.ID != "telegram:owner" {
		t.Fatalf("%+v, %v", m, err)
	}
}

// What a place is called is what it is called now; where the session came from
// stays.
func TestAReopenedSessionMergesWhatItsPlaceIsCalled(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for i, title := range []string{"Tea room", "Coffee room", "Coffee room"} {
		event := s.event("owner", fmt.Sprint("@bot hello ", i), true)
		event.Title = title
		s.takeIn(event)
		s.hears(fmt.Sprint("@bot hello ", i))
		s.idle("group")
	}
	for i, want := range []string{"Tea room", "Coffee room", "Coffee room"} {
		if system := s.brain.asked()[i].System; !strings.Contains(system, want) {
			t.Errorf("the prompt of %d does not know %q:\n%s", i, want, system)
		}
	}
	record := s.record("group")
	if record.Metadata[texts.ChatTitle] != "Coffee room" || record.Metadata["telegram_chat_id"] != "group" || record.Source.TriggerID != "1" {
		t.Fatalf("%+v", record)
	}
}

// A hint of the store makes a change of rights count at once.
func TestAHintDropsWhatIsKnownOfSomebody(t *testing.T) {
	t.Parallel()
	hints := &whoHints{items: make(chan sessions.WorkItem)}
	s := newStage(t, hints.install)
	s.says("member", "hello")
	s.hears("echo: hello")
	hints.items <- sessions.WorkItem{Kind: sessions.WorkWho, ID: "telegram:member"}
	hints.items <- sessions.WorkItem{Kind: sessions.WorkWho, ID: "telegram:other"} // the one before is dealt with
	if s.bot.people.Knows("telegram:member") {
		t.Fatal("still known")
	}
}

type whoHints struct {
	sessions.Store
	items chan sessions.WorkItem
}

func (h *whoHints) install(config *Config) { h.Store, config.Store = config.Store, h }

func (h *whoHints) Wakes(context.Context) (<-chan sessions.WorkItem, error) { return h.items, nil }
