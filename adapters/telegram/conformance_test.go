package telegram_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/adapters"
	"parley/adapters/adaptertest"
	"parley/adapters/telegram"
	"parley/internal/secret"
	"parley/test/faketelegram"
)

func TestConformance(t *testing.T) { adaptertest.Run(t, newWorld) }

// platform is the fake together with what the suite has to remember of it.
// A place is chat or chat/thread.
type platform struct {
	*faketelegram.Server
	alice *faketelegram.User

	mu      sync.Mutex
	updates map[string]int64 // of messages, by id
}

func newWorld(t *testing.T) adaptertest.World {
	t.Helper()
	p := &platform{Server: faketelegram.New(t, faketelegram.Options{}), updates: map[string]int64{}}
	p.alice = p.User(5, "Alice", "alice")
	group := p.Forum(-1001, "Workshop")
	// Unseen messages, so that the chats do not count in step: the suite knows
	// a message by its id alone.
	for range 500 {
		p.alice.Send(group, "filler")
	}
	p.SetReadAllGroupMessages(true)
	thread := p.Topic(group, p.alice)
	places := func(chat, thread int64) adaptertest.Place {
		return adaptertest.Place(strings.TrimSuffix(strconv.FormatInt(chat, 10)+"/"+strconv.FormatInt(thread, 10), "/0"))
	}
	other := faketelegram.Chat{ID: -1009, Type: "channel", Title: "A channel"}
	return adaptertest.World{
		New:     p.adapter,
		Secrets: []string{p.Token()},
		Direct:  places(p.alice.DM(), 0), Group: places(group, 0), Thread: places(group, thread),
		Post: func(place adaptertest.Place, text string) string {
			return p.post(place, text, faketelegram.SendOptions{})
		},
		PostMention: func(place adaptertest.Place, text string) string {
			return p.post(place, "@"+p.Bot().Username+" "+text, faketelegram.SendOptions{})
		},
		PostReply: func(place adaptertest.Place, to, text string) string {
			return p.post(place, text, faketelegram.SendOptions{ReplyTo: number(to)})
		},
		PostUnverified: func(place adaptertest.Place, text string) string {
			return p.post(place, text, faketelegram.SendOptions{As: &other})
		},
		Edit: func(place adaptertest.Place, id, text string) {
			chat, _ := parts(place)
			p.alice.Edit(chat, number(id), text)
		},
		Leave: func(place adaptertest.Place) {
			chat, _ := parts(place)
			p.alice.Leave(chat)
		},
		TellsLeaving: true,
		Redeliver:    func(_ adaptertest.Place, id string) { p.Duplicate(p.update(id)) },
		Strange:      p.strange,
		Acknowledged: p.acknowledged,
		Await:        p.await,
		Shown:        p.shown,
		Fail: func(fault adaptertest.Fault, n int) {
			for range n {
				p.Fail("sendMessage", faultOf(fault))
			}
		},
		Disconnect: func() { p.Fail("getUpdates", faketelegram.Fault{Kind: faketelegram.CloseMidBody}); p.wake() },
		Deafen: func() func() {
			p.refuse(faketelegram.Fault{Kind: faketelegram.ServerError}, "getUpdates")
			return func() { p.ClearFaults("getUpdates") }
		},
		Revoke: func() {
			revoked := faketelegram.Fault{Kind: faketelegram.Refused, Code: 401, Text: "Unauthorized"}
			p.refuse(revoked, "getUpdates", "getMe", "sendMessage", "getWebhookInfo")
		},
		Down: p.Close,
	}
}

func (p *platform) adapter(t *testing.T, options adaptertest.Options) adapters.Adapter {
	t.Helper()
	adapter, err := telegram.New(telegram.Config{
		Token: secret.New(p.Token()), APIURL: p.URL(), Logger: options.Log, Locker: options.Locker,
		Wait: func(ctx context.Context, _ time.Duration) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(5 * time.Millisecond):
				return nil
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

func parts(place adaptertest.Place) (chat, thread int64) {
	first, second, _ := strings.Cut(string(place), "/")
	return number(first), number(second)
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (p *platform) post(place adaptertest.Place, text string, options faketelegram.SendOptions) string {
	chat, thread := parts(place)
	options.Thread = thread
	p.mu.Lock()
	defer p.mu.Unlock()
	posted := p.alice.Send(chat, text, options)
	id := strconv.FormatInt(posted.MessageID, 10)
	p.updates[id] = posted.UpdateID
	return id
}

func (p *platform) update(id string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.updates[id]
}

// wake ends a poll that waits.
func (p *platform) wake() {
	p.post(adaptertest.Place(strconv.FormatInt(p.alice.DM(), 10)), "wake", faketelegram.SendOptions{})
}

// refuse makes methods fail from now on, and the poll at hand end.
func (p *platform) refuse(fault faketelegram.Fault, methods ...string) {
	const forever = 10_000
	faults := make([]faketelegram.Fault, forever)
	for i := range faults {
		faults[i] = fault
	}
	for _, method := range methods {
		p.Fail(method, faults...)
	}
	p.wake()
}

// strange injects what no adapter knows. The ids are lower than those of the
// updates around them, so whoever confirms those confirms these.
func (p *platform) strange() {
	p.InjectRaw(10, `{"update_id":10,"message":{"message_id":"not a number","chat":7}}`)
	p.InjectRaw(11, `{"update_id":11,"telepathic_message":{"secret thought":"xyzzy"}}`)
	p.InjectRaw(12, `{"update_id":12,"message":null}`)
}

// acknowledged: some poll has asked for what follows the message's update.
func (p *platform) acknowledged(id string) bool {
	update := p.update(id)
	for _, call := range p.Calls("getUpdates") {
		if number(call.Params["offset"]) > update {
			return true
		}
	}
	return false
}

func (p *platform) await(t *testing.T, what string, done func() bool) {
	t.Helper()
	ticker, timeout := time.NewTicker(2*time.Millisecond), time.NewTimer(time.Minute)
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

func (p *platform) shown(place adaptertest.Place) []string {
	chat, thread := parts(place)
	var texts []string
	for _, sent := range p.Sent(chat) {
		if sent.Thread == thread {
			texts = append(texts, sent.Text)
		}
	}
	return texts
}

func faultOf(fault adaptertest.Fault) faketelegram.Fault {
	switch fault {
	case adaptertest.RateLimited, adaptertest.GlobalLimit:
		return faketelegram.Fault{Kind: faketelegram.TooManyRequests, RetryAfter: int64(adaptertest.RetryAfter / time.Second)}
	case adaptertest.Gone:
		return faketelegram.Fault{Kind: faketelegram.Refused, Code: 403, Text: "Forbidden: bot was kicked from the supergroup chat"}
	case adaptertest.ServerError:
		return faketelegram.Fault{Kind: faketelegram.ServerError}
	case adaptertest.Hang:
		return faketelegram.Fault{Kind: faketelegram.Hang, After: true}
	case adaptertest.Broken:
		return faketelegram.Fault{Kind: faketelegram.CloseAtOnce, After: true}
	}
	return faketelegram.Fault{Kind: faketelegram.Refused, Code: 418, Text: "I'm a teapot"}
}
