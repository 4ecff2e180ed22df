package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"parley/internal/secret"
	"parley/redisstore"
	"parley/sessions"
	"parley/sqlitestore"
	"parley/test/redistest"
)

// Stores that gateways are run on.
const (
	onSQLite = "sqlite"
	onRedis  = "redis"
	// onCluster is a Redis Cluster of three masters, each with a replica.
	onCluster = "cluster"
	// onSentinel is a master and its replica behind a Sentinel, in safe mode.
	onSentinel = "sentinel"
)

func storeNames() []string { return []string{onSQLite, onRedis, onCluster, onSentinel} }

// replicas is how many gateways share a store.
func replicas(store string) int {
	if store == onSQLite {
		return 1
	}
	return 2
}

// backend is where gateways keep what they know.
type backend struct {
	name    string
	redis   *redistest.Server   // nil but on Redis
	cluster *redistest.Failover // nil but on a cluster
	pair    *redistest.Sentinel // nil but behind a Sentinel
	path    string              // SQLite's file
}

func openBackend(name, folder string) (*backend, error) {
	b := &backend{name: name, path: filepath.Join(folder, "gateway.db")}
	var err error
	switch name {
	case onRedis:
		b.redis, err = redistest.New("--appendfsync", "always")
	case onCluster:
		b.cluster, err = redistest.NewFailover(clusterMasters, "--appendfsync", "always")
	case onSentinel:
		b.pair, err = redistest.NewSentinel("--appendfsync", "always")
	}
	return b, err
}

const clusterMasters = 3

// url is the shared store's; empty on SQLite.
func (b *backend) url() string {
	switch {
	case b.redis != nil:
		return b.redis.URL()
	case b.cluster != nil:
		return b.cluster.URL()
	case b.pair != nil:
		return b.pair.URL() + "?replicas=1"
	}
	return ""
}

// environment points a gateway at the store.
func (b *backend) environment() map[string]string {
	if url := b.url(); url != "" {
		return map[string]string{"REDIS_URL": url}
	}
	return map[string]string{}
}

// open opens the store for reading what gateways left. On SQLite they must
// have ended.
func (b *backend) open(ctx context.Context) (sessions.Store, error) {
	if url := b.url(); url != "" {
		store, err := redisstore.Open(ctx, redisstore.Config{URL: secret.New(url)})
		if err != nil {
			return nil, err
		}
		return store, nil
	}
	store, err := sqlitestore.Open(ctx, sqlitestore.Config{Path: b.path})
	if err != nil {
		return nil, err
	}
	return store, nil
}

func (b *backend) close() {
	if b.redis != nil {
		b.redis.Close()
	}
	if b.cluster != nil {
		b.cluster.Close()
	}
	if b.pair != nil {
		b.pair.Close()
	}
}

// remains is what a store holds after a run.
type remains struct {
	logs   map[*chat]stored
	parked []sessions.DeadLetter
	given  map[int]bool        // numbers in the messages of these
	due    []sessions.WorkItem // what still waits to be done
	queued []string            // sessions with waiting messages or an open turn
}

// remainsOf reads the logs of all chats and what is left to do, but in those
// chats that are excepted.
func remainsOf(ctx context.Context, store sessions.Store, chats, except []*chat) (remains, error) {
	out := remains{logs: map[*chat]stored{}, given: map[int]bool{}}
	excepted := map[string]bool{}
	for _, c := range except {
		excepted[c.surface] = true // its lane
	}
	for _, c := range chats {
		record, err := store.Bound(ctx, c.surface)
		if errors.Is(err, sessions.ErrNotFound) {
			continue
		}
		if err != nil {
			return out, err
		}
		excepted[record.ID] = slices.Contains(except, c)
		if !excepted[record.ID] && (record.Queued > 0 || record.Status == sessions.StatusRunning) {
			out.queued = append(out.queued, fmt.Sprintf("%s (%s, %d waiting)", record.ID, record.Status, record.Queued))
		}
		if out.logs[c], err = logOf(ctx, store, record.ID); err != nil {
			return out, err
		}
	}
	var err error
	if out.parked, err = store.DeadLetters(ctx, listMax); err != nil {
		return out, err
	}
	for _, letter := range out.parked {
		if err := out.giveUp(ctx, store, letter); err != nil {
			return out, err
		}
	}
	out.due, err = store.Due(ctx, listMax)
	out.due = slices.DeleteFunc(out.due, func(item sessions.WorkItem) bool { return excepted[item.ID] })
	return out, err
}

// giveUp notes what a parked turn was to answer.
func (r *remains) giveUp(ctx context.Context, store sessions.Store, letter sessions.DeadLetter) error {
	for _, seq := range letter.Messages {
		entries, err := store.Range(ctx, letter.Session, seq, seq)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if m, err := entry.Message(); err == nil {
				for _, n := range marksIn(m.Text) {
					r.given[n] = true
				}
			}
		}
	}
	return nil
}

const listMax = 1000

func logOf(ctx context.Context, store sessions.Store, session string) (stored, error) {
	var out stored
	for from := int64(1); ; {
		entries, err := store.Range(ctx, session, from, 1<<40)
		if err != nil || len(entries) == 0 {
			return out, err
		}
		for _, entry := range entries {
			if entry.Type == sessions.EntryDelivery {
				out.receipts = append(out.receipts, receiptLine(entry.Time, entry.Payload))
			}
			m, err := entry.Message()
			switch {
			case err != nil:
			case m.Role == sessions.RoleUser:
				out.said = append(out.said, marksIn(m.Text)...)
			case m.Role == sessions.RoleAssistant && !m.Partial:
				out.answers = append(out.answers, numbersIn(m.Text))
			}
		}
		from = entries[len(entries)-1].Seq + 1
	}
}
