package redisstore

import (
	"context"
	"time"

	"parley/sessions"
)

// Lock takes a lock, or renews it.
func (s *Store) Lock(ctx context.Context, name string, claimer sessions.Claimer) (sessions.Lock, error) {
	if err := sessions.CheckKey("lock", name); err != nil {
		return sessions.Lock{}, err
	}
	if err := claimer.Check(); err != nil {
		return sessions.Lock{}, err
	}
	code, r, err := s.answer(ctx, s.of(name), s.scripts.lock, name, claimer.Owner, claimer.For.Milliseconds(), sessions.DedupeFor.Milliseconds())
	if err != nil {
		return sessions.Lock{}, err
	}
	if code != "ok" {
		return sessions.Lock{}, r.refusal(code, "lock")
	}
	return sessions.Lock{Name: name, Owner: claimer.Owner, Fence: r.number(), Data: r.text()}, r.err
}

// SaveLock stores the lock's text for a time.
func (s *Store) SaveLock(ctx context.Context, lock sessions.Lock, data string, keep time.Duration) error {
	if err := sessions.CheckKey("lock", lock.Name); err != nil {
		return err
	}
	if err := sessions.CheckLockData(data, keep); err != nil {
		return err
	}
	return s.holder(ctx, s.scripts.lockSave, lock, data, keepMillis(keep))
}

// Unlock gives a lock back.
func (s *Store) Unlock(ctx context.Context, lock sessions.Lock) error {
	if err := sessions.CheckKey("lock", lock.Name); err != nil {
		return err
	}
	return s.holder(ctx, s.scripts.lockRelease, lock)
}

// keepMillis is a time to keep in whole milliseconds; only 0 is for ever.
func keepMillis(keep time.Duration) int64 {
	return (keep + time.Millisecond - 1).Milliseconds()
}

// holder runs a script that only the lock's holder may run.
func (s *Store) holder(ctx context.Context, sc *script, lock sessions.Lock, values ...any) error {
	args := append([]any{lock.Name, lock.Owner, lock.Fence}, values...)
	code, r, err := s.answer(ctx, s.of(lock.Name), sc, args...)
	if err != nil || code == "ok" {
		return err
	}
	return r.refusal(code, "hold a lock")
}
