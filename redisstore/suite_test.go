package redisstore

import (
	"testing"

	"parley/internal/secret"
	"parley/sessions"
	"parley/sessions/storetest"
	"parley/test/redistest"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, clock *storetest.Clock) storetest.Opened {
		t.Helper()
		return suiteStore(t, clock, testConfig(t))
	})
}

func TestSuiteOnCluster(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, clock *storetest.Clock) storetest.Opened {
		t.Helper()
		redistest.Need(t)
		return suiteStore(t, clock, Config{URL: secret.New(sharedCluster.URL()), Prefix: freshPrefix()})
	})
}

func suiteStore(t *testing.T, clock *storetest.Clock, config Config) storetest.Opened {
	t.Helper()
	config.Offset = clock.Offset
	s := openStore(t, config)
	return storetest.Opened{
		Store: s,
		Reopen: func(t *testing.T) sessions.Store {
			t.Helper()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openStore(t, config)
			return s
		},
		Expire: func(t *testing.T, id string) {
			t.Helper()
			expire(t, s, id)
		},
	}
}

// expire makes a session expired, but leaves its surfaces bound to it, as they
// are for a moment where they are at home in another partition.
func expire(t *testing.T, s *Store, id string) {
	t.Helper()
	const script = `local s = cmsgpack.unpack(redis.call('GET', KEYS[1]))
		s.st, s.su = 'expired', 'inactive'
		redis.call('SET', KEYS[1], cmsgpack.pack(s))
		return 1`
	p := s.of(id)
	if _, err := s.command(t.Context(), p, "eval", script, 1, p.key("s", id)); err != nil {
		t.Fatal(err)
	}
}
