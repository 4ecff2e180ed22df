package anthropic

import (
	"context"
	"errors"
	"io"

	"parley/agent/endpoint"
)

// exchange is one HTTP request whose answer may be a stream.
type exchange struct {
	*endpoint.Exchange

	events *eventBody // nil until a stream begins
}

// newExchange begins an exchange whose answer comes as a whole, and gives the
// context it runs under. The caller must Close it.
func (m *Model) newExchange(ctx context.Context) (*exchange, context.Context) {
	whole, call := endpoint.NewExchange(ctx, m.client, m.config.Limits, nil)
	return &exchange{Exchange: whole}, call
}

// newStream is newExchange for an answer that is streamed.
func (m *Model) newStream(ctx context.Context) (*exchange, context.Context) {
	x := &exchange{}
	var call context.Context
	x.Exchange, call = endpoint.NewExchange(ctx, m.client, m.config.Limits, func(body io.ReadCloser) io.ReadCloser {
		x.events = &eventBody{lines: endpoint.NewLines(body, x.Heard), body: body}
		return x.events
	})
	return x, call
}

// eventBody hands the library an event stream within the bounds, line by line,
// so that every line tells the watchdog. It adds the empty line that some
// servers leave out behind the last event, without which it would be lost.
type eventBody struct {
	lines *endpoint.Lines
	body  io.Closer

	pending []byte // of the present line, not yet handed on
	count   int    // lines with something in them
	over    bool
}

// Read gives the next line or part of it.
func (b *eventBody) Read(p []byte) (int, error) {
	if len(b.pending) == 0 {
		if err := b.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.pending)
	b.pending = b.pending[n:]
	return n, nil
}

func (b *eventBody) next() error {
	line, err := b.lines.Next()
	switch {
	case errors.Is(err, io.EOF) && !b.over:
		b.over = true
	case err != nil:
		return err
	case len(line) > 0:
		b.count++
	}
	b.pending = append(append(b.pending[:0], line...), '\n')
	return nil
}

// Close closes the body it reads.
func (b *eventBody) Close() error { return b.body.Close() }
