package scheduler

import (
	"time"

	"parley/sessions"
)

// Outcome is how a run ended.
type Outcome string

// Outcomes.
const (
	OK         Outcome = "ok"         // delivered
	Silent     Outcome = "silent"     // it had nothing to say
	Unverified Outcome = "unverified" // a platform did not say whether it has it
	Failed     Outcome = "failed"     // with the reason
	Skipped    Outcome = "skipped"    // it was never begun: missed, or overlapped
)

// Phase is how far a run is that has not ended.
type Phase string

// Phases.
const (
	Begun    Phase = "begun"    // decided; perhaps posted already
	Going    Phase = "going"    // posted: its turn waits, runs or delivers
	Retrying Phase = "retrying" // the attempt failed; the next one is at RetryAt
)

// Run is one firing and what became of it.
type Run struct {
	Schedule string    `json:"schedule"`
	Planned  time.Time `json:"planned"`
	Manual   bool      `json:"manual,omitempty"` // somebody asked for it
	Missed   int       `json:"missed,omitempty"` // firings before it that it stands for
	Attempt  int       `json:"attempt,omitempty"`

	Phase     Phase     `json:"phase,omitempty"` // empty: it ended
	StartedAt time.Time `json:"started_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	Outcome   Outcome   `json:"outcome,omitempty"`
	Error     string    `json:"error,omitempty"` // of the last attempt that failed

	Session string           `json:"session,omitempty"`
	Message int64            `json:"message,omitempty"` // seq of the present attempt's prompt
	Answer  int64            `json:"answer,omitempty"`  // seq of the answer, once there is one
	Said    string           `json:"said,omitempty"`    // the session of the answer
	Copied  bool             `json:"copied,omitempty"`  // the answer stands in its targets' own sessions too
	Tokens  *sessions.Tokens `json:"tokens,omitempty"`  // of all attempts
	Counted int              `json:"counted,omitempty"` // the newest attempt whose tokens are in Tokens

	Deliveries []Delivered `json:"deliveries,omitempty"`

	Deadline time.Time `json:"deadline,omitzero"` // of the present attempt
	Late     bool      `json:"late,omitempty"`    // the deadline passed and its turn was asked to stop
	RetryAt  time.Time `json:"retry_at,omitzero"`
}

// Delivered is what became of a run's answer on one surface.
type Delivered struct {
	Surface string                 `json:"surface"`
	State   sessions.DeliveryState `json:"state"` // pending, sent, unknown or failed
	Reason  string                 `json:"reason,omitempty"`
}

// runForm is the form of a run's id: its planned time, in UTC.
const runForm = "20060102T150405Z"

// ID names the run among those of its schedule.
func (r Run) ID() string { return r.Planned.UTC().Format(runForm) }

// Key is the dedupe key of the run's first attempt.
func (r Run) Key() string { return "schedule:" + r.Schedule + ":" + r.ID() }

// AttemptKey is the dedupe key of the present attempt, and the message id of
// its prompt.
func (r Run) AttemptKey() string {
	if r.Attempt <= 1 {
		return r.Key()
	}
	return r.Key() + ":" + itoa(r.Attempt)
}

// targets are the surfaces that the present attempt delivers to: all at first,
// then those where it failed.
func (r Run) targets(d Definition) []string {
	if r.Answer == 0 {
		return d.DeliverTo
	}
	var out []string
	for _, one := range r.Deliveries {
		if one.State == sessions.DeliveryPending {
			out = append(out, one.Surface)
		}
	}
	return out
}

// tally is how an answered run ends by what its deliveries say; empty while one
// is under way.
func (r Run) tally() (outcome Outcome, reason string) {
	outcome = OK
	for _, one := range r.Deliveries {
		switch one.State {
		case sessions.DeliveryFailed:
			if outcome != Failed {
				outcome, reason = Failed, one.Surface+": "+one.Reason
			}
		case sessions.DeliveryUnknown:
			if outcome == OK {
				outcome, reason = Unverified, one.Surface+": "+one.Reason
			}
		case sessions.DeliverySent:
		default:
			return "", ""
		}
	}
	return outcome, reason
}
