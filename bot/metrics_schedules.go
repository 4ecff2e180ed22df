package bot

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/scheduler"
)

// scheduleMetrics count what happens on time.
type scheduleMetrics struct {
	runs     words[scheduler.Outcome]
	lateness prometheus.Observer
	chores   words[string]
	failures words[string]
}

func (m *Metrics) makeSchedules(in maker) {
	m.schedules.runs = wordsOf(in.counter("schedule_runs_total", "Runs of schedules that ended here, by outcome. skipped: missed, or overlapped by the run before.", "outcome"),
		[]scheduler.Outcome{scheduler.OK, scheduler.Silent, scheduler.Unverified, scheduler.Failed, scheduler.Skipped})
	m.schedules.lateness = in.histogram("schedule_delay_seconds", "From the planned time of a run to its prompt, jitter included.", turnBuckets()).WithLabelValues()
	m.schedules.chores = wordsOf(in.counter("chore_items_total", "What the gateway's own chores were done to here: sessions suspended, expired and deleted, dead letters dropped.", "chore"), choreNames())
	m.schedules.failures = wordsOf(in.counter("chore_failures_total", "Chores that failed here; they are tried again.", "chore"), choreNames())
}

func (m *Metrics) scheduleRan(run scheduler.Run) {
	if m == nil {
		return
	}
	m.schedules.runs.inc(run.Outcome)
	if !run.StartedAt.IsZero() {
		m.schedules.lateness.Observe(run.StartedAt.Sub(run.Planned).Seconds())
	}
}

func (m *Metrics) choreDone(name string, count int, err error) {
	if m == nil {
		return
	}
	m.schedules.chores.at(name).Add(float64(count))
	if err != nil {
		m.schedules.failures.inc(name)
	}
}
