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

// A slow link makes a replica late; what is on its way when the master dies is
// gone, and what was there before is kept.
func TestASlowLinkLosesWhatIsOnItsWay(t *testing.T) {
	t.Parallel()
	r := redistest.StartReplicated(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	master := r.Master.Client()
	t.Cleanup(func() { master.Close() })
	set := func(key string) {
		t.Helper()
		if err := master.Set(ctx, key, "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	conn := master.Conn() // WAIT is about the writes of its connection
	t.Cleanup(func() { conn.Close() })
	if err := conn.Set(ctx, "early", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Wait(ctx, 1, 10*time.Second).Result(); err != nil || n != 1 {
		t.Fatalf("%d replicas, %v", n, err)
	}
	r.Link.Hold()
	set("late")
	if err := r.FailOver(ctx); err != nil {
		t.Fatal(err)
	}
	replica := r.Replica.Client()
	t.Cleanup(func() { replica.Close() })
	if n, err := replica.Exists(ctx, "early").Result(); err != nil || n != 1 {
		t.Fatalf("the replica has lost what it had: %d, %v", n, err)
	}
	if n, err := replica.Exists(ctx, "late").Result(); err != nil || n != 0 {
		t.Fatalf("the replica has what never arrived: %d, %v", n, err)
	}
}

// A sentinel lets the replica take the place of its master that died, which
// comes back as a replica.
func TestASentinelChangesTheMaster(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	first := s.Master
	if err := s.FailOver(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.ComeBack(ctx); err != nil {
		t.Fatal(err)
	}
	if s.Replica != first {
		t.Fatal("they have not changed places")
	}
	client := s.Master.Client()
	t.Cleanup(func() { client.Close() })
	if n, err := client.Wait(ctx, 1, 10*time.Second).Result(); err != nil || n != 1 {
		t.Fatalf("the new master has %d replicas, %v", n, err)
	}
}

func TestAServerWithTLS(t *testing.T) {
	t.Parallel()
	s, _ := redistest.StartTLS(t)
	client := s.Client()
	t.Cleanup(func() { client.Close() })
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}
