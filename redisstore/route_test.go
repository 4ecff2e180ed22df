package redisstore

import (
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestMasterOf(t *testing.T) {
	t.Parallel()
	shards := []redis.ClusterShard{
		{Slots: []redis.SlotRange{{Start: 0, End: 99}, {Start: 200, End: 299}}, Nodes: []redis.Node{
			{Endpoint: "10.0.0.1", Port: 7000, TLSPort: 7443, Role: "replica", Health: "online"},
			{Endpoint: "10.0.0.2", Port: 7000, TLSPort: 7443, Role: "master", Health: "online"},
		}},
		{Slots: []redis.SlotRange{{Start: 100, End: 199}}, Nodes: []redis.Node{{Endpoint: "", Port: 7001, Role: "master", Health: "online"}}},
		{Slots: []redis.SlotRange{{Start: 300, End: 399}}, Nodes: []redis.Node{{Endpoint: "10.0.0.3", Port: 7000, Role: "master", Health: "fail"}}},
	}
	for slot, want := range map[int]string{50: "10.0.0.2:7000", 250: "10.0.0.2:7000", 150: "10.9.9.9:7001", 350: "", 400: ""} {
		if got := masterOf(shards, slot, "10.9.9.9:6379", false); got != want {
			t.Errorf("slot %d: %q, want %q", slot, got, want)
		}
	}
	if got := masterOf(shards, 50, "10.9.9.9:6379", true); got != "10.0.0.2:7443" {
		t.Errorf("with TLS: %q", got)
	}
}
