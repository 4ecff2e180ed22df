package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"parley/test/fakeopenai"
)

const modelName = fakeopenai.ModelDefault

// world is one store, its gateways, and all that is around them.
type world struct {
	binary    string
	lease     time.Duration // what the binary was built with
	folder    string
	seed      uint64
	rng       *rand.Rand // of the experiment's goroutine
	ledger    *ledger
	platforms []*platform
	model     *fakeopenai.Server
	door      *door
	backend   *backend
	slots     []*slot
	waiting   waiting
	besieged  bool    // the gateways' memory is bounded, and Slack's webhook open
	except    []*chat // where work may be left at the end
	guests    []*chat // of besiegers: nothing is asked of them, and work may be left
	lives     sync.WaitGroup
	ends      atomic.Bool
	ended     chan struct{}                    // closed by close
	report    func(format string, args ...any) // progress
}

// worldOptions say what a world is made of.
type worldOptions struct {
	name, store, folder, binary string
	platforms                   []string
	lease                       time.Duration
	chats                       int
	seed                        uint64
	report                      func(format string, args ...any)
}

func newWorld(o worldOptions) (w *world, err error) {
	w = &world{
		binary: o.binary, lease: o.lease, folder: o.folder, seed: o.seed, ledger: &ledger{}, report: o.report, ended: make(chan struct{}),
		rng: rand.New(rand.NewPCG(o.seed, uint64(len(o.name)))),
	}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if err := os.MkdirAll(o.folder, 0o700); err != nil {
		return w, err
	}
	for i := range replicas(o.store) {
		s := &slot{name: string(rune('a' + i)), world: w, folder: filepath.Join(o.folder, "gateway-"+string(rune('a'+i)))}
		if err := os.MkdirAll(s.folder, 0o700); err != nil {
			return w, err
		}
		w.slots = append(w.slots, s)
	}
	for _, name := range o.platforms {
		p, err := openPlatform(name, o.chats/len(o.platforms), w.ledger, w.folders())
		if err != nil {
			return w, err
		}
		w.platforms = append(w.platforms, p)
	}
	if w.model, err = newModel(); err != nil {
		return w, err
	}
	if w.door, err = openDoor(w.ledger, modelRoot(w.model.URL()), w.fakes()); err != nil {
		return w, err
	}
	if w.backend, err = openBackend(o.store, w.slots[0].folder); err == nil {
		w.watchMachine()
	}
	return w, err
}

// modelRoot is the model's URL without its version.
func modelRoot(url string) string { return url[:len(url)-len("/v1")] }

func (w *world) closing() bool { return w.ends.Load() }

// close ends all that the world started.
func (w *world) close() {
	if w.ends.Swap(true) {
		return
	}
	close(w.ended)
	for _, s := range w.slots {
		if s.life != nil {
			s.life.kill()
		}
	}
	w.lives.Wait()
	if w.door != nil {
		w.door.close()
	}
	if w.model != nil {
		w.model.Close()
	}
	for _, p := range w.platforms {
		p.close()
	}
	if w.backend != nil {
		w.backend.close()
	}
}

// folders are the gateways' data folders.
func (w *world) folders() []string {
	var out []string
	for _, s := range w.slots {
		out = append(out, s.folder)
	}
	return out
}

// fakes are the platforms that are fakes.
func (w *world) fakes() []*platform {
	return slices.DeleteFunc(slices.Clone(w.platforms), func(p *platform) bool { return p.backend == "" })
}

func (w *world) chats() []*chat {
	var out []*chat
	for _, p := range w.platforms {
		out = append(out, p.chats...)
	}
	return out
}

// startAll starts every slot.
func (w *world) startAll() error {
	for _, s := range w.slots {
		if err := s.start(nil); err != nil {
			return err
		}
	}
	return nil
}

// hearWithin bounds the connecting of the first life.
const hearWithin = 30 * time.Second

// awaitHearing waits until nothing that is said is missed: Discord keeps
// events only for a session that has begun.
func (w *world) awaitHearing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, hearWithin)
	defer cancel()
	for _, p := range w.platforms {
		for p.hears != nil && !p.hears() {
			if err := pause(ctx, 20*time.Millisecond); err != nil {
				return fmt.Errorf("nobody listens to %s: %w", p.name, err)
			}
		}
	}
	return pause(ctx, sessionStored)
}

// sessionStored is how long it takes at most until a session with a platform
// is stored, so that a successor goes on with it.
const sessionStored = 300 * time.Millisecond

// backlogMax is how many seconds of load may be unanswered before people wait:
// beyond it, what is measured is how fast the machine is.
const backlogMax = 8

// load lets people talk, so many messages a second all in all, until the
// returned function is called. It ends with ctx. Unless an outage is what is
// looked at, people wait while the gateways are far behind.
func (w *world) load(ctx context.Context, rate float64, outage bool, without ...*chat) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var talking sync.WaitGroup
	rng := rand.New(rand.NewPCG(w.seed, uint64(rate)))
	var chats []*chat
	for _, c := range w.chats() {
		if !slices.Contains(without, c) {
			chats = append(chats, c)
		}
	}
	talking.Go(func() {
		ticker := time.NewTicker(time.Duration(float64(time.Second) / rate))
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if outage || float64(w.ledger.unanswered()) < backlogMax*rate {
					w.speak(rng, chats[rng.IntN(len(chats))])
				}
			}
		}
	})
	return func() { cancel(); talking.Wait() }
}

// speak says one thing in a chat; in groups half of what is said asks nothing.
func (w *world) speak(rng *rand.Rand, c *chat) {
	if c.group && rng.IntN(2) == 0 {
		c.mutter(w.ledger)
		return
	}
	c.say(w.ledger, "please", false)
}
