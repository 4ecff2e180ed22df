package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/api"
	"parley/bot/checkpoints"
	"parley/sessions"
)

// checkpointWait is how long whoever asked on a local surface waits for the
// outcome: less than the request that carries it may take.
const checkpointWait = 25 * time.Second

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
