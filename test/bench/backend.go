package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/redis/go-redis/v9"
	_ "modernc.org/sqlite" // the driver of the raw limit's database

	"parley/internal/secret"
	"parley/redisstore"
	"parley/sessions"
	"parley/sqlitestore"
	"parley/test/redistest"
)

// Names of backends. redisName and the setting of appendfsync follow each other.
const (
	sqliteName = "sqlite"
	redisName  = "redis-"
)

func backendNames() []string {
	return []string{sqliteName, redisName + "everysec", redisName + "always"}
}

// backend is one store, and beside it what the raw limit writes to under the
// same settings.
type backend struct {
	name   string
	store  sessions.Store
	server *redistest.Server // nil on SQLite
	raw    rawWriter
	folder string
}

// rawWriter makes one bare durable write. It may be called from any goroutine.
type rawWriter interface {
	write(ctx context.Context, key string, value []byte) error
	close() error
}

func openBackend(ctx context.Context, name string) (*backend, error) {
	b := &backend{name: name}
	var err error
	if fsync, ok := strings.CutPrefix(name, redisName); ok {
		err = b.openRedis(ctx, fsync)
	} else {
		err = b.openSQLite(ctx)
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *backend) openRedis(ctx context.Context, fsync string) (err error) {
	if b.server, err = redistest.New("--appendfsync", fsync); err != nil {
		return err
	}
	b.raw = bareRedis{b.server.Client()}
	b.store, err = openRedisStore(ctx, b.server.URL())
	return err
}

func openRedisStore(ctx context.Context, url string) (sessions.Store, error) {
	store, err := redisstore.Open(ctx, redisstore.Config{URL: secret.New(url)})
	if err != nil {
		return nil, err
	}
	return store, nil
}

func (b *backend) openSQLite(ctx context.Context) (err error) {
	if b.folder, err = os.MkdirTemp("", "bench-"); err != nil {
		return err
	}
	if b.raw, err = openBareSQLite(ctx, filepath.Join(b.folder, "raw.db")); err != nil {
		return err
	}
	store, err := sqlitestore.Open(ctx, sqlitestore.Config{Path: filepath.Join(b.folder, "gateway.db")})
	if err != nil {
		return err
	}
	b.store = store
	return nil
}

// spent is the seconds of CPU that work takes in this process and the store.
func (b *backend) spent(ctx context.Context, work func() error) (float64, error) {
	meter := cpuMeter{b.server}
	before, err := meter.used(ctx)
	if err != nil {
		return 0, err
	}
	if err := work(); err != nil {
		return 0, err
	}
	after, err := meter.used(ctx)
	return after - before, err
}

// close frees everything that was opened.
func (b *backend) close() {
	if b.store != nil {
		_ = b.store.Close() // its data is thrown away
	}
	if b.raw != nil {
		_ = b.raw.close()
	}
	if b.server != nil {
		b.server.Close()
	}
	if b.folder != "" {
		_ = os.RemoveAll(b.folder)
	}
}

// bareRedis is one SET per message through a plain client with its own pool.
type bareRedis struct{ client *redis.Client }

func (w bareRedis) write(ctx context.Context, key string, value []byte) error {
	return w.client.Set(ctx, "raw:"+key, value, 0).Err()
}

func (w bareRedis) close() error { return w.client.Close() }

// bareSQLite is one INSERT per message, each its own transaction, under the
// PRAGMAs of the gateway's store.
type bareSQLite struct {
	db     *sql.DB
	insert *sql.Stmt
}

func openBareSQLite(ctx context.Context, path string) (*bareSQLite, error) {
	db, err := sql.Open("sqlite", fmt.Sprintf("file:%s?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)", path))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	w := &bareSQLite{db: db}
	if _, err = db.ExecContext(ctx, "CREATE TABLE raw (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID"); err == nil {
		w.insert, err = db.PrepareContext(ctx, "INSERT INTO raw (key, value) VALUES (?, ?)")
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return w, nil
}

func (w *bareSQLite) write(ctx context.Context, key string, value []byte) error {
	_, err := w.insert.ExecContext(ctx, key, value)
	return err
}

func (w *bareSQLite) close() error { return errors.Join(w.insert.Close(), w.db.Close()) }
