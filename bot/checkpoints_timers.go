package bot

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"parley/adapters"
	"parley/sessions"
)

// Checkpoints are made because of timers whose Home is the session, and whose
// name is checkpointTimer and the reason. A timer that was cleared away with
// its session, or whose session is gone, does nothing.
const (
	checkpointPurpose = "checkpoint"
	checkpointTimer   = checkpointPurpose + ":"
	// checkpointHold is how long one that was fired is this worker's; if it
	// dies, the next one begins then.
	checkpointHold = checkpointFor + sessions.LeaseFor
	// checkpointBusy puts one off that finds no free slot.
	checkpointBusy = 20 * time.Second
	// checkpointTries is how often one is made because of one occasion. Then
	// the next occasion is waited for.
	checkpointTries = 3
)

// checkpointPause is the time after a failure until the next try.
func checkpointPause(tries int) time.Duration {
	if tries <= 1 {
		return time.Minute
	}
	return 10 * time.Minute
}

// checkpointJob is the payload of a checkpoint's timer.
type checkpointJob struct {
	Reason checkpointReason `json:"reason"`
	Tries  int              `json:"tries,omitempty"` // that failed
	// Of checkpointManual: where the outcome is told, in answer to which message,
	// under which key. Not told: Surface is empty.
	Surface string `json:"surface,omitempty"`
	ReplyTo string `json:"reply_to,omitempty"`
	Key     string `json:"key,omitempty"`
}

// timer is the job's timer. Each answer that is owed has one of its own.
func (j checkpointJob) timer(session string) (sessions.Timer, error) {
	name := checkpointTimer + string(j.Reason)
	if j.Key != "" {
		name += ":" + ending(j.Key)
	}
	payload, err := json.Marshal(j)
	return sessions.Timer{Home: session, Name: name, Purpose: checkpointPurpose, Payload: payload}, err
}

// setCheckpoint sets a job's timer.
func (b *Bot) setCheckpoint(ctx context.Context, session string, job checkpointJob, after time.Duration) error {
	timer, err := job.timer(session)
	if err != nil {
		return err
	}
	return b.store.SetTimer(ctx, timer, after)
}

// checkpointLater sets a job's timer, without anybody waiting for it. Should it
// fail, the next occasion takes its place.
func (b *Bot) checkpointLater(session string, reason checkpointReason, after time.Duration) {
	if !b.checkpoints.Enabled {
		return
	}
	b.spawn(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(b.sending), storeTimeout)
		defer cancel()
		if err := b.setCheckpoint(ctx, session, checkpointJob{Reason: reason}, after); err != nil {
			b.checkpoints.watch.forget(session)
			b.log.Warn("a checkpoint could not be planned; the next occasion takes its place", "session", session, "reason", reason, "error", err)
		}
	})
}

// answeredIn is called when a turn was answered. record is as it was at its
// claim.
func (b *Bot) answeredIn(record sessions.Record) {
	if !b.checkpoints.Enabled {
		return
	}
	if turns := record.TurnCount + 1 - record.Checkpoint.Turns; turns > 0 && turns%b.checkpoints.Turns == 0 {
		b.checkpointLater(record.ID, checkpointTurnLimit, 0)
	}
	if b.checkpoints.watch.answered(record.ID, record.Cleared, time.Now(), b.checkpoints.Idle) {
		b.checkpointLater(record.ID, checkpointIdle, b.checkpoints.Idle)
	}
}

// heardIn is called when a message was stored that asked for no answer.
func (b *Bot) heardIn(session string, group bool) {
	if !b.checkpoints.Enabled {
		return
	}
	arm, full := b.checkpoints.watch.heard(session, time.Now(), b.checkpoints.Checkpoints)
	switch {
	case full && group:
		b.checkpointLater(session, checkpointIdle, 0)
	case arm:
		b.checkpointLater(session, checkpointIdle, b.checkpoints.Idle)
	}
}

// timerHold is how long a timer that was fired is this worker's.
func timerHold(name string) time.Duration {
	if strings.HasPrefix(name, checkpointTimer) {
		return checkpointHold
	}
	return timerFor
}

// checkpointFired hands a checkpoint to a goroutine of its own: other work that
// is due does not wait for a model.
func (b *Bot) checkpointFired(ctx context.Context, timer sessions.Timer) error {
	var job checkpointJob
	if err := json.Unmarshal(timer.Payload, &job); err != nil {
		b.log.Error("a checkpoint's timer cannot be read; it is dropped", "session", timer.Home, "name", timer.Name, "error", err)
		return b.store.FinishTimer(ctx, timer)
	}
	if !b.checkpoints.Enabled && job.Reason != checkpointManual {
		return b.store.FinishTimer(ctx, timer)
	}
	select {
	case b.checkpoints.slots <- struct{}{}:
	default:
		return b.store.SetTimer(ctx, timer, checkpointBusy)
	}
	b.spawn(func() {
		defer func() { <-b.checkpoints.slots }()
		b.takeCheckpoint(timer, job)
	})
	return nil
}

// takeCheckpoint does a job and ends its timer, or sets it for the next look.
func (b *Bot) takeCheckpoint(timer sessions.Timer, job checkpointJob) {
	ctx, cancel := context.WithTimeout(b.intake, checkpointFor)
	defer cancel()
	var next time.Time
	err := guarded(b.log, "a checkpoint", func() (err error) {
		next, err = b.doCheckpoint(ctx, timer, job)
		return err
	})
	after, end := context.WithTimeout(context.WithoutCancel(b.sending), storeTimeout)
	defer end()
	if err = b.endCheckpoint(after, timer, job, next, err); err != nil && !errors.Is(err, sessions.ErrFenced) {
		b.log.Warn("a checkpoint's timer could not be ended; it is looked at again", "session", timer.Home, "error", err)
	}
}

// endCheckpoint ends a job's timer, or sets it for the next try or look: next
// says when that is, failure that nothing came of this one.
func (b *Bot) endCheckpoint(ctx context.Context, timer sessions.Timer, job checkpointJob, next time.Time, failure error) error {
	_, over := errors.AsType[*sessions.StateError](failure)
	switch {
	case failure != nil && b.intake.Err() != nil: // for whoever goes on
		return b.store.SetTimer(ctx, timer, 0)
	case over || errors.Is(failure, sessions.ErrNotFound):
		return b.store.FinishTimer(ctx, timer)
	case failure != nil && job.Tries+1 < checkpointTries:
		job.Tries++
		b.log.Warn("a checkpoint failed; nothing was changed, and it is tried again", "session", timer.Home, "reason", job.Reason, "tries", job.Tries, "error", failure)
		return b.setCheckpoint(ctx, timer.Home, job, checkpointPause(job.Tries))
	case failure != nil:
		b.log.Error("a checkpoint failed; nothing was changed, and the next occasion covers the same", "session", timer.Home, "reason", job.Reason, "error", failure)
		b.checkpoints.watch.forget(timer.Home)
	}
	if next.IsZero() {
		return b.store.FinishTimer(ctx, timer)
	}
	again, err := checkpointJob{Reason: job.Reason}.timer(timer.Home)
	if err != nil {
		return err
	}
	again.Due = next
	return b.store.SetTimer(ctx, again, 0)
}

// doCheckpoint makes the checkpoint that a timer asks for, if its reason holds.
// next is when to look again; zero: never.
func (b *Bot) doCheckpoint(ctx context.Context, timer sessions.Timer, job checkpointJob) (next time.Time, err error) {
	record, err := b.store.Get(ctx, timer.Home)
	if err != nil {
		return next, err
	}
	switch job.Reason {
	case checkpointManual:
		return next, b.checkpointAsked(ctx, record, job)
	case checkpointTurnLimit:
		if record.TurnCount-record.Checkpoint.Turns < b.checkpoints.Turns {
			return next, nil
		}
	case checkpointIdle:
		return b.checkpointWhenQuiet(ctx, record, timer.Due)
	case checkpointNewSession:
	}
	_, _, err = b.checkpoint(ctx, record, job.Reason)
	return next, err
}

// checkpointWhenQuiet makes a checkpoint of a session in which nothing was said
// for long enough when the timer was due, or of a group in which much was said
// that asked for no answer. All times are the store's.
func (b *Bot) checkpointWhenQuiet(ctx context.Context, record sessions.Record, due time.Time) (next time.Time, err error) {
	if quiet := record.LastActivityAt.Add(b.checkpoints.Idle); due.Before(quiet) {
		next = quiet
		if much, err := b.muchUnprompted(ctx, record); err != nil || !much {
			return next, err
		}
	} else if record.Status == sessions.StatusRunning || record.Status == sessions.StatusAwaiting || record.Queued > 0 {
		return due.Add(b.checkpoints.Idle), nil
	}
	_, _, err = b.checkpoint(ctx, record, checkpointIdle)
	return next, err
}

// muchUnprompted reports whether a group has said as much since the last
// checkpoint, without asking for an answer, as makes one due.
func (b *Bot) muchUnprompted(ctx context.Context, record sessions.Record) (bool, error) {
	if record.Source.Type != sessions.Group {
		return false, nil
	}
	entries, err := b.store.Range(ctx, record.ID, max(record.Checked(), record.Seq-sessions.EntriesPerCall)+1, record.Seq)
	count := 0
	for _, entry := range entries {
		if m, err := entry.Message(); err == nil && m.Role == sessions.RoleUser && !m.Triggered {
			count++
		}
	}
	return count >= b.checkpoints.Unprompted, err
}

// checkpointAsked makes the checkpoint that somebody asked for in a chat and
// tells him the outcome there. A failure is told, and not tried again.
func (b *Bot) checkpointAsked(ctx context.Context, record sessions.Record, job checkpointJob) error {
	result, outcome, err := b.checkpoint(ctx, record, checkpointManual)
	if b.intake.Err() != nil && err != nil {
		return err
	}
	if err != nil {
		b.log.Warn("a checkpoint that was asked for failed; nothing was changed", "session", record.ID, "error", err)
	}
	surface, parsed := adapters.ParseSurface(job.Surface)
	if parsed != nil {
		return nil // nobody waits there
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(b.sending), storeTimeout)
	defer cancel()
	return b.say(call, job.Key, sessions.DedupeFor, surface, checkpointText(result.Record, outcome, err), job.ReplyTo)
}
