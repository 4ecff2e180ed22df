// Package redisstore is sessions.Store on Redis 7 or newer: standalone, behind
// Sentinel, or a Cluster, shared by any number of gateways.
//
// The key space is divided into a fixed number of partitions, each under a
// hash tag of its own. All that belongs to one session lies in one partition,
// so every operation is one Lua function (folder lua) on one slot: it happens
// whole or not at all, by the server's clock, and no command is ever sent
// twice unless the server has certainly not run it. What touches two
// partitions is a step in the first and a remembered, idempotent step for the
// second (forward.go). Calls that happen at the same time share pipelines.
//
// The functions are one library, which the first call that misses it loads; its
// name tells its content, so that versions run beside each other.
//
// A slot that a Cluster is moving answers ErrUnavailable until it has moved:
// no function runs on half a partition.
//
// It must not know what payloads mean, nor platforms, models or turns beyond
// the contract.
package redisstore
