package migration

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"parley/internal/secret"
	"parley/redisstore"
	"parley/sessions"
	"parley/sessions/storetest"
	"parley/sqlitestore"
	"parley/test/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEverythingMovesBetweenStores(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--appendfsync", "no")
	redis, few, odd := onRedis(server, 0), onRedis(server, 2), onRedis(server, 7)
	for _, c := range []struct {
		name     string
		from, to storetest.Open
	}{
		{"SQLite to Redis", onSQLite, redis},
		{"Redis to SQLite", redis, onSQLite},
		{"Redis to Redis with other partitions", redis, odd},
		{"Redis with few partitions to SQLite", few, onSQLite},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			storetest.Migrate(t, c.from, c.to)
		})
	}
}

func TestThereAndBack(t *testing.T) {
	t.Parallel()
	redis := onRedis(redistest.Start(t, "--appendfsync", "no"), 0)
	t.Run("SQLite over Redis", func(t *testing.T) { t.Parallel(); storetest.MigrateBack(t, onSQLite, redis) })
	t.Run("Redis over SQLite", func(t *testing.T) { t.Parallel(); storetest.MigrateBack(t, redis, onSQLite) })
}

func onSQLite(t *testing.T, clock *storetest.Clock) storetest.Opened {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: filepath.Join(t.TempDir(), "gateway.db"), Now: clock.Now})
	return opened(t, store, err)
}

// onRedis opens stores on a server; 0 partitions: as many as usual.
func onRedis(server *redistest.Server, partitions int) storetest.Open {
	var prefixes atomic.Int64
	return func(t *testing.T, clock *storetest.Clock) storetest.Opened {
		t.Helper()
		store, err := redisstore.Open(t.Context(), redisstore.Config{
			URL: secret.New(server.URL()), Prefix: fmt.Sprintf("test-%d-%d:", partitions, prefixes.Add(1)), Partitions: partitions, Offset: clock.Offset,
		})
		return opened(t, store, err)
	}
}

func opened(t *testing.T, store sessions.Store, err error) storetest.Opened {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return storetest.Opened{Store: store}
}
