package redistest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// sentinelMaster is what sentinels call the master.
const sentinelMaster = "main"

// Times a sentinel takes.
const (
	sentinelDown  = time.Minute // without a word before a master counts as dead: never by itself, however busy the machine is
	sentinelAgain = time.Minute // before it corrects whom a replica follows, so links stay
)

// Sentinel is a master, its replica and a sentinel that lets the replica take
// the master's place. The replica follows over a link that can be slow.
type Sentinel struct {
	*Replicated
	sentinel *Server
}

// NewSentinel starts all three. Close ends them.
func NewSentinel(settings ...string) (*Sentinel, error) {
	r, err := NewReplicated(settings...)
	if err != nil {
		return nil, err
	}
	s := &Sentinel{Replicated: r}
	if s.sentinel, err = started(s.watcher); err == nil {
		err = s.awaitKnown()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// StartSentinel is NewSentinel for a test, which ends it in its clean-up.
func StartSentinel(tb testing.TB, settings ...string) *Sentinel {
	tb.Helper()
	Need(tb)
	s, err := NewSentinel(settings...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// watcher prepares the sentinel.
func (s *Sentinel) watcher() (*Server, error) {
	w, err := prepare(false, nil)
	if err != nil {
		return nil, err
	}
	w.config = filepath.Join(w.dir, "sentinel.conf")
	text := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\nsentinel monitor %[3]s 127.0.0.1 %[4]d 1\n"+
		"sentinel down-after-milliseconds %[3]s %[5]d\nsentinel failover-timeout %[3]s %[6]d\n",
		w.port, w.dir, sentinelMaster, s.Master.port, sentinelDown.Milliseconds(), sentinelAgain.Milliseconds())
	return w, os.WriteFile(w.config, []byte(text), 0o600)
}

// asked is a client of the sentinel.
func (s *Sentinel) asked() *redis.SentinelClient {
	return redis.NewSentinelClient(&redis.Options{Addr: s.sentinel.Addr(), MaxRetries: -1, DialTimeout: time.Second,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
}

// awaitKnown waits until the sentinel could let the replica take over.
func (s *Sentinel) awaitKnown() error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	client := s.asked()
	defer client.Close()
	return until(ctx, func() error {
		list, err := client.Replicas(ctx, sentinelMaster).Result()
		if err != nil {
			return err
		}
		for _, told := range list {
			if told["port"] == strconv.Itoa(s.Replica.port) && told["flags"] == "slave" && told["master-link-status"] == "ok" {
				return nil
			}
		}
		return fmt.Errorf("the sentinel does not know the replica: %v", list)
	})
}

// URL is the redis+sentinel:// URL of the store.
func (s *Sentinel) URL() string {
	return "redis+sentinel://" + s.sentinel.Addr() + "/" + sentinelMaster
}

// FailOver kills the master, tells the sentinel so, and waits until that has put
// the replica in its place.
func (s *Sentinel) FailOver(ctx context.Context) error {
	s.Master.Kill()
	client := s.asked()
	defer client.Close()
	if err := until(ctx, func() error { return client.Failover(ctx, sentinelMaster).Err() }); err != nil {
		return err
	}
	return until(ctx, func() error {
		told, err := client.GetMasterAddrByName(ctx, sentinelMaster).Result()
		if err != nil {
			return err
		}
		if role, _ := s.Replica.replication(ctx); role != "master" || len(told) != 2 || told[1] != strconv.Itoa(s.Replica.port) {
			return fmt.Errorf("the master is %v", told)
		}
		return nil
	})
}

// ComeBack starts the master that died as the replica of the one that took its
// place, over a new link: they have changed places. It waits until the next
// failover could be.
func (s *Sentinel) ComeBack(ctx context.Context) error {
	link, err := NewLink(s.Replica.Addr())
	if err != nil {
		return err
	}
	s.Link.Close()
	s.Link = link
	s.Master, s.Replica = s.Replica, s.Master
	s.Master.followAtStart("")
	s.Replica.followAtStart(link.Addr())
	if err := s.Replica.Restart(); err != nil {
		return err
	}
	if err := s.AwaitWhole(ctx); err != nil {
		return err
	}
	return s.awaitKnown()
}

// Close ends all and removes their data.
func (s *Sentinel) Close() {
	if s.sentinel != nil {
		s.sentinel.Close()
	}
	s.Replicated.Close()
}
