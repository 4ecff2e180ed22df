package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"parley/sessions"
)

// Memory is the path of a database that is nowhere but in memory, for tests.
const Memory = ":memory:"

const (
	// ReadersDefault is how many reads run at the same time.
	ReadersDefault = 4
	// waitingMax is how many operations wait for the writer before callers
	// are held up.
	waitingMax = 1024
	// busyTimeout is how long a connection waits for another's lock on the file.
	busyTimeout = 5 * time.Second
	// walMax is how much of the write-ahead log's file is kept, in bytes.
	walMax = 64 << 20
)

// Config is what Open needs. Zero values stand for the defaults.
type Config struct {
	Path    string           // the file, made with its folder where missing; or Memory
	Logger  *slog.Logger     // default: discards
	Now     func() time.Time // the store's clock; default time.Now. For tests
	Readers int              // default ReadersDefault
}

// Store is a sessions.Store in an SQLite file.
type Store struct {
	path    string
	lock    *os.File // nil in memory
	file    *os.File // the database's own, open as long as SQLite has it; nil in memory
	db      *sql.DB  // the writer's
	readers *readers // nil in memory: the writer reads
	writer  *writer
	chores  *chores
	now     func() time.Time
	hub     *hub
	closing sync.Once
}

var _ sessions.Store = (*Store)(nil)

// Open opens or makes a database. sessions.ErrLocked: another process uses it.
// Other errors say what is wrong with the file, and what to do.
func Open(ctx context.Context, config Config) (*Store, error) {
	s := &Store{path: config.Path, now: config.Now, hub: newHub()}
	if s.now == nil {
		s.now = time.Now
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.Readers <= 0 {
		config.Readers = ReadersDefault
	}
	if err := s.openFile(config.Logger); err != nil {
		return nil, err
	}
	if err := s.openDatabase(ctx, config); err != nil {
		s.release()
		return nil, err
	}
	go s.writer.loop() //nolint:contextcheck // it ends with Close, not with the call
	go s.chores.loop() //nolint:contextcheck // as the writer
	return s, nil
}

// openFile makes folder and file, readable by this user only, and locks it. The
// file stays open as long as the store: to close any copy of it would end
// SQLite's own locks.
func (s *Store) openFile(log *slog.Logger) error {
	if s.path == Memory {
		return nil
	}
	path, err := filepath.Abs(s.path)
	if err != nil {
		return fmt.Errorf("path of the database: %w", err)
	}
	s.path = path
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the database: %w", err)
	}
	if s.lock, err = acquire(path); err != nil {
		return err
	}
	if before, err := os.Stat(path); err == nil && before.Size() == 0 {
		log.Warn("the database's file is empty: a new one begins in it; if there was one, restore it from a backup", "path", path)
	}
	if s.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600); err == nil {
		err = holdInode(s.file)
	}
	if errors.Is(err, errHeld) {
		err = fmt.Errorf("%w: %s is in use by a process whose lock file was removed: stop that gateway, or give this one another path", sessions.ErrLocked, path)
	}
	if err == nil {
		err = s.closeToOthers()
	}
	if err != nil {
		s.release()
		return fmt.Errorf("open the database: %w", err)
	}
	return nil
}

// closeToOthers makes the database its user's own, however it came to be, such
// as by a restored backup. SQLite gives the files beside it the same mode.
func (s *Store) closeToOthers() error {
	for _, path := range []string{s.path, s.path + "-wal", s.path + "-shm"} {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().Perm()&0o077 == 0 {
			continue
		}
		if err == nil {
			err = os.Chmod(path, 0o600)
		}
		if err != nil {
			return fmt.Errorf("others can read the database: %w; see to who owns it", err)
		}
	}
	return nil
}

func (s *Store) openDatabase(ctx context.Context, config Config) error {
	version, err := s.identify(ctx)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", s.source(false))
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	s.db = db
	db.SetMaxOpenConns(1)
	db.SetConnMaxIdleTime(0)
	db.SetConnMaxLifetime(0)
	if err := migrate(ctx, db, s.path, version); err != nil {
		return err
	}
	if err := s.freeHeld(ctx); err != nil {
		return fmt.Errorf("%s: free what the last process held: %w", s.path, err)
	}
	s.writer = &writer{
		operations: make(chan *operation, waitingMax), closed: make(chan struct{}), ended: make(chan struct{}),
		db: db, memory: s.path == Memory, now: s.now, log: config.Logger, publish: s.hub.publish,
	}
	s.chores = newChores(s, config.Logger)
	if s.path == Memory {
		return nil
	}
	s.readers, err = openReaders(s.source(true), config.Readers, s.writer.closed)
	return err
}

// identify reads what the file is, before anything touches it.
func (s *Store) identify(ctx context.Context) (version int, err error) {
	if s.path == Memory {
		return 0, nil
	}
	return identify(ctx, s.address(url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}}), s.path)
}

// address is the file's as a data source name with its settings.
func (s *Store) address(settings url.Values) string {
	if s.path == Memory {
		return Memory + "?" + settings.Encode()
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: s.path, RawQuery: settings.Encode()}).String()
}

// source is the data source name of a connection that writes or only reads.
func (s *Store) source(readOnly bool) string {
	pragmas := []string{
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		fmt.Sprintf("journal_size_limit(%d)", walMax), "secure_delete(FAST)",
	}
	if s.path == Memory {
		pragmas = []string{"foreign_keys(1)"}
	}
	if readOnly {
		pragmas = append(pragmas, "query_only(1)")
	}
	return s.address(url.Values{"_pragma": pragmas})
}

// Ping reports whether the database can be written to now: a small transaction
// through the writer. One that fits where a message lately did not counts for
// nothing.
func (s *Store) Ping(ctx context.Context) error {
	return s.write(ctx, func(t *tx) error {
		if _, err := t.exec("UPDATE fences SET last = last"); err != nil {
			return err
		}
		if err := s.writer.recently(); err != nil {
			// Not wrapped: it would be taken for a failure of this write.
			return disk(fmt.Errorf("a message could not be written: %v; see that the disk with %s has room and can be written to", err, s.path)) //nolint:errorlint // see above
		}
		return nil
	})
}

// Close answers what runs, refuses what waits, ends every subscription and
// frees the file. Idempotent.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.writer.closed)
		<-s.writer.ended
		<-s.chores.ended
		s.hub.close()
		s.release()
	})
	<-s.writer.ended
	return nil
}

// release frees what openFile and openDatabase took.
func (s *Store) release() {
	if s.readers != nil {
		s.readers.close()
	}
	if s.db != nil {
		s.db.Close()
	}
	for _, file := range []*os.File{s.file, s.lock} {
		if file != nil {
			release(file)
		}
	}
}

// write runs an operation in the writer and waits until it is durable. When
// ctx ends first, the operation may still happen.
func (s *Store) write(ctx context.Context, run func(t *tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o := &operation{ctx: ctx, run: run, done: make(chan error, 1)}
	select {
	case <-s.writer.closed:
		return sessions.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	case s.writer.operations <- o:
	}
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-s.writer.ended:
	}
	select { // it may have been answered while the writer ended
	case err := <-o.done:
		return err
	default:
		return sessions.ErrClosed
	}
}

// written is write with a result, which is not looked at before it is durable.
func written[T any](ctx context.Context, s *Store, run func(t *tx) (T, error)) (T, error) {
	var result, none T
	err := s.write(ctx, func(t *tx) (err error) {
		result, err = run(t)
		return err
	})
	if err != nil {
		return none, err
	}
	return result, nil
}
