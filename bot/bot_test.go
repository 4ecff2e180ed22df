package bot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"parley/adapters"
	"parley/agent"
	"parley/api"
	"parley/bot/texts"
	"parley/routing"
	"parley/sessions"
)

func TestWhoMayWhat(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ who, text, want string }{
		{"stranger", "hello", "your id is `telegram:stranger`"},
		{"stranger", "/start", "I don't know you yet"},
		{"stranger", "/whoami", "`telegram:stranger` (guest)"},
		{"stranger", "/help", "/whoami"},
		{"stranger", "/new", "I don't know you yet"},
		{"member", "hello", "echo: hello"},
		{"member", "/start", "You may use me"},
		{"member", "/new", texts.NewConversation},
		{"member", "/status", "No conversation here yet"},
		{"member", "/stop", texts.NothingRuns},
		{"member", "/retry", texts.NothingToTry},
		{"member", "/allow", "may not use this command"},
		{"owner", "/whoami", "This chat is `telegram:77:owner`"},
		{"owner", "/allow", "Use /allow in the group itself"},
		{"owner", "/unknown thing", "echo: /unknown thing"},
	} {
		t.Run(test.who+" "+test.text, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.says(test.who, test.text)
			s.hears(test.want)
		})
	}
}

func TestBlockedPeopleHearNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.says("blocked", "hello")
	s.says("blocked", "/start")
	s.says("owner", "hello")
	s.hears("echo: hello")
	if got := s.platform.texts(); len(got) != 1 {
		t.Fatalf("sent %q", got)
	}
}

func TestAStrangerIsToldOnceInAWhile(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for range 5 {
		s.says("stranger", "hello?")
	}
	s.hears("I don't know you yet")
	s.says("owner", "last")
	s.hears("echo: last")
	if got := s.platform.texts(); len(got) != 2 {
		t.Fatalf("sent %q", got)
	}
}

func TestACommandDeliveredTwiceIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"/new", "/whoami", "/help", "/retry"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.says("owner", "first")
			s.hears("echo: first")
			s.idle("owner")
			event := s.event("owner", text, false)
			s.takeIn(event)
			s.takeIn(event)
			s.says("owner", "last")
			s.hears("echo: last")
			if got := s.platform.texts(); len(got) != 3 {
				t.Fatalf("sent %q", got)
			}
		})
	}
}

func TestAGroupIsAllowedAndForgotten(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.saysInGroup("guest", "@bot hi")
	s.hears("not allowed to talk to me yet")
	s.saysInGroup("owner", "/allow")
	s.hears(texts.Allowed)
	s.saysInGroup("guest", "@bot hi")
	s.hears("echo: [GUEST] @bot hi")
	s.saysInGroup("owner", "/allow off")
	s.hears(texts.GroupOff)
	s.saysInGroup("guest", "@bot again")
	s.says("owner", "last")
	s.hears("echo: last")
	if got := s.platform.texts(); slices.ContainsFunc(got, func(text string) bool { return strings.Contains(text, "again") }) {
		t.Fatalf("answered in a group that is off: %q", got)
	}
}

func TestARetryAnswersTheLastMessageAgainInItsPlace(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.says("owner", "one")
	s.hears("echo: one")
	s.idle("owner")
	s.brain.answers(func(context.Context, agent.Request, func(string)) (agent.Answer, error) {
		return agent.Answer{Text: "second try"}, nil
	})
	s.says("owner", "/retry")
	s.hears("second try")
	requests := s.brain.asked()
	if last := requests[len(requests)-1]; len(last.Messages) != 1 || last.Messages[0].Text != "one" {
		t.Fatalf("the retried turn read %+v", last.Messages)
	}
}

func TestAMemberStopsOnlyHisOwnTurnInAGroup(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	started := make(chan struct{}, 2)
	s.brain.answers(func(ctx context.Context, request agent.Request, _ func(string)) (agent.Answer, error) {
		if strings.Contains(request.Messages[len(request.Messages)-1].Text, "long") {
			started <- struct{}{}
			<-ctx.Done()
			return agent.Answer{Text: "half an"}, ctx.Err()
		}
		return agent.Answer{Text: "fine"}, nil
	})
	s.saysInGroup("owner", "@bot long one")
	<-started
	s.saysInGroup("member", "/stop")
	s.hears(texts.NotYours)
	s.saysInGroup("owner", "/stop")
	s.hears(texts.Stopped)
	s.idle("group")
	s.saysInGroup("member", "@bot another long one")
	<-started
	s.saysInGroup("member", "/stop")
	s.platform.until(t, "the member's stop", func() bool {
		return strings.Count(strings.Join(textsOf(s.platform.sent), "\n"), texts.Stopped) == 2
	})
	for _, entry := range s.entries(s.idle("group")) {
		if m, err := entry.Message(); err == nil && m.Role == sessions.RoleAssistant && (!m.Stopped || !m.Partial) {
			t.Fatalf("a broken-off answer is not marked: %+v", m)
		}
	}
}

func TestMessagesOfOtherRightsGetATurnOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.saysInGroup("owner", "/allow")
	s.hears(texts.Allowed)
	gate := make(chan struct{})
	s.brain.answers(func(ctx context.Context, request agent.Request, _ func(string)) (agent.Answer, error) {
		select {
		case <-gate:
		case <-ctx.Done():
		}
		return agent.Answer{Text: "re: " + request.Messages[len(request.Messages)-1].Text}, ctx.Err()
	})
	s.saysInGroup("guest", "@bot a")
	s.saysInGroup("guest", "@bot b")
	s.saysInGroup("owner", "@bot c")
	s.saysInGroup("guest", "@bot d")
	close(gate)
	s.hears("re: [GUEST] @bot d")
	var answers []string
	for _, text := range s.platform.texts() {
		if strings.HasPrefix(text, "re: ") {
			answers = append(answers, text)
		}
	}
	if want := []string{"re: [GUEST] @bot a", "re: [GUEST] @bot b", "re: [OWNER] @bot c", "re: [GUEST] @bot d"}; !slices.Equal(answers, want) {
		t.Fatalf("answered %q", answers)
	}
}

func TestAFailedTurnIsParkedToldOnceAndCanBeReplayed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	failing := func(context.Context, agent.Request, func(string)) (agent.Answer, error) {
		return agent.Answer{}, &agent.ModelError{Kind: agent.KindUnauthorized, Reason: "key refused"}
	}
	s.brain.answers(failing)
	s.says("member", "hello")
	s.hears("language model")
	if got := s.platform.texts(); len(got) != 1 || strings.Contains(got[0], "key refused") {
		t.Fatalf("a member was told %q", got)
	}
	s.says("owner", "hello")
	s.hears("key refused")
	dead, err := s.store.DeadLetters(t.Context(), 10)
	if err != nil || len(dead) != 2 {
		t.Fatalf("%v, %v", dead, err)
	}
	s.brain.answers(nil)
	for _, letter := range dead {
		if err := s.store.Replay(t.Context(), letter.ID); err != nil {
			t.Fatal(err)
		}
	}
	s.platform.until(t, "both answers", func() bool {
		return strings.Count(strings.Join(textsOf(s.platform.sent), "\n"), "echo: hello") == 2
	})
}

func TestAnEmptyAnswerIsAFailureAndSilenceIsNot(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	answer := make(chan string, 2)
	s.brain.answers(func(context.Context, agent.Request, func(string)) (agent.Answer, error) {
		return agent.Answer{Text: <-answer}, nil
	})
	answer <- "<NO_REPLY>"
	s.says("owner", "be quiet")
	record := s.idle("owner")
	if got := s.platform.texts(); len(got) != 0 || record.Preview == "<NO_REPLY>" {
		t.Fatalf("silence showed: %q, preview %q", got, record.Preview)
	}
	answer <- " \n "
	s.says("owner", "say nothing")
	s.hears("empty answer")
}

func TestALaneKeepsItsOrderThroughFailures(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var once sync.Once
	s.platform.fail = func(adapters.Outgoing) (err error) {
		once.Do(func() { err = &adapters.SendError{Kind: adapters.SendUnavailable, Reason: "no route"} })
		return err
	}
	long := strings.Repeat("0123456789", 500)
	s.brain.answers(func(context.Context, agent.Request, func(string)) (agent.Answer, error) {
		return agent.Answer{Text: long}, nil
	})
	s.says("owner", "go")
	s.platform.until(t, "three parts", func() bool { return len(s.platform.sent) == 3 })
	if got := strings.Join(s.platform.texts(), ""); got != long {
		t.Fatalf("sent %q", got)
	}
}

func TestAReceiptIsKeptWithTheAnswer(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.platform.fail = func(adapters.Outgoing) error {
		return &adapters.SendError{Kind: adapters.SendGone, Reason: "bot was blocked"}
	}
	s.says("owner", "go")
	s.platform.until(t, "nothing", func() bool { return true })
	record := s.idle("owner")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	changes, err := s.store.Watch(ctx, record.ID)
	if err != nil {
		t.Fatal(err)
	}
	for {
		for _, entry := range s.entries(s.record("owner")) {
			if entry.Type == sessions.EntryDelivery && strings.Contains(string(entry.Payload), "bot was blocked") {
				return
			}
		}
		if _, open := <-changes; !open {
			t.Fatal("no receipt tells that the chat is gone")
		}
	}
}

func TestWorkLeftByAnotherProcessIsTakenUp(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	event := s.event("owner", "left behind", false)
	if _, err := s.store.Post(t.Context(), sessions.PostRequest{
		Surface: event.Surface.Key(), New: newSession(event, "telegram:owner"), Trigger: true, Rights: string(routing.Owner),
		Message: message(arrival{event: event, role: routing.Owner, decision: routing.Decision{Action: routing.ActionTurn}}),
	}); err != nil {
		t.Fatal(err)
	}
	s.hears("echo: left behind")
}

func TestAStopHandsBackWhatCannotEnd(t *testing.T) {
	t.Parallel()
	started, handedBack := make(chan struct{}), make(chan sessions.Outcome, 1)
	watched := &trouble{outcomes: handedBack}
	s := newStage(t, watched.install, func(c *Config) { c.Grace = 1 })
	s.brain.answers(func(ctx context.Context, _ agent.Request, _ func(string)) (agent.Answer, error) {
		close(started)
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	})
	s.says("owner", "endless")
	<-started
	s.end()
	if got := <-handedBack; got != sessions.HandBack {
		t.Fatalf("the turn ended as %s", got)
	}
}

func TestAStoreThatIsAwayLeavesEventsWithThePlatform(t *testing.T) {
	t.Parallel()
	gone := &trouble{}
	s := newStage(t, gone.install)
	gone.away.Store(true)
	for _, event := range []adapters.Event{s.event("owner", "hello", false), s.event("guest", "@bot hello", true)} {
		if err := s.sink(t.Context(), event); !errors.Is(err, sessions.ErrUnavailable) {
			t.Fatalf("the event was acknowledged: %v", err)
		}
	}
}

// trouble is a store that can be away, and tells how turns end.
type trouble struct {
	sessions.Store
	away     atomic.Bool
	outcomes chan sessions.Outcome
}

func (s *trouble) install(c *Config) { s.Store, c.Store = c.Store, s }

func (s *trouble) Post(ctx context.Context, request sessions.PostRequest) (sessions.PostResult, error) {
	if s.away.Load() {
		return sessions.PostResult{}, sessions.ErrUnavailable
	}
	return s.Store.Post(ctx, request)
}

func (s *trouble) ChatListed(ctx context.Context, chat string) (bool, error) {
	if s.away.Load() {
		return false, sessions.ErrUnavailable
	}
	return s.Store.ChatListed(ctx, chat)
}

func (s *trouble) Commit(ctx context.Context, request sessions.CommitRequest) (sessions.CommitResult, error) {
	if s.outcomes != nil {
		s.outcomes <- request.Outcome
	}
	return s.Store.Commit(ctx, request)
}

func TestTheAPISpeaksToItsOwnSurface(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	page := adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "phone"}
	said, err := s.bot.Say(t.Context(), api.Say{Key: "k", Surface: page, Text: "hello"})
	if err != nil || said.Session != "web:phone" || !said.Turn {
		t.Fatalf("%+v, %v", said, err)
	}
	again, err := s.bot.Say(t.Context(), api.Say{Key: "k", Surface: page, Text: "hello"})
	if err != nil || !again.Duplicate || again.Session != "web:phone" {
		t.Fatalf("%+v, %v", again, err)
	}
	logged, err := s.bot.Say(t.Context(), api.Say{Surface: page, Text: "by the way", Append: true})
	if err != nil || logged.Turn || logged.Seq == 0 {
		t.Fatalf("%+v, %v", logged, err)
	}
	fresh, err := s.bot.Say(t.Context(), api.Say{Surface: page, Text: "/new"})
	if err != nil || fresh.Reply != texts.NewConversation || fresh.Turn {
		t.Fatalf("%+v, %v", fresh, err)
	}
	status, err := s.bot.Say(t.Context(), api.Say{Surface: page, Text: "/status"})
	if err != nil || !strings.Contains(status.Reply, "web:phone~") {
		t.Fatalf("%+v, %v", status, err)
	}
	if got := s.platform.texts(); len(got) != 0 {
		t.Fatalf("the page's talk went to the platform: %q", got)
	}
}

func TestACallAfterTheStopIsTold(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.end()
	if _, err := s.bot.Say(t.Context(), api.Say{Text: "hello"}); !errors.Is(err, api.ErrStopping) {
		t.Fatalf("got %v", err)
	}
}

func TestDraftsShowNothingOfAMarker(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	page := adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "phone"}
	watching, unwatch := context.WithCancel(t.Context())
	defer unwatch()
	events, err := s.store.Watch(watching, "web:phone")
	if err != nil {
		t.Fatal(err)
	}
	s.brain.answers(func(_ context.Context, _ agent.Request, onText func(string)) (agent.Answer, error) {
		const text = "\n I <NO_RE" + "PLY>speak <b"
		for i := range text {
			onText(text[i : i+1])
		}
		return agent.Answer{Text: text}, nil
	})
	if _, err := s.bot.Say(t.Context(), api.Say{Surface: page, Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for event := range events {
		if event.Kind == sessions.LiveDraft {
			shown.WriteString(event.Text)
		}
		record, err := s.store.Get(t.Context(), "web:phone")
		if err != nil {
			t.Fatal(err)
		}
		if record.TurnCount == 1 {
			break
		}
	}
	if final := "I speak <b"; !strings.HasPrefix(final, shown.String()) {
		t.Fatalf("drafts showed %q", shown.String())
	}
}

func TestTheMenuIsRegistered(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.platform.until(t, "the menu", func() bool { return len(s.platform.menu) == routing.CommandCount })
}

func TestTheWordsOfThePromptAreThoseOfRouting(t *testing.T) {
	t.Parallel()
	if agent.SilenceMarker != routing.SilenceMarker || agent.UndirectedPrefix != routing.UndirectedPrefix || agent.ForwardedPrefix != routing.ForwardedPrefix {
		t.Fatal("the model is told other words than routing knows")
	}
}

func TestEveryCommandOfTheTableIsRun(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.says("owner", "first")
	s.hears("echo: first")
	s.idle("owner")
	for _, spec := range routing.Commands() {
		s.says("owner", "/"+spec.Name)
	}
}
