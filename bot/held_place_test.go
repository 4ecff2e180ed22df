package bot

import (
	"context"
	"errors"
	"testing"

	"parley/adapters"
	"parley/api"
	"parley/sessions"
)

// tab is a page that shows one conversation and says which.
type tab struct {
	s     *stage
	place adapters.Surface
	shows string
}

func (p *tab) say(key, text string) (api.Said, error) {
	return p.s.bot.Say(p.s.t.Context(), api.Say{Key: key, Surface: p.place, Held: p.shows, Text: text})
}

func (p *tab) says(key, text string) api.Said {
	p.s.t.Helper()
	said, err := p.say(key, text)
	if err != nil {
		p.s.t.Fatalf("%s: %v", text, err)
	}
	return said
}

// refused says what has to be refused, since the place has moved.
func (p *tab) refused(key, text, to string) {
	p.s.t.Helper()
	_, err := p.say(key, text)
	if moved, ok := errors.AsType[*sessions.MovedError](err); !ok || moved.Session != to {
		p.s.t.Errorf("%s in %s: %v, want that the place is in %s", text, p.shows, err, to)
	}
}

// rests waits until a session has nothing to do.
func (s *stage) rests(id string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	changes, err := s.store.Watch(ctx, id)
	if err != nil {
		s.t.Fatal(err)
	}
	for {
		record, err := s.store.Get(ctx, id)
		if err != nil {
			s.t.Fatal(err)
		}
		if record.Status == sessions.StatusIdle && record.Queued == 0 {
			return
		}
		<-changes
	}
}

func TestACommandSaysWhereItLeads(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		page := adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "a"}
		one, other := &tab{s, page, "web:a"}, &tab{s, page, "web:a"}
		one.says("1", "the original")
		s.rests("web:a")

		fork := one.says("2", "/fork")
		if fork.MovedTo == "" || fork.MovedTo == "web:a" {
			t.Fatalf("%+v", fork)
		}
		other.refused("3", "/clear", fork.MovedTo)
		other.refused("4", "hello?", fork.MovedTo)
		other.refused("5", "/status", fork.MovedTo)
		other.refused("6", "/new", fork.MovedTo)
		if again := one.says("2", "/fork"); again.MovedTo != fork.MovedTo {
			t.Errorf("the same /fork again leads to %q, not to %q", again.MovedTo, fork.MovedTo)
		}
		one.shows = fork.MovedTo
		fresh := one.says("7", "/new")
		if again := one.says("7", "/new"); again.MovedTo != fresh.MovedTo || again.Reply != fresh.Reply {
			t.Errorf("the same /new again: %+v, first %+v", again, fresh)
		}
		one.shows = fresh.MovedTo
		if back := one.says("8", "/resume web:a"); back.MovedTo != "web:a" {
			t.Errorf("%+v", back)
		}
		other.says("9", "/clear")
		if record, err := s.store.Get(t.Context(), fork.MovedTo); err != nil || record.Seq == record.Cleared {
			t.Errorf("the copy was erased: %+v %v", record, err)
		}
	})
}
