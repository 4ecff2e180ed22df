package sqlitestore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

// secret is long, so that it stands beyond what preview and description quote.
var secret = strings.Repeat("so that nothing quotes it ", 20) + "the-secret-text"

// long makes a session with a log of a length in which secret stands.
func long(t testing.TB, store *Store, id string, length int) {
	t.Helper()
	if _, _, err := store.Open(t.Context(), sessions.NewSession{ID: id}); err != nil {
		t.Fatal(err)
	}
	err := store.write(t.Context(), func(x *tx) error {
		r, err := x.load(id)
		if err != nil {
			return err
		}
		for range length {
			if _, err := x.insert(r, sessions.EntryCustomMessage, fmt.Appendf(nil, `{"text":%q}`, secret), 0, false); err != nil {
				return err
			}
		}
		return x.save(r)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// number reads one number.
func number(t testing.TB, store *Store, query string) (n int) {
	t.Helper()
	err := store.write(t.Context(), func(x *tx) error {
		_, err := x.one(query, nil, []any{&n})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// settles waits until a query gives no rows; each look waits for the writer.
func settles(t testing.TB, store *Store, query string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for number(t, store, query) > 0 {
		if ctx.Err() != nil {
			t.Fatalf("it does not end: %s", query)
		}
	}
}

const leftovers = "SELECT (SELECT count(*) FROM erasures) + (SELECT count(*) FROM entries e WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.log = e.log))"

func TestWhatWasErasedIsNotInTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gateway.db")
	store := open(t, Config{Path: path})
	holds := func() bool {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for busy := 1; busy > 0; { // with the writer: then not all of it is in the file
			number(t, store, "SELECT 1")
			if err := store.readers.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, new(int), new(int)); err != nil {
				t.Fatal(err)
			}
		}
		var found bool
		for _, suffix := range []string{"", "-wal"} {
			content, err := os.ReadFile(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			found = found || bytes.Contains(content, []byte("the-secret-text"))
		}
		return found
	}
	long(t, store, "api:cleared", 3*eraseEntries)
	long(t, store, "api:deleted", eraseEntries/2)
	if !holds() {
		t.Fatal("the file does not hold what is in it: this test sees nothing")
	}
	if _, err := store.Clear(t.Context(), "api:cleared"); err != nil {
		t.Fatal(err)
	}
	if err := store.Delete(t.Context(), "api:deleted"); err != nil {
		t.Fatal(err)
	}
	settles(t, store, leftovers)
	if holds() {
		t.Error("the file still holds what was erased")
	}
}

// TestOneOperationErasesABoundedPart looks at each step, without the goroutine
// that makes them.
func TestOneOperationErasesABoundedPart(t *testing.T) {
	t.Parallel()
	store := open(t, Config{Path: Memory})
	long(t, store, "api:s", 2*eraseEntries+1)
	err := store.write(t.Context(), func(x *tx) error {
		r, err := x.load("api:s")
		if err != nil {
			return err
		}
		if err := x.clear(r); err != nil {
			return err
		}
		for i, want := range []int{eraseEntries + 1, 1, 0, 0} {
			if more, err := x.eraseSome(); err != nil || !more {
				return fmt.Errorf("step %d: more %v, %w", i, more, err)
			}
			var left int
			if _, err := x.one("SELECT count(*) FROM entries", nil, []any{&left}); err != nil || left != want {
				return fmt.Errorf("step %d: %d entries are left, want %d, %w", i, left, want, err)
			}
		}
		more, err := x.eraseSome()
		if more || err != nil {
			return fmt.Errorf("at the end: more %v, %w", more, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLargeEntriesAreErasedFewAtATime(t *testing.T) {
	t.Parallel()
	store := open(t, Config{Path: Memory})
	err := store.write(t.Context(), func(x *tx) error {
		for seq := range 10 {
			if err := x.putEntry(7, sessions.Entry{Seq: int64(seq + 1), Type: sessions.EntryCustomInfo, Payload: []byte(`{"x":"` + strings.Repeat("x", eraseBytes/3) + `"}`)}); err != nil {
				return err
			}
		}
		last, err := x.someOf(7)
		if err == nil && last != 2 {
			err = fmt.Errorf("up to entry %d at once", last)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestErasingGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gateway.db")
	store := open(t, Config{Path: path})
	long(t, store, "api:s", 2*eraseEntries)
	err := store.write(t.Context(), func(x *tx) error { // nobody wakes the chores
		r, err := x.load("api:s")
		if err != nil {
			return err
		}
		return x.clear(r)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	store = open(t, Config{Path: path})
	settles(t, store, leftovers)
}

// TestAnImportThatDiedIsRemoved ends the store in the middle of an import, as a
// kill does: nothing can be undone any more.
func TestAnImportThatDiedIsRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gateway.db")
	store := open(t, Config{Path: path})
	at := time.Now()
	record := sessions.Record{ID: "api:s", State: sessions.StateActive, CreatedAt: at, LastActivityAt: at}
	_, err := store.Import(t.Context(), record, func(yield func(sessions.Entry, error) bool) {
		for seq := int64(1); seq <= 3*importEntries; seq++ {
			if seq == 2*importEntries+1 {
				if n := number(t, store, "SELECT count(*) FROM entries"); n != 2*importEntries {
					t.Errorf("%d entries are staged", n)
				}
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			}
			if !yield(sessions.Entry{Seq: seq, Type: sessions.EntryCustomMessage, Payload: []byte(`{}`), Time: at}, nil) {
				return
			}
		}
	})
	if !errors.Is(err, sessions.ErrClosed) {
		t.Fatalf("error %v, want ErrClosed", err)
	}
	store = open(t, Config{Path: path})
	settles(t, store, leftovers)
	if _, err := store.Get(t.Context(), "api:s"); !errors.Is(err, sessions.ErrNotFound) {
		t.Errorf("error %v, want ErrNotFound", err)
	}
}

// TestAReadSeesAllOrNothingOfALogThatIsCleared reads while it is cleared.
func TestAReadSeesAllOrNothingOfALogThatIsCleared(t *testing.T) {
	t.Parallel()
	const length = 900
	store := open(t, Config{Path: filepath.Join(t.TempDir(), "gateway.db")})
	for round := range 10 {
		id := fmt.Sprintf("api:%d", round)
		long(t, store, id, length)
		began, errs := make(chan struct{}), make(chan error, 1)
		go func() {
			for i := 0; ; i++ {
				entries, err := store.Range(t.Context(), id, 1, 1<<40)
				if i == 0 {
					close(began)
				}
				switch {
				case err != nil || len(entries) != 0 && len(entries) != length:
					errs <- fmt.Errorf("read %d entries, %w", len(entries), err)
					return
				case len(entries) == 0:
					errs <- nil
					return
				}
			}
		}()
		<-began
		if _, err := store.Clear(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}

func TestSweepsReadTheOldOnly(t *testing.T) {
	t.Parallel()
	store := open(t, Config{Path: Memory})
	for _, rule := range []sessions.SweepRule{sessions.SweepSuspend, sessions.SweepExpire, sessions.SweepDelete} {
		err := store.write(t.Context(), func(x *tx) error {
			return x.each(func(rows *sql.Rows) error {
				var id, parent, unused int
				var line string
				err := rows.Scan(&id, &parent, &unused, &line)
				if strings.HasPrefix(line, "SCAN") || strings.Contains(line, "TEMP B-TREE") {
					t.Errorf("%s: %s", rule, line)
				}
				return err
			}, "EXPLAIN QUERY PLAN "+sweeping(rule), 0, "", 0, 10)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
