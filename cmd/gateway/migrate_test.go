package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/cmd/gateway/config"
	"parley/cmd/gateway/marks"
	"parley/cmd/gateway/migrate"
	"parley/cmd/gateway/wiring"
	"parley/sessions"
	"parley/test/redistest"
)

func sqliteAt(path string) string { return "sqlite://" + path }

// everything a store holds, as text: all transcripts.
func (m *machine) everything() string {
	m.t.Helper()
	var all strings.Builder
	type found struct {
		Sessions []sessions.Record `json:"sessions"`
	}
	for _, s := range decoded[found](m.t, m.did("", "sessions", "list", "--all", "--json")).Sessions {
		all.WriteString(m.did("", "sessions", "export", s.ID))
	}
	return all.String()
}

func (m *machine) on(redis string) *machine {
	other := newMachine(m.t)
	if redis != "" {
		other.env["REDIS_URL"] = redis
	}
	return other
}

func TestMigrateThereAndBack(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t).URL() + "/0"
	m := newMachine(t)
	m.talks("trip", "where to?", "and when?")
	m.talks("work", "hello")
	m.park("a dead letter") // and a session of its own
	before := m.everything()
	embedded := sqliteAt(filepath.Join(m.data, "gateway.db"))

	out := m.did("", "migrate", "--from", embedded, "--to", redis)
	if !strings.Contains(out, "✓ both stores hold the same") || !strings.Contains(out, "session   3 ") || !strings.Contains(out, "dead ") {
		t.Errorf("%s", out)
	}
	if _, err := os.Stat(migrate.ProgressPath(m.data)); !os.IsNotExist(err) {
		t.Error("a migration that has ended leaves its progress behind")
	}
	there := m.on(redis)
	if got := there.everything(); got != before {
		t.Errorf("on Redis:\n%s\ninstead of\n%s", got, before)
	}
	if letters := there.deadLetters(); len(letters) != 1 || letters[0].Reason != "a dead letter" {
		t.Errorf("%+v", letters)
	}

	back := m.on("")
	result := decoded[migrate.Migrated](t, back.did("", "migrate", "--json", "--from", redis, "--to", sqliteAt(filepath.Join(back.data, "gateway.db"))))
	if len(result.Counts) == 0 || result.To == "" {
		t.Errorf("%+v", result)
	}
	if got := back.everything(); got != before {
		t.Errorf("back on SQLite:\n%s\ninstead of\n%s", got, before)
	}
	back.talks("trip", "still there?") // and it goes on
}

func TestMigrateRefuses(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t).URL()
	m := newMachine(t)
	m.talks("trip", "where to?")
	embedded, other := sqliteAt(filepath.Join(m.data, "gateway.db")), sqliteAt(filepath.Join(t.TempDir(), "other.db"))
	m.refuses("the same store", "migrate", "--from", embedded, "--to", embedded)
	m.refuses("check --from", "migrate", "--from", other, "--to", embedded)
	m.refuses("required", "migrate", "--from", embedded)
	m.refuses("no store of the kind", "migrate", "--from", "carrier-pigeon://x", "--to", embedded)
	m.did("", "migrate", "--from", embedded, "--to", other)
	m.refuses("is not empty", "migrate", "--from", embedded, "--to", other)
	m.refuses("cannot be reached", "migrate", "--from", embedded, "--to", "redis://:canary-pass@127.0.0.1:1/0")

	g := m.runs()
	m.refuses("stop it first", "migrate", "--from", embedded, "--to", redis+"/0")
	g.stop()
	there := m.on(redis + "/0")
	g = there.runs()
	m.refuses("a gateway runs on it", "migrate", "--from", embedded, "--to", redis+"/0")
	m.refuses("a gateway runs on it", "migrate", "--from", redis+"/0", "--to", sqliteAt(filepath.Join(t.TempDir(), "new.db")))
	g.stop()
	m.did("", "migrate", "--from", redis+"/0", "--to", sqliteAt(filepath.Join(t.TempDir(), "new.db"))) // the mark was given back
}

// While a migration holds a shared store, no gateway starts on it, and one that
// had lost its mark ends.
func TestNoGatewayRunsDuringAMigration(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t).URL() + "/0"
	m := newMachine(t).on(redis)
	c := config.Config{Store: config.Store{URL: config.URL(redis)}}
	store, err := wiring.OpenStore(t.Context(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	running, err := marks.Take(t.Context(), store, "running", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := marks.HoldAlone(t.Context(), store, "migrate", nil); !errors.Is(err, marks.ErrMarked) {
		t.Errorf("beside a gateway: %v", err)
	}
	if err := store.Unlock(t.Context(), running.Held); err != nil { // as when it ran out
		t.Fatal(err)
	}
	err = marks.HoldAlone(t.Context(), store, "migrate", func(ctx context.Context) error {
		m.refuses("a migration uses this store", "run")
		if err := running.Renew(ctx); !errors.Is(err, marks.ErrNone) {
			t.Errorf("one that lost its mark: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m.runs()
}

// heldLocks are locks that are free until somebody else takes all.
type heldLocks struct {
	sessions.Locks
	mu    sync.Mutex
	asked int
	taken bool
}

func (h *heldLocks) Lock(_ context.Context, name string, c sessions.Claimer) (sessions.Lock, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.taken {
		return sessions.Lock{}, sessions.ErrBusy
	}
	h.asked++
	return sessions.Lock{Name: name, Owner: c.Owner, Fence: 1}, nil
}

func (h *heldLocks) takeAll() (asked int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.taken = true
	return h.asked
}

// A gateway that loses its mark to a migration stops.
func TestAGatewayWithoutAMarkEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		locks := &heldLocks{}
		m, err := marks.Take(t.Context(), locks, "me", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		err = m.During(t.Context(), func(ctx context.Context) error {
			<-time.After(3*sessions.RenewEvery + time.Second)
			if asked := locks.takeAll(); asked != 4 {
				t.Errorf("asked %d times for the mark", asked)
			}
			<-ctx.Done()
			return nil
		})
		if !errors.Is(err, marks.ErrNone) || time.Since(began) > time.Minute {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func longTranscript(entries int) string {
	var text strings.Builder
	fmt.Fprintf(&text, `{"type":"session_header","version":1,"id":"api:long","timestamp":"2026-03-02T10:00:00Z","source":{"kind":"api","type":"direct"},"state":"active","last_activity_at":"2026-03-02T10:00:00Z","leaf_id":"e%d"}`+"\n", entries)
	parent := "null"
	for i := range entries {
		fmt.Fprintf(&text, `{"type":"message","id":"e%d","parent_id":%s,"timestamp":"2026-03-02T10:00:01Z","message":{"role":"user","text":"line %d"}}`+"\n", i+1, parent, i)
		parent = fmt.Sprintf(`"e%d"`, i+1)
	}
	return text.String()
}

// A migration that is killed goes on, and loses and doubles nothing.
func TestMigrateGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.did(longTranscript(10_000), "sessions", "import", "-")
	from, to := sqliteAt(filepath.Join(m.data, "gateway.db")), filepath.Join(m.data, "new.db")
	before := m.everything()
	command, errs := m.process("migrate", "--from", from, "--to", sqliteAt(to))
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- command.Wait() }()
	for begun := false; !begun; runtime.Gosched() {
		select {
		case err := <-over:
			t.Fatalf("it ended before it was killed: %v, %s", err, errs)
		default:
			p, found, err := migrate.ReadProgress(migrate.ProgressPath(m.data))
			begun = err == nil && found && p.Done > 0
		}
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-over
	code, out, said := m.does("", "migrate", "--from", from, "--to", sqliteAt(to))
	if code != exitOK || !strings.Contains(said, "going on behind ") || !strings.Contains(out, "entry    10000  ") {
		t.Fatalf("%d, %q, %q", code, out, said)
	}
	m.env["GATEWAY_DATA"] = filepath.Join(m.data, "next")
	if err := os.MkdirAll(m.env["GATEWAY_DATA"], 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(to, filepath.Join(m.env["GATEWAY_DATA"], "gateway.db")); err != nil {
		t.Fatal(err)
	}
	if m.everything() != before {
		t.Error("the copy differs")
	}
}
