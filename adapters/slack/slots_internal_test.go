package slack

import (
	"context"
	"sync"
	"testing"
	"time"

	"parley/adapters"
	"parley/internal/secret"
	"parley/test/fakeslack"
)

// rights are locks in memory, shared by several adapters.
type rights struct {
	mu   sync.Mutex
	held map[string]chan struct{}
}

func (r *rights) Lock(ctx context.Context, name string, busy func()) (adapters.Lock, error) {
	r.mu.Lock()
	if r.held == nil {
		r.held = map[string]chan struct{}{}
	}
	if r.held[name] == nil {
		r.held[name] = make(chan struct{}, 1)
	}
	slot := r.held[name]
	r.mu.Unlock()
	select {
	case slot <- struct{}{}:
	default:
		busy()
		select {
		case slot <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	life, end := context.WithCancel(context.Background())
	return &right{ctx: life, end: sync.OnceFunc(func() { end(); <-slot })}, nil
}

type right struct {
	adapters.Lock
	ctx context.Context
	end func()
}

func (r *right) Context() context.Context { return r.ctx }
func (r *right) Unlock()                  { r.end() }

// TestSlotsShared: a replica that is alone has both sockets; a second waits,
// which is healthy, and has them when the first is gone.
func TestSlotsShared(t *testing.T) {
	t.Parallel()
	fake, locker := newFake(t, fakeslack.Options{}), &rights{}
	first := newOffice(t, fake, Config{Locker: locker}, nil).start()
	first.sockets(2)
	second := newOffice(t, fake, Config{Locker: locker}, nil).start()
	second.becomes(adapters.Waiting)
	first.close()
	second.sockets(2)
	second.becomes(adapters.Hearing)
	second.alice.Say("C0GEN", "who is there")
	second.await("the message", count(1))
}

// TestSlotsDivided: two replicas that start together have one socket each,
// however long they run.
func TestSlotsDivided(t *testing.T) {
	t.Parallel()
	fake, locker := newFake(t, fakeslack.Options{}), &rights{}
	slow := func(times *timing) { times.second = time.Hour }
	first := newOffice(t, fake, Config{Locker: locker}, slow).start()
	second := newOffice(t, fake, Config{Locker: locker}, slow).start()
	first.becomes(adapters.Hearing)
	second.becomes(adapters.Hearing)
	fake.Emit(map[string]any{"type": "nothing"})
	first.sockets(2)
	if n := fake.Sockets().Opened(); n != 2 {
		t.Errorf("%d sockets", n)
	}
}

func TestLockName(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{"xapp-1-A0123ABC-456-deadbeef": "slack:A0123ABC:2", "xapp-something": "slack:U0BOT:2", "xapp-1-../x-4-d": "slack:U0BOT:2"} {
		a := &Adapter{config: Config{AppToken: secret.New(token)}}
		a.me.Store(&self{User: "U0BOT"})
		if got := (&socket{run: &run{Adapter: a}, number: 1}).lockName(); got != want {
			t.Errorf("%s gives %s", token, got)
		}
	}
}
