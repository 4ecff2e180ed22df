package scheduler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"parley/sessions"
)

// Job is what a turn of a schedule has to do.
type Job struct {
	Plan    *Plan
	Run     Run
	Targets []string
	// Answer is an answer that is there already and only has to be delivered
	// once more; else nil, and the model is asked.
	Answer *sessions.Entry
}

// ErrOvertaken means that the run a turn is for has ended otherwise, or that
// its schedule is gone: the turn ends without doing anything.
var ErrOvertaken = errors.New("the run of this turn has ended otherwise")

// Job reads what the turn has to do whose message has this id. ErrOvertaken.
func (s *Scheduler) Job(ctx context.Context, id, message string) (Job, error) {
	e, err := load(ctx, s.config.Store, id)
	if errors.Is(err, sessions.ErrNotFound) {
		return Job{}, ErrOvertaken
	}
	if err != nil {
		return Job{}, err
	}
	r := e.state.Run
	if r == nil || r.AttemptKey() != message || r.Late || r.Phase != Begun && r.Phase != Going {
		return Job{}, ErrOvertaken
	}
	job := Job{Plan: e.plan, Run: *r, Targets: r.targets(e.plan.Definition)}
	if r.Answer == 0 {
		return job, nil
	}
	answer, err := s.answerOf(ctx, r.Said, r.Answer)
	if err != nil {
		return Job{}, err
	}
	job.Answer = &answer
	return job, nil
}

// IDOf is the id of the schedule that a session, named by its id, or a prompt,
// named by its message id, belongs to; empty: to none.
func IDOf(name string) string {
	rest, found := strings.CutPrefix(name, "schedule:")
	if !found {
		return ""
	}
	if end := strings.IndexAny(rest, ":~"); end >= 0 {
		return rest[:end]
	}
	return rest
}

// NewCopy is the copy of a run's answer for a target. Its key is the same on
// every attempt.
func NewCopy(plan *Plan, run Run, surface string, answer sessions.Entry) Copy {
	sum := sha256.Sum256([]byte(surface))
	return Copy{Key: run.Key() + ":to:" + hex.EncodeToString(sum[:12]), Plan: plan, Run: run, Surface: surface, Answer: answer}
}
