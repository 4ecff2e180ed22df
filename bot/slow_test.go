package bot

import (
	"context"
	"strings"
	"sync"
	"testing"

	"parley/adapters"
	"parley/api"
	"parley/bot/texts"
	"parley/sessions"
)

// slowClaims is a store without hints, in which claiming one session takes
// until it is let go.
type slowClaims struct {
	sessions.Store
	session string
	mu      sync.Mutex
	begun   chan struct{}
	let     chan struct{}
}

func (s *slowClaims) install(c *Config) { s.Store, c.Store = c.Store, s }

func (s *slowClaims) Wakes(context.Context) (<-chan sessions.WorkItem, error) {
	return make(chan sessions.WorkItem), nil
}

func (s *slowClaims) Claim(ctx context.Context, request sessions.ClaimRequest) (*sessions.Turn, error) {
	s.mu.Lock()
	slow := request.Session == s.session
	s.mu.Unlock()
	if slow {
		s.begun <- struct{}{} // one claim at a time: a second would wait here for ever
		<-s.let
	}
	return s.Store.Claim(ctx, request)
}

// One claim that takes long holds up no other work, and is not begun again
// meanwhile.
func TestASlowClaimHoldsNothingUp(t *testing.T) {
	t.Parallel()
	store := &slowClaims{begun: make(chan struct{}), let: make(chan struct{})}
	s := newStage(t, store.install)
	s.says("member", "first")
	s.hears("echo: first")
	record := s.idle("member")
	store.mu.Lock()
	store.session = record.ID
	store.mu.Unlock()
	s.leave(s.event("member", "slow", false))
	<-store.begun
	s.leave(s.event("owner", "quick", false))
	s.hears("echo: quick")
	close(store.let)
	s.hears("echo: slow")
}

// hangup is a store in which the caller goes away while a message is stored.
type hangup struct {
	sessions.Store
	leave context.CancelFunc
}

func (s *hangup) install(c *Config) { s.Store, c.Store = c.Store, s }

func (s *hangup) Post(ctx context.Context, request sessions.PostRequest) (sessions.PostResult, error) {
	result, err := s.Store.Post(ctx, request)
	s.leave()
	if ctx.Err() != nil { // the answer is lost to whoever waits no longer
		return sessions.PostResult{}, ctx.Err()
	}
	return result, err
}

func (s *hangup) Again(ctx context.Context, request sessions.AgainRequest) (*sessions.Turn, bool, error) {
	turn, duplicate, err := s.Store.Again(ctx, request)
	s.leave()
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	return turn, duplicate, err
}

// A turn that was taken is run, whoever has gone meanwhile.
func TestACallerWhoLeavesLeavesNoTurnBehind(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"hello", "/retry"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			gone := &hangup{leave: func() {}}
			s := newStage(t, gone.install)
			page := adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "phone"}
			if _, err := s.bot.Say(t.Context(), api.Say{Surface: page, Text: "first"}); err != nil {
				t.Fatal(err)
			}
			s.answered("web:phone", 1)
			ctx, cancel := context.WithCancel(t.Context())
			gone.leave = cancel
			if _, err := s.bot.Say(ctx, api.Say{Surface: page, Text: text}); err != nil {
				t.Fatal(err)
			}
			if record := s.answered("web:phone", 2); record.Epoch != 2 {
				t.Fatalf("the turn was lost and taken up again: %+v", record)
			}
		})
	}
}

// answered waits until a session has so many answers.
func (s *stage) answered(session string, turns int64) sessions.Record {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	changes, err := s.store.Watch(ctx, session)
	if err != nil {
		s.t.Fatal(err)
	}
	for {
		record, err := s.store.Get(ctx, session)
		if err != nil {
			s.t.Fatal(err)
		}
		if record.TurnCount >= turns && record.Status == sessions.StatusIdle {
			return record
		}
		if _, open := <-changes; !open {
			s.t.Fatalf("the session never had %d answers: %+v", turns, record)
		}
	}
}

// What has ended cannot be answered again, and is not said to be running.
func TestARetryOfAnEndedConversation(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	page := adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "phone"}
	if _, err := s.bot.Say(t.Context(), api.Say{Surface: page, Text: "first"}); err != nil {
		t.Fatal(err)
	}
	s.answered("web:phone", 1)
	if _, err := s.store.Expire(t.Context(), "web:phone"); err != nil {
		t.Fatal(err)
	}
	said, err := s.bot.Say(t.Context(), api.Say{Surface: page, Session: "web:phone", Text: "/retry"})
	if err != nil || said.Reply != texts.Ended || strings.Contains(said.Reply, "still") {
		t.Fatalf("%+v, %v", said, err)
	}
}
