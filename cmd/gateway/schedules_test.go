package main

import (
	"strings"
	"testing"
	"time"

	"parley/scheduler"
)

// Both ways to reach schedules do and say the same.
func TestSchedules(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string]bool{"straight on the store": false, "through the gateway": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			if runs {
				m.runs()
			}
			if out := m.did("", "schedules", "list"); !strings.Contains(out, "no schedules") {
				t.Errorf("list of nothing: %q", out)
			}
			out := m.did("", "schedules", "add", "0 9 * * 1-5", "What is on?", "--id", "standup", "--zone", "Europe/Berlin", "--to", "web:local:me")
			if !strings.Contains(out, "standup is set: every weekday at 09:00 Europe/Berlin") || strings.Count(out, "next") != scheduler.Preview {
				t.Errorf("add: %q", out)
			}
			m.refuses("exists already", "schedules", "add", "every 1h", "x", "--id", "standup")
			m.refuses("never comes", "schedules", "add", "0 0 30 2 *", "x")
			m.refuses("6 fields", "schedules", "add", "* * * * * *", "x")
			m.refuses("no connection to it is configured", "schedules", "add", "@daily", "x", "--to", "telegram:1:2")
			m.refuses("is past", "schedules", "add", "at 2020-01-01 09:00", "x")
			m.refuses("is no time", "schedules", "add", "sometimes", "x")
			view := decoded[[]scheduler.View](t, m.did("", "schedules", "list", "--json"))
			if len(view) != 1 || view[0].ID != "standup" || view[0].By != scheduler.ByOperator || view[0].Status != scheduler.Active {
				t.Errorf("list: %+v", view)
			}
			m.did("", "schedules", "pause", "standup")
			m.refuses("not active", "schedules", "pause", "standup")
			if out := m.did("", "schedules", "list"); !strings.Contains(out, "paused") {
				t.Errorf("list: %q", out)
			}
			m.did("", "schedules", "resume", "standup")
			if out := m.did("", "schedules", "history", "standup"); !strings.Contains(out, "did not run yet") {
				t.Errorf("history: %q", out)
			}
			m.did("", "schedules", "rm", "standup")
			m.refuses("there is no schedule", "schedules", "rm", "standup")
			m.refuses("there is no schedule", "schedules", "history", "standup")
		})
	}
}

// A run that was asked for while no gateway ran is made at its next start, and
// what it says is in the conversation it is delivered to.
func TestAScheduleIsRunByTheNextGateway(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	file := m.file("schedules: [{id: declared, every: 1s, prompt: hello}]\nsessions: {stale_after: 1h}\n")
	m.did("", "schedules", "add", "@yearly", "say hello", "--id", "now", "--to", "cli:local:me")
	m.did("", "schedules", "run", "now")
	g := m.runs("--config", file)
	m.ended("now")
	m.ended("declared")
	if out := m.did("", "sessions", "show", "cli:me"); !strings.Contains(out, "hello") {
		t.Errorf("the conversation it was delivered to: %q", out)
	}
	m.refuses("declared in the configuration file", "schedules", "rm", "declared")
	g.stop()
	if out := m.did("", "doctor", "--config", file); !strings.Contains(out, "chore suspend") || !strings.Contains(out, "2 schedules, none disabled") {
		t.Errorf("doctor: %q", out)
	}
	g = m.runs()
	m.until("what is declared no more is gone", func() bool {
		return len(decoded[[]scheduler.View](t, m.did("", "schedules", "list", "--json"))) == 1
	})
	g.stop()
}

// ended waits for a run of a schedule that ended well.
func (m *machine) ended(id string) {
	m.t.Helper()
	m.until("a run of "+id+" ended", func() bool {
		code, out, _ := m.does("", "schedules", "history", id, "--json")
		if code != exitOK { // not declared yet
			return false
		}
		for _, run := range decoded[[]scheduler.Run](m.t, out) {
			if run.Outcome == scheduler.OK {
				return true
			}
		}
		return false
	})
}

// until asks again and again.
func (m *machine) until(what string, holds func() bool) {
	m.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(patience)
	defer late.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late.C:
			m.t.Fatalf("never: %s", what)
		}
	}
}
