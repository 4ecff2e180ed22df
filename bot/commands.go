package bot

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/adapters"
	"parley/routing"
	"parley/sessions"
)

// command runs a command. What it changes is idempotent or carries the event's
// key, and its answer goes out under that key: an event that is delivered twice
// is acted on and answered once.
func (b *Bot) command(ctx context.Context, a arrival) (sessions.PostResult, error) {
	none := sessions.PostResult{}
	if refused, err := b.asInGroup(ctx, &a); err != nil || refused {
		if refused {
			err = b.answer(ctx, a, a.key, sessions.DedupeFor, noticeText(a))
		}
		return none, err
	}
	switch a.decision.Command.Name {
	case "new":
		return none, b.commandNew(ctx, a)
	case "retry":
		return b.commandRetry(ctx, a)
	case "checkpoint":
		return b.commandCheckpoint(ctx, a)
	case "link":
		return none, b.commandLink(ctx, a)
	case "sessions", "resume", "fork", "name", "label", "branch", "clear":
		return b.commandConversation(ctx, a)
	}
	text, err := b.commandText(ctx, a)
	if err != nil {
		return none, err
	}
	return none, b.answer(ctx, a, a.key, sessions.DedupeFor, text)
}

// commandText runs the commands whose whole effect is an answer or idempotent.
func (b *Bot) commandText(ctx context.Context, a arrival) (string, error) {
	switch a.decision.Command.Name {
	case "start":
		return startText(a, b.policy), nil
	case "help":
		return helpText(a, b.policy), nil
	case "whoami":
		return whoamiText(a), nil
	case "status":
		return b.commandStatus(ctx, a)
	case "stop":
		return b.commandStop(ctx, a)
	case "tree":
		return b.commandTree(ctx, a)
	case "allow":
		return b.commandAllow(ctx, a)
	case "schedule":
		return b.commandSchedule(ctx, a)
	default:
		return "", errors.New("the command table has a command that nothing runs: " + a.decision.Command.Name)
	}
}

func (b *Bot) commandNew(ctx context.Context, a arrival) error {
	rows, err := b.outgoing(a.event.Surface.Key(), textNew, adapters.Markdown, a.event.MessageID, -1)
	if err != nil {
		return err
	}
	asked := time.Now()
	result, err := b.store.Rotate(ctx, sessions.RotateRequest{
		Key: a.key, New: newSession(a.event, a.user.ID), Deliveries: rows, Send: b.sender(),
	})
	if err != nil {
		return err
	}
	if result.Old != "" {
		b.tails.drop(result.Old)
		b.leases.check(ctx, result.Old)
		b.checkpointLater(result.Old, checkpointNewSession, 0)
	}
	if !result.Duplicate && len(rows) == 0 {
		a.reply(textNew)
	}
	b.deliverAll(result.Sends, asked)
	return nil
}

func (b *Bot) commandRetry(ctx context.Context, a arrival) (sessions.PostResult, error) {
	none := sessions.PostResult{}
	record, err := b.current(ctx, a)
	if errors.Is(err, sessions.ErrNotFound) {
		return none, b.answer(ctx, a, a.key, sessions.DedupeFor, textNothingToTry)
	}
	if err != nil {
		return none, err
	}
	call, cancel := detached(ctx)
	defer cancel()
	turn, duplicate, err := b.store.Again(call, sessions.AgainRequest{Key: a.key, Session: record.ID, Claim: b.claimer(), Known: b.tails.known(record.ID)})
	state, busy := errors.AsType[*sessions.StateError](err)
	switch {
	case errors.Is(err, sessions.ErrNothing):
		return none, b.answer(ctx, a, a.key, sessions.DedupeFor, textNothingToTry)
	case busy && state.State == sessions.StateExpired:
		return none, b.answer(ctx, a, a.key, sessions.DedupeFor, textEnded)
	case busy:
		return none, b.answer(ctx, a, a.key, sessions.DedupeFor, textStillRunning)
	case err != nil:
		return none, err
	}
	if turn != nil {
		b.startTurn(turn)
	}
	if a.event.Command != nil { // its platform waits for an answer to the command itself
		if err := b.answer(ctx, a, a.key+":again", sessions.DedupeFor, textAgain); err != nil {
			return none, err
		}
	}
	outcome := sessions.PostQueued
	if duplicate {
		outcome = sessions.PostDuplicate
	}
	return sessions.PostResult{Session: record.ID, Outcome: outcome, Turn: turn}, nil
}

// current is the record of the session that a command is about.
func (b *Bot) current(ctx context.Context, a arrival) (sessions.Record, error) {
	if a.session != "" {
		return b.store.Get(ctx, a.session)
	}
	return b.store.Bound(ctx, a.event.Surface.Key())
}

func (b *Bot) commandStatus(ctx context.Context, a arrival) (string, error) {
	record, err := b.current(ctx, a)
	if errors.Is(err, sessions.ErrNotFound) {
		return noSessionText(a.event.Surface), nil
	}
	if err != nil {
		return "", err
	}
	var problems []string
	if a.role == routing.Owner && a.event.Direct {
		problems = b.problems(ctx)
	}
	return statusText(record, b.model.Name(), problems), nil
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

func (b *Bot) commandStop(ctx context.Context, a arrival) (string, error) {
	record, err := b.current(ctx, a)
	if errors.Is(err, sessions.ErrNotFound) {
		return textNothingRuns, nil
	}
	if err != nil {
		return "", err
	}
	asked, err := b.asked(ctx, record)
	if err != nil {
		return "", err
	}
	if a.decision.Permission == routing.PermOwnTurn && (asked.Sender == nil || !a.user.Is(asked.Sender.ID)) {
		if record.Status == sessions.StatusRunning {
			return textNotYours, nil
		}
		return textNothingRuns, nil // or what does, between two attempts, is another's
	}
	// Delivered once more, a stop is not meant for what was asked since.
	if asked.Surface == a.event.Surface.Key() && a.event.Sequence != 0 && asked.Sequence > a.event.Sequence {
		return textNothingRuns, nil
	}
	running, err := b.Stop(ctx, record.ID)
	if err != nil || running {
		return textStopped, err
	}
	return textNothingRuns, nil
}

// asked is the newest message that the open turn answers, or that the last one
// answered; zero: there is none. The messages of one turn stand together at the
// end of the branch; the newest speaks for them all, since they were asked one
// after the other.
func (b *Bot) asked(ctx context.Context, record sessions.Record) (sessions.Message, error) {
	// By seq, they may stand on either side of the leaf.
	entries, err := b.store.Range(ctx, record.ID, record.Leaf-sessions.TailMax, record.Leaf+sessions.TailMax)
	if err != nil {
		return sessions.Message{}, err
	}
	path, _ := sessions.Branch(sessions.Lines(entries), record.Leaf)
	for _, line := range slices.Backward(path) {
		if line.Message != nil && line.Message.Triggered {
			return *line.Message, nil
		}
	}
	return sessions.Message{}, nil
}

func (b *Bot) commandAllow(ctx context.Context, a arrival) (string, error) {
	chat, off := a.event.Surface.ChatKey(), false
	switch args := a.decision.Command.Args; {
	case args == "off":
		off = true
	case args != "":
		named, err := adapters.ParseSurface(args)
		if err != nil {
			return textAllowWhich, nil //nolint:nilerr // the person is told what to write instead
		}
		chat = named.ChatKey()
	case a.event.Direct:
		return textAllowWhich, nil
	}
	if off && a.event.Direct {
		return textAllowWhich, nil
	}
	if off {
		if err := b.store.UnlistChat(ctx, chat); err != nil {
			return "", err
		}
		b.listed.remember(chat, false)
		return textGroupOff, nil
	}
	return textAllowed, b.listChat(ctx, chat, string(a.event.Sender.ID))
}
