package redisstore

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/sessions"
	"parley/test/redistest"
)

// How many sessions the benchmarks of Find and Sweep have before them, and how
// many users and workspaces these belong to.
const (
	scaleSessions   = 1_000_000
	scaleUsers      = 10_000
	scaleWorkspaces = 20
	scaleGuests     = scaleSessions / 1000 // who take part in a thousand sessions each
)

// seedScript makes many sessions at once, as posts and imports would: every
// seventh a group in which one further user took part, and in each a guest.
const seedScript = `#!lua
local from, count, step, users, workspaces, guests = int(), int(), int(), int(), int(), int()
for i = from, from + (count - 1) * step, step do
  local sid, n = 'telegram:2026-01-01-' .. i, math.floor(i / step)
  local kind = i % 7 == 0 and 'group' or 'direct'
  local user, ws = 'telegram:' .. n % users, 'T' .. n % workspaces
  local cold = cmsgpack.pack({src = '{"kind":"channel","interactive":true,"platform":"telegram","type":"' .. kind .. '"}', us = user, ws = ws})
  local s = create(sid, user, cold)
  s.st, s.ac = n % 10 == 0 and 'suspended' or 'active', NOW - i * 1000
  if i % 7 == 0 then participate(s, 'telegram:' .. (n + 1) % users) end
  participate(s, 'guest:' .. n % guests)
  enlist(s)
  save(s)
end
return 1
`

// seeded is a store with many sessions, the newest first by number, one per second.
func seeded(b *testing.B, count int) (*Store, *redistest.Server) {
	b.Helper()
	s, servers := benchStore(b, "no")
	lib, err := newLibrary(map[string]string{"seed": seedScript})
	if err != nil {
		b.Fatal(err)
	}
	sc := lib.script("seed")
	const batch = 200
	each := count / len(s.parts)
	var g errgroup.Group
	g.SetLimit(2 * pipelinesPerNode)
	for i, p := range s.parts {
		for done := 0; done < each; done += batch {
			g.Go(func() error {
				from, some := i+done*len(s.parts), min(batch, each-done)
				_, err := s.run(context.Background(), p, sc, from, some, len(s.parts), scaleUsers, scaleWorkspaces, scaleGuests)
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
	return s, servers[0]
}

// BenchmarkFind lists by each condition over a million sessions.
func BenchmarkFind(b *testing.B) {
	s, server := seeded(b, scaleSessions)
	ago := time.Now().Add(-time.Hour)
	for name, query := range map[string]sessions.Query{
		"newest":                   {},
		"1000":                     {Limit: sessions.ListMax},
		"by user":                  {UserID: "telegram:5"},
		"by participant":           {Participant: "telegram:5"},
		"by guest":                 {Participant: "guest:5"},
		"by guest and type":        {Participant: "guest:5", Type: sessions.Direct},
		"by guest and workspace":   {Participant: "guest:5", WorkspaceID: "T5"},
		"by workspace":             {WorkspaceID: "T5"},
		"by user and workspace":    {UserID: "telegram:5", WorkspaceID: "T5"},
		"by participant and state": {Participant: "telegram:5", States: []sessions.State{sessions.StateSuspended}},
		"by workspace and user":    {WorkspaceID: "T6", UserID: "telegram:5"},
		"by type":                  {Type: sessions.Group},
		"by state":                 {States: []sessions.State{sessions.StateExpired}},
		"active after":             {ActiveAfter: ago},
		"middle page":              {Cursor: sessions.Position{At: time.Now().Add(-scaleSessions / 2 * time.Second), ID: "telegram:x"}.Cursor()},
	} {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			before := serverCPU(b, server)
			for b.Loop() {
				if _, err := s.Find(b.Context(), query); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((serverCPU(b, server)-before)*1e3/float64(b.N), "server-ms/op")
		})
	}
}

// BenchmarkSweep suspends a hundred stale sessions beside few or many that are
// not stale: the time must be about the same.
func BenchmarkSweep(b *testing.B) {
	const stale = 100
	for _, count := range []int{scaleSessions / 100, scaleSessions} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			s, server := seeded(b, count)
			before, begun, swept := serverCPU(b, server), time.Now(), 0
			b.ResetTimer()
			for i := range b.N {
				age := time.Since(begun) + time.Duration(count-(i+1)*stale)*time.Second
				ids, err := s.Sweep(b.Context(), sessions.SweepRequest{Rule: sessions.SweepSuspend, Age: age, Limit: sessions.ListMax})
				if err != nil {
					b.Fatal(err)
				}
				swept += len(ids)
			}
			b.ReportMetric((serverCPU(b, server)-before)*1e3/float64(b.N), "server-ms/op")
			b.ReportMetric(float64(swept)/float64(b.N), "swept/op")
		})
	}
}
