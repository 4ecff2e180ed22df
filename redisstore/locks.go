package redisstore

import (
	"context"

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
	code, r, err := s.answer(ctx, s.of(name), s.scripts.lock, name, claimer.Owner, claimer.For.Milliseconds())
	if err != nil {
		return sessions.Lock{}, err
	}
	if code != "ok" {
		return sessions.Lock{}, r.refusal(code, "lock")
	}
	return sessions.Lock{Name: name, Owner: claimer.Owner, Fence: r.number(), Data: r.text()}, r.err
}

// SaveLock stores the lock's text.
func (s *Store) SaveLock(ctx context.Context, lock sessions.Lock, data string) error {
	if err := sessions.CheckKey("lock", lock.Name); err != nil {
		return err
	}
	if err := sessions.CheckLockData(data); err != nil {
		return err
	}
	return s.holder(ctx, s.scripts.lockSave, lock, data)
}

// Unlock gives a lock back.
func (s *Store) Unlock(ctx context.Context, lock sessions.Lock) error {
	if err := sessions.CheckKey("lock", lock.Name); err != nil {
		return err
	}
	return s.holder(ctx, s.scripts.lockRelease, lock)
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
