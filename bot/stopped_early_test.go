package bot

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// A turn that is asked to stop while its conversation is still being read is
// stopped: it is neither tried again nor parked, and does not count as answered.
func TestAStopWhileTheConversationIsReadStopsTheTurn(t *testing.T) {
	t.Parallel()
	log := &slowLog{reads: make(chan struct{})}
	s := newStage(t, log.install)
	s.says("member", "hello")
	s.hears("echo: hello")
	s.idle("member")
	log.slow.Store(true)
	s.says("member", "again")
	<-log.reads
	if running, err := s.bot.Stop(t.Context(), s.record("member").ID); err != nil || !running {
		t.Fatalf("%t, %v", running, err)
	}
	record := s.idle("member")
	if letters, err := s.store.DeadLetters(t.Context(), 10); err != nil || len(letters) != 0 {
		t.Errorf("parked: %+v, %v", letters, err)
	}
	if sent := s.platform.texts(); len(sent) != 1 || record.TurnCount != 1 {
		t.Errorf("%d turns were answered; sent %q", record.TurnCount, sent)
	}
}

// Who was told that the answer is stopped does not get it after that.
func TestAnAnswerThatEndsAsItIsStoppedIsNotShown(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	asked, stopped := make(chan struct{}), make(chan struct{})
	end := sync.OnceFunc(func() { close(stopped) })
	t.Cleanup(end)
	s.brain.answers(func(context.Context, agent.Request, func(string)) (agent.Answer, error) {
		close(asked)
		<-stopped
		return agent.Answer{Text: "too late"}, nil
	})
	s.says("member", "hello")
	<-asked
	if running, err := s.bot.Stop(t.Context(), s.record("member").ID); err != nil || !running {
		t.Fatalf("%t, %v", running, err)
	}
	end()
	record := s.idle("member")
	if sent := s.platform.texts(); len(sent) != 0 {
		t.Errorf("sent %q", sent)
	}
	entries := s.entries(record)
	if m, err := entries[len(entries)-1].Message(); err != nil || m.Text != "too late" || !m.Stopped {
		t.Errorf("the log ends with %+v, %v", m, err)
	}
}

// slowLog is a store of which, once it is slow, a turn's past has to be read,
// and which reads it only when nobody waits any more.
type slowLog struct {
	sessions.Store
	slow  atomic.Bool
	reads chan struct{}
}

func (l *slowLog) install(c *Config) { l.Store, c.Store = c.Store, l }

func (l *slowLog) Post(ctx context.Context, request sessions.PostRequest) (sessions.PostResult, error) {
	result, err := l.Store.Post(ctx, request)
	if l.slow.Load() && result.Turn != nil {
		result.Turn.Tail, result.Turn.TailFrom = nil, 0
	}
	return result, err
}

func (l *slowLog) Range(ctx context.Context, session string, from, to int64) ([]sessions.Entry, error) {
	if !l.slow.Load() {
		return l.Store.Range(ctx, session, from, to)
	}
	select {
	case l.reads <- struct{}{}:
		<-ctx.Done()
	case <-ctx.Done():
	}
	return nil, ctx.Err()
}
