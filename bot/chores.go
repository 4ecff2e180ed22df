package bot

import (
	"context"
	"errors"
	"time"

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

// newChores are what this gateway does from time to time.
func (b *Bot) newChores(keep Retention) *scheduler.Chores {
	chores := &scheduler.Chores{Store: b.store, Now: time.Now, Done: b.choreDone}
	for _, sweep := range []struct {
		name string
		rule sessions.SweepRule
		age  time.Duration
	}{{choreSuspend, sessions.SweepSuspend, keep.StaleAfter}, {choreExpire, sessions.SweepExpire, keep.ExpireAfter}, {choreDelete, sessions.SweepDelete, keep.MaxAge}} {
		if sweep.age > 0 {
			chores.List = append(chores.List, scheduler.Chore{Name: sweep.name, Every: sweepEvery, Do: b.sweep(sweep.rule, sweep.age)})
		}
	}
	if keep.DeadLetters > 0 {
		chores.List = append(chores.List, scheduler.Chore{Name: choreDeadLetters, Every: deadLettersEvery, Do: b.dropDeadLetters(keep.DeadLetters)})
	}
	return chores
}

func (b *Bot) choreDone(name string, count int, err error) {
	b.metrics.choreDone(name, count, err)
	switch {
	case err != nil:
		b.log.Error("a chore failed; it is tried again", "chore", name, "error", err)
	case count > 0:
		b.log.Info("a chore was done", "chore", name, "count", count)
	}
}

func (b *Bot) sweep(rule sessions.SweepRule, age time.Duration) func(context.Context) (int, bool, error) {
	return func(ctx context.Context) (int, bool, error) {
		swept, err := b.store.Sweep(ctx, sessions.SweepRequest{Rule: rule, Age: age, Limit: choreBatch})
		if rule != sessions.SweepSuspend {
			for _, id := range swept {
				b.tails.drop(id)
			}
		}
		return len(swept), err == nil && len(swept) == choreBatch, err
	}
}

// dropDeadLetters drops the dead letters that are too old, as far as the store
// lists them: the newest.
func (b *Bot) dropDeadLetters(age time.Duration) func(context.Context) (int, bool, error) {
	return func(ctx context.Context) (int, bool, error) {
		letters, err := b.store.DeadLetters(ctx, sessions.ListMax)
		if err != nil {
			return 0, false, err
		}
		count := 0
		for _, letter := range letters {
			if time.Since(letter.At) <= age {
				continue
			}
			err := b.store.DropDead(ctx, letter.ID)
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
