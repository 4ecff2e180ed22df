package checkpoints

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"parley/adapters"
	"parley/bot/delivery"
	"parley/internal/guard"
	"parley/sessions"
)

// Checkpoints are made because of timers whose Home is the session, and whose
// name is timerPrefix and the reason. A timer that was cleared away with
// its session, or whose session is gone, does nothing.
const (
	Purpose     = "checkpoint"
	timerPrefix = Purpose + ":"
	// Hold is how long one that was fired is this worker's; if it
	// dies, the next one begins then.
	Hold = makeFor + sessions.LeaseFor
	// busyPause puts one off that finds no free slot.
	busyPause = 20 * time.Second
	// triesMax is how often one is made because of one occasion. Then
	// the next occasion is waited for.
	triesMax = 3
)

// retryPause is the time after a failure until the next try.
func retryPause(tries int) time.Duration {
	if tries <= 1 {
		return time.Minute
	}
	return 10 * time.Minute
}

// Job is the payload of a checkpoint's timer.
type Job struct {
	Reason Reason `json:"reason"`
	Tries  int    `json:"tries,omitempty"` // that failed
	// Of Manual: where the outcome is told, in answer to which message,
	// under which key. Not told: Surface is empty.
	Surface string `json:"surface,omitempty"`
	ReplyTo string `json:"reply_to,omitempty"`
	Key     string `json:"key,omitempty"`
}

// timer is the job's timer. Each answer that is owed has one of its own.
func (j Job) timer(session string) (sessions.Timer, error) {
	name := timerPrefix + string(j.Reason)
	if j.Key != "" {
		sum := sha256.Sum256([]byte(j.Key))
		name += ":" + hex.EncodeToString(sum[:8])
	}
	payload, err := json.Marshal(j)
	return sessions.Timer{Home: session, Name: name, Purpose: Purpose, Payload: payload}, err
}

// Plan sets a job's timer.
func (m *Maker) Plan(ctx context.Context, session string, job Job, after time.Duration) error {
	timer, err := job.timer(session)
	if err != nil {
		return err
	}
	return m.Store.SetTimer(ctx, timer, after)
}

// Later sets a job's timer, without anybody waiting for it. Should it
// fail, the next occasion takes its place.
func (m *Maker) Later(session string, reason Reason, after time.Duration) {
	if !m.Rules.Enabled {
		return
	}
	m.Life.Spawn(func() {
		ctx, cancel := m.Life.Call()
		defer cancel()
		if err := m.Plan(ctx, session, Job{Reason: reason}, after); err != nil {
			m.watch.forget(session)
			m.Log.Warn("a checkpoint could not be planned; the next occasion takes its place", "session", session, "reason", reason, "error", err)
		}
	})
}

// Answered is called when a turn was answered. record is as it was at its
// claim.
func (m *Maker) Answered(record sessions.Record) {
	if !m.Rules.Enabled {
		return
	}
	if turns := record.TurnCount + 1 - record.Checkpoint.Turns; turns > 0 && turns%m.Rules.Turns == 0 {
		m.Later(record.ID, TurnLimit, 0)
	}
	if m.watch.answered(record.ID, record.Cleared, time.Now(), m.Rules.Idle) {
		m.Later(record.ID, Idle, m.Rules.Idle)
	}
}

// Heard is called when a message was stored that asked for no answer.
func (m *Maker) Heard(session string, group bool) {
	if !m.Rules.Enabled {
		return
	}
	arm, full := m.watch.heard(session, time.Now(), m.Rules)
	switch {
	case full && group:
		m.Later(session, Idle, 0)
	case arm:
		m.Later(session, Idle, m.Rules.Idle)
	}
}

// Fired hands a checkpoint to a goroutine of its own: other work that
// is due does not wait for a model.
func (m *Maker) Fired(ctx context.Context, timer sessions.Timer) error {
	var job Job
	if err := json.Unmarshal(timer.Payload, &job); err != nil {
		m.Log.Error("a checkpoint's timer cannot be read; it is dropped", "session", timer.Home, "name", timer.Name, "error", err)
		return m.Store.FinishTimer(ctx, timer)
	}
	if !m.Rules.Enabled && job.Reason != Manual {
		return m.Store.FinishTimer(ctx, timer)
	}
	select {
	case m.slots <- struct{}{}:
	default:
		return m.Store.SetTimer(ctx, timer, busyPause)
	}
	m.Life.Spawn(func() {
		defer func() { <-m.slots }()
		m.run(timer, job)
	})
	return nil
}

// run does a job and ends its timer, or sets it for the next look.
func (m *Maker) run(timer sessions.Timer, job Job) {
	ctx, cancel := context.WithTimeout(m.Life.Intake, makeFor)
	defer cancel()
	var next time.Time
	err := guard.Run(m.Log, "a checkpoint", func() (err error) {
		next, err = m.makeIfDue(ctx, timer, job)
		return err
	})
	after, end := m.Life.Call()
	defer end()
	if err = m.finish(after, timer, job, next, err); err != nil && !errors.Is(err, sessions.ErrFenced) {
		m.Log.Warn("a checkpoint's timer could not be ended; it is looked at again", "session", timer.Home, "error", err)
	}
}

// finish ends a job's timer, or sets it for the next try or look: next
// says when that is, failure that nothing came of this one.
func (m *Maker) finish(ctx context.Context, timer sessions.Timer, job Job, next time.Time, failure error) error {
	_, over := errors.AsType[*sessions.StateError](failure)
	switch {
	case failure != nil && m.Life.Intake.Err() != nil: // for whoever goes on
		return m.Store.SetTimer(ctx, timer, 0)
	case over || errors.Is(failure, sessions.ErrNotFound):
		return m.Store.FinishTimer(ctx, timer)
	case failure != nil && job.Tries+1 < triesMax:
		job.Tries++
		m.Log.Warn("a checkpoint failed; nothing was changed, and it is tried again", "session", timer.Home, "reason", job.Reason, "tries", job.Tries, "error", failure)
		return m.Plan(ctx, timer.Home, job, retryPause(job.Tries))
	case failure != nil:
		m.Log.Error("a checkpoint failed; nothing was changed, and the next occasion covers the same", "session", timer.Home, "reason", job.Reason, "error", failure)
		m.watch.forget(timer.Home)
	}
	if next.IsZero() {
		return m.Store.FinishTimer(ctx, timer)
	}
	again, err := Job{Reason: job.Reason}.timer(timer.Home)
	if err != nil {
		return err
	}
	again.Due = next
	return m.Store.SetTimer(ctx, again, 0)
}

// makeIfDue makes the checkpoint that a timer asks for, if its reason holds.
// next is when to look again; zero: never.
func (m *Maker) makeIfDue(ctx context.Context, timer sessions.Timer, job Job) (next time.Time, err error) {
	record, err := m.Store.Get(ctx, timer.Home)
	if err != nil {
		return next, err
	}
	switch job.Reason {
	case Manual:
		return next, m.makeAndTell(ctx, record, job)
	case TurnLimit:
		if record.TurnCount-record.Checkpoint.Turns < m.Rules.Turns {
			return next, nil
		}
	case Idle:
		return m.makeWhenQuiet(ctx, record, timer.Due)
	case NewSession:
	}
	_, _, err = m.Make(ctx, record, job.Reason)
	return next, err
}

// makeWhenQuiet makes a checkpoint of a session in which nothing was said
// for long enough when the timer was due, or of a group in which much was said
// that asked for no answer. All times are the store's.
func (m *Maker) makeWhenQuiet(ctx context.Context, record sessions.Record, due time.Time) (next time.Time, err error) {
	if quiet := record.LastActivityAt.Add(m.Rules.Idle); due.Before(quiet) {
		next = quiet
		if much, err := m.muchUnprompted(ctx, record); err != nil || !much {
			return next, err
		}
	} else if record.Status == sessions.StatusRunning || record.Status == sessions.StatusAwaiting || record.Queued > 0 {
		return due.Add(m.Rules.Idle), nil
	}
	_, _, err = m.Make(ctx, record, Idle)
	return next, err
}

// muchUnprompted reports whether a group has said as much since the last
// checkpoint, without asking for an answer, as makes one due.
func (m *Maker) muchUnprompted(ctx context.Context, record sessions.Record) (bool, error) {
	if record.Source.Type != sessions.Group {
		return false, nil
	}
	entries, err := m.Store.Range(ctx, record.ID, max(record.Checked(), record.Seq-sessions.EntriesPerCall)+1, record.Seq)
	count := 0
	for _, entry := range entries {
		if m, err := entry.Message(); err == nil && m.Role == sessions.RoleUser && !m.Triggered {
			count++
		}
	}
	return count >= m.Rules.Unprompted, err
}

// makeAndTell makes the checkpoint that somebody asked for in a chat and
// tells them the outcome there. A failure is told, and not tried again.
func (m *Maker) makeAndTell(ctx context.Context, record sessions.Record, job Job) error {
	result, outcome, err := m.Make(ctx, record, Manual)
	if m.Life.Intake.Err() != nil && err != nil {
		return err
	}
	if err != nil {
		m.Log.Warn("a checkpoint that was asked for failed; nothing was changed", "session", record.ID, "error", err)
	}
	surface, parsed := adapters.ParseSurface(job.Surface)
	if parsed != nil {
		return nil // nobody waits there
	}
	call, cancel := m.Life.Call()
	defer cancel()
	text := Text(result.Record, outcome, err)
	return m.Outbox.Say(call, job.Key, sessions.DedupeFor, delivery.Text{Surface: surface.Key(), Text: text, Format: adapters.Markdown, ReplyTo: job.ReplyTo})
}
