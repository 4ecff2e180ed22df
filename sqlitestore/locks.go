package sqlitestore

import (
	"context"
	"math"
	"time"

	"parley/sessions"
)

// Lock takes or renews a lock. A new fence is the time: it is above those of a
// lock of that name that was forgotten.
func (s *Store) Lock(ctx context.Context, name string, claimer sessions.Claimer) (sessions.Lock, error) {
	if err := sessions.CheckKey("lock", name); err != nil {
		return sessions.Lock{}, err
	}
	if err := claimer.Check(); err != nil {
		return sessions.Lock{}, err
	}
	return written(ctx, s, func(t *tx) (sessions.Lock, error) {
		lock := sessions.Lock{Name: name, Owner: claimer.Owner}
		if _, err := t.exec("DELETE FROM locks WHERE name = ? AND expires <= ?", name, t.now); err != nil {
			return lock, err
		}
		found, err := t.one(`INSERT INTO locks (name, owner, fence, until, data, expires) VALUES (?1, ?2, ?4, ?3, '', ?5)
			ON CONFLICT DO UPDATE SET owner = ?2, until = ?3, fence = fence + (owner <> ?2),
				expires = CASE data WHEN '' THEN ?5 ELSE max(expires, ?3) END
			WHERE owner IN ('', ?2) OR until <= ?4
			RETURNING fence, data`,
			[]any{name, claimer.Owner, t.after(claimer.For), t.now, t.after(max(claimer.For, sessions.DedupeFor))}, []any{&lock.Fence, &lock.Data})
		if err == nil && !found {
			err = sessions.ErrBusy
		}
		return lock, err
	})
}

// SaveLock stores a lock's text for a time.
func (s *Store) SaveLock(ctx context.Context, lock sessions.Lock, data string, keep time.Duration) error {
	if err := sessions.CheckLockData(data, keep); err != nil {
		return err
	}
	return s.withLock(ctx, lock, func(t *tx) (int64, error) {
		expires := never
		if keep > 0 {
			expires = t.after(keep)
		}
		return t.exec("UPDATE locks SET data = ?5, expires = max(?6, until) WHERE name = ?1 AND owner = ?2 AND fence = ?3 AND expires > ?4",
			lock.Name, lock.Owner, lock.Fence, t.now, data, expires)
	})
}

// never is the expiry of what is kept for ever.
const never = int64(math.MaxInt64)

// Unlock gives a lock back.
func (s *Store) Unlock(ctx context.Context, lock sessions.Lock) error {
	return s.withLock(ctx, lock, func(t *tx) (int64, error) {
		return t.exec("UPDATE locks SET owner = '', until = 0 WHERE name = ?1 AND owner = ?2 AND fence = ?3 AND expires > ?4",
			lock.Name, lock.Owner, lock.Fence, t.now)
	})
}

// withLock changes a lock that its holder still has.
func (s *Store) withLock(ctx context.Context, lock sessions.Lock, change func(t *tx) (int64, error)) error {
	if err := sessions.CheckKey("lock", lock.Name); err != nil {
		return err
	}
	if err := sessions.CheckKey("owner", lock.Owner); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		n, err := change(t)
		return fencedIf(n == 0, err)
	})
}
