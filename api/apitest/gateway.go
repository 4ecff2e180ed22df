package apitest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"parley/adapters"
	"parley/api"
	"parley/sessions"
)

// Model answers a question. What it hands to write is shown as it grows; what
// it returns is the whole answer. An error is told to the person.
type Model func(ctx context.Context, question string, write func(piece string)) (answer string, err error)

// Echo is a model that answers at once.
func Echo(_ context.Context, question string, write func(string)) (string, error) {
	write("You said: ")
	write(question)
	return "You said: " + question, nil
}

// Gateway is api.Operations over Store.
type Gateway struct {
	Store sessions.Store
	Model Model
	Parts []api.PartHealth // for Readiness; nil: a store that is fine

	ctx   context.Context
	end   context.CancelFunc
	turns sync.WaitGroup
	mu    sync.Mutex
	stops map[string]context.CancelFunc
}

var _ api.Operations = (*Gateway)(nil)

// NewGateway makes a gateway. Close it at the end of the test.
func NewGateway(store sessions.Store, model Model) *Gateway {
	ctx, cancel := context.WithCancel(context.Background())
	return &Gateway{Store: store, Model: model, ctx: ctx, end: cancel, stops: map[string]context.CancelFunc{}}
}

// Close ends the turns that run, and waits for them.
func (g *Gateway) Close() {
	g.end()
	g.turns.Wait()
}

// Commands are those the gateway knows.
func Commands() []adapters.CommandInfo {
	return []adapters.CommandInfo{
		{Name: "help", Description: "What I can do"},
		{Name: "new", Description: "Begin a new conversation"},
		{Name: "status", Description: "Session, model, and what is going on"},
		{Name: "stop", Description: "Stop the answer being written"},
		{Name: "whoami", Description: "Your id and this place's key"},
	}
}

// Say stores a message and begins its turn, or carries out a command.
func (g *Gateway) Say(ctx context.Context, say api.Say) (api.Said, error) {
	switch strings.TrimSpace(say.Text) {
	case "/new":
		return g.fresh(ctx, say)
	case "/help":
		return api.Said{Reason: "command", Reply: "Here is what I know:\n\n- `/new` begins a **new** conversation\n- `/help` shows this"}, nil
	}
	request := sessions.PostRequest{
		Key: say.Key, Surface: say.Surface.Key(), Session: say.Session, Held: say.Held, Trigger: !say.Append, New: newSession(say),
		Message: sessions.Message{Role: sessions.RoleUser, Text: say.Text, Surface: say.Surface.Key(), Triggered: !say.Append,
			Sender: &sessions.Sender{ID: string(say.Sender.ID), Name: say.Sender.Name, Role: "owner"}},
	}
	if !say.Append {
		request.Claim = claimer()
	}
	post, err := g.Store.Post(ctx, request)
	if err != nil {
		return api.Said{}, err
	}
	if post.Turn != nil {
		g.begin(post.Turn)
	}
	return api.Said{Session: post.Session, Seq: post.Seq, Reason: "direct",
		Turn:      post.Outcome == sessions.PostClaimed || post.Outcome == sessions.PostQueued,
		Duplicate: post.Outcome == sessions.PostDuplicate}, nil
}

func newSession(say api.Say) sessions.NewSession {
	return sessions.NewSession{Surface: say.Surface.Key(), WorkspaceID: say.Workspace, Source: sessions.Source{
		Kind: string(say.Surface.Platform), Platform: string(say.Surface.Platform), Type: sessions.Direct}}
}

func claimer() *sessions.Claimer {
	return &sessions.Claimer{Owner: "apitest", For: time.Minute}
}

func (g *Gateway) fresh(ctx context.Context, say api.Say) (api.Said, error) {
	made, err := g.Store.Rotate(ctx, sessions.RotateRequest{Key: say.Key, Held: say.Held, New: newSession(say)})
	return api.Said{Reason: "command", Reply: "New conversation started.", MovedTo: made.Record.ID}, err
}

func (g *Gateway) begin(turn *sessions.Turn) {
	ctx, cancel := context.WithCancel(g.ctx)
	g.mu.Lock()
	g.stops[turn.Lease.Session] = cancel
	g.mu.Unlock()
	g.turns.Go(func() {
		defer cancel()
		for turn != nil && g.ctx.Err() == nil {
			turn = g.run(ctx, turn)
		}
	})
}

// run plays one turn, and gives the next.
func (g *Gateway) run(ctx context.Context, turn *sessions.Turn) *sessions.Turn {
	offset, shown := 0, ""
	write := func(piece string) {
		_ = g.Store.Publish(ctx, sessions.LiveEvent{Session: turn.Lease.Session, Kind: sessions.LiveDraft,
			Epoch: turn.Lease.Epoch, Offset: offset, Text: piece})
		offset += len(piece)
		shown += piece
	}
	question, _ := turn.Taken[len(turn.Taken)-1].Message()
	answer, err := g.Model(ctx, question.Text, write)
	result, err := g.Store.Commit(g.ctx, sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done,
		Entries: ending(ctx, answer, shown, err), Next: claimer()})
	if err != nil {
		return nil
	}
	return result.Next
}

func ending(ctx context.Context, answer, shown string, err error) (entries []sessions.NewEntry) {
	broken := err != nil && ctx.Err() == nil
	if !broken || shown != "" {
		message := sessions.Message{Role: sessions.RoleAssistant, Text: answer, Model: "apitest"}
		if err != nil {
			message.Text, message.Partial, message.Stopped = shown, true, !broken
		}
		entry, _ := sessions.NewMessage(message)
		entries = append(entries, entry)
	}
	if broken {
		payload, _ := json.Marshal(sessions.ErrorEntry{Text: "The model did not answer.", Cause: err.Error()})
		entries = append(entries, sessions.NewEntry{Type: sessions.EntryError, Payload: payload})
	}
	return entries
}

// Stop ends the running turn.
func (g *Gateway) Stop(ctx context.Context, session string) (bool, error) {
	running, err := g.Store.Stop(ctx, session)
	g.mu.Lock()
	defer g.mu.Unlock()
	if stop := g.stops[session]; running && stop != nil {
		stop()
	}
	return running, err
}

// Checkpoint lets the model describe the session.
func (g *Gateway) Checkpoint(ctx context.Context, session string) (api.Checkpointed, error) {
	record, err := g.Store.Get(ctx, session)
	if err != nil || record.Checked() == record.Seq {
		return api.Checkpointed{Record: record}, err
	}
	description, err := g.Model(ctx, "checkpoint", func(string) {})
	if err != nil {
		return api.Checkpointed{}, fmt.Errorf("%w: %w", api.ErrNoCheckpoint, err)
	}
	entry, err := sessions.NewNote(sessions.EntryCheckpoint, sessions.CheckpointEntry{Reason: "manual", FromSeq: record.Checked() + 1, ToSeq: record.Seq})
	if err != nil {
		return api.Checkpointed{}, err
	}
	result, err := g.Store.Note(ctx, sessions.NoteRequest{Session: session, Entries: []sessions.NewEntry{entry}, Patch: sessions.Patch{
		Description: &sessions.Description{Text: description, Source: sessions.DescriptionAgent}, Checkpoint: &sessions.Checkpoint{Seq: record.Seq + 1},
	}})
	return api.Checkpointed{Made: true, Record: result.Record, Entries: result.Entries}, err
}

// Readiness gives Parts.
func (g *Gateway) Readiness(context.Context) []api.PartHealth {
	if g.Parts == nil {
		return []api.PartHealth{{Name: "store", OK: true, State: "ready"}}
	}
	return g.Parts
}

// Shown strips a whole-text silence marker, as much as these tests need.
func Shown(text string) (shown string, silent bool) {
	return strings.TrimSpace(strings.ReplaceAll(text, "<NO_REPLY>", "")), strings.TrimSpace(text) == "<NO_REPLY>"
}
