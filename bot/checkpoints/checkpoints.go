package checkpoints

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"parley/agent"
	"parley/bot/delivery"
	"parley/bot/life"
	"parley/bot/metrics"
	"parley/sessions"
)

// Defaults of Rules.
const (
	TurnsDefault      = 5
	IdleDefault       = 10 * time.Minute
	UnpromptedDefault = 20
)

// Rules say when checkpoints are made without being asked for.
type Rules struct {
	Enabled    bool
	Turns      int64         // after so many answers; 0: TurnsDefault
	Idle       time.Duration // when so long nothing was said; 0: IdleDefault
	Unprompted int           // after so many messages of a group that asked for no answer; 0: UnpromptedDefault
}

func (c Rules) withDefaults() Rules {
	if c.Turns <= 0 {
		c.Turns = TurnsDefault
	}
	if c.Idle <= 0 {
		c.Idle = IdleDefault
	}
	if c.Unprompted <= 0 {
		c.Unprompted = UnpromptedDefault
	}
	return c
}

// Bounds of one checkpoint.
const (
	// makeFor bounds its model call and what belongs to it.
	makeFor = time.Minute
	// parallel is how many are made at once because of timers.
	parallel = 4
	// writesMax is how often it is tried to be written, while the
	// session changes in between.
	writesMax = 20
)

// Reason is why a checkpoint is made.
type Reason string

// The reasons.
const (
	Manual     Reason = "manual"
	NewSession Reason = "new_session"
	TurnLimit  Reason = "turn_limit"
	Idle       Reason = "idle"
)

// Reasons are all there are.
func Reasons() []string {
	return []string{string(Manual), string(NewSession), string(TurnLimit), string(Idle)}
}

// Outcome is what became of a checkpoint.
type Outcome string

// The outcomes.
const (
	Made      Outcome = "made"
	Nothing   Outcome = "nothing"   // nothing was said since the last one
	Overtaken Outcome = "overtaken" // another was made meanwhile, or the session cleared
	Failed    Outcome = "failed"
)

// Outcomes are all there are.
func Outcomes() []string {
	return []string{string(Made), string(Nothing), string(Overtaken), string(Failed)}
}

// ErrRewritten is returned when what a checkpoint was to bring up to date was changed by hand
// while the model wrote.
var ErrRewritten = errors.New("the working memory was changed meanwhile")

// Config is what a Maker is made of. All but Retry is required.
type Config struct {
	Rules   Rules
	Store   Store
	Model   agent.Model
	Retry   agent.RunOptions
	Outbox  *delivery.Outbox
	Life    *life.Life
	Metrics *metrics.Metrics
	Log     *slog.Logger
	Zone    *time.Location // of the times that the model reads
}

// Store is what a Maker needs of a store.
type Store interface {
	sessions.Log
	sessions.Timers
	Get(ctx context.Context, id string) (sessions.Record, error)
	Note(ctx context.Context, request sessions.NoteRequest) (sessions.NoteResult, error)
}

// Maker makes checkpoints. Its methods may be called from any goroutine that
// Life knows of.
type Maker struct {
	Config
	slots chan struct{}
	watch *idleWatch
}

// New makes a Maker that makes none yet.
func New(config Config) *Maker {
	config.Rules = config.Rules.withDefaults()
	return &Maker{Config: config, slots: make(chan struct{}, parallel), watch: newIdleWatch()}
}

// Make brings a session's description and working memory up to date with
// what was said since the last checkpoint, by one request to the model and one
// write. With an error, nothing was changed: the next checkpoint begins where
// this one did. What is said meanwhile belongs to the next one.
//
// ErrNotFound; StateError: the session is expired; a *agent.ModelError,
// agent.ErrNoNotes, ErrRewritten, or what the store returns. The record is as
// it was read last.
func (m *Maker) Make(ctx context.Context, record sessions.Record, reason Reason) (result sessions.NoteResult, outcome Outcome, err error) {
	began := time.Now()
	defer func() {
		if err != nil {
			outcome = Failed
		}
		m.Metrics.CheckpointEnded(string(reason), string(outcome))
		m.Log.Info("checkpoint", "session", record.ID, "reason", reason, "outcome", outcome, "took", time.Since(began))
	}()
	result.Record = record
	if record.State == sessions.StateExpired {
		return result, "", &sessions.StateError{Session: record.ID, State: record.State, Status: record.Status, Attempted: "checkpoint"}
	}
	said, err := readSaid(ctx, m.Store, record, m.Zone)
	if err != nil {
		return result, "", err
	}
	if len(said.lines) == 0 {
		return result, Nothing, nil
	}
	notes, err := m.askForNotes(ctx, record, said)
	if err != nil {
		return result, "", err
	}
	note, err := note(record, reason, said, notes)
	if err != nil {
		return result, "", err
	}
	return m.write(ctx, record, note)
}

// askForNotes makes the request to the model.
func (m *Maker) askForNotes(ctx context.Context, record sessions.Record, said recent) (agent.CheckpointNotes, error) {
	request, err := agent.CheckpointRequest(agent.CheckpointInput{
		Group: record.Source.Type == sessions.Group, Description: record.Description, WorkingMemory: record.WorkingMemory,
		LeftOut: said.leftOut, Said: said.lines,
	})
	if err != nil {
		return agent.CheckpointNotes{}, err
	}
	answer, err := agent.Run(ctx, m.Model, request, m.Retry, nil)
	if err != nil {
		return agent.CheckpointNotes{}, err
	}
	return agent.ReadCheckpoint(answer.Text)
}

// note is what a checkpoint writes. Pure.
func note(record sessions.Record, reason Reason, said recent, notes agent.CheckpointNotes) (sessions.NoteRequest, error) {
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

// write writes the note, in one step, if nobody has made another
// checkpoint, cleared the session, removed it or changed its working memory
// since it was read. What was said meanwhile does not matter.
func (m *Maker) write(ctx context.Context, read sessions.Record, note sessions.NoteRequest) (sessions.NoteResult, Outcome, error) {
	for range writesMax {
		now, err := m.Store.Get(ctx, read.ID)
		switch {
		case err != nil:
			return sessions.NoteResult{Record: read}, "", err
		case now.Checked() != read.Checked() || !now.CreatedAt.Equal(read.CreatedAt):
			return sessions.NoteResult{Record: now}, Overtaken, nil
		case now.WorkingMemory != read.WorkingMemory:
			return sessions.NoteResult{Record: now}, "", ErrRewritten
		}
		note.IfVersion = &now.Version
		result, err := m.Store.Note(ctx, note)
		if errors.Is(err, sessions.ErrConflict) {
			continue
		}
		if err != nil {
			return sessions.NoteResult{Record: now}, "", err
		}
		return result, Made, nil
	}
	return sessions.NoteResult{Record: read}, "", fmt.Errorf("%w: the session changed all the time", sessions.ErrBusy)
}
