package fakediscord

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// Call is one request or one frame of the gateway, as the log keeps it.
type Call struct {
	Method string // of HTTP, or GATEWAY
	Route  string // as "/channels/{channel}/messages", or the name of the operation
	Path   string
	Body   string
	Status int // 0: no answer was given
}

// Name is method and route, as Fail takes it.
func (c Call) Name() string { return c.Method + " " + c.Route }

// waitMax bounds every wait of a test, so that a failure says what is missing.
const waitMax = time.Minute

// callLog keeps calls and violations and tells waiters of every change,
// also of changes elsewhere in the server.
type callLog struct {
	mu         sync.Mutex
	calls      []Call
	violations []string
	changed    chan struct{}
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

func (l *callLog) add(call Call) { l.update(func() { l.calls = append(l.calls, call) }) }

func (l *callLog) touch() { l.update(func() {}) }

func (s *Server) violation(format string, args ...any) {
	s.log.update(func() { s.log.violations = append(s.log.violations, fmt.Sprintf(format, args...)) })
}

func (l *callLog) watch() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

// Calls are the logged calls, oldest first; with a name only those of it.
func (s *Server) Calls(names ...string) []Call {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	var out []Call
	for _, call := range s.log.calls {
		if len(names) == 0 || slices.Contains(names, call.Name()) {
			out = append(out, call)
		}
	}
	return out
}

// Violations is what a careful client would not have done.
func (s *Server) Violations() []string {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return slices.Clone(s.log.violations)
}

// AssertNoViolations fails the test for each violation.
func (s *Server) AssertNoViolations(tb testing.TB) {
	tb.Helper()
	for _, violation := range s.Violations() {
		tb.Errorf("fake discord: %s", violation)
	}
}

// Await returns as soon as done holds, or an error with ctx. done is asked
// again after every change.
func (s *Server) Await(ctx context.Context, done func() bool) error {
	for {
		changed := s.log.watch()
		if done() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Until waits until done holds; the test fails after waitMax and says what was
// waited for.
func (s *Server) Until(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), waitMax)
	defer cancel()
	if err := s.Await(ctx, done); err != nil {
		tb.Fatalf("waited in vain for %s; violations: %v; calls: %+v", what, s.Violations(), s.Calls())
	}
}

// AwaitCalls waits for n calls of one name in all.
func (s *Server) AwaitCalls(tb testing.TB, name string, n int) []Call {
	tb.Helper()
	s.Until(tb, fmt.Sprintf("%d × %s", n, name), func() bool { return len(s.Calls(name)) >= n })
	return s.Calls(name)
}

// AwaitMessages waits until the bot has written n messages in a channel in all,
// and returns them.
func (s *Server) AwaitMessages(tb testing.TB, channel string, n int) []Message {
	tb.Helper()
	s.Until(tb, fmt.Sprintf("%d messages of the bot in %s", n, channel), func() bool { return len(s.Messages(channel)) >= n })
	return s.Messages(channel)
}

// AwaitConnected waits until n sessions are connected, which means identified
// or resumed.
func (s *Server) AwaitConnected(tb testing.TB, n int) {
	tb.Helper()
	s.Until(tb, fmt.Sprintf("%d connected sessions", n), func() bool { return s.Connected() == n })
}
