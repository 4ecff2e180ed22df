package redistest_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/test/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestServerKeepsItsDataOverKillAndRestart(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--appendfsync", "always")
	client := s.Client()
	t.Cleanup(func() { client.Close() })
	ctx := t.Context()
	if err := client.Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	if err := client.Ping(ctx).Err(); err == nil {
		t.Fatal("a killed server answers")
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if got := client.Get(ctx, "k").Val(); got != "v" {
		t.Fatalf("after a restart the key is %q", got)
	}
}

func TestPausedServerAnswersAfterResume(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	client := s.Client()
	t.Cleanup(func() { client.Close() })
	s.Pause()
	answered := make(chan error, 1)
	go func() { answered <- client.Ping(t.Context()).Err() }()
	s.Resume()
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
}

func TestClusterServesAllSlots(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3)
	client := c.Masters[2].Client()
	t.Cleanup(func() { client.Close() })
	shards, err := client.ClusterShards(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	served := int64(0)
	for _, shard := range shards {
		for _, r := range shard.Slots {
			served += r.End - r.Start + 1
		}
	}
	if served != 16384 {
		t.Fatalf("the cluster serves %d slots", served)
	}
}

func TestAReplicaTakesItsMastersPlace(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	f, err := redistest.NewFailover(3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dead := f.Leaders(ctx)[0]
	dead.Kill()
	if err := f.AwaitLeaders(ctx, dead); err != nil {
		t.Fatal(err)
	}
	if err := dead.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := f.AwaitWhole(ctx); err != nil {
		t.Fatal(err)
	}
}
