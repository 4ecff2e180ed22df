package bot

import (
	"context"
	"time"

	"parley/adapters"
	"parley/bot/checkpoints"
	"parley/bot/commands"
	"parley/bot/delivery"
	"parley/bot/life"
	"parley/conversations"
	"parley/routing"
	"parley/sessions"
)

// newCommands gives the commands what they need of the bot.
func (b *Bot) newCommands() *commands.Commands {
	return commands.New(commands.Config{
		Ports: commands.Ports{
			Say: func(ctx context.Context, call commands.Call, key string, keyFor time.Duration, text string) error {
				return b.answer(ctx, arrivalOf(call), key, keyFor, text)
			},
			Rotate: b.rotate, Post: b.postText, Rerun: b.rerun, Stop: b.Stop, Checkpoint: b.checkpointAskedFor,
			Cleared: b.turns.Cache.Drop, Moved: b.turns.Cache.Moved, Listed: b.listed.remember, Linked: b.people.Forget, Problems: b.problems, Knock: b.announcer.knock,
		},
		Store: b.store, Room: &conversations.Room{Store: b.store, Log: b.log, Present: rollOf(b.config).present}, Schedules: b.schedules.book(), People: b.announcer.door,
		Policy: b.config.Policy, Model: b.config.Model.Name(), Replica: b.config.Replica, Log: b.log,
	})
}

// call is an arrival as the commands see it.
func (a arrival) call() commands.Call {
	call := commands.Call{Permission: a.decision.Permission, Event: a.event, User: a.user, Role: a.role, Key: a.key, Session: a.session, Held: a.held, Namespace: a.namespace, Reply: a.reply}
	if a.decision.Command != nil {
		call.Command = *a.decision.Command
	}
	return call
}

func arrivalOf(call commands.Call) arrival {
	return arrival{event: call.Event, user: call.User, role: call.Role, key: call.Key, session: call.Session, held: call.Held, reply: call.Reply}
}

// rotate begins a new conversation where a command was given, and says text
// there in the same step.
func (b *Bot) rotate(ctx context.Context, call commands.Call, text string) (string, error) {
	rows, err := b.outbox.Rows(delivery.Text{Surface: call.Event.Surface.Key(), Text: text, Format: adapters.Markdown, ReplyTo: call.Event.MessageID, Entry: -1})
	if err != nil {
		return "", err
	}
	asked := time.Now()
	result, err := b.store.Rotate(ctx, sessions.RotateRequest{
		Key: call.Key, Held: call.Held, New: newSession(call.Event, call.User.ID), Deliveries: rows, Send: b.outbox.Claimer(),
	})
	if err != nil {
		return "", err
	}
	if result.Old != "" {
		b.turns.Cache.Drop(result.Old)
		b.turns.Check(ctx, result.Old)
		b.checkpoints.Later(result.Old, checkpoints.NewSession, 0)
	}
	if len(rows) == 0 {
		call.Reply(text)
	}
	b.outbox.Send(result.Sends, asked)
	if result.Duplicate { // it has led to where the place is now, or on
		now, err := b.store.Bound(ctx, call.Event.Surface.Key())
		return now.ID, ignoreGone(err)
	}
	return result.Record.ID, nil
}

// postText takes in what was written behind a command.
func (b *Bot) postText(ctx context.Context, call commands.Call, key, text string) (sessions.PostResult, error) {
	a := arrivalOf(call)
	a.event.Text, a.event.Command, a.key = text, nil, key
	a.decision = routing.Decision{Action: routing.ActionTurn, Reason: routing.ReasonCommand, Directed: true}
	return b.post(ctx, a)
}

// rerun answers the last message of a session once more.
func (b *Bot) rerun(ctx context.Context, key, session string) (*sessions.Turn, bool, error) {
	call, cancel := life.Detached(ctx)
	defer cancel()
	turn, duplicate, err := b.store.Again(call, sessions.AgainRequest{Key: key, Session: session, Claim: b.turns.Claimer(), Known: b.turns.Cache.Known(session)})
	if err == nil && turn != nil {
		b.turns.Start(turn)
	}
	return turn, duplicate, err
}

// checkpointAskedFor makes a checkpoint that a command asks for. On a platform
// a timer does it, so that no event waits for the model and nothing is lost
// when the gateway dies: the outcome is told when it is there.
func (b *Bot) checkpointAskedFor(ctx context.Context, call commands.Call, record sessions.Record) (string, error) {
	if !call.Event.Surface.Platform.Own() {
		return "", b.checkpoints.Plan(ctx, record.ID, checkpoints.Job{
			Reason: checkpoints.Manual, Surface: call.Event.Surface.Key(), ReplyTo: call.Event.MessageID, Key: call.Key,
		}, 0)
	}
	result, outcome, err := b.checkpoints.Now(ctx, record, checkpointWait)
	return checkpoints.Text(result.Record, outcome, err), nil
}

// problems are the lines an owner should see, alone, of what is not well.
func (b *Bot) problems(ctx context.Context) []string {
	var out []string
	for _, part := range b.Readiness(ctx) {
		if !part.OK {
			out = append(out, part.Name+": "+part.Problem)
		}
	}
	return out
}
