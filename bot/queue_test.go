package bot

import (
	"context"
	"fmt"
	"testing"
	"time"

	"parley/adapters"
	"parley/agent"
	"parley/sessions"
)

// asks gives, per model call, the messages that the call was to answer: those
// of people behind the last answer.
func asks(requests []agent.Request) [][]string {
	out := make([][]string, len(requests))
	for i, request := range requests {
		for _, m := range request.Messages {
			if m.Role != sessions.RoleUser {
				out[i] = nil
				continue
			}
			out[i] = append(out[i], m.Text)
		}
	}
	return out
}

// once checks that each of the messages m0 … is answered in exactly one call.
func once(t *testing.T, calls [][]string, count int) {
	t.Helper()
	var all []string
	for _, call := range calls {
		all = append(all, call...)
	}
	for i := range count {
		if text := fmt.Sprint("m", i); times(all, text) != 1 {
			t.Fatalf("%s was answered %d times: %q", text, times(all, text), calls)
		}
	}
}

func times(list []string, want string) (n int) {
	for _, text := range list {
		if text == want {
			n++
		}
	}
	return n
}

// speakMeanwhile says m0 … while the first is being answered.
func speakMeanwhile(s *stage, count int) {
	s.t.Helper()
	started, release := make(chan struct{}, count), make(chan struct{})
	s.brain.answers(func(ctx context.Context, request agent.Request, _ func(string)) (agent.Answer, error) {
		started <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return agent.Answer{Text: "re: " + request.Messages[len(request.Messages)-1].Text}, ctx.Err()
	})
	s.says("owner", "m0")
	<-started
	for i := 1; i < count; i++ {
		s.says("owner", fmt.Sprint("m", i))
	}
	close(release)
	s.hears(fmt.Sprint("re: m", count-1))
}

func TestCollectAnswersWhatWaitsTogether(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	speakMeanwhile(s, 4)
	calls := asks(s.brain.asked())
	once(t, calls, 4)
	if len(calls) != 2 {
		t.Fatalf("%q", calls)
	}
}

func TestFollowupAnswersEachMessageByItself(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on, func(c *Config) { c.Followup = true })
		speakMeanwhile(s, 4)
		calls := asks(s.brain.asked())
		once(t, calls, 4)
		if len(calls) != 4 {
			t.Fatalf("%q", calls)
		}
	})
}

// However the messages fall around the moment at which the chat has been quiet
// for long enough, each is answered once.
func TestADebouncedMessageIsNeitherLostNorDoubled(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on, func(c *Config) { c.Debounce = 20 * time.Millisecond })
		const count = 12
		for i := range count {
			s.says("owner", fmt.Sprint("m", i))
			if i%4 == 3 {
				s.platform.until(t, "an answer", func() bool { return len(s.platform.sent) > i/4 })
			}
		}
		s.hears(fmt.Sprint("echo: m", count-1))
		s.idle("owner")
		once(t, asks(s.brain.asked()), count)
	})
}

// The page and the terminal wait for nobody.
func TestOnlyChatsAreDebounced(t *testing.T) {
	t.Parallel()
	posts := &postSpy{}
	s := newStage(t, posts.install, func(c *Config) { c.Debounce = time.Minute })
	s.says("owner", "hello")
	page := arrival{event: adapters.Event{Surface: adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "x"}, Direct: true}}
	if _, err := s.bot.post(t.Context(), page); err != nil {
		t.Fatal(err)
	}
	if got := posts.seen; len(got) != 2 || got[0].Debounce != time.Minute || got[1].Debounce != 0 {
		t.Fatalf("%+v", got)
	}
}

type postSpy struct {
	sessions.Store
	seen []sessions.PostRequest
}

func (s *postSpy) install(c *Config) { s.Store, c.Store = c.Store, s }

func (s *postSpy) Post(ctx context.Context, request sessions.PostRequest) (sessions.PostResult, error) {
	s.seen = append(s.seen, request)
	return s.Store.Post(ctx, request)
}
