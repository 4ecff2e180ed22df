package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"log/slog"
	"time"

	"parley/internal/guard"
	"parley/sessions"
)

const (
	// batchMax is how many operations share one commit at most.
	batchMax = 256
	// forgetEvery is after how many operations expired keys are removed, and
	// forgetMax how many then: more than may have been written since.
	forgetEvery = 256
	forgetMax   = 1024
	// brokenFor is how long the file counts as broken after a write failed for
	// want of room, or in another way that does not pass by itself: a small
	// write may succeed meanwhile.
	brokenFor = 15 * time.Second
)

// operation is one caller's write: run makes it, done gets its fate after the
// commit.
type operation struct {
	ctx  context.Context //nolint:containedctx // of the caller, who waits
	run  func(t *tx) error
	done chan error
	err  error
	tx   *tx
}

// writer is the one goroutine that writes. All its fields but operations are
// confined to it.
type writer struct {
	operations chan *operation
	closed     chan struct{} // Close was called
	ended      chan struct{} // the goroutine is gone

	db      *sql.DB
	conn    *connection // nil after a failure: connected anew by the next batch
	now     func() time.Time
	log     *slog.Logger
	publish func(t *tx)
	memory  bool
	written int // operations since expired keys were removed
	failing bool

	broken   error // why a write failed last in a way that does not pass; nil: none did
	brokenAt time.Time
}

// loop serves operations until Close, then refuses what still waits.
func (w *writer) loop() {
	defer close(w.ended)
	for {
		select {
		case <-w.closed:
			w.refuse()
			return
		case first := <-w.operations:
			w.serve(w.gather(first))
		}
	}
}

// gather takes what waits already, up to batchMax.
func (w *writer) gather(first *operation) []*operation {
	batch := []*operation{first}
	for len(batch) < batchMax {
		select {
		case next := <-w.operations:
			batch = append(batch, next)
		default:
			return batch
		}
	}
	return batch
}

func (w *writer) refuse() {
	if w.conn != nil {
		w.conn.close()
	}
	for {
		select {
		case o := <-w.operations:
			o.done <- sessions.ErrClosed
		default:
			return
		}
	}
}

// serve runs a batch in one transaction and answers all its callers.
func (w *writer) serve(batch []*operation) {
	err := w.transact(batch)
	if err != nil {
		w.drop()
	}
	w.report(cmp.Or(err, lastingOf(batch)))
	for _, o := range batch {
		switch {
		case err != nil:
			o.err = disk(err)
		case o.err == nil:
			w.publish(o.tx)
		}
		o.done <- o.err
	}
}

// lastingOf is the first of the operations' own errors that is lasting.
func lastingOf(batch []*operation) error {
	for _, o := range batch {
		if err := lasting(o.err); err != nil {
			return err
		}
	}
	return nil
}

// report logs the beginning and the end of a failure, not each of its errors.
func (w *writer) report(err error) {
	if broken := lasting(err); broken != nil {
		w.broken, w.brokenAt = broken, w.now()
	}
	failing := err != nil || w.recently() != nil
	if failing == w.failing {
		return
	}
	w.failing = failing
	if w.failing {
		w.log.Error("the database cannot be written to; messages are not acknowledged until it can", "error", err)
		return
	}
	w.log.Info("the database can be written to again")
}

// recently is why a write failed within brokenFor; nil: none did.
func (w *writer) recently() error {
	if since := w.now().Sub(w.brokenAt); w.broken == nil || since < 0 || since >= brokenFor {
		return nil
	}
	return w.broken
}

// transact runs a batch and commits it. An error means that the fate of all of
// it is unknown or failed; the errors of single operations are in them.
func (w *writer) transact(batch []*operation) error {
	if err := w.connect(); err != nil {
		return err
	}
	if err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	now := w.now().UnixMilli()
	for _, o := range batch {
		if o.err = o.ctx.Err(); o.err != nil {
			continue // its caller is gone
		}
		if err := w.run(o, now, len(batch) > 1); err != nil {
			return w.abandon(err)
		}
	}
	if err := w.forget(now, len(batch)); err != nil {
		return w.abandon(err)
	}
	if len(batch) == 1 && batch[0].err != nil {
		return w.undo("ROLLBACK", batch[0].err)
	}
	if err := w.conn.exec("COMMIT"); err != nil {
		return w.abandon(err)
	}
	return nil
}

// abandon ends a transaction that is lost, if SQLite has not.
func (w *writer) abandon(cause error) error {
	_ = w.undo("ROLLBACK", cause)
	return cause
}

// run runs one operation, in a savepoint if it shares the transaction. Its own
// failure, also a panic, is undone and kept in it; an error means that the transaction is lost.
func (w *writer) run(o *operation, now int64, shared bool) error {
	o.tx = &tx{ctx: context.Background(), statements: w.conn, now: now}
	attempt := func() error {
		return guard.Run(w.log, "an operation of the store", func() error { return o.run(o.tx) })
	}
	if !shared {
		o.err = attempt()
		return nil
	}
	if err := w.conn.exec("SAVEPOINT operation"); err != nil {
		return err
	}
	if o.err = attempt(); o.err != nil {
		if err := w.undo("ROLLBACK TO operation", o.err); err != nil {
			return err
		}
	}
	return w.conn.exec("RELEASE operation")
}

// undo undoes what failed with cause. When that cannot be done, SQLite has
// undone the whole transaction because of it: then cause comes back.
func (w *writer) undo(statement string, cause error) error {
	if w.conn.exec(statement) != nil {
		return cause
	}
	return nil
}

// forget removes expired dedupe keys and locks once in a while, a bounded number.
func (w *writer) forget(now int64, n int) error {
	if w.written += n; w.written < forgetEvery {
		return nil
	}
	w.written = 0
	t := &tx{ctx: context.Background(), statements: w.conn, now: now}
	for _, expired := range []string{
		"DELETE FROM dedupe WHERE key IN (SELECT key FROM dedupe WHERE until <= ? ORDER BY until LIMIT ?)",
		"DELETE FROM locks WHERE name IN (SELECT name FROM locks WHERE expires <= ? ORDER BY expires LIMIT ?)",
	} {
		if _, err := t.exec(expired, now, forgetMax); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) connect() error {
	if w.conn != nil {
		return nil
	}
	conn, err := w.db.Conn(context.Background())
	if err != nil {
		return err
	}
	w.conn = &connection{conn: conn, prepared: map[string]*sql.Stmt{}}
	return nil
}

// drop throws a connection away whose state is in doubt. One to a database in
// memory is kept, as the database is in it.
func (w *writer) drop() {
	if w.conn != nil && !w.memory {
		w.conn.discard()
		w.conn = nil
	}
}

// connection is the writer's connection with its prepared statements.
type connection struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

func (c *connection) prepare(ctx context.Context, query string) (statement, error) {
	if known, ok := c.prepared[query]; ok {
		return known, nil
	}
	prepared, err := c.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.prepared[query] = prepared
	return prepared, nil
}

func (c *connection) exec(query string) error {
	prepared, err := c.prepare(context.Background(), query)
	if err == nil {
		_, err = prepared.ExecContext(context.Background())
	}
	return err
}

func (c *connection) close() {
	c.closeStatements()
	c.conn.Close()
}

func (c *connection) closeStatements() {
	for _, prepared := range c.prepared {
		prepared.Close()
	}
}

// discard closes the connection without giving it back to the pool. Its
// statements have to go first.
func (c *connection) discard() {
	c.closeStatements()
	_ = c.conn.Raw(func(any) error { return driver.ErrBadConn }) // says so by failing
}
