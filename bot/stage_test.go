package bot

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/adapters"
	"parley/agent"
	"parley/routing"
	"parley/sessions"
	"parley/sqlitestore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait; nothing is judged by how long it took.
const patience = 30 * time.Second

const (
	account = "77"
	partMax = 2000 // longest message of the platform, in bytes
)

// platform is an adapter whose people are the test. It delivers what is said to
// the sink by the test's own goroutine, and keeps what the bot sends.
type platform struct {
	mu      sync.Mutex
	changed *sync.Cond
	sent    []adapters.Outgoing
	typed   int
	menu    []adapters.CommandInfo
	fail    func(adapters.Outgoing) error
	sink    chan adapters.Sink
	unknown atomic.Bool // the platform has not said yet who the bot is
}

func newPlatform() *platform {
	p := &platform{sink: make(chan adapters.Sink, 1)}
	p.changed = sync.NewCond(&p.mu)
	return p
}

func (p *platform) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{Platform: adapters.Telegram, TextMax: partMax, TypingFor: 5 * time.Second}
}

func (p *platform) Account() string {
	if p.unknown.Load() {
		return ""
	}
	return account
}

func (p *platform) Run(ctx context.Context, sink adapters.Sink) error {
	p.sink <- sink
	<-ctx.Done()
	return nil
}

func (p *platform) Split(text string, _ adapters.Format) []string {
	var parts []string
	for len(text) > partMax {
		parts, text = append(parts, text[:partMax]), text[partMax:]
	}
	if text != "" {
		parts = append(parts, text)
	}
	return parts
}

func (p *platform) Send(_ context.Context, message adapters.Outgoing) (adapters.Receipt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail != nil {
		if err := p.fail(message); err != nil {
			return adapters.Receipt{}, err
		}
	}
	p.sent = append(p.sent, message)
	p.changed.Broadcast()
	return adapters.Receipt{MessageIDs: []string{fmt.Sprint(len(p.sent))}}, nil
}

func (p *platform) Typing(context.Context, adapters.Surface) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.typed++
	p.changed.Broadcast()
	return nil
}

func (p *platform) RegisterCommands(_ context.Context, menu []adapters.CommandInfo) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.menu = menu
	p.changed.Broadcast()
	return nil
}

func (p *platform) Health() adapters.Health { return adapters.Health{State: adapters.Hearing} }

// until waits for a condition on the platform, under its lock.
func (p *platform) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late := time.AfterFunc(patience, p.changed.Broadcast)
	defer late.Stop()
	deadline := time.Now().Add(patience)
	p.mu.Lock()
	defer p.mu.Unlock()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s; sent so far: %q", what, textsOf(p.sent))
		}
		p.changed.Wait()
	}
}

func textsOf(sent []adapters.Outgoing) []string {
	out := make([]string, len(sent))
	for i, message := range sent {
		out[i] = message.Text
	}
	return out
}

func (p *platform) texts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return textsOf(p.sent)
}

// brain is a model whose answers are the test's.
type brain struct {
	mu       sync.Mutex
	requests []agent.Request
	answer   func(context.Context, agent.Request, func(string)) (agent.Answer, error)
}

func (*brain) Name() string { return "brain" }

func (b *brain) Complete(ctx context.Context, request agent.Request, onText func(string)) (agent.Answer, error) {
	b.mu.Lock()
	b.requests = append(b.requests, request)
	answer := b.answer
	b.mu.Unlock()
	if answer != nil {
		return answer(ctx, request, onText)
	}
	return agent.Answer{Text: "echo: " + request.Messages[len(request.Messages)-1].Text}, nil
}

func (b *brain) answers(answer func(context.Context, agent.Request, func(string)) (agent.Answer, error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer = answer
}

func (b *brain) asked() []agent.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]agent.Request(nil), b.requests...)
}

// stage is a bot that runs on a store in memory.
type stage struct {
	t        *testing.T
	bot      *Bot
	store    sessions.Store
	platform *platform
	brain    *brain
	sink     adapters.Sink
	end      func()
	said     int
}

type option func(*Config)

func newStage(t *testing.T, options ...option) *stage {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, store: store, platform: newPlatform(), brain: &brain{}}
	config := Config{
		Store: store, Adapters: []adapters.Adapter{s.platform}, Model: s.brain,
		Policy: routing.Policy{OwnerAlways: true}, Owners: []adapters.Identity{"telegram:owner"},
		Members: []adapters.Identity{"telegram:member"}, Blocked: []adapters.Identity{"telegram:blocked"},
		Log: slog.New(slog.DiscardHandler), Retry: agent.RunOptions{Attempts: 1}, Grace: patience,
	}
	for _, set := range options {
		set(&config)
	}
	s.store = config.Store
	if s.bot, err = New(config); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.bot.Run(ctx) }()
	s.sink = <-s.platform.sink
	s.end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.end)
	return s
}

// event is a message of somebody, by default to be taken in as new.
func (s *stage) event(who, text string, group bool) adapters.Event {
	s.said++
	event := adapters.Event{
		Kind: adapters.EventMessage, ID: fmt.Sprintf("m:%d", s.said), MessageID: fmt.Sprint(s.said), Sequence: int64(s.said),
		Surface: adapters.Surface{Platform: adapters.Telegram, Account: account, Chat: who},
		Direct:  true, Sender: adapters.Sender{ID: adapters.NewIdentity(adapters.Telegram, who), Name: strings.ToUpper(who)},
		Text: text, BotName: "bot", Time: time.Unix(1_700_000_000, 0),
	}
	if group {
		event.Direct, event.Surface.Chat = false, "group"
		event.Mentioned = strings.Contains(text, "@bot")
	}
	return event
}

func (s *stage) takeIn(event adapters.Event) {
	s.t.Helper()
	if err := s.sink(s.t.Context(), event); err != nil {
		s.t.Fatalf("%q was not taken in: %v", event.Text, err)
	}
}

func (s *stage) says(who, text string)        { s.t.Helper(); s.takeIn(s.event(who, text, false)) }
func (s *stage) saysInGroup(who, text string) { s.t.Helper(); s.takeIn(s.event(who, text, true)) }

// hears waits until the bot has sent a message that contains text.
func (s *stage) hears(text string) {
	s.t.Helper()
	s.platform.until(s.t, fmt.Sprintf("a message with %q", text), func() bool {
		for _, sent := range s.platform.sent {
			if strings.Contains(sent.Text, text) {
				return true
			}
		}
		return false
	})
}

// record is the current session of a chat.
func (s *stage) record(chat string) sessions.Record {
	s.t.Helper()
	surface := adapters.Surface{Platform: adapters.Telegram, Account: account, Chat: chat}
	record, err := s.store.Bound(s.t.Context(), surface.Key())
	if err != nil {
		s.t.Fatal(err)
	}
	return record
}

// idle waits until a chat's session has nothing to do.
func (s *stage) idle(chat string) sessions.Record {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	changes, err := s.store.Watch(ctx, s.record(chat).ID)
	if err != nil {
		s.t.Fatal(err)
	}
	for {
		record := s.record(chat)
		if record.Status == sessions.StatusIdle && record.Queued == 0 {
			return record
		}
		if _, open := <-changes; !open {
			s.t.Fatalf("the session never became idle: %+v", record)
		}
	}
}

func (s *stage) entries(record sessions.Record) []sessions.Entry {
	s.t.Helper()
	entries, err := s.store.Range(s.t.Context(), record.ID, 1, record.Seq)
	if err != nil {
		s.t.Fatal(err)
	}
	return entries
}
