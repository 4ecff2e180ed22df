package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"parley/adapters"
	"parley/routing"
	"parley/sessions"
)

func TestTheRoleOfAUser(t *testing.T) {
	t.Parallel()
	p := newPeople(Config{
		Owners: []adapters.Identity{"telegram:owner"}, Members: []adapters.Identity{"telegram:member", "web:owner"},
		Blocked: []adapters.Identity{"slack:blocked"},
	})
	for _, test := range []struct {
		name, stored string
		identities   []string
		want         routing.Role
	}{
		{"a stranger", "", []string{"telegram:1"}, routing.Guest},
		{"an owner by configuration", "", []string{"telegram:owner"}, routing.Owner},
		{"by a linked identity", "", []string{"telegram:1", "telegram:owner"}, routing.Owner},
		{"the strongest of several", "", []string{"telegram:member", "telegram:owner"}, routing.Owner},
		{"by the store", "member", []string{"telegram:1"}, routing.Member},
		{"the store gives more", "owner", []string{"telegram:member"}, routing.Owner},
		{"the configuration gives more", "guest", []string{"telegram:member"}, routing.Member},
		{"blocked by the store", "blocked", []string{"telegram:owner"}, routing.Blocked},
		{"blocked by one identity", "owner", []string{"telegram:owner", "slack:blocked"}, routing.Blocked},
		{"a word that nobody knows", "emperor", []string{"telegram:owner"}, routing.Blocked},
		{"the local owner", "", []string{"cli:owner"}, routing.Owner},
		{"the local owner, as configured", "", []string{"web:owner"}, routing.Member},
	} {
		if got := p.role(sessions.User{ID: test.identities[0], Identities: test.identities, Role: test.stored}); got != test.want {
			t.Errorf("%s: %s, not %s", test.name, got, test.want)
		}
	}
}

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
	return alone(identity), nil
}

func (c *census) install(config *Config) { c.Store, config.Store = config.Store, c }

func TestPeopleAreAskedForOnceInAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &census{user: sessions.User{ID: "telegram:1", Identities: []string{"telegram:1", "slack:U1"}, Role: "member"}}
		p := newPeople(Config{Store: store})
		ask := func(identity adapters.Identity) routing.Role {
			user, role, err := p.of(t.Context(), adapters.Sender{ID: identity})
			if err != nil || user.ID != "telegram:1" {
				t.Fatalf("%+v, %v", user, err)
			}
			return role
		}
		for range 3 {
			if role := ask("slack:U1"); role != routing.Member {
				t.Fatal(role)
			}
		}
		if got := store.asked.Load(); got != 1 {
			t.Fatalf("asked %d times", got)
		}
		store.user.Role = "owner"
		wait(t.Context(), personFor)
		if role := ask("slack:U1"); role != routing.Owner {
			t.Fatalf("%s after %s", role, personFor)
		}
		store.user.Role = "blocked"
		p.forget("slack:U1")
		if role := ask("slack:U1"); role != routing.Blocked {
			t.Fatalf("%s after it was forgotten", role)
		}
		store.user.Role = "owner"
		store.answered = func() { p.forget("slack:U1") } // while the old answer is on its way
		p.forget("slack:U1")
		ask("slack:U1")
		before := store.asked.Load()
		ask("slack:U1")
		if store.asked.Load() == before {
			t.Fatal("an answer that was old when it came was kept")
		}
	})
}

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
	if record.Metadata[metaTitle] != "Coffee room" || record.Metadata["telegram_chat_id"] != "group" || record.Source.TriggerID != "1" {
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
	s.bot.people.mu.Lock()
	defer s.bot.people.mu.Unlock()
	if known, found := s.bot.people.known["telegram:member"]; found {
		t.Fatalf("still known: %+v", known)
	}
}

type whoHints struct {
	sessions.Store
	items chan sessions.WorkItem
}

func (h *whoHints) install(config *Config) { h.Store, config.Store = config.Store, h }

func (h *whoHints) Wakes(context.Context) (<-chan sessions.WorkItem, error) { return h.items, nil }
