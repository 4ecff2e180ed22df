package sqlitestore

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"parley/sessions"
)

// diskError is a failure of the database itself, not an answer of an operation.
type diskError struct{ cause error }

// Error names the cause.
func (e *diskError) Error() string { return fmt.Sprintf("%v: %v", sessions.ErrUnavailable, e.cause) }

// Unwrap makes it sessions.ErrUnavailable.
func (e *diskError) Unwrap() []error { return []error{sessions.ErrUnavailable, e.cause} }

// disk marks an error as a failure of the database.
func disk(err error) error {
	if err == nil || isDisk(err) {
		return err
	}
	return &diskError{err}
}

func isDisk(err error) bool {
	_, ok := errors.AsType[*diskError](err)
	return ok
}

// lasting is SQLite's own error in err if it does not pass by itself: there is
// no room, the file is broken, or it may only be read. Nil: it is none.
func lasting(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return nil
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CANTOPEN:
		return e
	}
	return nil
}

// isNoDatabase reports whether the file is no database, or a broken one.
func isNoDatabase(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_NOTADB || e.Code()&0xff == sqlite3.SQLITE_CORRUPT)
}
