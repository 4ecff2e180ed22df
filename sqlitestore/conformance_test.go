package sqlitestore

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"parley/sessions"
	"parley/sessions/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStoreInAFile(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, clock *storetest.Clock) storetest.Opened {
		t.Helper()
		config := Config{Path: filepath.Join(t.TempDir(), "gateway.db"), Now: clock.Now}
		store := open(t, config)
		return storetest.Opened{
			Store: store,
			Reopen: func(t *testing.T) sessions.Store {
				t.Helper()
				if err := store.Close(); err != nil {
					t.Fatal(err)
				}
				store = open(t, config)
				return store
			},
			FreesHeld: true,
			Expire:    func(t *testing.T, id string) { t.Helper(); expire(t, store, id) },
		}
	})
}

func TestStoreInMemory(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, clock *storetest.Clock) storetest.Opened {
		t.Helper()
		store := open(t, Config{Path: Memory, Now: clock.Now})
		return storetest.Opened{Store: store, Expire: func(t *testing.T, id string) { t.Helper(); expire(t, store, id) }}
	})
}

func open(tb testing.TB, config Config) *Store {
	tb.Helper()
	store, err := Open(tb.Context(), config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := store.Close(); err != nil {
			tb.Error(err)
		}
	})
	return store
}

func expire(t *testing.T, store *Store, id string) {
	t.Helper()
	err := store.write(t.Context(), func(tx *tx) error {
		_, err := tx.exec("UPDATE sessions SET state = 'expired', status = 'inactive' WHERE id = ?", id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
