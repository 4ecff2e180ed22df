package bot

import (
	"testing"

	"parley/internal/secret"
	"parley/redisstore"
	"parley/sessions"
	"parley/sqlitestore"
	"parley/test/redistest"
)

// eachStore runs a test on both kinds of store.
func eachStore(t *testing.T, test func(t *testing.T, on option)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, func(*Config) {})
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t, "--appendfsync", "no")
		test(t, func(c *Config) {
			store, err := redisstore.Open(t.Context(), redisstore.Config{URL: secret.New(server.URL())})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			})
			c.Store = store
		})
	})
}

func memoryStore(t *testing.T) sessions.Store {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}
