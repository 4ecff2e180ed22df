package sqlitestore

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"parley/sessions"
)

// scales are the numbers of sessions at which the cost of an operation is
// compared; with -short not the largest, which takes a minute to make.
func scales() []int {
	if testing.Short() {
		return []int{100, 100_000}
	}
	return []int{100, 100_000, 1_000_000}
}

// populate fills a store with sessions at rest, one last active every 37
// seconds back from now, of 1,000 users in 200 workspaces: one in eight is a
// group, three in four are suspended. Besides its user everyone is in each,
// seldom in every 10,000th, often in every 100th, and former in the 10,000
// oldest.
func populate(tb testing.TB, store *Store, count int, now time.Time) {
	tb.Helper()
	for _, step := range []string{
		`INSERT INTO sessions (num, id, state, status, user_id, workspace_id, created_at, active_at, changed_at, seq, leaf, epoch, version, messages, turns,
			preview, described, queued, logged_waiting, ready_at, taken, last, attempts, stop, nonce, lease_until, settled, log, cleared, placed, type)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
		SELECT i, printf('telegram:2026-01-01-%012d', i), CASE i % 4 WHEN 0 THEN 'active' ELSE 'suspended' END, CASE i % 4 WHEN 0 THEN 'idle' ELSE 'inactive' END,
			'u' || (i % 1000), 'w' || (i % 200), ?2 - 40000 * i, ?2 - 37000 * i, 0, 0, 0, 0, 1, 0, 0,
			'what was said last, of a common length', 0, 0, 0, 0, '', '', 0, 0, '', 0, 0, i, 0, 0, CASE i % 8 WHEN 3 THEN 'group' ELSE 'direct' END FROM n`,
		`INSERT INTO details (session, body) SELECT num, json_object('source', json_object('kind', 'channel', 'interactive', json('false'), 'platform', 'telegram', 'type', type)) FROM sessions WHERE num <= ?1 AND ?2`,
		`INSERT INTO participants (session, user_id, place, hour) SELECT num, user_id, 1, active_at / 3600000 FROM sessions WHERE num <= ?1 AND ?2`,
		`INSERT INTO participants (session, user_id, place, hour) SELECT num, 'everyone', 2, active_at / 3600000 FROM sessions WHERE num <= ?1 AND ?2`,
		`INSERT INTO participants (session, user_id, place, hour) SELECT num, 'seldom', 3, active_at / 3600000 FROM sessions WHERE num <= ?1 AND ?2 AND num % 10000 = 0`,
		`INSERT INTO participants (session, user_id, place, hour) SELECT num, 'often', 4, active_at / 3600000 FROM sessions WHERE num <= ?1 AND ?2 AND num % 100 = 0`,
		`INSERT INTO participants (session, user_id, place, hour) SELECT num, 'former', 5, active_at / 3600000 FROM sessions WHERE num <= ?1 AND ?2 AND num > ?1 - 10000`,
		`INSERT INTO bindings (surface, session) SELECT 'telegram:1:' || num, num FROM sessions WHERE num <= ?1 AND ?2`,
		`UPDATE fences SET last = max(last, ?1) WHERE ?2`,
	} {
		if err := store.write(tb.Context(), func(t *tx) error { _, err := t.exec(step, count, now.UnixMilli()); return err }); err != nil {
			tb.Fatal(err)
		}
	}
}

func scaled(b *testing.B, count int) (*Store, time.Time) {
	b.Helper()
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	store := open(b, Config{Path: filepath.Join(b.TempDir(), "gateway.db"), Now: func() time.Time { return now }})
	populate(b, store, count, now)
	return store, now
}

// BenchmarkFind is a page of 50, by each condition and some together.
func BenchmarkFind(b *testing.B) {
	for _, count := range scales() {
		store, now := scaled(b, count)
		middle := sessions.Position{At: now.Add(-37 * time.Second * time.Duration(count/2)), ID: "x"}.Cursor()
		for _, c := range []struct {
			name  string
			query sessions.Query
		}{
			{"all", sessions.Query{}},
			{"middle", sessions.Query{Cursor: middle}},
			{"state", sessions.Query{States: []sessions.State{sessions.StateActive}}},
			{"no such state", sessions.Query{States: []sessions.State{sessions.StateExpired}}},
			{"type", sessions.Query{Type: sessions.Group}},
			{"type and state that never meet", sessions.Query{Type: sessions.Group, States: []sessions.State{sessions.StateActive}}},
			{"user", sessions.Query{UserID: "u7"}},
			{"user and state", sessions.Query{UserID: "u4", States: []sessions.State{sessions.StateCreated, sessions.StateActive}}},
			{"user and workspace", sessions.Query{UserID: "u7", WorkspaceID: "w7"}},
			{"user and workspace that never meet", sessions.Query{UserID: "u7", WorkspaceID: "w8"}},
			{"workspace", sessions.Query{WorkspaceID: "w7"}},
			{"workspace and type", sessions.Query{WorkspaceID: "w3", Type: sessions.Group}},
			{"surface", sessions.Query{Surface: "telegram:1:50"}},
			{"active after", sessions.Query{ActiveAfter: now.Add(-time.Hour)}},
			{"participant", sessions.Query{Participant: "u7"}},
			{"participant and state", sessions.Query{Participant: "u4", States: []sessions.State{sessions.StateActive}}},
			{"participant of all", sessions.Query{Participant: "everyone"}},
			{"participant of many", sessions.Query{Participant: "often"}},
			{"participant of few", sessions.Query{Participant: "seldom"}},
			{"participant of old ones", sessions.Query{Participant: "former"}},
			{"participant of none", sessions.Query{Participant: "nobody"}},
			{"participant of all, in a workspace", sessions.Query{Participant: "everyone", WorkspaceID: "w7"}},
			{"participant of old ones, active", sessions.Query{Participant: "former", States: []sessions.State{sessions.StateActive}, Type: sessions.Direct}},
			{"a thousand", sessions.Query{Limit: 1000}},
		} {
			b.Run(fmt.Sprintf("%s/sessions=%d", c.name, count), func(b *testing.B) {
				for b.Loop() {
					if _, err := store.Find(b.Context(), c.query); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkSweep suspends 1,000 stale sessions of the number named, by 100.
func BenchmarkSweep(b *testing.B) {
	const stale = 1_000
	for _, count := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("sessions=%d", count), func(b *testing.B) {
			store, now := scaled(b, count)
			reset := func() {
				err := store.write(b.Context(), func(t *tx) error {
					if err := t.put("UPDATE sessions SET active_at = ?", now.UnixMilli()); err != nil {
						return err
					}
					return t.put("UPDATE sessions SET active_at = ?, state = 'active', status = 'idle' WHERE num % ? = 0", now.Add(-100*time.Hour).UnixMilli(), count/stale)
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				b.StopTimer()
				reset()
				b.StartTimer()
				for swept := 0; swept < stale; {
					ids, err := store.Sweep(b.Context(), sessions.SweepRequest{Rule: sessions.SweepSuspend, Age: 72 * time.Hour, Limit: 100})
					if swept += len(ids); err != nil || len(ids) == 0 {
						b.Fatalf("%d swept, %v", swept, err)
					}
				}
			}
		})
	}
}

// BenchmarkAppend writes an entry of a turn into a log of the length named.
func BenchmarkAppend(b *testing.B) {
	for _, length := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("entries=%d", length), func(b *testing.B) {
			store := benchStore(b)
			request := benchPost(benchChats, true)
			request.Claim = &sessions.Claimer{Owner: "w", For: time.Hour}
			posted, err := store.Post(b.Context(), request)
			if err != nil {
				b.Fatal(err)
			}
			grow(b, store, posted.Session, length)
			entry, err := sessions.NewMessage(sessions.Message{Role: sessions.RoleAssistant, Text: "an answer of a common length, as models write them"})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := store.Append(b.Context(), posted.Turn.Lease, []sessions.NewEntry{entry}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkClear clears a log of the length named. slowest-write-ms is what
// another's write took at most while the entries were erased.
func BenchmarkClear(b *testing.B) {
	for _, length := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("entries=%d", length), func(b *testing.B) {
			store := benchStore(b)
			var slowest time.Duration
			posts := int64(1)
			for b.Loop() {
				b.StopTimer()
				posts++
				posted, err := store.Post(b.Context(), benchPost(posts*benchChats, false))
				if err != nil {
					b.Fatal(err)
				}
				grow(b, store, posted.Session, length)
				b.StartTimer()
				if _, err := store.Clear(b.Context(), posted.Session); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				for number(b, store, "SELECT count(*) FROM erasures") > 0 {
					began := time.Now()
					if err := store.Ping(b.Context()); err != nil {
						b.Fatal(err)
					}
					slowest = max(slowest, time.Since(began))
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(slowest.Milliseconds()), "slowest-write-ms")
		})
	}
}
