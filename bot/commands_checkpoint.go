package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/agent"
	"parley/api"
	"parley/sessions"
)

// checkpointWait is how long whoever asked on a local surface waits for the
// outcome: less than the request that carries it may take.
const checkpointWait = 25 * time.Second

// commandCheckpoint makes a checkpoint of the session. On a platform a timer
// does it, so that no event waits for the model and nothing is lost when the
// gateway dies: the outcome is told when it is there.
func (b *Bot) commandCheckpoint(ctx context.Context, a arrival) (sessions.PostResult, error) {
	none := sessions.PostResult{}
	record, answer, err := b.here(ctx, a)
	if err != nil {
		return none, err
	}
	none.Session = record.ID
	if answer != "" {
		return none, b.answer(ctx, a, a.key, sessions.DedupeFor, answer)
	}
	if !local(a.event.Surface.Platform) {
		return none, b.setCheckpoint(ctx, record.ID, checkpointJob{
			Reason: checkpointManual, Surface: a.event.Surface.Key(), ReplyTo: a.event.MessageID, Key: a.key,
		}, 0)
	}
	result, outcome, err := b.checkpointNow(ctx, record, checkpointWait)
	a.reply(checkpointText(result.Record, outcome, err))
	return none, nil
}

// checkpointNow makes a checkpoint while somebody waits for it.
func (b *Bot) checkpointNow(ctx context.Context, record sessions.Record, wait time.Duration) (sessions.NoteResult, checkpointOutcome, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	defer context.AfterFunc(b.thinking, cancel)()
	result, outcome, err := b.checkpoint(ctx, record, checkpointManual)
	if err != nil {
		b.log.Warn("a checkpoint that was asked for failed; nothing was changed", "session", record.ID, "error", err)
	}
	return result, outcome, err
}

// Checkpoint makes a checkpoint of a session now.
func (b *Bot) Checkpoint(ctx context.Context, session string) (api.Checkpointed, error) {
	if !b.enter() {
		return api.Checkpointed{}, api.ErrStopping
	}
	defer b.leave()
	record, err := b.store.Get(ctx, session)
	if err != nil {
		return api.Checkpointed{}, err
	}
	result, outcome, err := b.checkpointNow(ctx, record, api.CheckpointMax)
	switch {
	case err == nil:
	case b.thinking.Err() != nil:
		return api.Checkpointed{}, api.ErrStopping
	case isStores(err):
		return api.Checkpointed{}, err
	default:
		return api.Checkpointed{}, fmt.Errorf("%w: %w", api.ErrNoCheckpoint, err)
	}
	return api.Checkpointed{Made: outcome == checkpointMade, Record: result.Record, Entries: result.Entries}, nil
}

// isStores: an error of the store or about the session, not of the model.
func isStores(err error) bool {
	_, state := errors.AsType[*sessions.StateError](err)
	return state || isInvalid(err) || errors.Is(err, sessions.ErrNotFound) || errors.Is(err, sessions.ErrUnavailable) || errors.Is(err, sessions.ErrClosed)
}

// What is said about checkpoints.
const (
	textCheckpointNothing   = "Nothing was said here since the last checkpoint."
	textCheckpointOvertaken = "Another checkpoint was made here meanwhile, or what was said is erased."
	textCheckpointRewritten = "No checkpoint was made: my notes were changed by hand at the same time. Please try again."
	textCheckpointForm      = "No checkpoint was made: my language model did not answer in the form I need. Please try again."
	textCheckpointFailed    = "No checkpoint was made; nothing was changed. "
)

// memoryShown is how much of the working memory is shown in a chat, in runes.
const memoryShown = 700

// checkpointText tells what became of a checkpoint that was asked for.
func checkpointText(record sessions.Record, outcome checkpointOutcome, err error) string {
	_, ended := errors.AsType[*sessions.StateError](err)
	switch {
	case ended:
		return textEnded
	case errors.Is(err, errRewritten):
		return textCheckpointRewritten
	case errors.Is(err, agent.ErrNoNotes):
		return textCheckpointForm
	case err != nil:
		return textCheckpointFailed + failureText(err)
	case outcome == checkpointNothing:
		return textCheckpointNothing
	case outcome == checkpointOvertaken:
		return textCheckpointOvertaken
	}
	text := "Checkpoint made. This conversation is about: " + plain(record.Description)
	if record.WorkingMemory == "" {
		return text
	}
	return text + "\n\nI keep in mind:\n\n> " + strings.ReplaceAll(plain(cut(record.WorkingMemory, memoryShown)), "\n", "\n> ")
}

// failureText is why a checkpoint failed, for people.
func failureText(err error) string {
	if failure, ok := errors.AsType[*agent.ModelError](err); ok {
		return failure.ForPeople()
	}
	return "Please try again in a moment."
}
