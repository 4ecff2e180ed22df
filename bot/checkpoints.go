package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/agent"
	"parley/sessions"
)

// Defaults of Checkpoints.
const (
	CheckpointTurnsDefault      = 5
	CheckpointIdleDefault       = 10 * time.Minute
	CheckpointUnpromptedDefault = 20
)

// Checkpoints says when checkpoints are made without being asked for.
type Checkpoints struct {
	Enabled    bool
	Turns      int64         // after so many answers; 0: CheckpointTurnsDefault
	Idle       time.Duration // when so long nothing was said; 0: CheckpointIdleDefault
	Unprompted int           // after so many messages of a group that asked for no answer; 0: CheckpointUnpromptedDefault
}

func (c Checkpoints) withDefaults() Checkpoints {
	if c.Turns <= 0 {
		c.Turns = CheckpointTurnsDefault
	}
	if c.Idle <= 0 {
		c.Idle = CheckpointIdleDefault
	}
	if c.Unprompted <= 0 {
		c.Unprompted = CheckpointUnpromptedDefault
	}
	return c
}

// Bounds of one checkpoint.
const (
	// checkpointFor bounds its model call and what belongs to it.
	checkpointFor = time.Minute
	// checkpointsMax is how many are made at once because of timers.
	checkpointsMax = 4
	// checkpointWrites is how often it is tried to be written, while the
	// session changes in between.
	checkpointWrites = 20
)

// checkpointReason is why a checkpoint is made.
type checkpointReason string

const (
	checkpointManual     checkpointReason = "manual"
	checkpointNewSession checkpointReason = "new_session"
	checkpointTurnLimit  checkpointReason = "turn_limit"
	checkpointIdle       checkpointReason = "idle"
)

// checkpointOutcome is what became of a checkpoint.
type checkpointOutcome string

const (
	checkpointMade      checkpointOutcome = "made"
	checkpointNothing   checkpointOutcome = "nothing"   // nothing was said since the last one
	checkpointOvertaken checkpointOutcome = "overtaken" // another was made meanwhile, or the session cleared
	checkpointFailed    checkpointOutcome = "failed"
)

// errRewritten: what a checkpoint was to bring up to date was changed by hand
// while the model wrote.
var errRewritten = errors.New("the working memory was changed meanwhile")

// checkpoints is what a Bot needs for them.
type checkpoints struct {
	Checkpoints
	model agent.Model
	slots chan struct{}
	watch *idleWatch
}

func newCheckpoints(config Checkpoints, model agent.Model) *checkpoints {
	return &checkpoints{Checkpoints: config.withDefaults(), model: model, slots: make(chan struct{}, checkpointsMax), watch: newIdleWatch()}
}

// checkpoint brings a session's description and working memory up to date with
// what was said since the last checkpoint, by one request to the model and one
// write. With an error, nothing was changed: the next checkpoint begins where
// this one did. What is said meanwhile belongs to the next one.
//
// ErrNotFound; StateError: the session is expired; a *agent.ModelError,
// agent.ErrNoNotes, errRewritten, or what the store returns. The record is as
// it was read last.
func (b *Bot) checkpoint(ctx context.Context, record sessions.Record, reason checkpointReason) (result sessions.NoteResult, outcome checkpointOutcome, err error) {
	began := time.Now()
	defer func() {
		if err != nil {
			outcome = checkpointFailed
		}
		b.metrics.checkpointEnded(reason, outcome)
		b.log.Info("checkpoint", "session", record.ID, "reason", reason, "outcome", outcome, "took", time.Since(began))
	}()
	result.Record = record
	if record.State == sessions.StateExpired {
		return result, "", &sessions.StateError{Session: record.ID, State: record.State, Status: record.Status, Attempted: "checkpoint"}
	}
	said, err := readSaid(ctx, b.store, record, b.zone)
	if err != nil {
		return result, "", err
	}
	if len(said.lines) == 0 {
		return result, checkpointNothing, nil
	}
	notes, err := b.askForNotes(ctx, record, said)
	if err != nil {
		return result, "", err
	}
	note, err := checkpointNote(record, reason, said, notes)
	if err != nil {
		return result, "", err
	}
	return b.writeCheckpoint(ctx, record, note)
}

// askForNotes makes the request to the model.
func (b *Bot) askForNotes(ctx context.Context, record sessions.Record, said recent) (agent.CheckpointNotes, error) {
	request, err := agent.CheckpointRequest(agent.CheckpointInput{
		Group: record.Source.Type == sessions.Group, Description: record.Description, WorkingMemory: record.WorkingMemory,
		LeftOut: said.leftOut, Said: said.lines,
	})
	if err != nil {
		return agent.CheckpointNotes{}, err
	}
	answer, err := agent.Run(ctx, b.checkpoints.model, request, b.retry, nil)
	if err != nil {
		return agent.CheckpointNotes{}, err
	}
	return agent.ReadCheckpoint(answer.Text)
}

// checkpointNote is what a checkpoint writes. Pure.
func checkpointNote(record sessions.Record, reason checkpointReason, said recent, notes agent.CheckpointNotes) (sessions.NoteRequest, error) {
	payload := sessions.CheckpointEntry{
		Reason: string(reason), FromSeq: record.Checked() + 1, ToSeq: record.Seq, Turns: record.TurnCount - record.Checkpoint.Turns,
		LeftOut: said.leftOut, Text: notes.Description,
	}
	if record.DescriptionSource == sessions.DescriptionUser {
		payload.Text = "" // that one stays
	}
	entry, err := sessions.NewNote(sessions.EntryCheckpoint, payload)
	return sessions.NoteRequest{
		Session: record.ID, Entries: []sessions.NewEntry{entry},
		Patch: sessions.Patch{
			Description:   &sessions.Description{Text: notes.Description, Source: sessions.DescriptionAgent},
			WorkingMemory: &notes.WorkingMemory,
			Checkpoint:    &sessions.Checkpoint{Seq: record.Seq, Turns: record.TurnCount},
		},
	}, err
}

// writeCheckpoint writes the note, in one step, if nobody has made another
// checkpoint, cleared the session, removed it or changed its working memory
// since it was read. What was said meanwhile does not matter.
func (b *Bot) writeCheckpoint(ctx context.Context, read sessions.Record, note sessions.NoteRequest) (sessions.NoteResult, checkpointOutcome, error) {
	for range checkpointWrites {
		now, err := b.store.Get(ctx, read.ID)
		switch {
		case err != nil:
			return sessions.NoteResult{Record: read}, "", err
		case now.Checked() != read.Checked() || !now.CreatedAt.Equal(read.CreatedAt):
			return sessions.NoteResult{Record: now}, checkpointOvertaken, nil
		case now.WorkingMemory != read.WorkingMemory:
			return sessions.NoteResult{Record: now}, "", errRewritten
		}
		note.IfVersion = &now.Version
		result, err := b.store.Note(ctx, note)
		if errors.Is(err, sessions.ErrConflict) {
			continue
		}
		if err != nil {
			return sessions.NoteResult{Record: now}, "", err
		}
		return result, checkpointMade, nil
	}
	return sessions.NoteResult{Record: read}, "", fmt.Errorf("%w: the session changed all the time", sessions.ErrBusy)
}
