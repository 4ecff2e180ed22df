package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/adapters"
	"parley/agent"
	"parley/api"
	"parley/bot/texts"
	"parley/routing"
	"parley/sessions"
)

// leave stores a message that another process took in and never answered.
func (s *stage) leave(event adapters.Event) {
	s.t.Helper()
	if _, err := s.store.Post(s.t.Context(), sessions.PostRequest{
		Surface: event.Surface.Key(), New: newSession(event, "telegram:owner"), Trigger: true, Rights: string(routing.Owner),
		Message: message(arrival{event: event, role: routing.Owner, decision: routing.Decision{Action: routing.ActionTurn}}),
	}); err != nil {
		s.t.Fatal(err)
	}
}

// After a restart, work is found before a platform has said who the bot is.
func TestAnAnswerWaitsForItsConnection(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.platform.unknown.Store(true)
	s.leave(s.event("owner", "left behind", false))
	s.idle("owner")
	s.platform.unknown.Store(false)
	s.hears("echo: left behind")
}

// A turn that trips over a fault is tried again, then parked, and said so; the
// others go on.
func TestAPanicInATurnHurtsOnlyThatTurn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.brain.answers(func(_ context.Context, request agent.Request, _ func(string)) (agent.Answer, error) {
		if text := request.Messages[len(request.Messages)-1].Text; text != "poison" {
			return agent.Answer{Text: "re: " + text}, nil
		}
		panic("poisoned")
	})
	s.says("member", "poison")
	s.says("owner", "hello")
	s.hears("re: hello")
	s.hears(texts.Parked)
	letters, err := s.store.DeadLetters(t.Context(), 10)
	if err != nil || len(letters) != 1 {
		t.Fatalf("%v, %v", letters, err)
	}
}

// The same holds for what shows and what sends an answer.
func TestAPanicOfAnAdapterHurtsOnlyThatMessage(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.platform.fail = func(message adapters.Outgoing) error {
		if strings.Contains(message.Text, "poison") {
			panic("poisoned")
		}
		return nil
	}
	s.says("member", "poison")
	s.says("owner", "hello")
	s.hears("echo: hello")
	s.says("member", "after it")
	s.hears("echo: after it")
	for _, entry := range s.entries(s.record("member")) {
		if entry.Type == sessions.EntryDelivery && strings.Contains(string(entry.Payload), `"unknown"`) {
			return
		}
	}
	t.Fatal("no receipt tells that the fate of the message is unknown")
}

// An event that the gateway trips over does not stop those behind it, and its
// sender hears of it.
func TestAPanicOnTheWayInIsAnswered(t *testing.T) {
	t.Parallel()
	broken := &tripping{}
	s := newStage(t, broken.install)
	s.says("owner", "poison")
	s.hears(texts.Broken)
	s.says("owner", "hello")
	s.hears("echo: hello")
	s.says("blocked", "poison")
	s.saysInGroup("owner", "poison")
	s.says("owner", "last")
	s.hears("echo: last")
	if got := s.platform.texts(); len(slices.DeleteFunc(got, func(text string) bool { return text != texts.Broken })) != 1 {
		t.Fatalf("sent %q", s.platform.texts())
	}
}

// tripping is a store with a fault that one text sets off.
type tripping struct{ sessions.Store }

func (s *tripping) install(c *Config) { s.Store, c.Store = c.Store, s }

func (s *tripping) Post(ctx context.Context, request sessions.PostRequest) (sessions.PostResult, error) {
	if request.Message.Text == "poison" {
		panic("poisoned")
	}
	return s.Store.Post(ctx, request)
}

// Due work that cannot be taken up is neither asked for without a pause, nor
// does it hide what is behind it.
func TestDueWorkBehindWhatCannotBeTakenUp(t *testing.T) {
	t.Parallel()
	store := &crowded{}
	s := newStage(t, store.install, func(c *Config) { c.TurnsMax = 1 })
	running := make(chan struct{})
	s.brain.answers(func(ctx context.Context, _ agent.Request, _ func(string)) (agent.Answer, error) {
		close(running)
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	})
	s.says("owner", "endless")
	<-running
	store.full.Store(true)
	var once sync.Once
	s.platform.fail = func(adapters.Outgoing) (err error) {
		once.Do(func() { err = &adapters.SendError{Kind: adapters.SendUnavailable, Reason: "no route"} })
		return err
	}
	s.says("member", "/help")
	s.hears("Commands")
	s.says("owner", "/stop")
	s.hears(texts.Stopped)
}

// crowd is more than is ever looked at.
const crowd = 3 * sessions.ListMax

// crowded is a store in which many turns are due, longer than all else.
type crowded struct {
	sessions.Store
	full atomic.Bool
}

func (s *crowded) install(c *Config) { s.Store, c.Store = c.Store, s }

func (s *crowded) Due(ctx context.Context, limit int) ([]sessions.WorkItem, error) {
	items, err := s.Store.Due(ctx, limit)
	if err != nil || !s.full.Load() {
		return items, err
	}
	all := make([]sessions.WorkItem, crowd, crowd+len(items))
	for i := range all {
		all[i] = sessions.WorkItem{Kind: sessions.WorkTurn, ID: fmt.Sprintf("telegram:waiting-%d", i)}
	}
	all = append(all, items...)
	return sessions.EachKind(all, limit), nil
}

// A stop does not wait for all that a lane holds: after the grace, the message
// that is being sent is the last.
func TestAStopDoesNotWaitForALongLane(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(c *Config) { c.Grace = 1 })
	s.brain.answers(func(context.Context, agent.Request, func(string)) (agent.Answer, error) {
		return agent.Answer{Text: strings.Repeat("0123456789", 500)}, nil
	})
	sending, graceOver := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s.platform.fail = func(adapters.Outgoing) error {
		once.Do(func() { close(sending); <-graceOver })
		return nil
	}
	// Else the menu waits for the platform, which the message holds up, and the stop for the menu.
	s.platform.until(t, "the menu", func() bool { return s.platform.menu != nil })
	s.says("owner", "go")
	<-sending
	context.AfterFunc(s.bot.life.Thinking, func() { close(graceOver) })
	s.end()
	if got := s.platform.texts(); len(got) != 1 {
		t.Fatalf("%d messages were sent while stopping", len(got))
	}
}

// What no retry mends is not offered for ever: it would stop the platform's
// whole stream.
func TestAnEventTheStoreNeverTakesIsDropped(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, text := range []string{"hello", "/new", "/whoami"} {
		event := s.event("owner", text, false)
		event.Surface.Chat = strings.Repeat("x", sessions.KeyMax)
		s.takeIn(event)
	}
	page := adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: strings.Repeat("x", sessions.KeyMax)}
	if _, err := s.bot.Say(t.Context(), api.Say{Surface: page, Text: "/new"}); !isInvalid(err) {
		t.Fatalf("the API's caller is not told: %v", err)
	}
}

// An owner who shows the others a picture did not ask whether the bot sees it.
func TestAnUndirectedPictureIsPassedOverInSilence(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	picture := s.event("owner", "", true)
	picture.Attachments = []adapters.Attachment{{Kind: "photo"}}
	s.takeIn(picture)
	s.idle("group")
	shown := s.event("owner", "", true)
	shown.Attachments, shown.ReplyToBot = picture.Attachments, true
	s.takeIn(shown)
	s.hears("can't read photos")
	s.idle("group")
	if got := s.platform.texts(); len(got) != 1 {
		t.Fatalf("sent %q", got)
	}
}

// A member stops his own turn also when much was said since it began.
func TestAMemberStopsHisTurnInALivelyGroup(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	started := make(chan struct{})
	s.brain.answers(func(ctx context.Context, _ agent.Request, _ func(string)) (agent.Answer, error) {
		close(started)
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	})
	s.saysInGroup("owner", "/allow")
	s.hears(texts.Allowed)
	s.saysInGroup("member", "@bot think")
	<-started
	for range sessions.TailMax + 10 {
		s.saysInGroup("guest", "chatter")
	}
	s.saysInGroup("member", "/stop")
	s.hears(texts.Stopped)
}

// A stop that is delivered once more is not meant for what was asked since.
func TestAStopDeliveredAgainLeavesLaterTurnsAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	started, release := make(chan struct{}, 1), make(chan struct{})
	s.brain.answers(func(ctx context.Context, request agent.Request, _ func(string)) (agent.Answer, error) {
		started <- struct{}{}
		select {
		case <-ctx.Done():
		case <-release:
		}
		return agent.Answer{Text: "re: " + request.Messages[len(request.Messages)-1].Text}, ctx.Err()
	})
	s.says("owner", "one")
	<-started
	stop := s.event("owner", "/stop", false)
	s.takeIn(stop)
	s.hears(texts.Stopped)
	s.idle("owner")
	s.says("owner", "two")
	<-started
	s.takeIn(stop)
	close(release)
	s.hears("re: two")
}

// What is not well is for the owner, not for his group.
func TestAGroupIsNotToldWhatIsNotWell(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.saysInGroup("owner", "/status")
	s.hears("No conversation here yet")
	s.brain.answers(func(context.Context, agent.Request, func(string)) (agent.Answer, error) {
		return agent.Answer{}, &agent.ModelError{Kind: agent.KindUnavailable, Reason: "no route to 10.0.0.7"}
	})
	s.saysInGroup("owner", "@bot hello")
	s.hears("couldn't reach my language model")
	s.idle("group")
	s.saysInGroup("owner", "/status")
	s.hears("Model: brain")
	s.says("owner", "hello")
	s.hears("no route")
	s.platform.mu.Lock()
	defer s.platform.mu.Unlock()
	for _, sent := range s.platform.sent {
		if sent.Surface.Chat == "group" && strings.Contains(sent.Text, "10.0.0.7") {
			t.Fatalf("the group was told %q", sent.Text)
		}
	}
}

// Between two attempts a turn is still its asker's to stop.
func TestAMemberDoesNotStopAnothersTurnBetweenAttempts(t *testing.T) {
	t.Parallel()
	waits := &handsBack{}
	s := newStage(t, waits.install)
	s.saysInGroup("owner", "/allow")
	s.hears(texts.Allowed)
	s.brain.answers(func(context.Context, agent.Request, func(string)) (agent.Answer, error) { panic("for now") })
	s.saysInGroup("owner", "@bot hello")
	s.idle("group")
	s.saysInGroup("member", "/stop")
	s.hears(texts.NothingRuns)
	if running, err := s.store.Stop(t.Context(), s.record("group").ID); err != nil || !running {
		t.Fatalf("no turn is open, so nothing was shown: %t, %v", running, err)
	}
}

// handsBack is a store whose turns are not tried again for long.
type handsBack struct{ sessions.Store }

func (s *handsBack) install(c *Config) { s.Store, c.Store = c.Store, s }

func (s *handsBack) Commit(ctx context.Context, request sessions.CommitRequest) (sessions.CommitResult, error) {
	if request.Outcome == sessions.Again {
		request.After = time.Hour
	}
	return s.Store.Commit(ctx, request)
}

// What cannot be read any more is not taken for answered.
func TestAnUnreadableMessageIsParked(t *testing.T) {
	t.Parallel()
	garbled := &garbling{}
	s := newStage(t, garbled.install)
	s.says("owner", "hello")
	s.idle("owner")
	letters, err := s.store.DeadLetters(t.Context(), 10)
	if err != nil || len(letters) != 1 {
		t.Fatalf("%v, %v", letters, err)
	}
}

// garbling is a store whose messages were written by a version that this one
// does not understand.
type garbling struct{ sessions.Store }

func (s *garbling) install(c *Config) { s.Store, c.Store = c.Store, s }

func (s *garbling) Post(ctx context.Context, request sessions.PostRequest) (sessions.PostResult, error) {
	result, err := s.Store.Post(ctx, request)
	if result.Turn != nil {
		for _, entries := range [][]sessions.Entry{result.Turn.Taken, result.Turn.Tail} {
			for i := range entries {
				entries[i].Payload = []byte(`{"text":1}`)
			}
		}
	}
	return result, err
}
