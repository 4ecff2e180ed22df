package scheduler

import (
	"slices"
	"strconv"
	"time"
)

// Status is what a schedule does.
type Status string

// Statuses.
const (
	Active   Status = "active"
	Paused   Status = "paused"   // by a person
	Disabled Status = "disabled" // after FailuresMax in a row
	Finished Status = "finished" // it never fires again
)

// State is where a schedule stands. It is only changed by the functions of
// this package, and stored with the schedule.
type State struct {
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"` // why it is disabled
	// Anchor is where intervals count from.
	Anchor time.Time `json:"anchor"`
	// Next is the first firing that nothing was decided about yet; zero: none.
	Next time.Time `json:"next,omitzero"`
	// Pending are firings that will run, in order.
	Pending  []Firing `json:"pending,omitempty"`
	Run      *Run     `json:"run,omitempty"` // the one going on
	Failures int      `json:"failures,omitempty"`
	Last     *Run     `json:"last,omitempty"`  // the newest that ended, without the skipped ones
	Asked    string   `json:"asked,omitempty"` // the key of the newest wish for a run
}

// Firing is a firing that was decided to be run.
type Firing struct {
	At     time.Time `json:"at"`
	Missed int       `json:"missed,omitempty"` // firings before it that it stands for
	Late   bool      `json:"late,omitempty"`   // it was missed itself
	Manual bool      `json:"manual,omitempty"`
}

// What is settled about failures and lateness.
const (
	// FailuresMax is how many failed attempts in a row disable a schedule.
	FailuresMax = 10
	// MissedAfter is how late a firing may be looked at without counting as missed.
	MissedAfter = time.Minute
	// PendingMax bounds State.Pending; what comes behind stays undecided.
	PendingMax = 100
	// lookEvery is how often a run that goes on is looked at, in case the hint
	// that it ended was lost.
	lookEvery = 30 * time.Second
	// stopGrace is how long a turn that was asked to stop may take to end.
	stopGrace = time.Minute
	// forgetAfter is how long a schedule that never fires again is kept, for
	// its history.
	forgetAfter = 30 * day
)

// backoff is the pause after so many failed attempts in a row.
func backoff(failures int) time.Duration {
	pauses := []time.Duration{30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}
	return pauses[min(max(failures, 1), len(pauses))-1]
}

// begin is the state of a new schedule, or of one whose times were changed.
func (p *Plan) begin(now time.Time) State {
	anchor := now.UTC().Truncate(time.Second)
	return State{Status: Active, Anchor: anchor, Next: p.timing.Next(anchor, now)}
}

// due is when a planned firing is due: later than planned by its jitter.
func (p *Plan) due(planned time.Time) time.Time {
	return planned.Add(jitterOf(p.ID, planned, p.jitter))
}

// decide takes the firings that are due off s.Next: each becomes pending or is
// left out, as missed and overlap say. It returns a record of what was left
// out.
//
// Of several firings due at once all but the newest were missed, and it too if
// it is later than MissedAfter.
func (p *Plan) decide(s *State, now time.Time) (left []Run) {
	if s.Status != Active || s.Next.IsZero() || p.due(s.Next).After(now) {
		return nil
	}
	if p.Missed == MissedAll {
		return p.decideAll(s, now)
	}
	first := s.Next
	newest, count := p.newestDue(s, now)
	missed, isMissed := count-1, now.Sub(p.due(newest)) > MissedAfter
	following := p.timing.Next(s.Anchor, newest)
	if !following.IsZero() && !p.due(following).After(now) { // its jitter was shorter than the newest's
		isMissed = true
	}
	s.Next = following
	switch {
	case p.Missed == MissedSkip && isMissed && p.timing.at.IsZero():
		return []Run{p.skipped(newest, missed, missedReason)}
	case p.Missed == MissedSkip && isMissed:
		return []Run{p.skipped(newest, 0, "missed: no gateway ran at its only time")}
	case p.Missed == MissedSkip && missed > 0:
		before, _ := p.timing.last(s.Anchor, first, newest.Add(-time.Second))
		left, missed = []Run{p.skipped(before, missed-1, missedReason)}, 0
	}
	return append(left, p.admit(s, Firing{At: newest, Missed: missed, Late: isMissed})...)
}

const missedReason = "missed: no gateway ran at its time"

// newestDue is the newest planned firing that is due, and how many are from
// s.Next up to it.
func (p *Plan) newestDue(s *State, now time.Time) (time.Time, int) {
	newest, count := p.timing.last(s.Anchor, s.Next, now)
	// With jitter the newest planned may not be due yet: then the last that is.
	for p.due(newest).After(now) && newest.After(s.Next) {
		newest, count = p.timing.last(s.Anchor, s.Next, newest.Add(-time.Second))
	}
	return newest, count
}

// decideAll makes every due firing pending, as far as there is room; what is
// left stays undecided.
func (p *Plan) decideAll(s *State, now time.Time) (left []Run) {
	for !s.Next.IsZero() && !p.due(s.Next).After(now) && len(s.Pending) < PendingMax {
		at := s.Next
		s.Next = p.timing.Next(s.Anchor, at)
		late := now.Sub(p.due(at)) > MissedAfter || !s.Next.IsZero() && !p.due(s.Next).After(now)
		left = append(left, p.admit(s, Firing{At: at, Late: late})...)
	}
	return left
}

// admit makes a firing pending, unless it overlaps a run and is not wanted then. A
// missed firing overlaps nothing, and while firings wait, later ones join them.
func (p *Plan) admit(s *State, f Firing) (left []Run) {
	switch {
	case s.Run != nil && len(s.Pending) == 0 && !f.missed() && p.Overlap == OverlapSkip:
		return []Run{p.skipped(f.At, f.Missed, "overlap: the run of "+s.Run.Planned.UTC().Format(time.RFC3339)+" was still going on")}
	case len(s.Pending) >= PendingMax:
		return []Run{p.skipped(f.At, f.Missed, "overlap: "+strconv.Itoa(PendingMax)+" firings wait already")}
	}
	if last := len(s.Pending) - 1; last >= 0 && p.Missed == MissedOnce && f.missed() && s.Pending[last].missed() {
		f.Missed += s.Pending[last].Missed + 1
		s.Pending = s.Pending[:last]
	}
	s.Pending = append(s.Pending, f)
	return nil
}

// missed: it is one that was missed, or stands for some.
func (f Firing) missed() bool { return f.Late || f.Missed > 0 }

func (p *Plan) skipped(at time.Time, missed int, why string) Run {
	return Run{Schedule: p.ID, Planned: at, Missed: missed, Outcome: Skipped, Error: why}
}

// start makes the first pending firing the run, if none goes on.
func (p *Plan) start(s *State) bool {
	if s.Run != nil || len(s.Pending) == 0 || s.Status != Active && !s.Pending[0].Manual {
		return false
	}
	f := s.Pending[0]
	s.Pending = slices.Clone(s.Pending[1:])
	s.Run = &Run{Schedule: p.ID, Planned: f.At, Missed: f.Missed, Manual: f.Manual, Attempt: 1, Phase: Begun}
	return true
}

// wake is when the schedule has to be looked at again; zero: never.
func (p *Plan) wake(s *State, now time.Time) time.Time {
	var out time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (out.IsZero() || t.Before(out)) {
			out = t
		}
	}
	if s.Status == Active && !s.Next.IsZero() {
		if len(s.Pending) < PendingMax || s.Run == nil {
			sooner(p.due(s.Next))
		}
	}
	sooner(p.forgetAt(s))
	switch {
	case s.Run == nil && len(s.Pending) > 0 && (s.Status == Active || s.Pending[0].Manual):
		sooner(now)
	case s.Run == nil:
	case s.Run.Phase == Begun:
		sooner(now)
	case s.Run.Phase == Retrying:
		sooner(s.Run.RetryAt)
	default:
		sooner(now.Add(lookEvery))
		if s.Run.Deadline.After(now) {
			sooner(s.Run.Deadline)
		}
	}
	return out
}

// finish marks a schedule that never fires again.
func (s *State) finish() {
	if s.Status == Active && s.Next.IsZero() && len(s.Pending) == 0 && s.Run == nil {
		s.Status = Finished
	}
}

// forgetAt is when a schedule that never fires again is removed; zero: it is
// not, because it may still fire or is declared in the configuration file.
func (p *Plan) forgetAt(s *State) time.Time {
	if s.Status != Finished || p.By == ByConfig {
		return time.Time{}
	}
	ended := p.timing.at
	if s.Last != nil && s.Last.EndedAt.After(ended) {
		ended = s.Last.EndedAt
	}
	return ended.Add(forgetAfter)
}

func itoa(n int) string { return strconv.Itoa(n) }
