package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"parley/redisstore"
)

const (
	memoryTogether = 32
	scanCount      = 1000
)

// memory measures what an idle session takes in Redis besides its entries: the
// growth of all memory by sessions of one turn each, less the logs, and less
// the keys against duplicates, which expire.
func (r *runner) memory(ctx context.Context, b *backend) error {
	if b.server == nil {
		return nil
	}
	client := b.server.Client()
	defer client.Close()
	return inLab(ctx, b.store, func(l *lab) error {
		if err := l.turn(ctx, l.direct(0)); err != nil { // the scripts are there afterwards
			return err
		}
		before, err := memoryNow(ctx, client)
		if err != nil {
			return err
		}
		if err := directTurns(ctx, l, 1, r.sizes.idle); err != nil {
			return err
		}
		after, err := memoryNow(ctx, client)
		if err != nil {
			return err
		}
		n := float64(r.sizes.idle)
		f := newFigure(b.name, measureSessionBytes, (after.rest()-before.rest())/n, noRaw())
		f.Note = fmt.Sprintf("log of one turn %.0f, key against duplicates %.0f", (after.logs-before.logs)/n, (after.keys-before.keys)/n)
		r.add(f)
		return nil
	})
}

// directTurns makes sessions of one turn each and waits until they are idle.
func directTurns(ctx context.Context, l *lab, from, n int) error {
	want := l.store.settles.Load() + int64(n)
	var workers errgroup.Group
	workers.SetLimit(memoryTogether)
	for i := range n {
		event := l.direct(from + i)
		workers.Go(func() error { return l.sink(ctx, event) })
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	return l.settles(ctx, want)
}

// usage is a server's memory, in bytes.
type usage struct{ all, logs, keys float64 }

func (u usage) rest() float64 { return u.all - u.logs - u.keys }

func memoryNow(ctx context.Context, client *redis.Client) (usage, error) {
	var u usage
	info, err := client.Info(ctx, "memory").Result()
	if err != nil {
		return u, err
	}
	if u.all, err = infoNumber(info, "used_memory"); err != nil {
		return u, err
	}
	if u.logs, err = memoryOf(ctx, client, redisstore.PrefixDefault+"{*}:l:*"); err != nil {
		return u, err
	}
	u.keys, err = memoryOf(ctx, client, redisstore.PrefixDefault+"{*}:d:*")
	return u, err
}

// memoryOf sums the memory of the keys that match.
func memoryOf(ctx context.Context, client *redis.Client, pattern string) (float64, error) {
	sum := 0.0
	for cursor := uint64(0); ; {
		keys, next, err := client.Scan(ctx, cursor, pattern, scanCount).Result()
		if err != nil {
			return 0, err
		}
		sizes := make([]*redis.IntCmd, len(keys))
		if _, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for i, key := range keys {
				sizes[i] = pipe.MemoryUsage(ctx, key, 0)
			}
			return nil
		}); err != nil && len(keys) > 0 {
			return 0, err
		}
		for _, size := range sizes {
			sum += float64(size.Val())
		}
		if cursor = next; cursor == 0 {
			return sum, nil
		}
	}
}

func infoNumber(info, name string) (float64, error) {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("redis does not tell its %s", name)
}
