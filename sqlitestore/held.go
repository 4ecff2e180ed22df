package sqlitestore

import "context"

// freeHeld gives back what the last process held. Its lock file is ours now,
// so it is gone, and nobody has to wait for its times to run out: leases,
// lanes, fired timers and locks are free at once. An interrupted turn keeps
// its count of attempts, and a row that was being sent comes back as MaybeSent.
func (s *Store) freeHeld(ctx context.Context) error {
	if s.path == Memory {
		return nil
	}
	now := s.now().UnixMilli()
	for _, step := range []struct {
		query string
		args  []any
	}{
		{"BEGIN IMMEDIATE", nil},
		{`UPDATE sessions SET nonce = '', lease_until = ?1, due_at = ?1, version = version + 1,
			status = CASE WHEN status <> 'running' THEN status WHEN state IN ('suspended', 'expired') THEN 'inactive' ELSE 'idle' END
			WHERE due_at IS NOT NULL AND taken <> '' AND nonce <> ''`, []any{now}},
		{`UPDATE outbox SET maybe_sent = 1 WHERE num IN
			(SELECT (SELECT min(num) FROM outbox o WHERE o.surface = l.surface) FROM lanes l WHERE l.nonce <> '')`, nil},
		{"UPDATE lanes SET nonce = '', due_at = ? WHERE nonce <> ''", []any{now}},
		{"UPDATE timers SET due_at = due WHERE due_at <> due", nil},
		{"UPDATE erasures SET staged = 0 WHERE staged", nil}, // imports that died
		{"UPDATE locks SET owner = '', until = 0 WHERE owner <> ''", nil},
		{"COMMIT", nil},
	} {
		if _, err := s.db.ExecContext(ctx, step.query, step.args...); err != nil {
			return err
		}
	}
	return nil
}
