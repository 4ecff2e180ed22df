package sqlitestore

import (
	"database/sql"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

// crowded is a store with 6,000 sessions, most of them of two hours, so that
// some participants are in more sessions of an hour than are sorted.
func crowded(t *testing.T) (*Store, []sessions.Record, time.Time) {
	t.Helper()
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	store := open(t, Config{Path: filepath.Join(t.TempDir(), "gateway.db"), Now: func() time.Time { return now }})
	populate(t, store, 6_000, now)
	for _, step := range []string{
		"UPDATE sessions SET active_at = ?1 - (num % 2) * 3600000 - (num / 3) % 997 WHERE num % 10 <> 0",
		"UPDATE participants SET hour = (SELECT active_at / 3600000 FROM sessions WHERE num = session) WHERE ?1",
	} {
		if err := store.write(t.Context(), func(x *tx) error { _, err := x.exec(step, now.UnixMilli()); return err }); err != nil {
			t.Fatal(err)
		}
	}
	var all []sessions.Record
	for cursor := ""; len(all) == 0 || cursor != ""; {
		page, err := store.Find(t.Context(), sessions.Query{Limit: 1000, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		all, cursor = append(all, page.Records...), page.Next
	}
	if len(all) != 6_000 || !slices.IsSortedFunc(all, func(a, b sessions.Record) int {
		if a.Position().Before(b.Position()) {
			return -1
		}
		return 1
	}) {
		t.Fatalf("%d sessions, or not in order", len(all))
	}
	return store, all, now
}

// TestFindAgreesWithALookAtEverySession tries conditions drawn at random, page
// by page.
func TestFindAgreesWithALookAtEverySession(t *testing.T) {
	t.Parallel()
	store, all, now := crowded(t)
	seed := rand.Uint64()
	draw := rand.New(rand.NewPCG(seed, 1))
	states := [][]sessions.State{nil, {sessions.StateActive}, {sessions.StateSuspended, sessions.StateActive, sessions.StateActive}, {sessions.StateExpired}}
	pick := func(from ...string) string { return from[draw.IntN(len(from))] }
	for range 150 {
		q := sessions.Query{
			UserID: pick("", "", "u7", "u12", "nobody"), WorkspaceID: pick("", "", "w7", "w12", "nowhere"),
			Participant: pick("", "everyone", "often", "former", "u12", "nobody"), Type: sessions.Type(pick("", "direct", "group")),
			States: states[draw.IntN(len(states))], Limit: 1 + draw.IntN(1000),
		}
		if draw.IntN(3) == 0 {
			q.ActiveAfter = now.Add(-time.Duration(draw.IntN(7000)) * 1_100 * time.Millisecond)
		}
		var want, got []string
		for _, r := range all {
			if q.Matches(r) {
				want = append(want, r.ID)
			}
		}
		for i := 0; i == 0 || q.Cursor != ""; i++ {
			page, err := store.Find(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page.Records {
				got = append(got, r.ID)
			}
			q.Cursor = page.Next
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %+v: found %d, want %d", seed, q, len(got), len(want))
		}
	}
}

// TestFindReadsIndexesOnly asks SQLite how it runs the statements that
// queries are made of: no table is read from end to end, nothing is sorted.
func TestFindReadsIndexesOnly(t *testing.T) {
	t.Parallel()
	store := open(t, Config{Path: Memory})
	for _, query := range []sessions.Query{
		{}, {UserID: "u"}, {WorkspaceID: "w"}, {Participant: "p"}, {Type: sessions.Group}, {States: []sessions.State{sessions.StateActive}},
		{UserID: "u", WorkspaceID: "w", Participant: "p", Type: sessions.Direct, States: []sessions.State{sessions.StateActive, sessions.StateCreated}},
	} {
		q := newSearch(query, sessions.Position{})
		all := q.conditions()
		for i, c := range all {
			statements := []string{counting(q, c), walking(q, all, i)}
			if c.index == byParticipant {
				statements[1] = byHour(q, all, i)
			}
			for _, statement := range statements {
				for _, line := range plan(t, store, q, statement) {
					if strings.HasPrefix(line, "SCAN s") || strings.HasPrefix(line, "SCAN p") || strings.Contains(line, "TEMP B-TREE") {
						t.Errorf("%+v: %s:\n%s", query, line, statement)
					}
				}
			}
		}
	}
}

func plan(t *testing.T, store *Store, q search, statement string) (lines []string) {
	t.Helper()
	err := store.write(t.Context(), func(x *tx) error {
		return x.each(func(rows *sql.Rows) error {
			var id, parent, unused int
			var line string
			err := rows.Scan(&id, &parent, &unused, &line)
			lines = append(lines, line)
			return err
		}, "EXPLAIN QUERY PLAN "+statement, q.args(10)...)
	})
	if err != nil || len(lines) == 0 {
		t.Fatalf("%s: %v, %v", statement, lines, err)
	}
	return lines
}
