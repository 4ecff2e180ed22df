package discord_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/adapters"
	"parley/adapters/adaptertest"
	"parley/adapters/discord"
	"parley/test/fakediscord"
)

// waitMax bounds every wait, so that a failure says what is missing.
const waitMax = time.Minute

// rig is one fake with a guild channel, a person and her DM, and an adapter on
// it that runs.
type rig struct {
	t      *testing.T
	fake   *fakediscord.Server
	guild  string
	group  string
	alice  fakediscord.User
	direct string
	locker adapters.Locker
	makes  maker
	log    lockedBuffer
}

type lockedBuffer struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}

func newRig(t *testing.T, config fakediscord.Config) *rig {
	t.Helper()
	if config.Heartbeat == 0 {
		config.Heartbeat = time.Hour // what comes late on a busy machine would be a dead connection
	}
	config.CallbackFor = waitMax
	r := &rig{t: t, fake: fakediscord.Start(t, config), locker: adaptertest.NewLocker(), makes: discord.NewQuick}
	r.guild = r.fake.NewGuild("Workshop")
	r.group = r.fake.NewChannel(r.guild, "general")
	r.alice = r.fake.NewUser("alice")
	r.direct = r.fake.DM(r.alice)
	t.Cleanup(func() {
		if t.Failed() {
			text := r.log.String()
			t.Log(text[max(0, len(text)-4000):])
		}
	})
	return r
}

// connection is an adapter whose Run is under way.
type connection struct {
	*discord.Adapter
	rig    *rig
	stop   func() error // ends Run, waits for it
	done   chan struct{}
	err    error
	events chan adapters.Event
}

// connect runs an adapter. sink may be nil; what it takes goes to events.
func (r *rig) connect(sink func(context.Context, adapters.Event) error) *connection {
	r.t.Helper()
	adapter := r.makes.on(r.t, r.fake, adaptertest.Options{
		Locker: r.locker, Log: slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	ctx, cancel := context.WithCancel(context.Background())
	c := &connection{Adapter: adapter, rig: r, done: make(chan struct{}), events: make(chan adapters.Event, 10_000)}
	c.stop = func() error {
		cancel()
		<-c.done
		return c.err
	}
	go func() {
		defer close(c.done)
		c.err = adapter.Run(ctx, func(ctx context.Context, event adapters.Event) error {
			if sink != nil {
				if err := sink(ctx, event); err != nil {
					return err
				}
			}
			c.events <- event
			return nil
		})
	}()
	r.t.Cleanup(func() { _ = c.stop() })
	return c
}

func (c *connection) hearing() *connection {
	c.rig.t.Helper()
	c.state(adapters.Hearing)
	return c
}

func (c *connection) state(want adapters.ConnectionState) {
	c.rig.t.Helper()
	awaitBoth(c.rig.t, c.rig.fake, "state "+string(want), func() bool { return c.Health().State == want })
}

// next is the next event that is not the bot's own message.
func (c *connection) next() adapters.Event {
	c.rig.t.Helper()
	timeout := time.After(waitMax)
	for {
		select {
		case event := <-c.events:
			if !event.Sender.Self {
				return event
			}
		case <-timeout:
			c.rig.t.Fatal("no event came")
		}
	}
}

func (c *connection) refused() error {
	c.rig.t.Helper()
	select {
	case <-c.done:
		return c.err
	case <-time.After(waitMax):
		c.rig.t.Fatal("Run goes on")
		return nil
	}
}

// hears posts a line and waits for it.
func (c *connection) hears(text string) {
	c.rig.t.Helper()
	id := c.rig.fake.Post(c.rig.direct, c.rig.alice, text)
	for event := c.next(); event.MessageID != id; event = c.next() {
		if strings.HasPrefix(event.Text, "never ") {
			c.rig.t.Errorf("%q was taken", event.Text)
		}
	}
}

func (r *rig) count(name string) int { return len(r.fake.Calls(name)) }
