package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"parley/cmd/gateway/config"
	"parley/internal/secret"
	"parley/redisstore"
	"parley/sessions"
	"parley/sqlitestore"
)

const sqliteScheme = "sqlite"

// openStore opens the store that the configuration names. A new store is one
// more case here.
func openStore(ctx context.Context, c config.Config, log *slog.Logger) (sessions.Store, error) {
	address := c.Store.URL.Reveal()
	scheme, rest, _ := strings.Cut(address, "://")
	switch scheme {
	case sqliteScheme:
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

// notMadeYet reports whether an embedded store's file is still to be made.
func notMadeYet(c config.Config) bool {
	scheme, path, _ := strings.Cut(c.Store.URL.Reveal(), "://")
	if scheme != sqliteScheme || path == sqlitestore.Memory {
		return false
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// storeRemedy says where to look when the store cannot be used.
func storeRemedy(c config.Config) string {
	if strings.HasPrefix(c.Store.URL.Reveal(), sqliteScheme+"://") {
		return "see to the file and its folder, or set store.url, or data (GATEWAY_DATA), to another place"
	}
	return "check that it runs, and store.url (REDIS_URL)"
}
