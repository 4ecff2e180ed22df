package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/adapters"
	"parley/adapters/telegram"
	"parley/internal/secret"
	"parley/test/faketelegram"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// logs is a log that several goroutines write and the test reads.
type logs struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.String()
}

// rig is an adapter that runs against a fake server.
type rig struct {
	server  *faketelegram.Server
	adapter *telegram.Adapter
	events  chan adapters.Event
	waits   chan time.Duration // every pause between attempts, without pausing
	logs    *logs
	ctx     context.Context
	refuse  func(adapters.Event) error // what the sink answers; nil takes all
	ended   chan error
	stop    context.CancelFunc
}

func newRig(t *testing.T) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	r := &rig{
		server: faketelegram.New(t, faketelegram.Options{ReadAllGroupMessages: true}),
		events: make(chan adapters.Event, 1000), waits: make(chan time.Duration, 1000),
		logs: &logs{}, ctx: ctx, ended: make(chan error, 1),
	}
	r.adapter = r.another(t)
	t.Cleanup(func() {
		if strings.Contains(r.logs.String(), r.server.Token()) {
			t.Errorf("the token is in the log:\n%s", r.logs)
		}
	})
	return r
}

func (r *rig) another(t *testing.T) *telegram.Adapter {
	t.Helper()
	adapter, err := telegram.New(telegram.Config{
		Token: secret.New(r.server.Token()), APIURL: r.server.URL(),
		Logger: slog.New(slog.NewTextHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Wait: func(ctx context.Context, d time.Duration) error {
			select {
			case r.waits <- d:
			default:
			}
			return ctx.Err()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

func (r *rig) sink(_ context.Context, event adapters.Event) error {
	if r.refuse != nil {
		if err := r.refuse(event); err != nil {
			return err
		}
	}
	r.events <- event
	return nil
}

// run starts the adapter; it is stopped with the test.
func (r *rig) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(r.ctx)
	r.stop = cancel
	go func() { r.ended <- r.adapter.Run(ctx, r.sink) }()
	t.Cleanup(func() {
		cancel()
		r.server.Close()
		<-r.ended
	})
}

func (r *rig) next(t *testing.T) adapters.Event {
	t.Helper()
	select {
	case event := <-r.events:
		return event
	case <-r.ctx.Done():
		t.Fatalf("no event came; log:\n%s", r.logs)
		return adapters.Event{}
	}
}

func (r *rig) settled(t *testing.T) {
	t.Helper()
	if err := r.server.WaitConfirmed(r.ctx); err != nil {
		t.Fatalf("%v; log:\n%s", err, r.logs)
	}
}

func TestReceivesAndConfirms(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	alice := r.server.User(5, "Alice", "alice")
	alice.Send(alice.DM(), "hello")
	r.run(t)
	event := r.next(t)
	if event.Text != "hello" || !event.Direct || event.Sender.ID != "telegram:5" || event.Surface.Key() != "telegram:77:5" {
		t.Errorf("%+v", event)
	}
	r.settled(t)
	if health := r.adapter.Health(); health.State != adapters.Hearing || !health.OK() {
		t.Errorf("health %+v", health)
	}
	if r.adapter.Account() != "77" {
		t.Errorf("account %q", r.adapter.Account())
	}
	forum := r.server.Forum(-1005, "Forum")
	topic := r.server.Topic(forum, alice)
	alice.Send(forum, "in a topic @parley_bot", faketelegram.SendOptions{Thread: topic})
	if event := r.next(t); event.Surface.Thread != strconv.FormatInt(topic, 10) || !event.Mentioned || event.ReplyTo != "" || event.Direct {
		t.Errorf("%+v", event)
	}
	alice.React(forum, topic, "👍")
	if event := r.next(t); event.Kind != adapters.EventReaction || event.Text != "👍" {
		t.Errorf("%+v", event)
	}
}

func TestConfirmsNothingThatWasNotTaken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	alice, bob := r.server.User(5, "Alice", ""), r.server.User(6, "Bob", "")
	refusals := make(chan string, 100)
	tries := 0
	r.refuse = func(event adapters.Event) error {
		if event.Sender.ID != "telegram:5" || event.Text != "one" {
			return nil
		}
		if tries++; tries <= 3 {
			for _, call := range r.server.Calls("getUpdates") {
				if call.Params["offset"] != "" {
					t.Errorf("confirmed with %s before everything was taken", call.Params["offset"])
				}
			}
			refusals <- event.Text
			return errors.New("the store is away")
		}
		return nil
	}
	alice.Send(alice.DM(), "one")
	alice.Send(alice.DM(), "two")
	bob.Send(bob.DM(), "three")
	r.run(t)
	var order []string
	for range 3 {
		if event := r.next(t); event.Sender.ID == "telegram:5" {
			order = append(order, event.Text)
		}
	}
	if fmt.Sprint(order) != "[one two]" || len(refusals) != 3 {
		t.Errorf("order %v after %d refusals", order, len(refusals))
	}
	r.settled(t)
}

func TestSurvivesBadAndUnknownUpdates(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	alice := r.server.User(5, "Alice", "")
	r.server.InjectRaw(10, `{"update_id":10,"message":{"message_id":"not a number","chat":7}}`)
	r.server.InjectRaw(11, `{"update_id":11,"telepathic_message":{"secret thought":"xyzzy"}}`)
	r.server.InjectRaw(12, `"not even an object"`)
	r.server.InjectRaw(13, `{"update_id":13,"message":null}`)
	alice.Send(alice.DM(), "after")
	r.run(t)
	if event := r.next(t); event.Text != "after" {
		t.Errorf("%+v", event)
	}
	r.settled(t)
	log := r.logs.String()
	if !strings.Contains(log, "kind=telepathic_message") || !strings.Contains(log, "update_id=10") || strings.Contains(log, "xyzzy") {
		t.Errorf("log:\n%s", log)
	}
}

func TestLowerUpdateIDsAfterAQuietWeek(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	alice := r.server.User(5, "Alice", "")
	r.run(t)
	for i, restart := range []int64{900000, 17, 500} {
		r.server.RestartUpdateIDs(restart)
		alice.Send(alice.DM(), strconv.Itoa(i))
		if event := r.next(t); event.Text != strconv.Itoa(i) {
			t.Errorf("%+v", event)
		}
		r.settled(t)
	}
}

func TestDuplicateHasTheSameKey(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	alice := r.server.User(5, "Alice", "")
	r.run(t)
	posted := alice.Send(alice.DM(), "once")
	first := r.next(t)
	r.settled(t)
	if !r.server.Duplicate(posted.UpdateID) {
		t.Fatal("no such update")
	}
	if second := r.next(t); second.ID != first.ID || first.ID == "" {
		t.Errorf("%q and %q", first.ID, second.ID)
	}
}

func TestManySurfacesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const people, each = 30, 12
	for i := range each {
		for p := range people {
			user := r.server.User(int64(100+p), "P", "")
			user.Send(user.DM(), strconv.Itoa(i))
		}
	}
	r.run(t)
	seen := map[adapters.Identity]int{}
	for range people * each {
		event := r.next(t)
		if want := strconv.Itoa(seen[event.Sender.ID]); event.Text != want {
			t.Fatalf("%s: got %s, want %s", event.Sender.ID, event.Text, want)
		}
		seen[event.Sender.ID]++
	}
	r.settled(t)
}

func TestRefusedTokenEndsRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.server.Fail("getMe", faketelegram.Fault{Kind: faketelegram.Refused, Code: 401, Text: "Unauthorized"})
	err := r.adapter.Run(r.ctx, r.sink)
	if err == nil || !strings.Contains(err.Error(), "@BotFather") || r.adapter.Health().State != adapters.Refused {
		t.Errorf("%v, %+v", err, r.adapter.Health())
	}
}

func TestTokenRevokedWhileRunning(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	unauthorized := faketelegram.Fault{Kind: faketelegram.Refused, Code: 401, Text: "Unauthorized"}
	r.server.Fail("getMe", faketelegram.Fault{Kind: faketelegram.Delayed}, unauthorized)
	r.server.Fail("getUpdates", unauthorized)
	if err := r.adapter.Run(r.ctx, r.sink); err == nil || r.adapter.Health().OK() {
		t.Errorf("%v, %+v", err, r.adapter.Health())
	}
}

func TestOutagesAreWaitedOut(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.server.Fail("getMe", faketelegram.Fault{Kind: faketelegram.ServerError}, faketelegram.Fault{Kind: faketelegram.CloseAtOnce})
	r.server.Fail("getUpdates",
		faketelegram.Fault{Kind: faketelegram.TooManyRequests, RetryAfter: 40}, faketelegram.Fault{Kind: faketelegram.CloseMidBody},
		faketelegram.Fault{Kind: faketelegram.Garbage}, faketelegram.Fault{Kind: faketelegram.ServerError}, faketelegram.Fault{Kind: faketelegram.Refused, Code: 401, Text: "Unauthorized"})
	alice := r.server.User(5, "Alice", "")
	alice.Send(alice.DM(), "still there")
	r.run(t)
	if event := r.next(t); event.Text != "still there" {
		t.Errorf("%+v", event)
	}
	obeyed := false
	for range 7 {
		d := <-r.waits
		obeyed = obeyed || d >= 40*time.Second
		if d < 500*time.Millisecond {
			t.Errorf("paused only %v", d)
		}
	}
	if !obeyed {
		t.Error("retry_after was not obeyed")
	}
}

func TestWebhookIsRemovedAndNothingLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	alice := r.server.User(5, "Alice", "")
	alice.Send(alice.DM(), "waiting")
	r.server.SetWebhook("https://example.org/a-secret-path")
	r.run(t)
	if event := r.next(t); event.Text != "waiting" {
		t.Errorf("%+v", event)
	}
	if strings.Contains(r.logs.String(), "a-secret-path") || !strings.Contains(r.logs.String(), "example.org") {
		t.Errorf("log:\n%s", r.logs)
	}
	r.settled(t)
}

func TestTwoPollersAreToldApart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.server.Fail("getUpdates", faketelegram.Fault{Kind: faketelegram.Refused, Code: 409, Text: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"})
	r.run(t)
	if d := <-r.waits; d < 5*time.Second || d > 10*time.Second {
		t.Errorf("paused %v", d)
	}
	if !strings.Contains(r.logs.String(), "another program receives") {
		t.Errorf("log:\n%s", r.logs)
	}
}

func TestStopsAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.run(t)
	err := r.server.WaitFor(r.ctx, func(calls []faketelegram.Call) bool {
		if len(calls) == 0 {
			return false
		}
		last := calls[len(calls)-1]
		return last.Method == "getUpdates" && last.Params["timeout"] == "30" && last.Code == 0
	})
	if err != nil {
		t.Fatal(err)
	}
	r.stop()
	select {
	case err := <-r.ended:
		if err != nil {
			t.Error(err)
		}
		r.ended <- nil
	case <-r.ctx.Done():
		t.Fatal("the long poll was not given up")
	}
}

func TestMigrationWaitsForWhatCameBefore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	alice := r.server.User(5, "Alice", "")
	group := r.server.Group(-4, "Team")
	alice.Send(group, "before")
	r.server.Migrate(group, -1004, alice)
	alice.Send(-1004, "after")
	r.run(t)
	var got []string
	for range 4 {
		event := r.next(t)
		got = append(got, event.Text+string(event.Kind)+event.MigratedTo.Chat)
	}
	if want := "[beforemessage migrate-1004 migrate-1004 aftermessage]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestNewRefusesBadConfiguration(t *testing.T) {
	t.Parallel()
	logger := slog.New(slog.DiscardHandler)
	for name, config := range map[string]telegram.Config{
		"no logger": {Token: secret.New("1:a")},
		"no token":  {Logger: logger},
		"bad token": {Logger: logger, Token: secret.New("1:a/../b")},
		"bad URL":   {Logger: logger, Token: secret.New("1:a"), APIURL: "ftp://x"},
	} {
		if _, err := telegram.New(config); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
