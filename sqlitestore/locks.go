package sqlitestore

import (
	"context"

	"parley/sessions"
)

// Lock takes or renews a lock.
func (s *Store) Lock(ctx context.Context, name string, claimer sessions.Claimer) (sessions.Lock, error) {
	if err := sessions.CheckKey("lock", name); err != nil {
		return sessions.Lock{}, err
	}
	if err := claimer.Check(); err != nil {
		return sessions.Lock{}, err
	}
	return written(ctx, s, func(t *tx) (sessions.Lock, error) {
		lock := sessions.Lock{Name: name, Owner: claimer.Owner}
		found, err := t.one(`INSERT INTO locks (name, owner, fence, until, data) VALUES (?1, ?2, 1, ?3, '')
			ON CONFLICT DO UPDATE SET owner = ?2, until = ?3, fence = fence + (owner <> ?2) WHERE owner IN ('', ?2) OR until <= ?4
			RETURNING fence, data`,
			[]any{name, claimer.Owner, t.after(claimer.For), t.now}, []any{&lock.Fence, &lock.Data})
		if err == nil && !found {
			err = sessions.ErrBusy
		}
		return lock, err
	})
}

// SaveLock stores a lock's text.
func (s *Store) SaveLock(ctx context.Context, lock sessions.Lock, data string) error {
	if err := sessions.CheckLockData(data); err != nil {
		return err
	}
	return s.withLock(ctx, lock, "UPDATE locks SET data = ?4 WHERE name = ?1 AND owner = ?2 AND fence = ?3", data)
}

// Unlock gives a lock back.
func (s *Store) Unlock(ctx context.Context, lock sessions.Lock) error {
	return s.withLock(ctx, lock, "UPDATE locks SET owner = ?4, until = 0 WHERE name = ?1 AND owner = ?2 AND fence = ?3", "")
}

// withLock changes a lock that its holder still has.
func (s *Store) withLock(ctx context.Context, lock sessions.Lock, query, value string) error {
	if err := sessions.CheckKey("lock", lock.Name); err != nil {
		return err
	}
	if err := sessions.CheckKey("owner", lock.Owner); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(query, lock.Name, lock.Owner, lock.Fence, value)
		return fencedIf(n == 0, err)
	})
}
