package adaptertest

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/adapters"
)

// waitMax bounds every wait, so that a failure says what is missing.
const waitMax = time.Minute

// logShown is how much of the log a failed test shows, in bytes.
const logShown = 4000

// stage is one world, watched.
type stage struct {
	World
	t      *testing.T
	log    *watchedLog
	locker *Locker
}

// watchedLog keeps every line, to be searched for secrets.
type watchedLog struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (w *watchedLog) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

func (w *watchedLog) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String()
}

func newStage(t *testing.T, world func(*testing.T) World) *stage {
	t.Helper()
	s := &stage{World: world(t), t: t, log: &watchedLog{}, locker: NewLocker()}
	t.Cleanup(func() {
		s.clean("the log", s.log.text())
		if t.Failed() {
			text := s.log.text()
			t.Logf("the end of the adapter's log:\n%s", text[max(0, len(text)-logShown):])
		} else if s.Check != nil {
			s.Check(t)
		}
	})
	return s
}

// clean fails the test if text contains a secret.
func (s *stage) clean(what, text string) {
	s.t.Helper()
	for _, secret := range s.Secrets {
		if strings.Contains(text, secret) {
			s.t.Errorf("%s contains a secret", what)
		}
	}
}

// cleanError is clean for an error and everything it wraps, in every format.
func (s *stage) cleanError(err error) {
	s.t.Helper()
	if err != nil {
		var out bytes.Buffer
		slog.New(slog.NewJSONHandler(&out, nil)).Error(err.Error(), "error", err)
		s.clean("an error", out.String()+sprint(err))
	}
}

func (s *stage) adapter() adapters.Adapter {
	s.t.Helper()
	log := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return s.New(s.t, Options{Log: log, Locker: s.locker})
}

// running is an adapter whose Run is under way.
type running struct {
	adapters.Adapter
	stage  *stage
	cancel context.CancelFunc
	done   chan struct{}
	err    error // of Run, once done is closed

	mu      sync.Mutex
	events  []adapters.Event // that were taken
	changed chan struct{}
	judge   func(adapters.Event) error // may refuse an event; nil: takes all
}

// run starts an adapter and waits until it hears.
func (s *stage) run(judge func(adapters.Event) error) *running {
	s.t.Helper()
	r := s.start(judge)
	s.hears(r)
	return r
}

func (s *stage) start(judge func(adapters.Event) error) *running {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Adapter: s.adapter(), stage: s, cancel: cancel, done: make(chan struct{}), changed: make(chan struct{}), judge: judge}
	go func() {
		defer close(r.done)
		r.err = r.Run(ctx, r.sink)
	}()
	s.t.Cleanup(func() { r.stop() })
	return r
}

// hears waits for the connection.
func (s *stage) hears(r *running) {
	s.t.Helper()
	s.Await(s.t, "a connection that hears", func() bool { return r.Health().State == adapters.Hearing })
}

// stop ends Run and fails the test if it does not return nil in time.
func (r *running) stop() {
	r.stage.t.Helper()
	r.cancel()
	select {
	case <-r.done:
	case <-time.After(waitMax):
		r.stage.t.Error("Run does not return after its context has ended")
	}
}

func (r *running) sink(_ context.Context, event adapters.Event) error {
	if r.judge != nil {
		if err := r.judge(event); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event)
	close(r.changed)
	r.changed = make(chan struct{})
	return nil
}

func (r *running) taken() ([]adapters.Event, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]adapters.Event(nil), r.events...), r.changed
}

// await waits for n events that want holds for and returns them, in the order
// they were taken.
func (r *running) await(n int, what string, want func(adapters.Event) bool) []adapters.Event {
	r.stage.t.Helper()
	timeout := time.NewTimer(waitMax)
	defer timeout.Stop()
	for {
		events, changed := r.taken()
		var found []adapters.Event
		for _, event := range events {
			if want(event) {
				found = append(found, event)
			}
		}
		if len(found) >= n {
			return found
		}
		select {
		case <-changed:
		case <-timeout.C:
			r.stage.t.Fatalf("%d of %d events came: %s; taken: %+v", len(found), n, what, events)
		}
	}
}

// say posts a text that nobody else posts and waits for its event.
func (r *running) say(place Place, text string) adapters.Event {
	r.stage.t.Helper()
	id := r.stage.Post(place, text)
	return r.message(id)
}

func (r *running) message(id string) adapters.Event {
	r.stage.t.Helper()
	return r.await(1, "message "+id, func(e adapters.Event) bool {
		return e.Kind == adapters.EventMessage && e.MessageID == id
	})[0]
}

// send sends within a generous deadline.
func (r *running) send(message adapters.Outgoing) (adapters.Receipt, error) {
	r.stage.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	receipt, err := r.Send(ctx, message)
	r.stage.cleanError(err)
	return receipt, err
}
