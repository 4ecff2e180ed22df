package sqlitestore

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/guard"
	"parley/sessions"
)

func said(text string) sessions.PostRequest {
	return sessions.PostRequest{
		Key: text, Surface: "telegram:1:100", Trigger: true, UserID: "u-ann",
		Message: sessions.Message{Role: sessions.RoleUser, Text: text},
	}
}

func TestASecondGatewayOnOneFileIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data", "gateway.db")
	first := open(t, Config{Path: path})
	_, err := Open(t.Context(), Config{Path: path})
	if !errors.Is(err, sessions.ErrLocked) {
		t.Fatalf("error %v, want ErrLocked", err)
	}
	for _, part := range []string{path, strconv.Itoa(os.Getpid()), "stop that gateway"} {
		if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is not one line with %q in it", err, part)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, Config{Path: path})
}

func TestFileAndFolderAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "a", "b")
	store := open(t, Config{Path: filepath.Join(folder, "gateway.db")})
	if _, err := store.Post(t.Context(), said("x")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"": 0o700, "gateway.db": 0o600, "gateway.db.lock": 0o600, "gateway.db-wal": 0o600, "gateway.db-shm": 0o600} {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
}

func TestPathsWithSpecialCharacters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b?c#d%20&ü.db")
	store := open(t, Config{Path: path})
	if _, err := store.Post(t.Context(), said("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsNotOurFileIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		want string
	}{
		"text":    {func(t *testing.T, path string) { t.Helper(); write(t, path, strings.Repeat("not a database\n", 200)) }, "not a gateway's database"},
		"foreign": {func(t *testing.T, path string) { t.Helper(); script(t, path, "CREATE TABLE theirs (x)") }, "another program"},
		"newer": {func(t *testing.T, path string) {
			t.Helper()
			script(t, path, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = 99", applicationID))
		}, "newer gateway (schema 99"},
		"torn": {func(t *testing.T, path string) {
			t.Helper()
			script(t, path, "CREATE TABLE t (x); INSERT INTO t VALUES (1)")
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, string(content[:100])+strings.Repeat("\xff", len(content)-100))
		}, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "gateway.db")
			c.make(t, path)
			before := content(t, path)
			_, err := Open(t.Context(), Config{Path: path})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %q, want one line with the path and %q", err, c.want)
			}
			if content(t, path) != before {
				t.Error("the file was changed")
			}
			if _, err := Open(t.Context(), Config{Path: path}); errors.Is(err, sessions.ErrLocked) {
				t.Error("the lock was kept")
			}
		})
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func script(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
}

func TestAPathThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "file"), "x")
	for _, path := range []string{filepath.Join(folder, "file", "gateway.db"), folder} {
		if store, err := Open(t.Context(), Config{Path: path}); err == nil {
			store.Close()
			t.Errorf("%s was opened", path)
		}
	}
}

func TestAFullDiskIsSaidSoAndOver(t *testing.T) {
	t.Parallel()
	store := open(t, Config{Path: filepath.Join(t.TempDir(), "gateway.db")})
	pages := func(n int) {
		t.Helper()
		err := store.write(t.Context(), func(tx *tx) error {
			_, err := tx.one(fmt.Sprintf("PRAGMA max_page_count = %d", n), nil, []any{new(int64)})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Post(t.Context(), said("before")); err != nil {
		t.Fatal(err)
	}
	pages(1) // no more than there are now
	large := said("too much")
	large.Message.Text = strings.Repeat("x", 500_000)
	_, err := store.Post(t.Context(), large)
	if !errors.Is(err, sessions.ErrUnavailable) || !strings.Contains(err.Error(), "full") {
		t.Fatalf("error %v, want ErrUnavailable and the cause", err)
	}
	bound, err := store.Bound(t.Context(), "telegram:1:100")
	if err != nil || bound.Seq != 1 {
		t.Fatalf("reading while full: %+v, %v", bound, err)
	}
	pages(1 << 30)
	result, err := store.Post(t.Context(), large)
	if err != nil || result.Seq != 2 || result.Outcome != sessions.PostQueued {
		t.Fatalf("after there is room again: %+v, %v", result, err)
	}
}

// Platforms know a message by its delivery's id for hours: a database that
// begins anew, or was restored, must not give one that they have seen.
func TestTwoDatabasesGiveNoDeliveryTheSameID(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 2 {
		store := open(t, Config{Path: filepath.Join(t.TempDir(), "gateway.db")})
		result, err := store.Enqueue(t.Context(), sessions.EnqueueRequest{
			Deliveries: []sessions.NewDelivery{{Surface: "discord:1:2", Payload: []byte(`{}`), Entry: -1}},
			Send:       &sessions.Claimer{Owner: "worker", For: time.Minute},
		})
		if err != nil || len(result.Sends) != 1 {
			t.Fatalf("%+v, %v", result, err)
		}
		if id := result.Sends[0].ID; seen[id] {
			t.Errorf("delivery %s twice", id)
		}
		seen[result.Sends[0].ID] = true
	}
}

// A message does not fit while a few bytes still do: such a store is not well.
func TestAStoreThatIsFullIsNotWell(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	log := &lines{}
	store := open(t, Config{
		Path: filepath.Join(t.TempDir(), "gateway.db"), Logger: slog.New(slog.NewTextHandler(log, nil)),
		Now: func() time.Time { return time.Unix(1_700_000_000, 0).Add(time.Duration(ahead.Load())) },
	})
	full := func(tx *tx) error {
		if _, err := tx.one("PRAGMA max_page_count = 1", nil, []any{new(int64)}); err != nil {
			return err
		}
		_, err := tx.exec("CREATE TABLE filler AS SELECT zeroblob(500000)")
		return err
	}
	if err := store.write(t.Context(), full); !errors.Is(err, sessions.ErrUnavailable) {
		t.Fatalf("error %v, want ErrUnavailable", err)
	}
	for range 2 {
		if err := store.Ping(t.Context()); !errors.Is(err, sessions.ErrUnavailable) || !strings.Contains(err.Error(), "full") || !strings.Contains(err.Error(), "has room") {
			t.Errorf("ping after a message did not fit: %v", err)
		}
		ahead.Add(int64(brokenFor) / 2)
	}
	if err := store.Ping(t.Context()); err != nil {
		t.Errorf("ping when all has gone well for a while: %v", err)
	}
	if got := log.String(); strings.Count(got, "cannot be written to") != 1 || strings.Count(got, "can be written to again") != 1 {
		t.Errorf("the log tells\n%s", got)
	}
}

// lines is a log that one may read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestALostConnectionIsMadeAnew(t *testing.T) {
	t.Parallel()
	store := open(t, Config{Path: filepath.Join(t.TempDir(), "gateway.db")})
	err := store.write(t.Context(), func(tx *tx) error { // ends the transaction under the writer's feet
		_, err := tx.exec("ROLLBACK")
		return err
	})
	if !errors.Is(err, sessions.ErrUnavailable) {
		t.Fatalf("error %v, want ErrUnavailable", err)
	}
	if result, err := store.Post(t.Context(), said("after")); err != nil || result.Seq != 1 {
		t.Fatalf("after the failure: %+v, %v", result, err)
	}
	if err := store.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestOneFailingOperationLeavesTheOthersOfItsBatch(t *testing.T) {
	t.Parallel()
	failure := errors.New("refused")
	for name, fail := range map[string]func() error{
		"an error": func() error { return failure },
		"a panic":  func() error { panic("a fault of the operation") },
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); oneFails(t, fail, failure) })
	}
}

func oneFails(t *testing.T, fail func() error, failure error) {
	t.Helper()
	store := open(t, Config{Path: Memory})
	held := make(chan struct{})
	began := make(chan struct{})
	go store.write(context.WithoutCancel(t.Context()), func(*tx) error { close(began); <-held; return nil })
	<-began // the writer is busy: what comes now is one batch
	errs := make(chan error, 3)
	for i := range 3 {
		o := &operation{ctx: t.Context(), done: make(chan error, 1), run: func(tx *tx) error {
			if _, err := tx.exec("INSERT INTO chats (chat, by, at) VALUES (?, '', 0)", strconv.Itoa(i)); err != nil || i != 1 {
				return err
			}
			return fail()
		}}
		store.writer.operations <- o
		go func() { errs <- <-o.done }()
	}
	close(held)
	failed := 0
	for range 3 {
		if err := <-errs; errors.Is(err, failure) || errors.Is(err, guard.ErrPanic) {
			failed++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for chat, want := range map[string]bool{"0": true, "1": false, "2": true} {
		if got, err := store.ChatListed(t.Context(), chat); err != nil || got != want {
			t.Errorf("chat %s: %v, %v", chat, got, err)
		}
	}
	if failed != 1 {
		t.Errorf("%d operations failed, want 1", failed)
	}
	if err := store.write(t.Context(), func(*tx) error { return fail() }); err == nil {
		t.Error("an operation that fails alone is no error")
	}
	if err := store.Ping(t.Context()); err != nil {
		t.Errorf("the store after it: %v", err)
	}
}

func TestExpiredKeysAreRemoved(t *testing.T) {
	t.Parallel()
	store := open(t, Config{Path: Memory})
	for i := range 10 {
		if _, err := store.Post(t.Context(), said(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Lock(t.Context(), "forgotten", sessions.Claimer{Owner: "w", For: time.Minute}); err != nil {
		t.Fatal(err)
	}
	err := store.write(t.Context(), func(tx *tx) error {
		_, err := tx.exec("UPDATE dedupe SET until = 1")
		if err == nil {
			_, err = tx.exec("UPDATE locks SET expires = 1")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for range forgetEvery {
		if err := store.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	left, err := read(t.Context(), store, func(tx *tx) (n int, err error) {
		_, err = tx.one("SELECT (SELECT count(*) FROM dedupe) + (SELECT count(*) FROM locks)", nil, []any{&n})
		return n, err
	})
	if err != nil || left != 0 {
		t.Fatalf("%d keys and locks are left, %v", left, err)
	}
}

const killedPath = "PARLEY_TEST_KILLED_PATH"

// TestKilledProcess is the process that TestAKilledProcessLosesNothing kills.
func TestKilledProcess(t *testing.T) { //nolint:paralleltest // a process of its own
	path := os.Getenv(killedPath)
	if path == "" {
		t.Skip("runs as a child of TestAKilledProcessLosesNothing")
	}
	store, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		if _, err := store.Post(t.Context(), said(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
		fmt.Println("acknowledged", i)
	}
}

func TestAKilledProcessLosesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gateway.db")
	acknowledged := -1
	for range 3 {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledProcess$", "-test.count=1")
		child.Env = append(os.Environ(), killedPath+"="+path)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); {
			var i int
			if _, err := fmt.Sscanf(lines.Text(), "acknowledged %d", &i); err != nil {
				continue
			}
			acknowledged = max(acknowledged, i)
			if n++; n == 25 {
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = child.Wait() // it was killed
	}
	store := open(t, Config{Path: path}) // its lock file holds nobody up
	record, err := store.Bound(t.Context(), "telegram:1:100")
	if err != nil || acknowledged < 24 || record.Seq < int64(acknowledged)+1 || record.Seq > int64(acknowledged)+2 {
		t.Fatalf("%d messages were acknowledged, %d are stored (%v)", acknowledged+1, record.Seq, err)
	}
	for i := range acknowledged + 1 {
		if result, err := store.Post(t.Context(), said(strconv.Itoa(i))); err != nil || result.Outcome != sessions.PostDuplicate {
			t.Fatalf("message %d after the kill: %+v, %v", i, result, err)
		}
	}
}

func TestARestoredDatabaseIsItsUsersOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gateway.db")
	if err := open(t, Config{Path: path}).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil { //nolint:gosec // what is tested
		t.Fatal(err)
	}
	open(t, Config{Path: path})
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}
