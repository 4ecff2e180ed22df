package redisstore

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/internal/secret"
	"parley/test/redistest"
)

// The servers all tests of this binary share, each test under a prefix of its
// own; nil where there is no redis-server.
var (
	shared        *redistest.Server
	sharedCluster *redistest.Cluster
	prefixes      atomic.Int64
)

// testPrefix is what every key of a test begins with.
const testPrefix = "test-"

func TestMain(m *testing.M) {
	code := withServers(m)
	// The client library goes on for up to a second after Close where a server
	// has refused it several times.
	dialling := goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial")
	if err := goleak.Find(dialling); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withServers(m *testing.M) int {
	if redistest.Available() == nil {
		var err error
		if shared, err = redistest.New("--appendfsync", "no"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer shared.Close()
		if sharedCluster, err = redistest.NewCluster(3, "--appendfsync", "no"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer sharedCluster.Close()
	}
	code := m.Run()
	if err := strayKeys(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// strayKeys is an error if a test wrote outside its prefix.
func strayKeys() error {
	if shared == nil {
		return nil
	}
	client := shared.Client()
	defer client.Close()
	keys := client.Scan(context.Background(), 0, "*", 1000).Iterator()
	for keys.Next(context.Background()) {
		if !strings.HasPrefix(keys.Val(), testPrefix) {
			return fmt.Errorf("a test wrote the key %q, which has no test's prefix", keys.Val())
		}
	}
	return keys.Err()
}

func freshPrefix() string { return fmt.Sprintf("%s%d:", testPrefix, prefixes.Add(1)) }

// testConfig is a store of its own on the shared server.
func testConfig(t testing.TB) Config {
	t.Helper()
	redistest.Need(t)
	return Config{URL: secret.New(shared.URL()), Prefix: freshPrefix()}
}

func openStore(t testing.TB, config Config) *Store {
	t.Helper()
	s, err := Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// within gives a test's waiting an end.
const within = 30 * time.Second
