package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/adapters"
	"parley/internal/pause"
	"parley/internal/secret"
	"parley/test/fakeslack"
)

// patience bounds every wait. It is also each limit of time that a test is not
// about: a busy machine does not keep short ones.
const patience = 5 * time.Minute

// office is a fake with an adapter on it.
type office struct {
	*Adapter
	t     *testing.T
	ctx   context.Context
	fake  *fakeslack.Server
	alice *fakeslack.User

	stop   context.CancelFunc
	ended  chan struct{}
	result error // of Run, once ended is closed

	mu      sync.Mutex
	events  []adapters.Event
	changed chan struct{}
	judge   func(context.Context) error // nil: takes all
}

func newFake(t *testing.T, options fakeslack.Options) *fakeslack.Server {
	t.Helper()
	if options.Ping == 0 {
		options.Ping = 30 * time.Millisecond
	}
	if options.Redeliver == 0 {
		options.Redeliver = 2 * time.Second
	}
	fake := fakeslack.New(t, options)
	fake.Channel("C0GEN", "general", fake.User("U0ALICE", "Alice"))
	return fake
}

func newOffice(t *testing.T, fake *fakeslack.Server, config Config, change func(*timing)) *office {
	t.Helper()
	times := defaultTiming()
	times.retry, times.offer = pause.Range{Min: 5 * time.Millisecond, Max: 50 * time.Millisecond}, pause.Range{Min: 5 * time.Millisecond, Max: 50 * time.Millisecond}
	times.opens, times.burst, times.second = 20*time.Millisecond, 3, 20*time.Millisecond
	times.settled, times.hello, times.silence = 200*time.Millisecond, patience, patience
	times.call, times.lookup, times.ack, times.answer = patience, patience, patience, patience
	if change != nil {
		change(&times)
	}
	config.BotToken, config.APIURL = secret.New(fake.BotToken()), fake.URL()
	if config.SigningSecret.IsZero() {
		config.AppToken = secret.New(fake.AppToken())
	}
	a, err := newAdapter(config, times)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return &office{
		Adapter: a, t: t, ctx: ctx, fake: fake, alice: fake.User("U0ALICE", "Alice"),
		ended: make(chan struct{}), changed: make(chan struct{}),
	}
}

func (o *office) start() *office {
	o.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	o.stop = stop
	go func() {
		defer close(o.ended)
		o.result = o.Run(ctx, o.sink)
	}()
	o.t.Cleanup(o.close)
	return o
}

func (o *office) close() {
	o.stop()
	<-o.ended
}

func (o *office) sink(ctx context.Context, event adapters.Event) error {
	if o.judge != nil {
		if err := o.judge(ctx); err != nil {
			return err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, event)
	close(o.changed)
	o.changed = make(chan struct{})
	return nil
}

// until waits for release, as long as ctx lets it.
func until(ctx context.Context, release <-chan struct{}) error {
	select {
	case <-release:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// await waits until what was taken satisfies a condition.
func (o *office) await(what string, done func([]adapters.Event) bool) []adapters.Event {
	o.t.Helper()
	for {
		o.mu.Lock()
		events, changed := append([]adapters.Event(nil), o.events...), o.changed
		o.mu.Unlock()
		if done(events) {
			return events
		}
		select {
		case <-changed:
		case <-o.ctx.Done():
			o.t.Fatalf("waited in vain for %s; taken: %+v", what, events)
		}
	}
}

func count(n int) func([]adapters.Event) bool {
	return func(events []adapters.Event) bool { return len(events) >= n }
}

// becomes waits for a state. Health has no signal of its own.
func (o *office) becomes(state adapters.ConnectionState) adapters.Health {
	o.t.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for o.Health().State != state {
		select {
		case <-ticker.C:
		case <-o.ctx.Done():
			o.t.Fatalf("not %s but %+v", state, o.Health())
		}
	}
	return o.Health()
}

func (o *office) sockets(n int) {
	o.t.Helper()
	o.must(o.fake.WaitSockets(o.ctx, n))
}

func (o *office) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

func distinct(events []adapters.Event) int {
	ids := map[string]bool{}
	for _, event := range events {
		ids[event.ID] = true
	}
	return len(ids)
}

func TestMentionIsOneEventTwice(t *testing.T) {
	t.Parallel()
	o := newOffice(t, newFake(t, fakeslack.Options{}), Config{}, nil).start()
	o.becomes(adapters.Hearing)
	ts := o.alice.Say("C0GEN", "<@"+o.fake.BotUser()+"> see <@U0ALICE>", fakeslack.WithFile("F1", "a.txt", "text/plain", 3))
	events := o.await("both events", count(2))
	for _, event := range events {
		if event.ID != "m:C0GEN:"+ts || !event.Mentioned || len(event.Attachments) != 1 || event.Text != "see @Alice" ||
			event.Sender.Name != "Alice" || event.Title != "#general" {
			t.Errorf("%+v", event)
		}
	}
	o.must(o.fake.WaitAcknowledged(o.ctx))
	o.alice.Say("C0GEN", "again")
	o.await("a third", count(3))
	if calls := o.fake.Calls("users.info"); len(calls) > 2 { // the two events may have asked at once
		t.Errorf("%d look-ups of one person", len(calls))
	}
}

// TestRefresh: Slack renews sockets every few hours. One of two stays open
// meanwhile, and nothing is lost.
func TestRefresh(t *testing.T) {
	t.Parallel()
	o := newOffice(t, newFake(t, fakeslack.Options{}), Config{}, nil).start()
	o.sockets(2)
	const rounds, each = 5, 20
	for round := range rounds {
		for i := range each {
			o.alice.Say("C0GEN", fmt.Sprint("message ", round, i))
			if i == each/2 {
				o.fake.Sockets().Refresh([]string{"warning", "refresh_requested"}[round%2])
			}
		}
		o.must(o.fake.Sockets().WaitOpened(o.ctx, 3+round))
		o.sockets(2)
	}
	o.await("all messages", func(events []adapters.Event) bool { return distinct(events) == rounds*each })
	o.must(o.fake.WaitAcknowledged(o.ctx))
}

func TestLostAcknowledgement(t *testing.T) {
	t.Parallel()
	o := newOffice(t, newFake(t, fakeslack.Options{Redeliver: 200 * time.Millisecond}), Config{}, nil).start()
	o.sockets(2)
	o.fake.Sockets().IgnoreAcks(true)
	o.alice.Say("C0GEN", "again and again")
	events := o.await("the same event twice", count(2))
	if distinct(events) != 1 {
		t.Errorf("%+v", events)
	}
	o.fake.Sockets().IgnoreAcks(false)
	o.must(o.fake.WaitAcknowledged(o.ctx))
}

// TestSlowSink: a sink that does not answer holds up no ping.
func TestSlowSink(t *testing.T) {
	t.Parallel()
	fake := newFake(t, fakeslack.Options{})
	o := newOffice(t, fake, Config{}, func(times *timing) { times.take = patience })
	release := make(chan struct{})
	var mu sync.Mutex
	offered := 0
	o.judge = func(ctx context.Context) error {
		mu.Lock()
		offered++
		mu.Unlock()
		return until(ctx, release)
	}
	o.start()
	o.sockets(2)
	const messages = 120 // the library holds 50
	for i := range messages {
		o.alice.Say("C0GEN", fmt.Sprint("message ", i))
	}
	o.must(o.fake.Sockets().WaitPongs(o.ctx, 60)) // only who reads answers pings
	if n := o.fake.Sockets().Opened(); n != 2 {
		t.Errorf("%d sockets were opened", n)
	}
	mu.Lock()
	if offered != 1 {
		t.Errorf("%d events of one surface were offered at once", offered)
	}
	mu.Unlock()
	close(release)
	o.await("all messages", func(events []adapters.Event) bool { return distinct(events) == messages })
	o.must(o.fake.WaitAcknowledged(o.ctx))
}

// TestMoreThanMayWait: what there is no room for is not acknowledged, and
// comes again.
func TestMoreThanMayWait(t *testing.T) {
	t.Parallel()
	fake := newFake(t, fakeslack.Options{Redeliver: 5 * time.Second})
	o := newOffice(t, fake, Config{}, func(times *timing) { times.take = patience })
	release := make(chan struct{})
	o.judge = func(ctx context.Context) error { return until(ctx, release) }
	o.start()
	o.sockets(2)
	const messages = waitingMax + 100
	for i := range messages {
		o.alice.Say("C0GEN", fmt.Sprint("message ", i))
	}
	o.must(o.fake.Sockets().WaitPongs(o.ctx, 30))
	close(release)
	o.await("all messages", func(events []adapters.Event) bool { return distinct(events) == messages })
	o.must(o.fake.WaitAcknowledged(o.ctx))
}

// TestHotLoop: a socket that is closed as soon as it is open is not opened
// again and again, and the adapter says so.
func TestHotLoop(t *testing.T) {
	t.Parallel()
	fake := newFake(t, fakeslack.Options{})
	fake.Sockets().Refuse("link_disabled")
	o := newOffice(t, fake, Config{}, func(times *timing) { times.opens, times.settled = time.Minute, time.Hour }).start()
	health := o.becomes(adapters.Deaf)
	if !strings.Contains(health.Problem, "Socket Mode") {
		t.Errorf("%+v", health)
	}
	o.must(fake.WaitFor(o.ctx, func(calls []fakeslack.Call) bool { return opens(calls) == 6 }))
	o.close()
	if n := opens(fake.Calls()); n != 6 {
		t.Errorf("%d sockets were asked for", n)
	}
}

// TestHotLoopEnds: after several short connections it takes one that lasts.
func TestHotLoopEnds(t *testing.T) {
	t.Parallel()
	fake := newFake(t, fakeslack.Options{})
	fake.Sockets().Refuse("too_many_websockets")
	o := newOffice(t, fake, Config{}, func(times *timing) { times.settled, times.hello = time.Second, 4*time.Second }).start()
	o.becomes(adapters.Deaf)
	fake.Sockets().Refuse("")
	o.sockets(2)
	o.becomes(adapters.Hearing)
	o.alice.Say("C0GEN", "hello again")
	o.await("the message", count(1))
}

// TestBlocksNobodyKnows: the library refuses the whole envelope for one block
// it cannot decode; its text is taken all the same. An envelope that says
// nothing is acknowledged.
func TestBlocksNobodyKnows(t *testing.T) {
	t.Parallel()
	o := newOffice(t, newFake(t, fakeslack.Options{}), Config{}, nil).start()
	o.sockets(2)
	ts := o.alice.Say("C0GEN", "read me", fakeslack.With("blocks", []any{map[string]any{"type": "rich_text", "elements": "none"}}))
	if events := o.await("the message", count(1)); events[0].Text != "read me" || events[0].MessageID != ts {
		t.Errorf("%+v", events)
	}
	o.fake.Deliver("events_api", 17)
	o.fake.Frame([]byte(`{"type":7,"envelope_id":"envelope-x"}`))
	o.must(o.fake.WaitAcknowledged(o.ctx))
}

func opens(calls []fakeslack.Call) int {
	n := 0
	for _, call := range calls {
		if call.Method == "apps.connections.open" {
			n++
		}
	}
	return n
}

func TestSocketWithoutGreeting(t *testing.T) {
	t.Parallel()
	fake := newFake(t, fakeslack.Options{})
	fake.Sockets().Mute(true)
	o := newOffice(t, fake, Config{}, func(times *timing) { times.hello = 400 * time.Millisecond }).start()
	if health := o.becomes(adapters.Deaf); !strings.Contains(health.Problem, errNoHello.Error()) {
		t.Errorf("%+v", health)
	}
	fake.Sockets().Mute(false)
	o.becomes(adapters.Hearing)
}

func TestSocketThatFallsSilent(t *testing.T) {
	t.Parallel()
	o := newOffice(t, newFake(t, fakeslack.Options{}), Config{}, func(times *timing) {
		times.hello, times.silence = 400*time.Millisecond, 400*time.Millisecond // on new sockets it is silent from the start
	}).start()
	o.sockets(2)
	o.fake.Sockets().Mute(true)
	o.must(o.fake.Sockets().WaitOpened(o.ctx, 4)) // both were given up
	o.fake.Sockets().Mute(false)
	o.becomes(adapters.Hearing)
	o.alice.Say("C0GEN", "still there?")
	o.await("the message", count(1))
}

func (o *office) refusedWith(words string) {
	o.t.Helper()
	select {
	case <-o.ended:
	case <-o.ctx.Done():
		o.t.Fatal("Run goes on")
	}
	health := o.Health()
	if o.result == nil || !strings.Contains(o.result.Error(), words) || health.State != adapters.Refused || !strings.Contains(health.Problem, words) {
		o.t.Errorf("%v, %+v", o.result, health)
	}
}

// TestAppTokenWithoutScope: the library would ask for ever.
func TestAppTokenWithoutScope(t *testing.T) {
	t.Parallel()
	o := newOffice(t, newFake(t, fakeslack.Options{AppScopes: []string{}}), Config{}, nil).start()
	o.refusedWith("connections:write")
	if n := opens(o.fake.Calls()); n > slotsMax {
		t.Errorf("asked %d times", n)
	}
}

func TestAppTokenOfTheWrongKind(t *testing.T) {
	t.Parallel()
	o := newOffice(t, newFake(t, fakeslack.Options{AppToken: "xapp-1-A0FAKE-1-right"}), Config{}, nil)
	o.config.AppToken = o.config.BotToken
	o.start()
	o.refusedWith("not_allowed_token_type")
}

// TestBotTokenRevoked: sockets live on, since they hang on the other token.
func TestBotTokenRevoked(t *testing.T) {
	t.Parallel()
	for name, notice := range map[string]func(*office){
		"Slack says so": func(o *office) { o.fake.Emit(map[string]any{"type": "tokens_revoked"}) },
		"at a renewal":  func(o *office) { o.fake.Sockets().Refresh("refresh_requested") },
		"at a message": func(o *office) {
			_, err := o.Send(o.ctx, adapters.Outgoing{Surface: place("C0GEN", ""), Text: "x"})
			if adapters.AsSendError(err).Kind != adapters.SendDenied {
				o.t.Errorf("sent: %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, newFake(t, fakeslack.Options{}), Config{}, nil).start()
			o.sockets(2)
			o.fake.RevokeBotToken()
			notice(o)
			o.refusedWith("revoked")
		})
	}
}

func TestStartWhileSlackIsAway(t *testing.T) {
	t.Parallel()
	fake := newFake(t, fakeslack.Options{})
	fake.Fail("auth.test", fakeslack.Fault{Status: 503}, fakeslack.Fault{Drop: true}, fakeslack.Fault{Body: "<html>"}, fakeslack.Fault{Error: "internal_error"})
	fake.Fail("apps.connections.open", fakeslack.Fault{Status: 500}, fakeslack.Fault{Error: "internal_error"}, fakeslack.Fault{Drop: true})
	newOffice(t, fake, Config{}, nil).start().becomes(adapters.Hearing)
}

// TestRequests: everything over signed requests, retried until it is taken.
func TestRequests(t *testing.T) {
	t.Parallel()
	// As many retries as a busy machine may need.
	fake := newFake(t, fakeslack.Options{Retries: slices.Repeat([]time.Duration{10 * time.Millisecond}, 1000)})
	o := newOffice(t, fake, Config{SigningSecret: secret.New(fake.SigningSecret())}, func(times *timing) {
		times.answer = 2 * time.Second
	})
	var back atomic.Bool
	o.judge = func(context.Context) error {
		if retried := func(n int) bool { return n > 1 }; !back.Load() && !slices.ContainsFunc(fake.Attempts(), retried) {
			return errors.New("the store is away")
		}
		back.Store(true)
		return nil
	}
	server := httptest.NewServer(o.Webhook())
	t.Cleanup(server.Close)
	o.start().becomes(adapters.Hearing)
	o.must(fake.Verify(o.ctx, server.URL))
	fake.DeliverTo(server.URL)
	o.alice.Say("C0GEN", "hello")
	o.must(fake.WaitAcknowledged(o.ctx))
	o.alice.Say("C0GEN", "<@"+fake.BotUser()+"> twice")
	o.alice.Command(o.alice.DM(), "/new", "")
	o.alice.Press("C0GEN", tsA, "yes", "v")
	o.must(fake.WaitAcknowledged(o.ctx))
	events := o.await("all", func(events []adapters.Event) bool { return distinct(events) == 4 })
	kinds := map[string]bool{}
	for _, event := range events {
		kinds[fmt.Sprintf("%s command:%v direct:%v", event.Kind, event.Command != nil, event.Direct)] = true
		if event.Time.IsZero() {
			t.Errorf("%s has no time", event.ID)
		}
	}
	for _, want := range []string{"message command:false direct:false", "message command:true direct:true", "button command:false direct:false"} {
		if !kinds[want] {
			t.Errorf("%s is missing: %+v", want, events)
		}
	}
}
