package slack_test

import (
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/adapters"
	"parley/adapters/adaptertest"
	"parley/adapters/slack"
	"parley/internal/secret"
	"parley/test/fakeslack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestConformance runs the suite over sockets. An app with two gets its events
// on either of them; the fake keeps each channel on one, or there would be no
// order to hold.
func TestConformance(t *testing.T) { adaptertest.Run(t, newWorld) }

const waitMax = time.Minute

func start(t *testing.T, options fakeslack.Options) *fakeslack.Server {
	t.Helper()
	if options.Ping == 0 {
		options.Ping = 50 * time.Millisecond
	}
	return fakeslack.New(t, options)
}

func quick(t *testing.T, fake *fakeslack.Server, options adaptertest.Options) *slack.Adapter {
	t.Helper()
	adapter, err := slack.NewQuick(slack.Config{
		BotToken: secret.New(fake.BotToken()), AppToken: secret.New(fake.AppToken()),
		APIURL: fake.URL(), Logger: options.Log, Locker: options.Locker,
	})
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

func newWorld(t *testing.T) adaptertest.World {
	t.Helper()
	fake := start(t, fakeslack.Options{Sticky: true})
	alice, robot := fake.User("U0ALICE", "Alice"), fake.Bot("U0ROBOT", "Robot")
	group := fake.Channel("C0GENERAL", "general", alice, robot)
	parent := alice.Say(group, "a side matter")
	direct := alice.DM()
	at := func(place adaptertest.Place) (channel string, extras []fakeslack.Extra) {
		if place == "thread" {
			return group, []fakeslack.Extra{fakeslack.InThread(parent)}
		}
		return string(place), nil
	}
	say := func(user *fakeslack.User, before string) func(adaptertest.Place, string) string {
		return func(place adaptertest.Place, text string) string {
			channel, extras := at(place)
			return user.Say(channel, before+text, extras...)
		}
	}
	return adaptertest.World{
		New: func(t *testing.T, options adaptertest.Options) adapters.Adapter {
			t.Helper()
			return quick(t, fake, options)
		},
		Secrets: []string{fake.BotToken(), fake.AppToken(), "ticket-"},
		Direct:  adaptertest.Place(direct), Group: adaptertest.Place(group), Thread: "thread",
		Post:           say(alice, ""),
		PostMention:    say(alice, "<@"+fake.BotUser()+"> "),
		PostBot:        say(robot, ""),
		PostUnverified: func(place adaptertest.Place, text string) string { return fake.Webhook(string(place), "hook", text) },
		Edit:           func(place adaptertest.Place, id, text string) { alice.Edit(string(place), id, text) },
		Leave:          func(place adaptertest.Place) { alice.Leave(string(place)) },
		TellsLeaving:   true,
		Redeliver:      func(place adaptertest.Place, id string) { fake.Again(string(place), id) },
		Strange:        func() { strange(fake) },
		Acknowledged:   fake.Acknowledged,
		Await:          await,
		Shown:          func(place adaptertest.Place) []string { return shown(fake, place, group, parent) },
		Fail: func(fault adaptertest.Fault, n int) {
			for range n {
				fake.Fail("chat.postMessage", faultOf(fault))
			}
		},
		Disconnect: fake.Sockets().Drop,
		Deafen: func() func() {
			fake.Sockets().Refuse("link_disabled")
			fake.Sockets().Drop()
			return func() { fake.Sockets().Refuse("") }
		},
		Revoke: func() { fake.RevokeBotToken(); fake.RevokeAppToken() },
		Down:   fake.Close,
	}
}

// await asks every now and then: health changes after the fake does.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	ticker, timeout := time.NewTicker(2*time.Millisecond), time.NewTimer(waitMax)
	defer ticker.Stop()
	defer timeout.Stop()
	for !done() {
		select {
		case <-ticker.C:
		case <-timeout.C:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func shown(fake *fakeslack.Server, place adaptertest.Place, group, parent string) []string {
	channel, thread := string(place), ""
	if place == "thread" {
		channel, thread = group, parent
	}
	var texts []string
	for _, sent := range fake.Sent(channel) {
		if sent.Thread == thread {
			texts = append(texts, sent.Shown())
		}
	}
	return texts
}

func faultOf(fault adaptertest.Fault) fakeslack.Fault {
	switch fault {
	case adaptertest.RateLimited:
		return fakeslack.Fault{Status: http.StatusTooManyRequests, RetryAfter: adaptertest.RetryAfter}
	case adaptertest.GlobalLimit:
		return fakeslack.Fault{Status: http.StatusTooManyRequests, RetryAfter: adaptertest.RetryAfter, Body: `{"ok":false,"error":"ratelimited"}`}
	case adaptertest.Gone:
		return fakeslack.Fault{Error: "is_archived"}
	case adaptertest.ServerError:
		return fakeslack.Fault{Status: http.StatusBadGateway, Body: "<html>bad gateway</html>"}
	case adaptertest.Hang:
		return fakeslack.Fault{Hang: true, After: true}
	case adaptertest.Broken:
		return fakeslack.Fault{Drop: true, After: true}
	}
	return fakeslack.Fault{Status: http.StatusTeapot}
}

// strange sends what no adapter knows.
func strange(fake *fakeslack.Server) {
	fake.Emit(map[string]any{"type": "something_new", "novelty": true})
	fake.Emit(map[string]any{"type": "message", "subtype": "nobody_knows", "channel": "C0GENERAL", "user": "U0ALICE", "ts": "1.000001"})
	fake.Emit(map[string]any{"type": "message", "channel": 17, "text": []string{"no"}})
	fake.Emit(map[string]any{"type": "message", "channel": "C0GENERAL", "ts": "yesterday", "user": "U0ALICE"})
	fake.Emit(map[string]any{"type": "reaction_added"})
	fake.Deliver("events_api", []any{"not", "an", "object"})
	fake.Deliver("events_api", map[string]any{"type": "app_rate_limited", "minute_rate_limited": 1})
	fake.Deliver("slash_commands", map[string]any{"command": "new"})
	fake.Deliver("interactive", map[string]any{"type": "view_submission", "view": map[string]any{}})
	fake.Deliver("a_kind_of_tomorrow", map[string]any{"x": 1})
	fake.Frame([]byte(`{"type":"greeting"}`))
	fake.Frame([]byte(`{"type":`))
}
