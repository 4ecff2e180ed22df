//go:build unix

package bot

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/internal/secret"
	"parley/redisstore"
	"parley/scheduler"
	"parley/sessions"
	"parley/sqlitestore"
	"parley/test/redistest"
)

// benchSchedules is how many schedules are at rest.
const benchSchedules = 100_000

// BenchmarkSchedulesAtRest starts a bot on a store with 100,000 schedules, none
// of which is due. start-ms: until it has set itself up; idle-%: of one core,
// by this process, while nothing happens.
func BenchmarkSchedulesAtRest(b *testing.B) {
	for name, open := range map[string]func(b *testing.B) sessions.Store{"sqlite": benchSQLite, "redis": benchRedis} {
		b.Run(name, func(b *testing.B) {
			store := open(b)
			fill(b, store)
			for b.Loop() {
				benchAtRest(b, store)
			}
		})
	}
}

func benchSQLite(b *testing.B) sessions.Store {
	b.Helper()
	store, err := sqlitestore.Open(b.Context(), sqlitestore.Config{Path: filepath.Join(b.TempDir(), "gateway.db")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	return store
}

func benchRedis(b *testing.B) sessions.Store {
	b.Helper()
	store, err := redisstore.Open(b.Context(), redisstore.Config{URL: secret.New(redistest.Start(b).URL())})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	return store
}

func fill(b *testing.B, store sessions.Store) {
	b.Helper()
	book := &scheduler.Book{Store: store}
	var group errgroup.Group
	group.SetLimit(256)
	for i := range benchSchedules {
		group.Go(func() error {
			_, err := book.Add(b.Context(), scheduler.Definition{
				ID: fmt.Sprintf("s%d", i), Cron: fmt.Sprintf("%d %d 1 1 *", i%60, i/60%24), Prompt: "What is new?", By: scheduler.ByOperator,
			})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
}

// restFor is how long nothing happens.
const restFor = 10 * time.Second

func benchAtRest(b *testing.B, store sessions.Store) {
	b.Helper()
	bot, err := New(Config{Store: store, Model: &brain{}, Schedules: []scheduler.Definition{}, Retention: Retention{StaleAfter: 72 * time.Hour}})
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	bot.schedules.declare(b.Context())
	if _, err := store.Due(b.Context(), 256); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "start-ms")
	ctx, cancel := context.WithTimeout(b.Context(), restFor)
	defer cancel()
	used := processTime(b)
	began = time.Now()
	if err := bot.Run(ctx); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(100*(processTime(b)-used).Seconds()/time.Since(began).Seconds(), "idle-%")
}

func processTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
