package redisstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Levels of a finding.
const (
	LevelOK      = "ok"
	LevelWarning = "warning"
	LevelError   = "error"
)

// Finding is something an operator should know about the server's settings.
type Finding struct {
	Level  string // LevelOK, LevelWarning, LevelError
	What   string // what was found, and where
	Remedy string // what to do; empty where nothing is to be done
}

// Diagnose looks at every node: version, durability, eviction, replicas. What a
// server hides is said so.
func (s *Store) Diagnose(ctx context.Context) []Finding {
	findings := []Finding{{Level: LevelOK, What: fmt.Sprintf("%d partitions on %d node(s)", len(s.parts), len(s.router.all()))}}
	for _, n := range s.router.all() {
		findings = append(findings, s.diagnose(ctx, n)...)
	}
	return findings
}

func (s *Store) diagnose(ctx context.Context, n *node) []Finding {
	info, err := n.client.Info(ctx, "server").Result()
	if err != nil {
		return []Finding{{LevelError, n.addr + " does not answer: " + s.scrub(err).Error(), "Check that the server runs and that the store's URL is right."}}
	}
	findings := []Finding{versionFinding(n.addr, info)}
	settings := []struct {
		name string
		rule func(addr, value string) Finding
	}{{"appendonly", appendOnlyFinding}, {"appendfsync", fsyncFinding}, {"maxmemory-policy", evictionFinding}}
	for _, setting := range settings {
		values, err := n.client.ConfigGet(ctx, setting.name).Result()
		value, ok := values[setting.name]
		if err != nil || !ok {
			findings = append(findings, Finding{LevelWarning, n.addr + " does not tell its " + setting.name, "Check it with whoever runs the server."})
			continue
		}
		findings = append(findings, setting.rule(n.addr, value))
	}
	return append(findings, s.diagnoseReplicas(ctx, n)...)
}

// diagnoseReplicas looks at how many replicas a node has, and whether that is
// what safe mode needs.
func (s *Store) diagnoseReplicas(ctx context.Context, n *node) []Finding {
	info, err := n.client.Info(ctx, "replication").Result()
	if err != nil {
		return []Finding{{LevelWarning, n.addr + " does not tell its replicas", "Check them with whoever runs the server."}}
	}
	online := strings.Count(info, "state=online")
	findings := []Finding{replicasFinding(n.addr, online, n.replication)}
	if values, err := n.client.ConfigGet(ctx, "min-replicas-to-write").Result(); err == nil {
		findings = append(findings, leastFindings(n.addr, online, values["min-replicas-to-write"], n.replication)...)
	}
	if n.replication.synced {
		findings = append(findings, syncedFindings(n.addr, n.client.Do(ctx, "command", "info", "waitaof").Val())...)
	}
	return findings
}

func replicasFinding(addr string, online int, want replication) Finding {
	have := fmt.Sprintf("%s has %d replica(s) online", addr, online)
	switch {
	case want.replicas == 0 && online == 0:
		return Finding{Level: LevelOK, What: have + "; safe mode is off"}
	case want.replicas == 0:
		return Finding{LevelWarning, have + " and safe mode is off: a failover loses what was acknowledged in the moment before", "Add replicas=1 to the store's URL, or accept that."}
	case online < want.replicas:
		return Finding{LevelError, fmt.Sprintf("%s, safe mode waits for %d: nothing is acknowledged", have, want.replicas), "Bring the replicas back, or lower replicas= in the store's URL."}
	}
	return Finding{Level: LevelOK, What: fmt.Sprintf("%s; safe mode is on and waits for %d", have, want.replicas)}
}

// leastFindings compares what the server itself asks for with what there is.
func leastFindings(addr string, online int, value string, want replication) []Finding {
	least, err := strconv.Atoi(value)
	switch {
	case err != nil:
		return nil
	case online < least:
		return []Finding{{LevelError, fmt.Sprintf("%s refuses every write: min-replicas-to-write is %d", addr, least), "Bring the replicas back, or lower min-replicas-to-write."}}
	case least == 0 && want.replicas > 0:
		return []Finding{{LevelWarning, addr + " goes on taking writes that no gateway acknowledges when it is cut off from its replicas (min-replicas-to-write 0)", fmt.Sprintf("Set min-replicas-to-write %d, on the replicas too.", want.replicas)}}
	}
	return nil
}

// syncedFindings read COMMAND INFO, which has nothing to say about a command
// that the server does not know.
func syncedFindings(addr string, answer any) []Finding {
	if list, ok := answer.([]any); ok && len(list) == 1 && list[0] != nil {
		return []Finding{{Level: LevelOK, What: addr + " knows WAITAOF"}}
	}
	return []Finding{{LevelError, addr + " does not know WAITAOF, which synced=true needs: nothing is acknowledged", "Use Redis 7.2 or newer, or take synced=true out of the store's URL."}}
}

// versionFinding wants sharded pub/sub and functions: 7.0.
func versionFinding(addr, info string) Finding {
	version := ""
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "redis_version:"); ok {
			version = v
		}
	}
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < 7 {
		return Finding{LevelError, fmt.Sprintf("%s has version %q", addr, version), "Use Redis 7.0 or newer."}
	}
	return Finding{Level: LevelOK, What: addr + " has version " + version}
}

func appendOnlyFinding(addr, value string) Finding {
	if value != "yes" {
		return Finding{LevelError, addr + " keeps no append-only file: a restart loses acknowledged messages", "Set appendonly yes."}
	}
	return Finding{Level: LevelOK, What: addr + " keeps an append-only file"}
}

func fsyncFinding(addr, value string) Finding {
	switch value {
	case "always":
		return Finding{Level: LevelOK, What: addr + " syncs every write to disk"}
	case "everysec":
		return Finding{LevelWarning, addr + " syncs to disk once a second: a power cut loses up to a second of acknowledged messages", "Set appendfsync always, or accept that."}
	}
	return Finding{LevelError, addr + " leaves syncing to the system (appendfsync " + value + ")", "Set appendfsync always, or everysec."}
}

func evictionFinding(addr, value string) Finding {
	if value != "noeviction" {
		return Finding{LevelError, addr + " throws data away when memory is full (maxmemory-policy " + value + ")", "Set maxmemory-policy noeviction."}
	}
	return Finding{Level: LevelOK, What: addr + " never evicts"}
}
