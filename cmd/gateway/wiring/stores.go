package wiring

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"parley/adapters"
	"parley/cmd/gateway/config"
	"parley/internal/secret"
	"parley/redisstore"
	"parley/routing"
	"parley/sessions"
	"parley/sqlitestore"
)

// SqliteScheme begins the address of an embedded store.
const SqliteScheme = "sqlite"

// OpenStore opens the store that the configuration names. A new store is one
// more case here.
func OpenStore(ctx context.Context, c config.Config, log *slog.Logger) (sessions.Store, error) {
	address := c.Store.URL.Reveal()
	scheme, rest, _ := strings.Cut(address, "://")
	switch scheme {
	case SqliteScheme:
		return notNil(sqlitestore.Open(ctx, sqlitestore.Config{Path: rest, Logger: log}))
	case "redis", "rediss", "redis+sentinel", "redis+cluster":
		return notNil(redisstore.Open(ctx, redisstore.Config{URL: secret.New(address), Logger: log}))
	}
	return nil, fmt.Errorf("there is no store of the kind %q", scheme)
}

// notNil keeps a failed store from becoming an interface that is not nil.
func notNil[S sessions.Store](store S, err error) (sessions.Store, error) {
	if err != nil {
		return nil, err
	}
	return store, nil
}

// NotMadeYet reports whether an embedded store's file is still to be made.
func NotMadeYet(c config.Config) bool {
	scheme, path, _ := strings.Cut(c.Store.URL.Reveal(), "://")
	if scheme != SqliteScheme || path == sqlitestore.Memory {
		return false
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// StoreRemedy says where to look when the store cannot be used.
func StoreRemedy(c config.Config) string {
	if strings.HasPrefix(c.Store.URL.Reveal(), SqliteScheme+"://") {
		return "see to the file and its folder, or set store.url, or data (GATEWAY_DATA), to another place"
	}
	return "check that it runs, and store.url (REDIS_URL)"
}

// WithIdle does something with the store of a gateway that does not run. Who
// only looks leaves nothing behind where nothing is yet.
func WithIdle(ctx context.Context, c config.Config, looks bool, use func(sessions.Store) error) error {
	if looks && NotMadeYet(c) {
		c.Store.URL = SqliteScheme + "://" + sqlitestore.Memory
	}
	store, err := OpenStore(ctx, c, slog.New(slog.DiscardHandler))
	if errors.Is(err, sessions.ErrLocked) {
		return fmt.Errorf("another process holds the store %s and cannot be asked; leave its `gateway chat`, or stop it, and try again", c.Store.URL)
	}
	if err != nil {
		return StoreError(c.Store.URL, err)
	}
	return errors.Join(use(store), store.Close())
}

// StoreError says which store does not open. An unreachable one comes with a
// remedy of its own.
func StoreError(address fmt.Stringer, err error) error {
	if errors.Is(err, sessions.ErrUnavailable) {
		return fmt.Errorf("the store %s cannot be reached: %w; check that it runs and store.url (REDIS_URL)", address, err)
	}
	return fmt.Errorf("cannot open the store %s: %w", address, err)
}

// Shown is what people may see of an answer.
func Shown(text string) (string, bool) {
	visible, silent, _ := routing.StripReply(text, false)
	return visible, silent
}

// StoreFindings are what a store's servers would lose or refuse by their
// settings. The embedded store has none.
func StoreFindings(ctx context.Context, store sessions.Store) []adapters.Finding {
	redis, ok := store.(*redisstore.Store)
	if !ok {
		return nil
	}
	levels := map[string]adapters.Level{
		redisstore.LevelOK: adapters.LevelOK, redisstore.LevelWarning: adapters.LevelWarning, redisstore.LevelError: adapters.LevelProblem,
	}
	var out []adapters.Finding
	for _, finding := range redis.Diagnose(ctx) {
		out = append(out, adapters.Finding{Level: levels[finding.Level], What: finding.What, Remedy: finding.Remedy})
	}
	return out
}
