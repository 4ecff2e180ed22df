package checkpoints

import (
	"context"
	"errors"
	"strings"
	"time"

	"parley/agent"
	"parley/bot/texts"
	"parley/sessions"
)

// Now makes a checkpoint while somebody waits for it.
func (m *Maker) Now(ctx context.Context, record sessions.Record, wait time.Duration) (sessions.NoteResult, Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	defer context.AfterFunc(m.Life.Thinking, cancel)()
	result, outcome, err := m.Make(ctx, record, Manual)
	if err != nil {
		m.Log.Warn("a checkpoint that was asked for failed; nothing was changed", "session", record.ID, "error", err)
	}
	return result, outcome, err
}

// memoryShown is how much of the working memory is shown in a chat, in runes.
const memoryShown = 700

// Text tells what became of a checkpoint that was asked for.
func Text(record sessions.Record, outcome Outcome, err error) string {
	_, ended := errors.AsType[*sessions.StateError](err)
	switch {
	case ended:
		return texts.Ended
	case errors.Is(err, ErrRewritten):
		return texts.CheckpointRewritten
	case errors.Is(err, agent.ErrNoNotes):
		return texts.CheckpointForm
	case err != nil:
		return texts.CheckpointFailed + failureText(err)
	case outcome == Nothing:
		return texts.CheckpointNothing
	case outcome == Overtaken:
		return texts.CheckpointOvertaken
	}
	text := "Checkpoint made. This conversation is about: " + texts.Plain(record.Description)
	if record.WorkingMemory == "" {
		return text
	}
	return text + "\n\nI keep in mind:\n\n> " + strings.ReplaceAll(texts.Plain(texts.Cut(record.WorkingMemory, memoryShown)), "\n", "\n> ")
}

// failureText is why a checkpoint failed, for people.
func failureText(err error) string {
	if failure, ok := errors.AsType[*agent.ModelError](err); ok {
		return failure.ForPeople()
	}
	return "Please try again in a moment."
}
