package scheduler

import "time"

// Plan is a definition with its defaults, read.
type Plan struct {
	Definition

	timing Timing
	jitter time.Duration
	limit  time.Duration
}

// NewPlan reads a definition. It does not ask for more than that it can be
// read: what was stored yesterday may name a surface that is gone today.
func NewPlan(d Definition) (*Plan, error) {
	p := &Plan{Definition: d.WithDefaults()}
	var err error
	if p.timing, err = p.parseTiming(); err != nil {
		return nil, err
	}
	if p.limit, err = parseBetween(p.TimeLimit, TimeLimitMin, TimeLimitMax); err != nil {
		return nil, problem("time_limit", err)
	}
	if p.Jitter != "" {
		if p.jitter, err = parseBetween(p.Jitter, 0, JitterMax); err != nil {
			return nil, problem("jitter", err)
		}
	}
	return p, nil
}

// Preview is how many coming times people are shown.
const Preview = 3

// NextTimes are the firings that come after now, as far as they are known, in
// the schedule's own zone: at most Preview.
func (p *Plan) NextTimes(s State, now time.Time) []time.Time {
	if s.Status != Active || s.Next.IsZero() {
		return nil
	}
	from := now
	if s.Next.After(now) {
		from = s.Next.Add(-time.Second)
	}
	out := p.timing.First(Preview, s.Anchor, from)
	for i := range out {
		out[i] = out[i].In(p.timing.zone)
	}
	return out
}

// Zone is the time zone that the schedule's times are meant in.
func (p *Plan) Zone() *time.Location { return p.timing.zone }

// surface is where a run's turns are: the surface that stands for it, whose
// first session has the bare id schedule:{id}, or schedule:{id}:{time} for a
// run of its own; or the surface that the schedule runs in.
func (p *Plan) surface(r *Run) string {
	if p.In != "" {
		return p.In
	}
	if p.Session == Fresh {
		return "schedule:local:" + p.ID + ":" + r.ID()
	}
	return "schedule:local:" + p.ID
}
