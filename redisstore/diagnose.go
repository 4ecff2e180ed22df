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

// Diagnose looks at every node: version, durability, eviction. What a server
// hides is said so.
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
	return findings
}

// versionFinding wants sharded pub/sub and script flags: 7.0.
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
