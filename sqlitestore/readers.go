package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"

	"parley/sessions"
)

// readers are the connections that only read. Each is nil until it is needed,
// and again after a failure.
type readers struct {
	db     *sql.DB
	free   chan *connection
	closed <-chan struct{} // Close was called
}

func openReaders(source string, n int, closed <-chan struct{}) (*readers, error) {
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, fmt.Errorf("open the database for reading: %w", err)
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	free := make(chan *connection, n)
	for range n {
		free <- nil
	}
	return &readers{db: db, free: free, closed: closed}, nil
}

// take waits for a connection, which give gets back.
func (r *readers) take(ctx context.Context) (*connection, error) {
	select {
	case c := <-r.free:
		if c != nil {
			return c, nil
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-r.closed:
		return nil, sessions.ErrClosed
	}
	conn, err := r.db.Conn(ctx)
	if err != nil {
		r.free <- nil
		return nil, err
	}
	return &connection{conn: conn, prepared: map[string]*sql.Stmt{}}, nil
}

func (r *readers) give(c *connection, healthy bool) {
	if !healthy {
		c.discard()
		c = nil
	}
	r.free <- c
}

// close waits for the reads that run, and ends all connections.
func (r *readers) close() {
	for range cap(r.free) {
		if c := <-r.free; c != nil {
			c.close()
		}
	}
	r.db.Close()
}

// read runs queries that change nothing and see one state of the database.
// What was acknowledged is in it.
func read[T any](ctx context.Context, s *Store, run func(t *tx) (T, error)) (T, error) {
	var none T
	if s.readers == nil {
		return written(ctx, s, run)
	}
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if s.isClosed() {
		return none, sessions.ErrClosed
	}
	value, err := snapshot(ctx, s, run)
	switch {
	case err == nil:
		return value, nil
	case ctx.Err() != nil:
		return none, ctx.Err()
	case s.isClosed() && isDisk(err):
		return none, sessions.ErrClosed
	}
	return none, err
}

func snapshot[T any](ctx context.Context, s *Store, run func(t *tx) (T, error)) (value T, err error) {
	c, err := s.readers.take(ctx)
	if err != nil {
		return value, disk(err)
	}
	healthy := false
	defer func() { s.readers.give(c, healthy) }()
	if err := c.exec("BEGIN"); err != nil { //nolint:contextcheck // begin and end never wait
		return value, disk(err)
	}
	value, err = run(&tx{ctx: ctx, statements: c, now: s.now().UnixMilli()})
	healthy = c.exec("COMMIT") == nil //nolint:contextcheck // also when ctx is over
	return value, err
}

func (s *Store) isClosed() bool {
	select {
	case <-s.writer.closed:
		return true
	default:
		return false
	}
}
