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
	if err := t.overwrite(true); err != nil {
		return false, err
	}
	_, err = t.exec("DELETE FROM entries WHERE log = ? AND seq <= ?", log, last)
	return true, errors.Join(err, t.overwrite(false))
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

// overwrite says whether SQLite overwrites what is deleted from now on.
func (t *tx) overwrite(on bool) error {
	query := "PRAGMA secure_delete = 0"
	if on {
		query = "PRAGMA secure_delete = 1"
	}
	_, err := t.one(query, nil, []any{new(int)})
	return err
}
