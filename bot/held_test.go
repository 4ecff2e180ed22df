package bot

import (
	"context"
	"testing"

	"parley/adapters"
	"parley/agent"
	"parley/sessions"
	"parley/sessions/storetest"
	"parley/sqlitestore"
)

// looking is a store that says each time when someone has looked what is due,
// and whose time is the test's.
type looking struct {
	sessions.Store
	clock *storetest.Clock
	looks chan struct{}
}

func (l *looking) Due(ctx context.Context, limit int) ([]sessions.WorkItem, error) {
	items, err := l.Store.Due(ctx, limit)
	select {
	case l.looks <- struct{}{}:
	default:
	}
	return items, err
}

func newLooking(t *testing.T) *looking {
	t.Helper()
	clock := &storetest.Clock{}
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return &looking{Store: store, clock: clock, looks: make(chan struct{})}
}

// outlast lets all that is held for a time run out, and returns when what was
// due then has been taken up.
func (l *looking) outlast() {
	l.clock.Advance(2 * sessions.LeaseFor)
	for range 3 { // one may have begun before; when the third begins, the second's items were taken up
		<-l.looks
	}
}

// A process that had no time to renew does not begin its own turn once more.
func TestATurnIsNotTakenOverByItsOwnProcess(t *testing.T) {
	t.Parallel()
	store := newLooking(t)
	s := newStage(t, func(c *Config) { c.Store = store })
	started, release := make(chan struct{}, 2), make(chan struct{})
	s.brain.answers(func(ctx context.Context, _ agent.Request, _ func(string)) (agent.Answer, error) {
		started <- struct{}{}
		select {
		case <-release:
			return agent.Answer{Text: "done"}, nil
		case <-ctx.Done():
			return agent.Answer{}, ctx.Err()
		}
	})
	s.says("owner", "go")
	<-started
	store.outlast()
	close(release)
	s.hears("done")
	if n := len(s.brain.asked()); n != 1 {
		t.Fatalf("the turn was begun %d times", n)
	}
}

// What is just being sent is not sent once more by the same process.
func TestALaneIsNotTakenOverByItsOwnProcess(t *testing.T) {
	t.Parallel()
	store := newLooking(t)
	s := newStage(t, func(c *Config) { c.Store = store })
	sending, release := make(chan struct{}, 2), make(chan struct{})
	s.platform.fail = func(adapters.Outgoing) error {
		sending <- struct{}{}
		<-release
		return nil
	}
	s.says("owner", "go")
	<-sending
	store.outlast()
	close(release)
	s.hears("echo: go")
	s.end()
	if got := s.platform.texts(); len(got) != 1 {
		t.Fatalf("sent %q", got)
	}
}
