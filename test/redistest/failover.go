package redistest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Failover is a Redis Cluster in which each master has one replica that takes
// its place.
type Failover struct {
	*Cluster
	Replicas []*Server
}

// NewFailover starts a cluster and waits until each replica has all that its
// master has.
func NewFailover(masters int, settings ...string) (*Failover, error) {
	c, err := NewCluster(masters, settings...)
	if err != nil {
		return nil, err
	}
	f := &Failover{Cluster: c, Replicas: make([]*Server, masters)}
	var g errgroup.Group
	for i := range masters {
		g.Go(func() (err error) {
			f.Replicas[i], err = start(true, settings)
			return err
		})
	}
	if err = g.Wait(); err == nil {
		err = f.pair()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close ends all nodes and removes their data.
func (f *Failover) Close() {
	f.Cluster.Close()
	for _, s := range f.Replicas {
		if s != nil {
			s.Close()
		}
	}
}

// nodes are all, masters and replicas at first: they change places.
func (f *Failover) nodes() []*Server {
	return append(append([]*Server{}, f.Masters...), f.Replicas...)
}

// Leaders are the nodes that are masters now.
func (f *Failover) Leaders(ctx context.Context) []*Server {
	var out []*Server
	for _, s := range f.nodes() {
		if role, _ := s.replication(ctx); role == "master" {
			out = append(out, s)
		}
	}
	return out
}

// AwaitWhole waits until every node runs, each master has a replica, and that
// is up to date.
func (f *Failover) AwaitWhole(ctx context.Context) error {
	return until(ctx, func() error {
		masters := 0
		for _, s := range f.nodes() {
			role, whole := s.replication(ctx)
			if !whole {
				return fmt.Errorf("node %s (%q) is not in its place", s.Addr(), role)
			}
			if role == "master" {
				masters++
			}
		}
		if masters != len(f.Masters) {
			return fmt.Errorf("%d masters", masters)
		}
		return nil
	})
}

// AwaitLeaders waits until there are so many masters besides a dead node, and
// the cluster serves all slots.
func (f *Failover) AwaitLeaders(ctx context.Context, dead *Server) error {
	return until(ctx, func() error {
		masters := 0
		for _, s := range f.Leaders(ctx) {
			if s == dead {
				continue
			}
			masters++
			if err := f.healthy(ctx, s); err != nil {
				return err
			}
		}
		if masters != len(f.Masters) {
			return fmt.Errorf("%d masters", masters)
		}
		return nil
	})
}

func (f *Failover) healthy(ctx context.Context, s *Server) error {
	client := s.Client()
	defer client.Close()
	info, err := client.ClusterInfo(ctx).Result()
	if err == nil && !strings.Contains(info, "cluster_state:ok") {
		err = errors.New("the cluster is not whole")
	}
	return err
}

// replication is a node's role, and whether it has its counterpart: a master a
// replica that is online, a replica a link to its master.
func (s *Server) replication(ctx context.Context) (role string, whole bool) {
	client := s.Client()
	defer client.Close()
	info, err := client.Info(ctx, "replication").Result()
	if err != nil {
		return "", false
	}
	if strings.Contains(info, "role:master") {
		return "master", strings.Contains(info, "state=online")
	}
	return "slave", strings.Contains(info, "master_link_status:up")
}

// pair gives each master its replica.
func (f *Failover) pair() error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	for i, s := range f.Replicas {
		if err := f.follow(ctx, s, f.Masters[i]); err != nil {
			return err
		}
	}
	return f.AwaitWhole(ctx)
}

func (f *Failover) follow(ctx context.Context, replica, master *Server) error {
	leader, client := master.Client(), replica.Client()
	defer leader.Close()
	defer client.Close()
	id, err := leader.ClusterMyID(ctx).Result()
	if err != nil {
		return err
	}
	if err := client.Do(ctx, "cluster", "meet", "127.0.0.1", strconv.Itoa(master.port), strconv.Itoa(master.busPort)).Err(); err != nil {
		return err
	}
	return until(ctx, func() error { return client.ClusterReplicate(ctx, id).Err() })
}
