package fakeopenai

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// Call is one HTTP request, as the log keeps it.
type Call struct {
	Path    string
	Request Request // of a chat request that could be read
	Raw     string  // its body, at most 64 KB
	Status  int     // as answered; 0: nothing was sent (yet)
	Refused string  // why the server refused it; empty: it was valid
	Ended   bool    // the answer is over
	Aborted bool    // the client went away before
}

// waitMax bounds every wait of a test, so that a failure says what is missing.
const waitMax = time.Minute

const rawMax = 64 << 10

// callLog keeps the newest calls and tells waiters of every change.
type callLog struct {
	max int

	mu      sync.Mutex
	calls   []*Call
	total   int
	changed chan struct{}
}

// add logs a call and gives the function that changes it later.
func (l *callLog) add(call Call) func(change func(*Call)) {
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
	return func(change func(*Call)) { l.update(func() { change(entry) }) }
}

func (l *callLog) update(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

func (l *callLog) snapshot() ([]Call, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	calls := make([]Call, len(l.calls))
	for i, call := range l.calls {
		calls[i] = *call
	}
	return calls, l.changed
}

// Count is how many HTTP requests have come in all.
func (s *Server) Count() int {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.total
}

// Calls are the logged requests, oldest first.
func (s *Server) Calls() []Call {
	calls, _ := s.log.snapshot()
	return calls
}

// Requests are the valid chat requests, oldest first.
func (s *Server) Requests() []Request {
	var out []Request
	for _, call := range s.Calls() {
		if call.Path == chatPath && call.Refused == "" {
			out = append(out, call.Request)
		}
	}
	return out
}

// Await returns the log as soon as it satisfies done, or an error with ctx.
func (s *Server) Await(ctx context.Context, done func([]Call) bool) ([]Call, error) {
	for {
		calls, changed := s.log.snapshot()
		if done(calls) {
			return calls, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return calls, fmt.Errorf("fake openai: waited in vain; %d calls logged: %w", len(calls), ctx.Err())
		}
	}
}

// AwaitRequests waits for n valid chat requests in all and returns them. The
// test fails after waitMax.
func (s *Server) AwaitRequests(tb testing.TB, n int) []Request {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), waitMax)
	defer cancel()
	valid := func(call Call) bool { return call.Path == chatPath && call.Refused == "" }
	_, err := s.Await(ctx, func(calls []Call) bool {
		count := 0
		for _, call := range calls {
			if valid(call) {
				count++
			}
		}
		return count >= n
	})
	if err != nil {
		tb.Fatalf("waiting for %d requests: %v", n, err)
	}
	return s.Requests()
}

// AwaitAborted waits until a client has gone away from n calls.
func (s *Server) AwaitAborted(tb testing.TB, n int) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), waitMax)
	defer cancel()
	_, err := s.Await(ctx, func(calls []Call) bool {
		count := 0
		for _, call := range calls {
			if call.Aborted {
				count++
			}
		}
		return count >= n
	})
	if err != nil {
		tb.Fatalf("waiting for %d aborted calls: %v", n, err)
	}
}

// AssertNoRefusals fails the test for every request the server had to refuse.
func (s *Server) AssertNoRefusals(tb testing.TB) {
	tb.Helper()
	for i, call := range s.Calls() {
		if call.Refused != "" {
			tb.Errorf("request %d to %s was refused: %s\n%s", i+1, call.Path, call.Refused, call.Raw)
		}
	}
}
