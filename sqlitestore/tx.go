package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"parley/sessions"
)

// statement is a prepared statement that belongs to its connection.
type statement interface {
	ExecContext(ctx context.Context, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, args ...any) *sql.Row
}

// preparer gives the prepared statement of a query, prepared once and closed
// with its connection.
type preparer interface {
	prepare(ctx context.Context, query string) (statement, error)
}

// tx is what one operation works with: statements of one connection, the time
// it happens at, and the hints that go out once it is durable.
type tx struct {
	ctx        context.Context //nolint:containedctx // a tx lives as long as the call
	statements preparer
	now        int64 // milliseconds
	events     []sessions.LiveEvent
	wakes      []sessions.WorkItem
}

func (t *tx) time() time.Time { return fromMillis(t.now) }

func (t *tx) after(d time.Duration) int64 { return t.now + d.Milliseconds() }

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// exec runs a statement and returns how many rows it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	prepared, err := t.statements.prepare(t.ctx, query)
	if err != nil {
		return 0, disk(err)
	}
	result, err := prepared.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, disk(err)
	}
	n, err := result.RowsAffected()
	return n, disk(err)
}

// one reads one row; found is false when there is none.
func (t *tx) one(query string, args, into []any) (found bool, err error) {
	prepared, err := t.statements.prepare(t.ctx, query)
	if err != nil {
		return false, disk(err)
	}
	err = prepared.QueryRowContext(t.ctx, args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, disk(err)
}

// errEnough ends [tx.each] before the last row.
var errEnough = errors.New("enough")

// each reads all rows with scan, or until it returns errEnough.
func (t *tx) each(scan func(rows *sql.Rows) error, query string, args ...any) error {
	prepared, err := t.statements.prepare(t.ctx, query)
	if err != nil {
		return disk(err)
	}
	rows, err := prepared.QueryContext(t.ctx, args...)
	if err != nil {
		return disk(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); errors.Is(err, errEnough) {
			return nil
		} else if err != nil {
			return disk(err)
		}
	}
	return disk(rows.Err())
}
