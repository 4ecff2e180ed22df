package redisstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// router knows which node has which partition.
type router struct {
	address address
	parts   []partition

	table atomic.Pointer[[]*node] // by partition

	mu     sync.Mutex       // guards nodes and serializes refreshes
	nodes  map[string]*node // by address
	closed bool
}

func newRouter(a address, parts []partition) *router {
	return &router{address: a, parts: parts, nodes: map[string]*node{}}
}

// connect fills the table for the first time.
func (r *router) connect(ctx context.Context) error {
	if r.address.kind == cluster {
		return r.refresh(ctx, nil)
	}
	client := func() *redis.Client {
		if r.address.kind == sentinel {
			return r.address.sentinelClient()
		}
		return r.address.client(r.address.hosts[0])
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	only := newNode(r.address.hosts[0], client(), r.address.replication)
	r.nodes[only.addr] = only
	table := slices.Repeat([]*node{only}, len(r.parts))
	r.table.Store(&table)
	return nil
}

// node is the node that has a partition, as far as known.
func (r *router) node(p partition) *node { return (*r.table.Load())[p.index] }

// all are the nodes that have partitions now.
func (r *router) all() []*node {
	var nodes []*node
	for _, n := range *r.table.Load() {
		if !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// refresh reads a cluster's slots anew, unless that was done since the caller
// read old from the table.
func (r *router) refresh(ctx context.Context, old *[]*node) error {
	if r.address.kind != cluster {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errNotSent
	}
	if old != nil && r.table.Load() != old {
		return nil
	}
	var failures []error
	for _, addr := range r.candidates() {
		shards, err := r.shards(ctx, addr)
		if err == nil {
			err = r.adopt(addr, shards)
		}
		if err == nil {
			return nil
		}
		failures = append(failures, err)
	}
	return fmt.Errorf("no node tells the cluster's slots: %w", errors.Join(failures...))
}

// candidates are the nodes to ask: those in use, then the configured ones.
func (r *router) candidates() []string {
	var list []string
	for addr := range r.nodes {
		list = append(list, addr)
	}
	for _, addr := range r.address.hosts {
		if !slices.Contains(list, addr) {
			list = append(list, addr)
		}
	}
	return list
}

func (r *router) shards(ctx context.Context, addr string) ([]redis.ClusterShard, error) {
	if n, ok := r.nodes[addr]; ok {
		return n.client.ClusterShards(ctx).Result()
	}
	client := r.address.client(addr)
	defer client.Close()
	return client.ClusterShards(ctx).Result()
}

// adopt makes what asked told the table. Nodes that have nothing
// any more are closed.
func (r *router) adopt(asked string, shards []redis.ClusterShard) error {
	table := make([]*node, len(r.parts))
	used := map[string]bool{}
	for i, p := range r.parts {
		addr := masterOf(shards, p.slot, asked, r.address.tls)
		if addr == "" {
			return fmt.Errorf("%s knows no master for slot %d", asked, p.slot)
		}
		if r.nodes[addr] == nil {
			r.nodes[addr] = newNode(addr, r.address.client(addr), r.address.replication)
		}
		table[i], used[addr] = r.nodes[addr], true
	}
	r.table.Store(&table)
	for addr, n := range r.nodes {
		if !used[addr] {
			delete(r.nodes, addr)
			n.close()
		}
	}
	return nil
}

// masterOf finds a slot's master; empty: there is none now. A node that does
// not know its own name leaves it out: then it is on the host that was asked.
func masterOf(shards []redis.ClusterShard, slot int, asked string, tls bool) string {
	for _, shard := range shards {
		if !slices.ContainsFunc(shard.Slots, func(r redis.SlotRange) bool { return int64(slot) >= r.Start && int64(slot) <= r.End }) {
			continue
		}
		for _, n := range shard.Nodes {
			if n.Role == "master" && n.Health != "fail" {
				return nodeAddr(n, asked, tls)
			}
		}
	}
	return ""
}

func nodeAddr(n redis.Node, asked string, tls bool) string {
	host, port := n.Endpoint, n.Port
	if host == "" || host == "?" {
		if h, _, err := net.SplitHostPort(asked); err == nil {
			host = h
		}
	}
	if tls && n.TLSPort != 0 {
		port = n.TLSPort
	}
	return net.JoinHostPort(host, strconv.FormatInt(port, 10))
}

func (r *router) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, n := range r.nodes {
		n.close()
	}
}
