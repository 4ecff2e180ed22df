package redisstore

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"parley/internal/secret"
	"parley/sessions"
	"parley/test/redistest"
)

// A slot that moves to another node: while it moves, nothing of its partition
// is read or written; then calls follow it, and so do subscriptions.
func TestAPartitionMovesToAnotherNode(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3)
	s := openStore(t, Config{URL: secret.New(c.URL()), Prefix: freshPrefix()})
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	posted, err := s.Post(ctx, benchPost(1, false))
	if err != nil {
		t.Fatal(err)
	}
	events, err := s.Watch(ctx, posted.Session)
	if err != nil {
		t.Fatal(err)
	}
	m := startMove(t, c, s.of(posted.Session))
	if _, err := s.Post(ctx, benchPost(1, false)); !errors.Is(err, sessions.ErrUnavailable) {
		t.Fatalf("while the slot moves: %v", err)
	}
	m.keys(t)
	if _, err := s.Post(ctx, benchPost(1, false)); !errors.Is(err, sessions.ErrUnavailable) {
		t.Fatalf("while the slot moves: %v", err)
	}
	m.finish(t)
	after, err := s.Post(ctx, benchPost(1, false))
	if err != nil || after.Session != posted.Session || after.Seq != 2 {
		t.Fatalf("after the move: %+v, %v", after, err)
	}
	expect(t, ctx, events, func(e sessions.LiveEvent) bool { return e.Kind == sessions.LiveGap })
	hinted := make(chan struct{})
	go func() { // a node may end its subscriptions once more when it learns of the move
		defer close(hinted)
		expect(t, ctx, events, func(e sessions.LiveEvent) bool { return e.Kind == sessions.LiveEntries && e.Seq > after.Seq })
	}()
	for {
		if _, err := s.Post(ctx, benchPost(1, false)); err != nil {
			t.Fatal(err)
		}
		select {
		case <-hinted:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// move is a slot on its way from one node to another.
type move struct {
	slot     int
	from, to *redis.Client
	fromID   string
	toID     string
	all      []*redis.Client
}

func startMove(t *testing.T, c *redistest.Cluster, p partition) *move {
	t.Helper()
	m := &move{slot: p.slot}
	for i, server := range c.Masters {
		client := server.Client()
		t.Cleanup(func() { client.Close() })
		m.all = append(m.all, client)
		id := client.Do(t.Context(), "cluster", "myid").Val()
		if i == p.slot*len(c.Masters)/slotCount {
			m.from, m.fromID = client, id.(string)
		} else {
			m.to, m.toID = client, id.(string)
		}
	}
	m.do(t, m.to, "cluster", "setslot", m.slot, "importing", m.fromID)
	m.do(t, m.from, "cluster", "setslot", m.slot, "migrating", m.toID)
	return m
}

func (m *move) do(t *testing.T, client *redis.Client, args ...any) {
	t.Helper()
	if err := client.Do(t.Context(), args...).Err(); err != nil {
		t.Fatal(err)
	}
}

func (m *move) keys(t *testing.T) {
	t.Helper()
	host, port, _ := net.SplitHostPort(m.to.Options().Addr)
	for _, key := range m.from.ClusterGetKeysInSlot(t.Context(), m.slot, 1000).Val() {
		m.do(t, m.from, "migrate", host, port, key, 0, 5000)
	}
}

func (m *move) finish(t *testing.T) {
	t.Helper()
	m.do(t, m.to, "cluster", "setslot", m.slot, "node", m.toID)
	for _, client := range m.all {
		if client != m.to { // once is enough: it would end subscriptions again
			m.do(t, client, "cluster", "setslot", m.slot, "node", m.toID)
		}
	}
}
