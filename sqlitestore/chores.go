package sqlitestore

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"parley/sessions"
)

// choresAgain is after how long chores are tried once more when they failed.
const choresAgain = 30 * time.Second

// chores do behind the callers what would hold up the writer in one piece:
// they erase logs that nobody can see any more, and rewrite the sessions of
// users who became another one. What is to be done is in the database, so that
// a restart goes on with it. The goroutine is owned by the Store and ends with
// Close.
type chores struct {
	wakes chan struct{}
	ended chan struct{}
	store *Store
	log   *slog.Logger
}

func newChores(store *Store, log *slog.Logger) *chores {
	return &chores{wakes: make(chan struct{}, 1), ended: make(chan struct{}), store: store, log: log}
}

// wake says that there is something to do.
func (c *chores) wake() {
	select {
	case c.wakes <- struct{}{}:
	default:
	}
}

// loop works until Close.
func (c *chores) loop() {
	defer close(c.ended)
	ctx := context.Background() // its operations are short; the store's end refuses them
	again := time.NewTimer(choresAgain)
	defer again.Stop()
	for {
		if err := c.work(ctx); errors.Is(err, sessions.ErrClosed) {
			return
		} else if err != nil {
			c.log.Warn("what was deleted is not erased yet, or users are not rewritten; it is tried again", "error", err)
			again.Reset(choresAgain)
		} else {
			again.Stop()
		}
		select {
		case <-c.store.writer.closed:
			return
		case <-c.wakes:
		case <-again.C:
		}
	}
}

// work does all there is, one bounded operation after the other.
func (c *chores) work(ctx context.Context) error {
	for _, step := range []func(t *tx) (more bool, err error){(*tx).eraseSome, (*tx).mergeSome} {
		for more := true; more; {
			var err error
			if more, err = written(ctx, c.store, step); err != nil {
				return err
			}
		}
	}
	return nil
}
