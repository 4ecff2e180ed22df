package bot

import (
	"context"
	"sync/atomic"
	"testing"

	"parley/adapters"
	"parley/sessions"
)

// in says something in another of a person's direct chats.
func (s *stage) in(who, thread, text string, workspace string) adapters.Event {
	event := s.event(who, text, false)
	event.Surface.Thread, event.Workspace = thread, workspace
	return event
}

func (s *stage) current(surface adapters.Surface) sessions.Record {
	s.t.Helper()
	record, err := s.store.Bound(s.t.Context(), surface.Key())
	if err != nil {
		s.t.Fatal(err)
	}
	return record
}

func TestADirectChatGoesOnWithItsPersonsConversation(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on, func(c *Config) { c.Affinity = true })
		first := s.talks("member", "one")
		other := s.in("member", "2", "two", "")
		s.takeIn(other)
		s.hears("echo: two")
		if got := s.current(other.Surface); got.ID != first.ID {
			t.Fatalf("another session: %+v", got)
		}
		s.idle("member")
		elsewhere := s.in("member", "3", "three", "T1")
		s.takeIn(elsewhere)
		s.hears("echo: three")
		if got := s.current(elsewhere.Surface); got.ID == first.ID {
			t.Fatal("the workspace does not count")
		}
		stranger := s.event("owner", "four", false)
		s.takeIn(stranger)
		s.hears("echo: four")
		if got := s.current(stranger.Surface); got.ID == first.ID {
			t.Fatal("an owner got a member's conversation")
		}
		s.saysInGroup("owner", "@bot five")
		s.hears("echo: [OWNER] @bot five")
		if got := s.record("group"); got.Source.Type != sessions.Group || len(got.Surfaces) != 1 {
			t.Fatalf("a group continued a direct chat: %+v", got)
		}
		s.ask("member", "/new")
		fresh := s.talks("member", "six")
		if fresh.ID == first.ID {
			t.Fatal("/new did not begin a new one")
		}
	})
}

func TestAChatThatLostItsConversationGoesOnWithItsPersons(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on, func(c *Config) { c.Affinity = true })
		first := s.talks("member", "one")
		lost := s.in("member", "2", "/new", "")
		s.answers(lost)
		begun := s.current(lost.Surface)
		if err := s.store.Delete(t.Context(), begun.ID); err != nil || begun.ID == first.ID {
			t.Fatalf("%s after %s: %v", begun.ID, first.ID, err)
		}
		next := s.in("member", "2", "two", "")
		s.takeIn(next)
		s.hears("echo: two")
		if got := s.current(next.Surface); got.ID != first.ID {
			t.Errorf("it goes on with %s and not with %s", got.ID, first.ID)
		}
	})
}

// Without it a message is one call of the store, and with it none searches for
// a conversation that is there.
func TestAffinityCostsNothingWhereItIsNotAskedFor(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]bool{"off": false, "on, warm": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			searches := &searchSpy{}
			s := newStage(t, searches.install, func(c *Config) { c.Affinity = on })
			s.talks("member", "one")
			opened, found := searches.opened.Load(), searches.found.Load()
			if !on && opened+found != 0 {
				t.Fatal("searched for a session though nobody asked for it")
			}
			s.says("member", "two")
			s.hears("echo: two")
			if searches.opened.Load() != opened || searches.found.Load() != found {
				t.Fatal("searched for a session that is there")
			}
		})
	}
}

type searchSpy struct {
	sessions.Store
	opened, found atomic.Int32
}

func (s *searchSpy) install(c *Config) { s.Store, c.Store = c.Store, s }

func (s *searchSpy) Open(ctx context.Context, request sessions.NewSession) (sessions.Record, bool, error) {
	s.opened.Add(1)
	return s.Store.Open(ctx, request)
}

func (s *searchSpy) Find(ctx context.Context, query sessions.Query) (sessions.Page, error) {
	s.found.Add(1)
	return s.Store.Find(ctx, query)
}
