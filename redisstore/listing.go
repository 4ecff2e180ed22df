package redisstore

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// listingMax is about how many keys one listing holds in memory: of a larger
// store a kind of keys is listed in several parts.
const listingMax = 2_000_000

const scanCount = 1000 // keys of one step through a server's key space

// part names a part of the keys of a kind: those whose hash is bucket of
// buckets.
type part struct {
	kind    string
	bucket  int
	buckets int
}

// listing is a part of a store's key names in order. A server's own order
// may repeat a key; sorted and without repetitions it is one to walk by.
type listing struct {
	mu    sync.Mutex
	part  part
	names []named
}

// named is a key: its partition, and its name behind the kind.
type named struct {
	partition partition
	name      string
	key       string
}

// list lists a part; fresh: also if it is the one listed last.
func (l *listing) list(ctx context.Context, s *Store, want part, fresh bool) ([]named, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !fresh && l.part == want && l.names != nil {
		return l.names, nil
	}
	bases := make(map[string]partition, len(s.parts))
	for _, p := range s.parts {
		bases[p.base] = p
	}
	names := []named{}
	for _, n := range s.router.all() {
		some, err := s.scan(ctx, n, want, bases)
		if err != nil {
			return nil, err
		}
		names = append(names, some...)
	}
	slices.SortFunc(names, func(a, b named) int { return strings.Compare(a.key, b.key) })
	l.part, l.names = want, slices.CompactFunc(names, func(a, b named) bool { return a.key == b.key })
	return l.names, nil
}

// scan walks through one node's keys.
func (s *Store) scan(ctx context.Context, n *node, want part, bases map[string]partition) ([]named, error) {
	escape := strings.NewReplacer("\\", "\\\\", "*", "\\*", "?", "\\?", "[", "\\[", "]", "\\]", "^", "\\^")
	pattern := escape.Replace(s.config.Prefix) + "{*}:" + want.kind + ":*"
	keys := n.client.Scan(ctx, 0, pattern, scanCount).Iterator()
	var names []named
	for keys.Next(ctx) {
		name, ok := cutKey(keys.Val(), want.kind, bases)
		if ok && bucketOf(name.key, want.buckets) == want.bucket {
			names = append(names, name)
		}
	}
	if err := keys.Err(); err != nil && !errors.Is(err, redis.Nil) {
		return nil, s.failure(ctx, nil, err)
	}
	return names, nil
}

// cutKey takes a key apart. The pattern may match keys of other kinds whose
// names have the kind in them.
func cutKey(key, kind string, bases map[string]partition) (named, bool) {
	end := strings.IndexByte(key, '}')
	if end < 0 {
		return named{}, false
	}
	p, ours := bases[key[:end+1]]
	name, found := strings.CutPrefix(key[end+1:], ":"+kind+":")
	return named{partition: p, name: name, key: key}, ours && found
}

func bucketOf(key string, buckets int) int {
	if buckets <= 1 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))             // never fails
	return int(h.Sum64() % uint64(buckets)) //nolint:gosec // below buckets
}

// size is how many keys the servers hold together.
func (s *Store) size(ctx context.Context) (total int64, err error) {
	for _, n := range s.router.all() {
		count, err := n.client.DBSize(ctx).Result()
		if err != nil {
			return 0, s.failure(ctx, nil, err)
		}
		total += count
	}
	return total, nil
}
