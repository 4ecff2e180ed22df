package redisstore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"parley/sessions"
)

// Find gives what the records say, in their order, whichever index it walks:
// many guests in few partitions, equal activities, sessions without a type and
// users who take no part in their own.
func TestFindGivesWhatTheRecordsSay(t *testing.T) {
	t.Parallel()
	for _, partitions := range []int{1, 3} {
		t.Run(fmt.Sprint(partitions), func(t *testing.T) {
			t.Parallel()
			config := testConfig(t)
			config.Partitions = partitions
			s := openStore(t, config)
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test
			at := time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
			all := make([]sessions.Record, 500)
			for i := range all {
				imported, err := s.Import(t.Context(), drawRecord(random, i, at), func(func(sessions.Entry, error) bool) {})
				if err != nil {
					t.Fatal(err)
				}
				all[i] = imported
			}
			slices.SortFunc(all, byPosition)
			for range 150 {
				query := drawQuery(random, at)
				want := slices.DeleteFunc(slices.Clone(all), func(r sessions.Record) bool { return !query.Matches(r) })
				if got := idsOf(everyPage(t, s, query)); !slices.Equal(got, idsOf(want)) {
					t.Fatalf("%+v: got %d: %v\nwant %d: %v", query, len(got), got, len(want), idsOf(want))
				}
			}
		})
	}
}

func drawRecord(random *rand.Rand, i int, at time.Time) sessions.Record {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	r := sessions.Record{
		ID: fmt.Sprintf("api:%03d", i), UserID: pick("", "u:1", "u:2", "u:3"), WorkspaceID: pick("", "w1", "w2"),
		Source: sessions.Source{Type: sessions.Type(pick("", "direct", "direct", "group"))},
		State:  sessions.State(pick("active", "active", "suspended", "created", "expired")),
	}
	r.CreatedAt, r.LastActivityAt = at, at.Add(time.Duration(random.IntN(200))*time.Millisecond)
	for _, user := range []string{"u:1", "u:2", "u:3", "guest:all"} {
		if random.IntN(2) == 0 || user == "guest:all" {
			r.Participants = append(r.Participants, user)
		}
	}
	return r
}

func drawQuery(random *rand.Rand, at time.Time) sessions.Query {
	users := []string{"", "", "u:1", "u:2", "u:none"}
	query := sessions.Query{
		UserID: users[random.IntN(5)], Participant: append(users, "guest:all")[random.IntN(6)],
		WorkspaceID: []string{"", "", "w1", "w2"}[random.IntN(4)],
		Type:        []sessions.Type{"", "", sessions.Direct, sessions.Group}[random.IntN(4)],
		Limit:       1 + random.IntN(80),
	}
	for _, state := range []sessions.State{sessions.StateActive, sessions.StateSuspended, sessions.StateExpired} {
		if random.IntN(3) == 0 {
			query.States = append(query.States, state)
		}
	}
	if random.IntN(3) == 0 {
		query.ActiveAfter = at.Add(time.Duration(random.IntN(200)) * time.Millisecond)
	}
	return query
}

func everyPage(t *testing.T, s *Store, query sessions.Query) (list []sessions.Record) {
	t.Helper()
	for {
		page, err := s.Find(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		if page.Next != "" && len(page.Records) != query.Most() {
			t.Fatalf("%+v: %d records on a page that is not the last", query, len(page.Records))
		}
		if query.Cursor != "" && len(page.Records) == 0 {
			t.Fatalf("%+v: a page is said to follow, and is empty", query)
		}
		list = append(list, page.Records...)
		if query.Cursor = page.Next; query.Cursor == "" {
			return list
		}
	}
}

func idsOf(list []sessions.Record) []string {
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	return ids
}

// What changes after a session was found and before its record is read: it is
// passed over if it does not match any more, and the page is full all the same;
// what moved to the front stands there, and the next page goes on behind the
// places that were found. Here the indexes lag behind for ever.
func TestFindPassesOverWhatChangedSince(t *testing.T) {
	t.Parallel()
	s := openStore(t, testConfig(t))
	at := time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
	for i := range 9 {
		r := sessions.Record{ID: fmt.Sprintf("api:%d", i), State: sessions.StateActive, CreatedAt: at, LastActivityAt: at.Add(-time.Duration(i) * time.Second)}
		if _, err := s.Import(t.Context(), r, func(func(sessions.Entry, error) bool) {}); err != nil {
			t.Fatal(err)
		}
	}
	gone := s.of("api:0")
	if _, err := s.command(t.Context(), gone, "del", gone.key("s", "api:0"), gone.key("r", "api:0")); err != nil {
		t.Fatal(err)
	}
	expire(t, s, "api:2")
	moved := s.of("api:3")
	const move = `local s = cmsgpack.unpack(redis.call('GET', KEYS[1]))
		s.ac = s.ac + 3600000
		redis.call('SET', KEYS[1], cmsgpack.pack(s))
		return 1`
	if _, err := s.command(t.Context(), moved, "eval", move, 1, moved.key("s", "api:3")); err != nil {
		t.Fatal(err)
	}
	query := sessions.Query{States: []sessions.State{sessions.StateActive}, Limit: 3}
	var pages [][]string
	for more := true; more; more = query.Cursor != "" {
		page, err := s.Find(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		pages, query.Cursor = append(pages, idsOf(page.Records)), page.Next
	}
	if got, want := fmt.Sprint(pages), "[[api:3 api:1 api:4] [api:5 api:6 api:7] [api:8]]"; got != want {
		t.Errorf("pages %s, want %s", got, want)
	}
}
