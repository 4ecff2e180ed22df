package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/adapters"
	"parley/api"
	"parley/bot/checkpoints"
	"parley/bot/texts"
	"parley/routing"
	"parley/sessions"
)

var _ api.Operations = (*Bot)(nil)

// pingTimeout bounds how long readiness waits for the store: longer than a store
// waits for its replicas, so that it can say that they are missing.
const pingTimeout = 1800 * time.Millisecond

// checkpointWait is how long whoever asked on a local surface waits for the
// outcome: less than the request that carries it may take.
const checkpointWait = 25 * time.Second

// Say takes in a message of a local surface, the way an adapter's event goes.
func (b *Bot) Say(ctx context.Context, say api.Say) (api.Said, error) {
	if !b.life.Enter() {
		return api.Said{}, api.ErrStopping
	}
	defer b.life.Leave()
	event := adapters.Event{
		Kind: adapters.EventMessage, ID: say.Key, Surface: say.Surface, Direct: true, Sender: say.Sender,
		Workspace: say.Workspace, Text: say.Text, Time: time.Now(),
	}
	if event.Sender.ID == "" {
		event.Sender.ID = say.Surface.Platform.Owner()
	}
	if say.Append {
		return b.append(ctx, say, event)
	}
	if a := spokenBy(say, event); a.namespace != "" && b.secret(a) {
		return api.Said{Reason: string(routing.ReasonCommandRefused), Reply: texts.LinkProgram}, nil
	}
	out, err := b.handle(ctx, spokenBy(say, event))
	if err != nil {
		return api.Said{}, err
	}
	return b.said(out), nil
}

// spokenBy is the arrival of what a program or page says.
func spokenBy(say api.Say, event adapters.Event) arrival {
	return arrival{event: event, session: say.Session, held: say.Held, spoken: say.Sender.ID != "",
		limits: limits{namespace: say.Namespace, most: routing.Role(say.MaxRole)}}
}

// append stores a message without asking for an answer.
func (b *Bot) append(ctx context.Context, say api.Say, event adapters.Event) (api.Said, error) {
	a := spokenBy(say, event)
	if err := b.decide(ctx, &a); err != nil {
		return api.Said{}, err
	}
	if a.decision.Action == routing.ActionNotice || a.decision.Action == routing.ActionDrop {
		return api.Said{Reason: string(a.decision.Reason), Reply: texts.Notice(a.decision.Notice, a.event.Sender.ID)}, nil
	}
	if b.secret(a) {
		return api.Said{Reason: string(a.decision.Reason), Reply: texts.LinkNotSaid}, nil
	}
	a.decision.Action = routing.ActionLog
	var reply string
	a.reply = func(text string) { reply = text }
	post, err := b.post(ctx, a)
	out := b.said(taken{post: post, decision: a.decision, reply: reply})
	b.logDecision(ctx, a, taken{post: post, decision: a.decision}, err)
	return out, err
}

func (b *Bot) said(out taken) api.Said {
	return api.Said{
		Session: out.post.Session, Seq: out.post.Seq, Reason: string(out.decision.Reason), Reply: out.reply,
		Turn:      out.post.Outcome == sessions.PostClaimed || out.post.Outcome == sessions.PostQueued,
		Duplicate: out.post.Outcome == sessions.PostDuplicate, MovedTo: b.ledTo(out),
	}
}

// ledTo is the session that a command has given its place.
func (b *Bot) ledTo(out taken) string {
	if out.decision.Action == routing.ActionCommand && b.commands.Leads(out.decision.Command.Name) {
		return out.post.Session
	}
	return ""
}

// Stop asks the running turn of a session to stop, here at once and on
// another replica by the store.
func (b *Bot) Stop(ctx context.Context, session string) (bool, error) {
	running, err := b.store.Stop(ctx, session)
	if running {
		b.turns.Check(ctx, session)
	}
	return running, err
}

// Checkpoint makes a checkpoint of a session now.
func (b *Bot) Checkpoint(ctx context.Context, session string) (api.Checkpointed, error) {
	if !b.life.Enter() {
		return api.Checkpointed{}, api.ErrStopping
	}
	defer b.life.Leave()
	record, err := b.store.Get(ctx, session)
	if err != nil {
		return api.Checkpointed{}, err
	}
	result, outcome, err := b.checkpoints.Now(ctx, record, api.CheckpointMax)
	switch {
	case err == nil:
	case b.life.Thinking.Err() != nil:
		return api.Checkpointed{}, api.ErrStopping
	case isStores(err):
		return api.Checkpointed{}, err
	default:
		return api.Checkpointed{}, fmt.Errorf("%w: %w", api.ErrNoCheckpoint, err)
	}
	return api.Checkpointed{Made: outcome == checkpoints.Made, Record: result.Record, Entries: result.Entries}, nil
}

// isStores: an error of the store or about the session, not of the model.
func isStores(err error) bool {
	_, state := errors.AsType[*sessions.StateError](err)
	return state || isInvalid(err) || errors.Is(err, sessions.ErrNotFound) || errors.Is(err, sessions.ErrUnavailable) || errors.Is(err, sessions.ErrClosed)
}

// Readiness reports store, model and each connection.
func (b *Bot) Readiness(ctx context.Context) []api.PartHealth {
	parts := []api.PartHealth{b.storeHealth(ctx), b.modelHealth()}
	for _, adapter := range b.config.Adapters {
		health := adapter.Health()
		name := string(adapter.Capabilities().Platform)
		if account := adapter.Account(); account != "" {
			name += ":" + account
		}
		parts = append(parts, api.PartHealth{Name: name, OK: health.OK(), State: string(health.State), Problem: health.Problem, Since: health.Since})
	}
	if b.life.Intake.Err() != nil {
		parts = append(parts, api.PartHealth{Name: "gateway", State: "stopping", Problem: "the gateway is stopping; another replica should get the traffic"})
	}
	return parts
}

func (b *Bot) storeHealth(ctx context.Context) api.PartHealth {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := b.store.Ping(ctx); err != nil {
		return api.PartHealth{Name: "store", State: "away", Problem: "the store does not answer: " + err.Error() + "; nothing is acknowledged until it is back"}
	}
	return api.PartHealth{Name: "store", OK: true, State: "ready"}
}

func (b *Bot) modelHealth() api.PartHealth {
	problem, since := b.turns.ModelHealth()
	if problem != "" {
		return api.PartHealth{Name: "model", Advisory: true, State: "failing", Problem: problem, Since: since}
	}
	return api.PartHealth{Name: "model", Advisory: true, OK: true, State: b.config.Model.Name(), Since: since}
}
