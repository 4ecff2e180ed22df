package redistest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
)

// slots of a Redis Cluster.
const slots = 16384

// Cluster is a running Redis Cluster of masters without replicas.
type Cluster struct{ Masters []*Server }

// NewCluster starts a cluster and waits until it serves all slots.
func NewCluster(masters int, settings ...string) (*Cluster, error) {
	c := &Cluster{Masters: make([]*Server, masters)}
	var g errgroup.Group
	for i := range masters {
		g.Go(func() (err error) {
			c.Masters[i], err = start(true, settings)
			return err
		})
	}
	err := g.Wait()
	if err == nil {
		err = c.join()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// StartCluster is NewCluster for a test, which ends it in its clean-up.
func StartCluster(tb testing.TB, masters int, settings ...string) *Cluster {
	tb.Helper()
	Need(tb)
	c, err := NewCluster(masters, settings...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// URL is the cluster's redis+cluster:// URL.
func (c *Cluster) URL() string {
	var hosts []string
	for _, s := range c.Masters {
		hosts = append(hosts, s.Addr())
	}
	return "redis+cluster://" + strings.Join(hosts, ",")
}

// Close ends all nodes and removes their data.
func (c *Cluster) Close() {
	for _, s := range c.Masters {
		if s != nil {
			s.Close()
		}
	}
}

// join makes the nodes know each other and gives each its share of slots.
func (c *Cluster) join() error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	for i, s := range c.Masters {
		client := s.Client()
		defer client.Close()
		first, last := i*slots/len(c.Masters), (i+1)*slots/len(c.Masters)-1
		if err := client.ClusterAddSlotsRange(ctx, first, last).Err(); err != nil {
			return err
		}
		if err := client.Do(ctx, "cluster", "set-config-epoch", i+1).Err(); err != nil {
			return err
		}
		if i == 0 {
			continue
		}
		meet := []any{"cluster", "meet", "127.0.0.1", strconv.Itoa(c.Masters[0].port), strconv.Itoa(c.Masters[0].busPort)}
		if err := client.Do(ctx, meet...).Err(); err != nil {
			return err
		}
	}
	for _, s := range c.Masters {
		if err := c.settled(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// settled waits until a node knows all masters and serves its slots.
func (c *Cluster) settled(ctx context.Context, s *Server) error {
	client := s.Client()
	defer client.Close()
	return until(ctx, func() error {
		info, err := client.ClusterInfo(ctx).Result()
		if err != nil {
			return err
		}
		size := fmt.Sprintf("cluster_size:%d\r", len(c.Masters))
		if !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, size) {
			return errors.New("the cluster is not ready")
		}
		return nil
	})
}
