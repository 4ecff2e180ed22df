package people_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/adapters"
	"parley/internal/secret"
	"parley/people"
	"parley/redisstore"
	"parley/routing"
	"parley/sessions"
	"parley/sqlitestore"
	"parley/test/redistest"
)

// stores are both backends, each with two clients of it where it can have two.
func stores(t *testing.T, test func(t *testing.T, one, other sessions.Store)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		test(t, store, store)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t)
		var both [2]sessions.Store
		for i := range both {
			store, err := redisstore.Open(t.Context(), redisstore.Config{URL: secret.New(server.URL())})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { store.Close() })
			both[i] = store
		}
		test(t, both[0], both[1])
	})
}

func wish(who string) people.Request {
	return people.Request{Identity: "telegram:" + who, Name: "Somebody\n" + who, Surface: "telegram:1:" + who}
}

func TestAStrangersRequestIsKeptAndAnswered(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, one, other sessions.Store) {
		var told []string
		door := &people.Room{Store: one, Configured: people.NewConfigured([]adapters.Identity{"telegram:1"}, nil, nil)}
		owners := &people.Room{Store: other, Configured: door.Configured, Tell: func(_ context.Context, _ string, to people.Request) error {
			told = append(told, to.Surface)
			return nil
		}}
		first, err := door.Knock(t.Context(), wish("8"))
		if err != nil || first.Code == "" || first.Name != "Somebody 8" {
			t.Fatalf("%+v %v", first, err)
		}
		if again, err := door.Knock(t.Context(), wish("8")); err != nil || again.Code != first.Code {
			t.Errorf("asked again: %+v %v", again, err)
		}
		second, _ := door.Knock(t.Context(), wish("9"))
		if waiting, err := owners.Waiting(t.Context()); err != nil || len(waiting) != 2 || waiting[0].Code != first.Code {
			t.Errorf("waiting: %+v %v", waiting, err)
		}
		person, err := owners.Give(t.Context(), "telegram:1", strings.ToLower(first.Code), routing.Member)
		if err != nil || person.Role != routing.Member || person.ID != "telegram:8" {
			t.Errorf("let in: %+v %v", person, err)
		}
		if person, err = owners.Give(t.Context(), "telegram:1", second.Code, routing.Blocked); err != nil || person.Role != routing.Blocked {
			t.Errorf("blocked: %+v %v", person, err)
		}
		if !slices.Equal(told, []string{"telegram:1:8"}) {
			t.Errorf("told %q: who is let in hears of it, who is blocked does not", told)
		}
		if waiting, err := owners.Waiting(t.Context()); err != nil || len(waiting) != 0 {
			t.Errorf("still waiting: %+v %v", waiting, err)
		}
	})
}

// Whoever answers a request may not hear what came of it, and says the same
// again.
func TestTheSameAnswerToARequestAgainIsTheSame(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, one, other sessions.Store) {
		now, told := time.Now(), 0
		door := &people.Room{Store: one, Now: func() time.Time { return now }, Tell: func(context.Context, string, people.Request) error {
			told++
			return nil
		}}
		asked, err := door.Knock(t.Context(), wish("8"))
		if err != nil {
			t.Fatal(err)
		}
		first, err := door.Give(t.Context(), "", asked.Code, routing.Member)
		if err != nil {
			t.Fatal(err)
		}
		replica := &people.Room{Store: other, Now: door.Now, Tell: door.Tell}
		again, err := replica.Give(t.Context(), "", strings.ToLower(asked.Code), routing.Member)
		if err != nil || again.ID != first.ID || again.Role != first.Role || told != 1 {
			t.Errorf("the same answer again: %+v %v, told %d times", again, err, told)
		}
		if _, err := replica.Give(t.Context(), "", asked.Code, routing.Blocked); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("another answer to a code that was answered: %v", err)
		}
		if _, err := replica.Give(t.Context(), "", "telegram:8", routing.Blocked); err != nil {
			t.Fatal(err)
		}
		if late, err := door.Give(t.Context(), "", asked.Code, routing.Member); err != nil || late.Role != routing.Blocked {
			t.Errorf("an answer that was overtaken lets nobody in: %+v %v", late, err)
		}
		now = now.Add(people.RequestFor)
		if _, err := door.Give(t.Context(), "", asked.Code, routing.Member); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("after the request's time: %v", err)
		}
	})
}

func TestAtMostThreeStrangersWaitForAnAccount(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, one, other sessions.Store) {
		now := time.Now()
		rooms := []*people.Room{
			{Store: one, Now: func() time.Time { return now }},
			{Store: other, Now: func() time.Time { return now }},
		}
		var wg sync.WaitGroup
		results := make([]error, 8)
		for i := range results {
			wg.Go(func() { _, results[i] = rooms[i%2].Knock(t.Context(), wish(fmt.Sprint(i+10))) })
		}
		wg.Wait()
		taken, full := 0, 0
		for _, err := range results {
			switch {
			case err == nil:
				taken++
			case errors.Is(err, people.ErrFull):
				full++
			default:
				t.Error(err)
			}
		}
		if taken != people.WaitMax || full != len(results)-people.WaitMax {
			t.Errorf("%d wait, %d were refused", taken, full)
		}
		elsewhere := wish("99")
		elsewhere.Surface = "telegram:2:99"
		if _, err := rooms[0].Knock(t.Context(), elsewhere); err != nil {
			t.Errorf("another account of the bot: %v", err)
		}
		now = now.Add(people.RequestFor)
		if waiting, err := rooms[1].Waiting(t.Context()); err != nil || len(waiting) != 0 {
			t.Errorf("not expired: %+v %v", waiting, err)
		}
		if _, err := rooms[1].Knock(t.Context(), wish("50")); err != nil {
			t.Errorf("after the others expired: %v", err)
		}
	})
}

func TestTheConfigurationIsStrongerAndSaysSo(t *testing.T) {
	t.Parallel()
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	room := &people.Room{Store: store, Configured: people.NewConfigured(
		[]adapters.Identity{"telegram:1"}, []adapters.Identity{"telegram:2"}, []adapters.Identity{"telegram:3"})}
	for _, c := range []struct {
		by, who string
		role    routing.Role
		refused string // "": it counts
	}{
		{"", "telegram:1", routing.Blocked, "an owner"},
		{"", "telegram:1", routing.Member, "an owner"},
		{"", "telegram:2", routing.Blocked, "a member"},
		{"", "telegram:2", routing.Guest, "a member"},
		{"", "telegram:2", routing.Owner, ""},
		{"", "telegram:2", "", ""},
		{"", "telegram:3", routing.Member, "blocked"},
		{"", "telegram:4", routing.Owner, ""},
		{"telegram:4", "telegram:4", routing.Member, "shut yourself out"},
		{"telegram:4", "telegram:4", "", "shut yourself out"},
		{"", "telegram:4", "emperor", "a role is"},
		{"", "ann", routing.Member, "not found"},
		{"", "tele gram:4", routing.Member, "identity"},
	} {
		person, err := room.Give(t.Context(), c.by, c.who, c.role)
		switch {
		case c.refused == "" && (err != nil || c.role != "" && person.Role != c.role):
			t.Errorf("%s %s: %+v %v", c.who, c.role, person, err)
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s %s: %v, want %s", c.who, c.role, err, c.refused)
		}
	}
	list, more, err := room.List(t.Context())
	var got []string
	for _, p := range list {
		got = append(got, fmt.Sprintf("%s %s/%s/%s", p.ID, p.Role, p.Stored, p.Configured))
	}
	want := []string{
		"api:owner owner//owner", "cli:owner owner//owner", "telegram:1 owner//owner", "telegram:2 member//member",
		"telegram:3 blocked//blocked", "telegram:4 owner/owner/", "web:owner owner//owner",
	}
	if err != nil || more || !slices.Equal(got, want) {
		t.Errorf("%v %v\n got %q\nwant %q", more, err, got, want)
	}
}

// A change through one replica counts on another one at its hint, and at most
// people.KnownFor later.
func TestWhoIsLetInIsSoOnEveryReplica(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, one, other sessions.Store) {
		wakes, err := other.Wakes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		there := people.NewDirectory(other, nil)
		stranger := adapters.Sender{ID: "telegram:8"}
		if _, role, err := there.Of(t.Context(), stranger); err != nil || role != routing.Guest {
			t.Fatalf("%s %v", role, err)
		}
		here := &people.Room{Store: one}
		if _, err := here.Give(t.Context(), "", "telegram:8", routing.Member); err != nil {
			t.Fatal(err)
		}
		for item := range wakes {
			if item.Kind == sessions.WorkWho && item.ID == "telegram:8" {
				there.Forget(item.ID)
				break
			}
		}
		if _, role, err := there.Of(t.Context(), stranger); err != nil || role != routing.Member {
			t.Errorf("on the other replica: %s %v", role, err)
		}
	})
}
