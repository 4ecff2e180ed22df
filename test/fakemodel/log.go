package fakemodel

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// Call is one HTTP request, as the log keeps it.
type Call[Request any] struct {
	Path    string
	Request Request // of a request for an answer that could be read
	Raw     string  // its body, at most 64 KB
	Status  int     // as answered; 0: nothing was sent (yet)
	Refused string  // why the server refused it; empty: it was valid
	Ended   bool    // the answer is over
	Aborted bool    // the client went away before
}

// waitMax bounds every wait of a test, so that a failure says what is missing.
const waitMax = time.Minute

const rawMax = 64 << 10

// Log keeps the newest calls and tells waiters of every change.
type Log[Request any] struct {
	name string // of the fake, for errors
	path string // where answers are asked for
	max  int    // calls kept; negative: none

	mu      sync.Mutex
	calls   []*Call[Request]
	total   int
	changed chan struct{}
}

// Add logs a call and gives the function that changes it later.
func (l *Log[Request]) Add(call Call[Request]) func(change func(*Call[Request])) {
	entry := &call
	l.update(func() {
		l.total++
		if l.max < 0 {
			return
		}
		if len(l.calls) >= l.max {
			l.calls = slices.Delete(l.calls, 0, len(l.calls)-l.max+1)
		}
		l.calls = append(l.calls, entry)
	})
	return func(change func(*Call[Request])) { l.update(func() { change(entry) }) }
}

func (l *Log[Request]) update(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

func (l *Log[Request]) snapshot() ([]Call[Request], <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	calls := make([]Call[Request], len(l.calls))
	for i, call := range l.calls {
		calls[i] = *call
	}
	return calls, l.changed
}

// Count is how many HTTP requests have come in all.
func (l *Log[Request]) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// Calls are the logged requests, oldest first.
func (l *Log[Request]) Calls() []Call[Request] {
	calls, _ := l.snapshot()
	return calls
}

// Requests are the valid requests for an answer, oldest first.
func (l *Log[Request]) Requests() []Request {
	var out []Request
	for _, call := range l.Calls() {
		if l.valid(call) {
			out = append(out, call.Request)
		}
	}
	return out
}

func (l *Log[Request]) valid(call Call[Request]) bool {
	return call.Path == l.path && call.Refused == ""
}

// Await returns the log as soon as it satisfies done, or an error with ctx.
func (l *Log[Request]) Await(ctx context.Context, done func([]Call[Request]) bool) ([]Call[Request], error) {
	for {
		calls, changed := l.snapshot()
		if done(calls) {
			return calls, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return calls, fmt.Errorf("%s: waited in vain; %d calls logged: %w", l.name, len(calls), ctx.Err())
		}
	}
}

// AwaitRequests waits for n valid requests for an answer in all and returns
// them. The test fails after waitMax.
func (l *Log[Request]) AwaitRequests(tb testing.TB, n int) []Request {
	tb.Helper()
	l.awaitCalls(tb, n, "valid requests", l.valid)
	return l.Requests()
}

// AwaitAborted waits until a client has gone away from n calls.
func (l *Log[Request]) AwaitAborted(tb testing.TB, n int) {
	tb.Helper()
	l.awaitCalls(tb, n, "aborted calls", func(call Call[Request]) bool { return call.Aborted })
}

func (l *Log[Request]) awaitCalls(tb testing.TB, n int, what string, counts func(Call[Request]) bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), waitMax)
	defer cancel()
	_, err := l.Await(ctx, func(calls []Call[Request]) bool {
		count := 0
		for _, call := range calls {
			if counts(call) {
				count++
			}
		}
		return count >= n
	})
	if err != nil {
		tb.Fatalf("waiting for %d %s: %v", n, what, err)
	}
}

// AssertNoRefusals fails the test for every request the server had to refuse.
func (l *Log[Request]) AssertNoRefusals(tb testing.TB) {
	tb.Helper()
	for i, call := range l.Calls() {
		if call.Refused != "" {
			tb.Errorf("request %d to %s was refused: %s\n%s", i+1, call.Path, call.Refused, call.Raw)
		}
	}
}
