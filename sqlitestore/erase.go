package sqlitestore

import (
	"database/sql"
	"errors"
)

// How much is erased in one operation, so that nobody waits long for the writer.
const (
	eraseEntries = 500
	eraseBytes   = 512 << 10
)

// eraseSome erases the beginning of a log, overwriting what was there. more is
// false when no log is left.
func (t *tx) eraseSome() (more bool, err error) {
	var log int64
	found, err := t.one("SELECT log FROM erasures WHERE NOT staged LIMIT 1", nil, []any{&log})
	if err != nil || !found {
		return false, err
	}
	last, err := t.someOf(log)
	if err != nil {
		return false, err
	}
	if last == 0 {
		_, err := t.exec("DELETE FROM erasures WHERE log = ?", log)
		return true, err
	}
	return true, t.overwriting(func() error {
		_, err := t.exec("DELETE FROM entries WHERE log = ? AND seq <= ?", log, last)
		return err
	})
}

// someOf is up to which seq a log is erased next; 0: it is empty.
func (t *tx) someOf(log int64) (last int64, err error) {
	total := 0
	err = t.each(func(rows *sql.Rows) error {
		var seq int64
		var size int
		if err := rows.Scan(&seq, &size); err != nil {
			return err
		}
		if total += size; total > eraseBytes && last > 0 {
			return errEnough
		}
		last = seq
		return nil
	}, "SELECT seq, octet_length(payload) FROM entries WHERE log = ? ORDER BY seq LIMIT ?", log, eraseEntries)
	return last, err
}

// overwriting has SQLite overwrite all that do deletes. Otherwise it overwrites
// only within the pages that it writes anyhow: none that becomes free as a whole.
func (t *tx) overwriting(do func() error) error {
	_, err := t.one("PRAGMA secure_delete = ON", nil, []any{new(int)})
	if err != nil {
		return err
	}
	err = do()
	_, off := t.one("PRAGMA secure_delete = FAST", nil, []any{new(int)})
	return errors.Join(err, off)
}
