package sqlitestore

import (
	"time"

	"parley/sessions"
)

// once stores a key of a home unless it counts already; then it returns false.
// The empty key is always new.
func (t *tx) once(home, key string, keep time.Duration, session, seq int64) (bool, error) {
	if key == "" {
		return true, nil
	}
	n, err := t.exec(`INSERT INTO dedupe (home, key, until, session, seq) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET home = excluded.home, until = excluded.until, session = excluded.session, seq = excluded.seq WHERE until <= ?`,
		home, key, t.after(keep), session, seq, t.now)
	return n > 0, err
}

// remember stores a key that was not seen.
func (t *tx) remember(home, key string, keep time.Duration, session, seq int64) error {
	_, err := t.once(home, key, keep, session, seq)
	return err
}

// duplicate is what the first post of a key did.
func (t *tx) duplicate(key string) (sessions.PostResult, error) {
	result := sessions.PostResult{Outcome: sessions.PostDuplicate}
	_, err := t.one("SELECT s.id, d.seq FROM dedupe d JOIN sessions s ON s.num = d.session WHERE d.key = ?",
		[]any{key}, []any{&result.Session, &result.Seq})
	return result, err
}
