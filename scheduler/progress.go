package scheduler

import (
	"fmt"
	"time"

	"parley/sessions"
)

// News is what somebody is told about a schedule, once per Key.
type News struct {
	Key  string
	Plan *Plan
	Run  Run
	// Disabled: it was disabled now; else it is the first failure of a streak.
	Disabled bool
	Failures int
	RetryAt  time.Time // zero: it is not tried again
}

// change is what a look at a schedule came to, besides its new state.
type change struct {
	runs []Run // records to be written
	news []News
}

// progress takes what was seen of the running attempt into the state.
func (p *Plan) progress(s *State, now time.Time, seen seen) (out change) {
	r := s.Run
	if !seen.over {
		if r.Counted == r.Attempt {
			return p.close(s, now, Unverified, "the log of its session was cleared before the deliveries ended")
		}
		if r.Late && now.After(r.Deadline.Add(stopGrace)) {
			return p.attemptFailed(s, now, p.lateReason())
		}
		return out
	}
	r.read(seen)
	switch seen.report.Result {
	case Quiet:
		return p.ended(s, now, Silent, "")
	case Answered, Resent:
		outcome, reason := r.tally()
		switch outcome {
		case "":
			return out
		case Failed:
			return p.attemptFailed(s, now, "not delivered: "+reason)
		}
		return p.ended(s, now, outcome, reason)
	case Stopped, Overtaken:
		switch {
		case r.Late:
			return p.attemptFailed(s, now, p.lateReason())
		case seen.report.Result == Stopped:
			return p.close(s, now, Failed, "stopped by a person")
		}
		return p.attemptFailed(s, now, "its turn was overtaken")
	}
	return p.attemptFailed(s, now, seen.report.Error)
}

func (p *Plan) lateReason() string {
	return fmt.Sprintf("the time limit of %s passed", p.limit)
}

// read takes answer, tokens and deliveries of an attempt over. Reading the same
// once more changes nothing.
func (r *Run) read(seen seen) {
	report := seen.report
	if report.Result == Answered && r.Answer == 0 {
		r.Answer, r.Said = seen.at.Seq-report.Behind, r.Session
		for _, target := range report.Targets {
			r.Deliveries = append(r.Deliveries, Delivered{Surface: target.Surface, State: sessions.DeliveryPending})
		}
	}
	if report.Tokens != nil && r.Counted < r.Attempt {
		if r.Tokens == nil {
			r.Tokens = &sessions.Tokens{}
		}
		r.Tokens.Prompt += report.Tokens.Prompt
		r.Tokens.Completion += report.Tokens.Completion
	}
	r.Counted = r.Attempt
	for i, one := range r.Deliveries {
		if one.State == sessions.DeliveryPending {
			r.Deliveries[i] = seen.delivered(one.Surface)
		}
	}
}

// ended ends the run well.
func (p *Plan) ended(s *State, now time.Time, outcome Outcome, reason string) change {
	if !s.Run.Manual {
		s.Failures = 0
	}
	return p.close(s, now, outcome, reason)
}

// close ends the run, and with it a schedule that never fires again.
func (p *Plan) close(s *State, now time.Time, outcome Outcome, reason string) change {
	r := *s.Run
	r.Phase, r.Outcome, r.Error, r.EndedAt = "", outcome, cut(reason), now.UTC()
	r.Deadline, r.RetryAt, r.Late = time.Time{}, time.Time{}, false
	s.Run, s.Last = nil, &r
	s.finish()
	return change{runs: []Run{r}}
}

// attemptFailed counts a failure. The attempt is made again after a pause,
// unless somebody asked for the run (they see that it failed) or there were too
// many.
func (p *Plan) attemptFailed(s *State, now time.Time, reason string) change {
	r := s.Run
	r.Error = cut(reason)
	if r.Manual || s.Status != Active {
		news := News{Key: r.AttemptKey() + ":told", Plan: p, Run: *r}
		out := p.close(s, now, Failed, reason)
		out.news = []News{news}
		return out
	}
	s.Failures++
	if s.Failures >= FailuresMax {
		s.Status, s.Reason = Disabled, fmt.Sprintf("%d attempts failed in a row; the last: %s", s.Failures, r.Error)
		news := News{Key: r.AttemptKey() + ":disabled", Plan: p, Run: *r, Disabled: true, Failures: s.Failures}
		s.Pending = nil
		out := p.close(s, now, Failed, reason)
		out.news = []News{news}
		return out
	}
	r.Phase, r.RetryAt, r.Deadline, r.Late = Retrying, now.Add(backoff(s.Failures)).UTC(), time.Time{}, false
	out := change{runs: []Run{*r}}
	if s.Failures == 1 {
		out.news = []News{{Key: r.AttemptKey() + ":told", Plan: p, Run: *r, Failures: 1, RetryAt: r.RetryAt}}
	}
	return out
}

// retry begins the run's next attempt. What has an answer already is only
// delivered again, where it failed.
func (r *Run) retry() {
	r.Attempt++
	r.Phase, r.RetryAt, r.Message = Begun, time.Time{}, 0
	for i := range r.Deliveries {
		if r.Deliveries[i].State == sessions.DeliveryFailed {
			r.Deliveries[i].State = sessions.DeliveryPending
		}
	}
}
