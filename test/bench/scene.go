package main

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"time"

	"parley/adapters"
	"parley/adapters/telegram"
	"parley/agent/openai"
	"parley/internal/secret"
	"parley/test/fakeopenai"
	"parley/test/faketelegram"
)

// firstPerson is the id of the first chat's person, beyond the bot's own.
const firstPerson = 1001

// scene is a Telegram of its own with people in direct chats, and a model
// server that answers at once.
type scene struct {
	server *faketelegram.Server
	model  *fakeopenai.Server
	chats  []*chat
	// answered hears of every message of the bot, when the platform has it
	// and before the bot is told so.
	answered atomic.Pointer[func(c *chat, at time.Time)]
}

// chat is one person's direct chat.
type chat struct {
	user     *faketelegram.User
	received atomic.Int64 // when the adapter handed the newest message over, as time.Since(base)
}

func newScene(chats int, delay time.Duration) (*scene, error) {
	s := &scene{}
	nobody := func(*chat, time.Time) {}
	s.answered.Store(&nobody)
	var err error
	pprof.Do(context.Background(), pprof.Labels("loop", "fake"), func(context.Context) {
		s.server = faketelegram.Start(faketelegram.Options{ReadAllGroupMessages: true, KeepCalls: 100, OnSend: s.onSend})
		s.model, err = fakeopenai.New(fakeopenai.Config{LogMax: -1, Reply: func(fakeopenai.Request) fakeopenai.Reply {
			out := fakeopenai.Text(reply)
			out.Delay = delay
			return out
		}})
	})
	if err != nil {
		s.server.Close()
		return nil, err
	}
	for i := range chats {
		c := &chat{user: s.server.User(int64(firstPerson+i), "Ann", "")}
		c.user.DM()
		s.chats = append(s.chats, c)
	}
	return s, nil
}

func (s *scene) close() {
	s.server.Close()
	s.model.Close()
}

// chatOf is a private chat by its id, which is its person's; nil: there is none.
func (s *scene) chatOf(id int64) *chat {
	if id < firstPerson || id >= firstPerson+int64(len(s.chats)) {
		return nil
	}
	return s.chats[id-firstPerson]
}

func (s *scene) onSend(sent faketelegram.Sent) {
	if c := s.chatOf(sent.Chat); c != nil {
		(*s.answered.Load())(c, time.Now())
	}
}

func (s *scene) hear(listener func(c *chat, at time.Time)) { s.answered.Store(&listener) }

func (c *chat) write() { c.user.Send(c.user.ID, question) }

// timed is the Telegram adapter, noting when it hands an event over.
type timed struct {
	*telegram.Adapter
	scene *scene
	base  time.Time
}

// Run implements adapters.Adapter.
func (t timed) Run(ctx context.Context, sink adapters.Sink) error {
	return t.Adapter.Run(ctx, func(ctx context.Context, event adapters.Event) error {
		id, _ := strconv.ParseInt(event.Surface.Chat, 10, 64)
		if c := t.scene.chatOf(id); c != nil {
			c.received.Store(int64(time.Since(t.base)))
		}
		return sink(ctx, event)
	})
}

func (s *scene) adapter(base time.Time) (timed, error) {
	a, err := telegram.New(telegram.Config{Token: secret.New(s.server.Token()), APIURL: s.server.URL(), Logger: slog.New(slog.DiscardHandler)})
	return timed{Adapter: a, scene: s, base: base}, err
}

func (s *scene) client() (*openai.Model, error) {
	return openai.New(openai.Config{BaseURL: s.model.URL(), APIKey: secret.New(s.model.Key()), Model: fakeopenai.ModelDefault})
}

// subject is a loop that answers the people of a scene: the gateway, or the
// raw limit.
type subject struct {
	running
	scene *scene
	base  time.Time
	over  chan struct{} // a value when a turn is over with all its writes, dropped when one waits
}

// sample is one turn's time.
type sample struct {
	handed   float64 // ms from the event at the gateway to the reply at the platform
	platform float64 // ms from the person's message at the platform to the reply there
}

// one is one turn with nothing else going on.
func (s *subject) one(ctx context.Context, c *chat) (sample, error) {
	answers := make(chan time.Time, 1)
	s.scene.hear(func(_ *chat, at time.Time) {
		select {
		case answers <- at:
		default:
		}
	})
	drain(s.over)
	written := time.Now()
	c.write()
	late := time.NewTimer(answerWithin)
	defer late.Stop()
	select {
	case at := <-answers:
		out := sample{handed: millis(at.Sub(s.base) - time.Duration(c.received.Load())), platform: millis(at.Sub(written))}
		return out, await(ctx, s.over)
	case <-late.C:
		return sample{}, errLate
	case <-ctx.Done():
		return sample{}, ctx.Err()
	}
}

// flow lets every chat talk for a while, each writing again when it has its
// answer. It gives the turns per second in that while, and all turns until
// everybody had an answer.
func (s *subject) flow(ctx context.Context, during time.Duration) (rate float64, all int64, err error) {
	var turns, open atomic.Int64
	var stopping atomic.Bool
	quiet := make(chan struct{})
	s.scene.hear(func(c *chat, _ time.Time) {
		turns.Add(1)
		if !stopping.Load() {
			c.write()
		} else if open.Add(-1) == 0 {
			close(quiet)
		}
	})
	open.Store(int64(len(s.scene.chats)))
	began := time.Now()
	for _, c := range s.scene.chats {
		c.write()
	}
	if err := pause(ctx, during); err != nil {
		return 0, 0, err
	}
	rate = float64(turns.Load()) / time.Since(began).Seconds()
	stopping.Store(true)
	if err := await(ctx, quiet); err != nil {
		return 0, 0, fmt.Errorf("%d chats got no answer: %w", open.Load(), err)
	}
	return rate, turns.Load(), nil
}

// close ends the loop and its scene.
func (s *subject) close() error {
	err := s.stop()
	s.scene.close()
	return err
}
