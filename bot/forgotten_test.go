package bot

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"parley/internal/secret"
	"parley/redisstore"
	"parley/sessions"
	"parley/sqlitestore"
	"parley/test/redistest"
)

// said is what a person said.
const said = "canary4711"

// What was said is nowhere in the store when its conversations are gone: not in
// what a chat remembers of its commands, of which some answer with what was
// said first, and not in what is remembered of keys.
func TestWhatWasSaidIsForgotten(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		file := &storeFile{t: t, path: filepath.Join(t.TempDir(), "gateway.db")}
		file.open()
		saysAndErases(t, file.store, file.holds)
		file.close()
		for deadline := time.Now().Add(patience); file.holds(); file.close() { // entries are erased behind the callers
			if time.Now().After(deadline) {
				t.Fatal("a file of the store still holds what was said")
			}
			file.open()
		}
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t, "--appendfsync", "no", "--rdbcompression", "no")
		store, err := redisstore.Open(t.Context(), redisstore.Config{URL: secret.New(server.URL())})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		holds := func() bool { return keyHolding(t, server) != "" }
		saysAndErases(t, store, holds)
		if holds() {
			t.Errorf("%q still holds what was said", keyHolding(t, server))
		}
	})
}

// saysAndErases has a bot quote what was said in its answers, clears one of the
// conversations and deletes them all.
func saysAndErases(t *testing.T, store sessions.Store, holds func() bool) {
	t.Helper()
	s := newStage(t, func(c *Config) { c.Store = store })
	record := s.talks("member", said)
	s.ask("member", "/fork")
	expect(t, s.ask("member", "/resume "+record.ID), said)
	expect(t, s.ask("member", "/name "+said), said)
	s.ask("member", "/clear")
	s.ask("member", "/new")
	s.end()
	found, err := store.Find(t.Context(), sessions.Query{Limit: 50})
	if err != nil || len(found.Records) < 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	if !holds() {
		t.Fatal("this test does not see what is there")
	}
	for _, record := range found.Records {
		if err := store.Delete(t.Context(), record.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// storeFile is a store in a file.
type storeFile struct {
	t     *testing.T
	path  string
	store *sqlitestore.Store
}

func (f *storeFile) open() {
	f.t.Helper()
	var err error
	if f.store, err = sqlitestore.Open(f.t.Context(), sqlitestore.Config{Path: f.path}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *storeFile) close() {
	f.t.Helper()
	if err := f.store.Close(); err != nil {
		f.t.Fatal(err)
	}
}

// holds looks into the store's files.
func (f *storeFile) holds() (found bool) {
	f.t.Helper()
	files, err := filepath.Glob(f.path + "*")
	if err != nil || len(files) == 0 {
		f.t.Fatal(files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.t.Fatal(err)
		}
		found = found || bytes.Contains(content, []byte(said))
	}
	return found
}

// keyHolding is a key with what was said in it, if there is one.
func keyHolding(t *testing.T, server *redistest.Server) string {
	t.Helper()
	client := server.Client()
	defer client.Close()
	keys := client.Scan(t.Context(), 0, "*", 1000).Iterator()
	for keys.Next(t.Context()) {
		content, err := client.Dump(t.Context(), keys.Val()).Bytes()
		if err == nil && bytes.Contains(content, []byte(said)) {
			return keys.Val()
		}
	}
	if err := keys.Err(); err != nil {
		t.Fatal(err)
	}
	return ""
}
