package main

import (
	"strings"
	"testing"

	"parley/test/redistest"
)

// The doctor says whether safe mode is on and has the replicas it needs.
func TestDoctorLooksAtSafeMode(t *testing.T) {
	t.Parallel()
	behind := redistest.StartReplicated(t, "--appendfsync", "always")
	m := newMachine(t).on(behind.Master.URL() + "/0?replicas=1")
	examined := func(wantCode int, want ...string) {
		t.Helper()
		code, out, errs := m.does("", "doctor")
		if code != wantCode {
			t.Errorf("exit code %d: %s%s", code, out, errs)
		}
		for _, part := range want {
			if !strings.Contains(out, part) {
				t.Errorf("%q is missing: %s", part, out)
			}
		}
	}
	examined(exitOK, "1 replica(s) online; safe mode is on and waits for 1", "min-replicas-to-write 0")
	behind.Replica.Kill()
	examined(exitFailure, "acknowledges nothing: 0 of 1 replicas", "0 replica(s) online, safe mode waits for 1", "Bring the replicas back")
}

// A start tells of a server that throws conversations away, or keeps none.
func TestAStartTellsWhatTheStoreWouldForget(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--maxmemory-policy", "allkeys-lru", "--appendonly", "no")
	g := newMachine(t).on(server.URL()).runs()
	g.log.see(t, "throws data away when memory is full")
	g.log.see(t, "appendonly")
}
