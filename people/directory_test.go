package people_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"parley/adapters"
	"parley/internal/pause"
	"parley/people"
	"parley/routing"
	"parley/sessions"
)

func TestTheRoleOfAUser(t *testing.T) {
	t.Parallel()
	c := people.NewConfigured([]adapters.Identity{"telegram:owner"}, []adapters.Identity{"telegram:member", "web:owner"}, []adapters.Identity{"slack:blocked"})
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
		if got := c.Role(sessions.User{ID: test.identities[0], Identities: test.identities, Role: test.stored}); got != test.want {
			t.Errorf("%s: %s, not %s", test.name, got, test.want)
		}
	}
}

// census is a store of people that counts and can be away.
type census struct {
	sessions.Users
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

func TestPeopleAreAskedForOnceInAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &census{user: sessions.User{ID: "telegram:1", Identities: []string{"telegram:1", "slack:U1"}, Role: "member"}}
		d := people.NewDirectory(store, nil)
		ask := func(identity adapters.Identity) routing.Role {
			user, role, err := d.Of(t.Context(), adapters.Sender{ID: identity})
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
		pause.For(t.Context(), people.KnownFor)
		if role := ask("slack:U1"); role != routing.Owner {
			t.Fatalf("%s after %s", role, people.KnownFor)
		}
		store.user.Role = "blocked"
		d.Forget("slack:U1")
		if role := ask("slack:U1"); role != routing.Blocked {
			t.Fatalf("%s after it was forgotten", role)
		}
		store.user.Role = "owner"
		store.answered = func() { d.Forget("slack:U1") } // while the old answer is on its way
		d.Forget("slack:U1")
		ask("slack:U1")
		before := store.asked.Load()
		ask("slack:U1")
		if store.asked.Load() == before {
			t.Fatal("an answer that was old when it came was kept")
		}
	})
}
