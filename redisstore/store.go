package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"parley/sessions"
)

// schema is the version of the layout of keys.
const schema = "3"

// Store is sessions.Store on Redis. Its own goroutines are the workers of its
// nodes, one listener per node that anything is subscribed on, one feed per
// Watch and Wakes, and the steps that are on their way to another partition;
// Close ends them all.
type Store struct {
	config   Config
	password string // to be kept out of errors
	parts    []partition
	router   *router
	scripts  *scripts
	hub      *hub

	closed     atomic.Bool
	failing    atomic.Bool     // some partitions gave Due no answer
	background context.Context // ends with Close
	cancel     context.CancelFunc
	listing    listing    // of a dump
	starting   sync.Mutex // no task is started after closed is set
	tasks      sync.WaitGroup
	forwarding sync.Map // keys of the steps that are being taken and the jobs that are being done
}

var _ sessions.Store = (*Store)(nil)

// Open connects, and lays the store out if it is new. It fails if the server
// cannot be reached within a few seconds, or has a store of another layout.
func Open(ctx context.Context, config Config) (*Store, error) {
	config = config.WithDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	a, err := parseURL(config.URL.Reveal())
	if err == nil {
		err = a.trust()
	}
	if err != nil {
		return nil, err
	}
	loaded, err := loadScripts()
	if err != nil {
		return nil, err
	}
	s := &Store{config: config, password: a.password, parts: partitions(config.Prefix, config.Partitions), scripts: loaded}
	s.router = newRouter(a, s.parts)
	s.background, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.hub = newHub(s)
	if err := s.connect(ctx); err != nil {
		_ = s.Close() // the first error is the one to tell
		return nil, err
	}
	return s, nil
}

func (s *Store) connect(ctx context.Context) error {
	if err := s.router.connect(ctx); err != nil {
		return fmt.Errorf("%w: %w", sessions.ErrUnavailable, s.scrub(advised(err)))
	}
	return s.checkLayout(ctx)
}

// checkLayout writes the layout of a new store, and refuses another one's.
func (s *Store) checkLayout(ctx context.Context) error {
	val, err := s.run(ctx, s.parts[0], s.scripts.meta, len(s.parts), schema)
	if err != nil {
		return err
	}
	r := read(val)
	count, version := r.text(), r.text()
	if r.err != nil {
		return r.err
	}
	if version != schema {
		return fmt.Errorf("the store has layout %s, this gateway knows %s: use the matching version, or migrate", version, schema)
	}
	if want := strconv.Itoa(len(s.parts)); count != want {
		return fmt.Errorf("the store has %s partitions, the configuration says %s: set it to %s, or migrate to a new store", count, want, count)
	}
	return nil
}

// Ping writes to one partition of every node, in safe mode on its replicas too.
func (s *Store) Ping(ctx context.Context) error {
	seen := map[*node]bool{}
	for _, p := range s.parts {
		n := s.router.node(p)
		if seen[n] {
			continue
		}
		seen[n] = true
		if _, err := s.run(ctx, p, s.scripts.ping); err != nil {
			return err
		}
	}
	return nil
}

// Close ends every subscription and connection, and waits for the store's
// goroutines.
func (s *Store) Close() error {
	s.starting.Lock()
	already := s.closed.Swap(true)
	s.starting.Unlock()
	if already {
		return nil
	}
	s.cancel()
	s.hub.close()
	s.router.close()
	s.tasks.Wait()
	return nil
}

// goroutine runs a task that ends with the store. False: the store is closed.
func (s *Store) goroutine(task func(ctx context.Context)) bool {
	s.starting.Lock()
	defer s.starting.Unlock()
	if s.closed.Load() {
		return false
	}
	s.tasks.Go(func() { task(s.background) })
	return true
}

// blobMin is the size from which on a payload is stored under a key of its
// own, sent before the script that refers to it.
const blobMin = 64 << 10

// blobFor is how long a payload that nothing refers to is kept.
const blobFor = time.Hour

// store gives a payload's arguments for a script: its blob's name and empty,
// or empty and itself.
func (s *Store) payload(ctx context.Context, p partition, payload []byte) (blob, inline string, err error) {
	if len(payload) <= blobMin {
		return "", string(payload), nil
	}
	blob = newToken()
	_, err = s.command(ctx, p, "set", p.key("e", blob), payload, "px", blobFor.Milliseconds())
	return blob, "", err
}

// fetch reads a blob.
func (s *Store) fetch(ctx context.Context, p partition, blob string) ([]byte, error) {
	val, err := s.command(ctx, p, "get", p.key("e", blob))
	if errors.Is(err, redis.Nil) {
		return nil, errors.New("a stored payload is missing")
	}
	if err != nil {
		return nil, err
	}
	text, ok := val.(string)
	if !ok {
		return nil, errReply
	}
	return []byte(text), nil
}
