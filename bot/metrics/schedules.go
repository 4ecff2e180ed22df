package metrics

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

func (m *Metrics) makeSchedules(in maker, lists Words) {
	m.schedules.runs = wordsOf(in.counter("schedule_runs_total", "Runs of schedules that ended here, by outcome. skipped: missed, or overlapped by the run before.", "outcome"),
		[]scheduler.Outcome{scheduler.OK, scheduler.Silent, scheduler.Unverified, scheduler.Failed, scheduler.Skipped})
	m.schedules.lateness = in.histogram("schedule_delay_seconds", "From the planned time of a run to its prompt, jitter included.", turnBuckets()).WithLabelValues()
	m.schedules.chores = wordsOf(in.counter("chore_items_total", "What the gateway's own chores were done to here: sessions suspended, expired and deleted, dead letters dropped.", "chore"), lists.Chores)
	m.schedules.failures = wordsOf(in.counter("chore_failures_total", "Chores that failed here; they are tried again.", "chore"), lists.Chores)
	m.checkpoints = pairsOf(in.counter("checkpoints_total", "Checkpoints of conversations that ended here, by why they were made and how they ended. nothing: nothing was said since the last one; overtaken: another was made meanwhile, or the conversation was erased.", "reason", "outcome"),
		lists.CheckpointReasons, lists.CheckpointOutcomes)
}

// ScheduleRan counts a run of a schedule that ended here.
func (m *Metrics) ScheduleRan(run scheduler.Run) {
	if m == nil {
		return
	}
	m.schedules.runs.inc(run.Outcome)
	if !run.StartedAt.IsZero() {
		m.schedules.lateness.Observe(run.StartedAt.Sub(run.Planned).Seconds())
	}
}

// ChoreDone counts a chore that was tried here, and what it was done to.
func (m *Metrics) ChoreDone(name string, count int, err error) {
	if m == nil {
		return
	}
	m.schedules.chores.at(name).Add(float64(count))
	if err != nil {
		m.schedules.failures.inc(name)
	}
}

// CheckpointEnded counts a checkpoint that ended here, by words of the lists.
func (m *Metrics) CheckpointEnded(reason, outcome string) {
	if m != nil {
		m.checkpoints.inc(reason, outcome)
	}
}
