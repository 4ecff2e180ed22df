package scheduler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"

	"parley/sessions"
)

// Config is what a Scheduler works with. All are required but Log.
type Config struct {
	Store interface {
		sessions.Schedules
		sessions.Log
		FinishTimer(ctx context.Context, timer sessions.Timer) error
	}
	// Post stores the prompt of an attempt and sets its turn going. The rights
	// are Post's to fill in: those that the plan's maker has now. ErrNoRights:
	// they may not talk to the bot any more; ErrNotTheirChat: they may not have
	// it deliver where it does; sessions.ErrNothing: there is nothing
	// to ask, and the run ends silently.
	Post func(ctx context.Context, plan *Plan, request sessions.PostRequest) (sessions.PostResult, error)
	// Stop asks the open turn of a session to stop.
	Stop func(ctx context.Context, session string) (running bool, err error)
	// Copy stores an answer in a target's own session, once per Key.
	Copy func(ctx context.Context, answer Copy) error
	// Tell tells whoever is responsible, once per Key.
	Tell func(ctx context.Context, news News) error
	// Ended hears of each run that ended, once it is stored.
	Ended func(run Run)
	Log   *slog.Logger
}

// ErrNoRights is what Config.Post returns for a maker who may not any more.
var ErrNoRights = errors.New("whoever made this schedule may not use the bot any more")

// ErrNotTheirChat is what Config.Post returns for a maker who may not have
// answers delivered where the schedule says, as somebody who was an owner.
var ErrNotTheirChat = errors.New("whoever made this schedule may only have it deliver to their own chat")

// Copy is an answer for a target's own session.
type Copy struct {
	Key     string
	Plan    *Plan
	Run     Run
	Surface string
	Answer  sessions.Entry
}

// Scheduler takes schedules from step to step. It holds nothing between calls:
// any number of them, in any number of processes, work on one store.
type Scheduler struct{ config Config }

// New makes a Scheduler.
func New(config Config) *Scheduler {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	return &Scheduler{config}
}

// looksMax bounds the steps of one Look. What is left is due again.
const looksMax = 12

// Fired handles a timer whose purpose is sessions.SchedulePurpose.
func (s *Scheduler) Fired(ctx context.Context, timer sessions.Timer) error {
	id := strings.TrimPrefix(timer.Home, sessions.ScheduleHome(""))
	if err := s.steps(ctx, id, true); !errors.Is(err, sessions.ErrNotFound) {
		return err
	}
	err := s.config.Store.FinishTimer(ctx, timer)
	if errors.Is(err, sessions.ErrFenced) {
		return nil
	}
	return err
}

// Look does what there is to do now for a schedule, in its own time called by
// its timer, and at once when one of its turns or deliveries has ended. It may
// be called at any time by anybody, and does nothing for an id that is none.
func (s *Scheduler) Look(ctx context.Context, id string) error {
	err := s.steps(ctx, id, false)
	if errors.Is(err, sessions.ErrNotFound) {
		return nil
	}
	return err
}

// steps looks again while there is more to do, and where another was quicker.
func (s *Scheduler) steps(ctx context.Context, id string, fired bool) error {
	for range looksMax {
		again, err := s.step(ctx, id, fired)
		if errors.Is(err, sessions.ErrConflict) {
			continue
		}
		if err != nil || !again {
			return err
		}
	}
	return nil
}

// step is one look: it reads the schedule, does what is due, and saves what it
// came to. What it does outside of that has a key each, so that a step which
// was not saved may be repeated. A run is saved as begun before it is posted:
// so its planned time is settled first, whatever the clock says later.
//
// fired: the schedule's timer has to be set anew.
func (s *Scheduler) step(ctx context.Context, id string, fired bool) (again bool, err error) {
	e, err := load(ctx, s.config.Store, id)
	if err != nil {
		return false, err
	}
	var out change
	if e.state.Anchor.IsZero() {
		e.state = e.plan.begin(e.now)
	}
	if forget := e.plan.forgetAt(&e.state); !forget.IsZero() && !e.now.Before(forget) {
		return false, s.config.Store.RemoveSchedule(ctx, id)
	}
	if e.state.Run != nil {
		if out, again, err = s.advance(ctx, e); err != nil {
			return false, err
		}
	}
	out.runs = append(out.runs, e.plan.decide(&e.state, e.now)...)
	again = e.plan.start(&e.state) || again
	e.state.finish()
	for _, news := range out.news {
		if err := s.config.Tell(ctx, news); err != nil {
			return false, fmt.Errorf("tell of schedule %s: %w", id, err)
		}
	}
	change, err := e.change(out.runs)
	if err != nil {
		return false, err
	}
	if !fired && bytes.Equal(change.State, e.stored.State) && len(change.Runs) == 0 {
		return again, nil
	}
	if _, err = s.config.Store.SaveSchedule(ctx, change); err != nil {
		return false, err
	}
	s.hear(out.runs)
	return again, nil
}

func (s *Scheduler) hear(runs []Run) {
	for _, run := range runs {
		if run.Outcome != "" {
			s.config.Ended(run)
		}
	}
}

// advance takes the run that goes on further.
func (s *Scheduler) advance(ctx context.Context, e *entry) (out change, again bool, err error) {
	switch r := e.state.Run; {
	case r.Phase == Begun:
		return s.post(ctx, e)
	case r.Phase != Retrying:
		out, err = s.observe(ctx, e)
		return out, e.state.Run == nil, err
	case e.now.Before(r.RetryAt):
		return out, false, nil
	default:
		r.retry()
		return out, true, nil
	}
}

// post posts the prompt of an attempt.
func (s *Scheduler) post(ctx context.Context, e *entry) (out change, again bool, err error) {
	r := e.state.Run
	result, err := s.config.Post(ctx, e.plan, e.plan.request(r))
	_, invalid := errors.AsType[*sessions.InvalidError](err)
	switch {
	case errors.Is(err, sessions.ErrNothing):
		return e.plan.close(&e.state, e.now, Silent, ""), true, nil
	case invalid, errors.Is(err, sessions.ErrQueueFull), errors.Is(err, ErrNoRights), errors.Is(err, ErrNotTheirChat):
		return e.plan.attemptFailed(&e.state, e.now, err.Error()), false, nil
	case err != nil:
		return out, false, fmt.Errorf("post %s: %w", r.AttemptKey(), err)
	case result.Seq == 0:
		return e.plan.attemptFailed(&e.state, e.now, "its prompt is not in the log any more"), false, nil
	}
	r.Session, r.Message, r.Phase = result.Session, result.Seq, Going
	r.Deadline = e.now.Add(e.plan.limit).UTC()
	if r.StartedAt.IsZero() {
		r.StartedAt = e.now.UTC()
	}
	// A duplicate was posted before: it may have ended meanwhile.
	return change{runs: []Run{*r}}, result.Outcome == sessions.PostDuplicate, nil
}

// Decision is the decision that stands in the prompts of schedules.
const Decision = "schedule"

// request is the post of the run's present attempt.
func (p *Plan) request(r *Run) sessions.PostRequest {
	user := ""
	if strings.Contains(p.By, ":") {
		user = p.By
	}
	return sessions.PostRequest{
		Key: r.AttemptKey(), Surface: p.surface(r), Trigger: true, Alone: true, UserID: user,
		New: sessions.NewSession{
			Source: sessions.Source{Kind: "schedule", Platform: "schedule", TriggerID: p.ID, Type: sessions.Direct},
			UserID: user, Agent: p.Agent, Metadata: map[string]any{"schedule": p.ID},
		},
		Message: sessions.Message{
			Role: sessions.RoleUser, Text: p.Prompt, MessageID: r.AttemptKey(), Directed: true, Decision: Decision,
			SentAt: r.Planned, Sender: &sessions.Sender{ID: "schedule:" + p.ID, Name: "Schedule " + p.ID},
		},
	}
}

// observe looks what became of the attempt, and stops it when its time is over.
func (s *Scheduler) observe(ctx context.Context, e *entry) (change, error) {
	r := e.state.Run
	seen, err := s.seen(ctx, r)
	if err != nil {
		return change{}, err
	}
	if !seen.over && !r.Late && !e.now.Before(r.Deadline) {
		if _, err := s.config.Stop(ctx, r.Session); err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return change{}, fmt.Errorf("stop %s: %w", r.AttemptKey(), err)
		}
		r.Late = true
	}
	if seen.over && seen.report.Result == Answered && !r.Copied {
		if err := s.copies(ctx, e.plan, *r, seen); err != nil {
			return change{}, err
		}
		r.Copied = true
	}
	return e.plan.progress(&e.state, e.now, seen), nil
}

// readsMax bounds how much of a log is read to find out what became of an
// attempt, in calls.
const readsMax = 10

// seen reads the log from the attempt's prompt on.
func (s *Scheduler) seen(ctx context.Context, r *Run) (seen, error) {
	var all []sessions.Entry
	from := r.Message
	for range readsMax {
		entries, err := s.config.Store.Range(ctx, r.Session, from, math.MaxInt64)
		if errors.Is(err, sessions.ErrNotFound) { // the session was deleted: the deadline ends the attempt
			return seen{}, nil
		}
		if err != nil {
			return seen{}, err
		}
		all = append(all, entries...)
		if len(entries) < sessions.EntriesPerCall {
			break
		}
		from = entries[len(entries)-1].Seq + 1
	}
	return observe(r.AttemptKey(), all)
}

// copies stores an answer in the sessions of its targets. The turn itself has
// done so, if its process lived.
func (s *Scheduler) copies(ctx context.Context, plan *Plan, run Run, seen seen) error {
	if len(seen.report.Targets) == 0 {
		return nil
	}
	answer, err := s.answerOf(ctx, run.Session, seen.at.Seq-seen.report.Behind)
	if err != nil {
		return err
	}
	for _, target := range seen.report.Targets {
		if err := s.config.Copy(ctx, NewCopy(plan, run, target.Surface, answer)); err != nil {
			return fmt.Errorf("store an answer of schedule %s where it was sent: %w", plan.ID, err)
		}
	}
	return nil
}

func (s *Scheduler) answerOf(ctx context.Context, session string, seq int64) (sessions.Entry, error) {
	entries, err := s.config.Store.Range(ctx, session, seq, seq)
	if err == nil && len(entries) == 0 {
		err = fmt.Errorf("answer %s of %s: %w", sessions.EntryID(seq), session, sessions.ErrNotFound)
	}
	if err != nil {
		return sessions.Entry{}, err
	}
	return entries[0], nil
}
