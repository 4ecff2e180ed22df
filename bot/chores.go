package bot

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"parley/bot/metrics"
	"parley/scheduler"
	"parley/sessions"
)

// Retention is how long things are kept. A zero age keeps them.
type Retention struct {
	StaleAfter  time.Duration // then a session is suspended
	ExpireAfter time.Duration // then a suspended one ends for good
	MaxAge      time.Duration // then a direct one is deleted
	DeadLetters time.Duration // then a dead letter is dropped; its messages stay in the log
}

// How often chores are done, and on how much at once.
const (
	sweepEvery       = 10 * time.Minute
	deadLettersEvery = time.Hour
	choreBatch       = 200
)

// Names of chores.
const (
	choreSuspend     = "suspend"
	choreExpire      = "expire"
	choreDelete      = "delete"
	choreDeadLetters = "dead-letters"
)

func choreNames() []string { return []string{choreSuspend, choreExpire, choreDelete, choreDeadLetters} }

// chores are what this gateway does from time to time.
type chores struct {
	store   sessions.Store
	forget  func(session string) // what is known of it is out of date
	metrics *metrics.Metrics
	log     *slog.Logger
}

func newChores(b *Bot, keep Retention) *scheduler.Chores {
	c := &chores{store: b.store, forget: func(session string) { b.turns.Cache.Drop(session) }, metrics: b.metrics, log: b.log}
	chores := &scheduler.Chores{Store: c.store, Now: time.Now, Done: c.done}
	for _, sweep := range []struct {
		name string
		rule sessions.SweepRule
		age  time.Duration
	}{{choreSuspend, sessions.SweepSuspend, keep.StaleAfter}, {choreExpire, sessions.SweepExpire, keep.ExpireAfter}, {choreDelete, sessions.SweepDelete, keep.MaxAge}} {
		if sweep.age > 0 {
			chores.List = append(chores.List, scheduler.Chore{Name: sweep.name, Every: sweepEvery, Do: c.sweep(sweep.rule, sweep.age)})
		}
	}
	if keep.DeadLetters > 0 {
		chores.List = append(chores.List, scheduler.Chore{Name: choreDeadLetters, Every: deadLettersEvery, Do: c.dropDeadLetters(keep.DeadLetters)})
	}
	return chores
}

func (c *chores) done(name string, count int, err error) {
	c.metrics.ChoreDone(name, count, err)
	switch {
	case err != nil:
		c.log.Error("a chore failed; it is tried again", "chore", name, "error", err)
	case count > 0:
		c.log.Info("a chore was done", "chore", name, "count", count)
	}
}

func (c *chores) sweep(rule sessions.SweepRule, age time.Duration) func(context.Context) (int, bool, error) {
	return func(ctx context.Context) (int, bool, error) {
		swept, err := c.store.Sweep(ctx, sessions.SweepRequest{Rule: rule, Age: age, Limit: choreBatch})
		if rule != sessions.SweepSuspend {
			for _, id := range swept {
				c.forget(id)
			}
		}
		return len(swept), err == nil && len(swept) == choreBatch, err
	}
}

// dropDeadLetters drops the dead letters that are too old, as far as the store
// lists them: the newest.
func (c *chores) dropDeadLetters(age time.Duration) func(context.Context) (int, bool, error) {
	return func(ctx context.Context) (int, bool, error) {
		letters, err := c.store.DeadLetters(ctx, sessions.ListMax)
		if err != nil {
			return 0, false, err
		}
		count := 0
		for _, letter := range letters {
			if time.Since(letter.At) <= age {
				continue
			}
			err := c.store.DropDead(ctx, letter.ID)
			if err != nil && !errors.Is(err, sessions.ErrNotFound) {
				return count, false, err
			}
			if err == nil {
				count++
			}
		}
		return count, count > 0 && len(letters) == sessions.ListMax, nil
	}
}
