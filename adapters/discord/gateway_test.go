package discord_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/adapters"
	"parley/adapters/adaptertest"
	"parley/adapters/discord"
	"parley/test/fakediscord"
)

// TestEndings holds every way a connection can end to what Discord wants then:
// the session is resumed, or a new one begins.
func TestEndings(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		end    func(*fakediscord.Server)
		resume bool
	}{
		"op 7":                 {(*fakediscord.Server).AskReconnect, true},
		"op 9, resumable":      {func(s *fakediscord.Server) { s.Invalidate(true) }, true},
		"op 9, not resumable":  {func(s *fakediscord.Server) { s.Invalidate(false) }, false},
		"TCP breaks":           {(*fakediscord.Server).KillTCP, true},
		"closed with 4000":     {func(s *fakediscord.Server) { s.CloseGateway(4000) }, true},
		"closed with 4008":     {func(s *fakediscord.Server) { s.CloseGateway(4008) }, true},
		"closed with 1000":     {func(s *fakediscord.Server) { s.CloseGateway(1000) }, true},
		"closed with 1001":     {func(s *fakediscord.Server) { s.CloseGateway(1001) }, true},
		"closed with 4007":     {func(s *fakediscord.Server) { s.CloseGateway(4007) }, false},
		"closed with 4009":     {func(s *fakediscord.Server) { s.CloseGateway(4009) }, false},
		"not JSON":             {func(s *fakediscord.Server) { s.SendRaw("{") }, true},
		"resume of a lost one": {func(s *fakediscord.Server) { s.ForgetSessions(); s.KillTCP() }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, fakediscord.Config{})
			c := r.connect(nil).hearing()
			c.hears("before")
			test.end(r.fake)
			want := 2
			if test.resume {
				want = 1
				r.fake.AwaitCalls(t, fakediscord.CallResume, 1)
			} else {
				r.fake.AwaitCalls(t, fakediscord.CallIdentify, 2)
			}
			r.fake.AwaitConnected(t, 1)
			c.hears("after")
			if strings.HasPrefix(name, "closed") && !test.resume && r.count(fakediscord.CallResume) != 0 {
				t.Error("tried to resume what is over")
			}
			if got := r.count(fakediscord.CallIdentify); got != want {
				t.Errorf("%d identifies, want %d", got, want)
			}
			r.fake.AssertNoViolations(t)
		})
	}
}

// TestZombie: a connection on which heartbeats are not acknowledged is left in
// a way that lets the session go on.
func TestZombie(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{Heartbeat: 200 * time.Millisecond})
	c := r.connect(nil).hearing()
	// On a busy machine an acknowledgement may have been late before this.
	identified, resumed := r.count(fakediscord.CallIdentify), r.count(fakediscord.CallResume)
	r.fake.WithholdAcks(true)
	r.fake.AwaitCalls(t, fakediscord.CallResume, resumed+1)
	r.fake.WithholdAcks(false)
	r.fake.AwaitConnected(t, 1)
	c.hears("after")
	if r.count(fakediscord.CallIdentify) != identified {
		t.Error("the session was thrown away")
	}
	r.fake.AssertNoViolations(t)
}

// TestHeartbeatOnDemand: op 1 is answered at once.
func TestHeartbeatOnDemand(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	r.connect(nil).hearing()
	r.fake.AskHeartbeat()
	r.fake.AwaitCalls(t, fakediscord.CallHeartbeat, 1)
}

// TestFatalCodes: after these Discord wants no reconnect; Run ends with one
// line that says what to do.
func TestFatalCodes(t *testing.T) {
	t.Parallel()
	for code, remedy := range map[int]string{
		4004: "token", 4010: "restart", 4011: "restart", 4012: "update", 4013: "update", 4014: "Message Content Intent",
	} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, fakediscord.Config{})
			c := r.connect(nil).hearing()
			r.fake.CloseGateway(code)
			err := c.refused()
			if err == nil || !strings.Contains(err.Error(), remedy) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Run ends with %v", err)
			}
			if health := c.Health(); health.State != adapters.Refused || health.Problem != err.Error() {
				t.Errorf("health is %+v", health)
			}
			if n := r.count(fakediscord.CallIdentify) + r.count(fakediscord.CallResume); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// TestContentIntent: without it the bot is refused, and says what to switch on.
func TestContentIntent(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{NoContentIntent: true})
	c := r.connect(nil)
	if err := c.refused(); err == nil || !strings.Contains(err.Error(), "Message Content Intent") {
		t.Errorf("Run ends with %v", err)
	}
	for _, finding := range c.Diagnose(t.Context()) {
		if finding.Level == adapters.LevelProblem && strings.Contains(finding.Remedy, "Message Content Intent") {
			return
		}
	}
	t.Error("the doctor does not find it")
}

// TestIdentifyBudget: when the day's identifies are used up, none is tried.
func TestIdentifyBudget(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{Identifies: -1})
	c := r.connect(nil)
	c.state(adapters.Deaf)
	if n := r.count(fakediscord.CallIdentify); n != 0 {
		t.Errorf("%d identifies", n)
	}
	if problem := c.Health().Problem; !strings.Contains(problem, "24h") {
		t.Errorf("the problem is %q", problem)
	}
	if err := c.stop(); err != nil {
		t.Error(err)
	}
}

// TestSuccessorResumes: a restart takes the session up where it was, and a
// gateway without a locker begins anew.
func TestSuccessorResumes(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	first := r.connect(nil).hearing()
	first.hears("before")
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	id := r.fake.Post(r.group, r.alice, "between")
	second := r.connect(nil).hearing()
	if event := second.next(); event.MessageID != id || !strings.HasSuffix(event.Title, "#general") || event.Workspace != r.guild {
		t.Errorf("the first event is %+v", event)
	}
	if r.count(fakediscord.CallIdentify) != 1 || r.count(fakediscord.CallResume) != 1 {
		t.Errorf("calls: %+v", r.fake.Calls())
	}
	_ = second.stop()
	r.locker = nil
	r.connect(nil).hearing()
	if r.count(fakediscord.CallIdentify) != 2 {
		t.Error("without a locker the session was resumed")
	}
	r.fake.AssertNoViolations(t)
}

// TestOneReplica: of two replicas one listens; when it goes the other takes
// its session over.
func TestOneReplica(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	first := r.connect(nil).hearing()
	second := r.connect(nil)
	second.state(adapters.Waiting)
	if !second.Health().OK() {
		t.Error("a replica that rightly waits is not healthy")
	}
	first.hears("to the first")
	_ = first.stop()
	second.hearing()
	second.hears("to the second")
	if r.count(fakediscord.CallIdentify) != 1 {
		t.Error("the second replica began a session of its own")
	}
	r.fake.AssertNoViolations(t)
}

// losing is a locker whose locks a test can take away.
type losing struct {
	adapters.Locker
	mu   sync.Mutex
	lose context.CancelFunc
}

type losingLock struct {
	adapters.Lock
	ctx context.Context
}

func (l losingLock) Context() context.Context { return l.ctx }

func (l *losing) Lock(ctx context.Context, name string, busy func()) (adapters.Lock, error) {
	lock, err := l.Locker.Lock(ctx, name, busy)
	if err != nil {
		return nil, err
	}
	life, lose := context.WithCancel(lock.Context())
	l.mu.Lock()
	l.lose = lose
	l.mu.Unlock()
	return losingLock{lock, life}, nil
}

// TestLockLost: with the lock goes the connection, and the session stays for
// whoever has the lock next.
func TestLockLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	locker := &losing{Locker: r.locker}
	r.locker = locker
	c := r.connect(nil).hearing()
	c.hears("before")
	locker.mu.Lock()
	locker.lose()
	locker.mu.Unlock()
	closed := r.fake.AwaitCalls(t, fakediscord.CallClose, 1)
	if code := closed[0].Status; code == 1000 || code == 1001 {
		t.Errorf("closed with %d", code)
	}
	r.fake.AwaitCalls(t, fakediscord.CallResume, 1)
	c.hears("after")
	if r.count(fakediscord.CallIdentify) != 1 {
		t.Error("the session was thrown away")
	}
}

// TestShards: every shard has a connection of its own, and each event comes
// once.
func TestShards(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{Shards: 3})
	c := r.connect(nil).hearing()
	r.fake.AwaitConnected(t, 3)
	for i := range 6 {
		guild := r.fake.NewGuild(fmt.Sprint("guild ", i))
		channel := r.fake.NewChannel(guild, "room")
		id := r.fake.Post(channel, r.alice, "here")
		if event := c.next(); event.MessageID != id {
			t.Errorf("%s instead of %s", event.MessageID, id)
		}
	}
	c.hears("and here")
	seen := map[string]bool{}
	for _, call := range r.fake.Calls(fakediscord.CallIdentify) {
		for shard := range 3 {
			if strings.Contains(call.Body, fmt.Sprintf(`"shard":[%d,3]`, shard)) {
				seen[strconv.Itoa(shard)] = true
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("identified: %v", r.fake.Calls(fakediscord.CallIdentify))
	}
	r.fake.AssertNoViolations(t)
}

// TestBehind: when far too many events wait, the connection is given up, and
// taken up again when they are gone; none is lost and the order stays.
func TestBehind(t *testing.T) {
	t.Parallel()
	const count = 1300
	var open atomic.Bool
	r := newRig(t, fakediscord.Config{})
	r.makes = discord.NewImpatient
	c := r.connect(func(context.Context, adapters.Event) error {
		if open.Load() {
			return nil
		}
		return errors.New("the store is away")
	}).hearing()
	ids := make([]string, count)
	for i := range ids {
		ids[i] = r.fake.Post(r.group, r.alice, fmt.Sprint("line ", i))
	}
	c.state(adapters.Deaf)
	open.Store(true)
	for i, id := range ids {
		if event := c.next(); event.MessageID != id {
			t.Fatalf("event %d is %q", i, event.Text)
		}
	}
	c.hearing()
	if r.count(fakediscord.CallIdentify) != 1 {
		t.Error("the session was thrown away")
	}
	r.fake.AssertNoViolations(t)
}

// TestSlowChannel: a channel whose event is not taken holds up no other.
func TestSlowChannel(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	release := make(chan struct{})
	c := r.connect(func(ctx context.Context, event adapters.Event) error {
		if event.Surface.Chat == r.group {
			select {
			case <-release:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}).hearing()
	held := r.fake.Post(r.group, r.alice, "slow")
	c.hears("quick")
	close(release)
	if event := c.next(); event.MessageID != held {
		t.Errorf("%+v", event)
	}
}

// TestStoredPosition: what is stored for a successor is behind what was taken,
// never ahead.
func TestStoredPosition(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	locker := adaptertest.NewLocker()
	r.locker = locker
	c := r.connect(func(_ context.Context, event adapters.Event) error {
		if strings.HasPrefix(event.Text, "never ") {
			return errors.New("not this one")
		}
		return nil
	}).hearing()
	c.hears("one")
	name := "discord:" + r.fake.App() + ":0"
	awaitBoth(t, r.fake, "a stored position", func() bool { return strings.Contains(locker.Data(name), `"session_id"`) })
	id := r.fake.Post(r.group, r.alice, "never taken")
	c.hears("two")
	c.hears("three")
	_ = c.stop()
	if strings.Contains(locker.Data(name), r.fake.Token()) {
		t.Error("the token is stored")
	}
	second := r.connect(nil).hearing()
	seen := map[string]bool{}
	for event := second.next(); event.MessageID != id; event = second.next() {
		seen[event.Text] = true
	}
	if seen["one"] {
		t.Error("what was taken and stored is delivered again")
	}
}

// TestBacklog: a backlog longer than what may wait at once is read without
// giving the connection up, as long as the sink takes events.
func TestBacklog(t *testing.T) {
	t.Parallel()
	const count = 3000
	r := newRig(t, fakediscord.Config{})
	first := r.connect(nil).hearing()
	first.hears("before")
	_ = first.stop()
	ids := make([]string, count)
	for i := range ids {
		ids[i] = r.fake.Post(r.group, r.alice, fmt.Sprint("line ", i))
	}
	second := r.connect(nil)
	for i, id := range ids {
		if event := second.next(); event.MessageID != id {
			t.Fatalf("event %d is %q", i, event.Text)
		}
	}
	if n := r.count(fakediscord.CallResume); n != 1 {
		t.Errorf("%d resumes", n)
	}
}

// TestHeartbeatHoldsBack: a heartbeat confirms only what was taken.
func TestHeartbeatHoldsBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	offered, release := make(chan struct{}), make(chan struct{})
	c := r.connect(func(_ context.Context, event adapters.Event) error {
		if event.Surface.Chat == r.group {
			close(offered)
			<-release
		}
		return nil
	}).hearing()
	id := r.fake.Post(r.group, r.alice, "slow")
	<-offered
	c.hears("quick")
	for n := range 3 {
		r.fake.AskHeartbeat()
		r.fake.AwaitCalls(t, fakediscord.CallHeartbeat, n+1)
	}
	if r.fake.Confirmed(id) {
		t.Error("an event was confirmed before it was taken")
	}
	close(release)
	awaitBoth(t, r.fake, "confirmation", func() bool { return confirmed(r.fake, id) })
}

// TestThreadSurface: a thread belongs to its channel, whether the adapter saw
// it begin or has to ask.
func TestThreadSurface(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	for name, begin := range map[string]func(*connection){
		"seen":  func(*connection) {},
		"asked": func(c *connection) { _ = c.stop() },
	} {
		c := r.connect(nil).hearing()
		thread := r.fake.NewThread(r.group, name)
		begin(c)
		if name == "asked" {
			c = r.connect(nil).hearing()
		}
		r.fake.Post(thread, r.alice, "aside")
		event := c.next()
		if event.Surface.Chat != r.group || event.Surface.Thread != thread || !strings.HasSuffix(event.Title, "#"+name) {
			t.Errorf("%s: %+v", name, event)
		}
		c.answer(event, "an answer", "thread-"+name)
		if len(r.fake.Messages(thread)) != 1 {
			t.Errorf("%s: the answer is not in the thread", name)
		}
		_ = c.stop()
	}
}

// TestLookUpFails: events of a channel that cannot be looked up wait; those of
// one that is gone come without its name.
func TestLookUpFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakediscord.Config{})
	_ = r.connect(nil).hearing().stop()
	r.fake.Fail("GET /channels/{channel}", 3, fakediscord.Fault{Status: 500, Body: "{}"})
	c := r.connect(nil).hearing()
	id := r.fake.Post(r.group, r.alice, "wait for me")
	if event := c.next(); event.MessageID != id || !strings.HasSuffix(event.Title, "#general") {
		t.Errorf("%+v", event)
	}
	other := r.fake.NewChannel(r.guild, "other")
	c.hears("its beginning is taken in")
	_ = c.stop()
	r.fake.Fail("GET /channels/{channel}", 1, fakediscord.Fault{Status: 404, Body: `{"code":10003,"message":"Unknown Channel"}`})
	c = r.connect(nil).hearing()
	r.fake.Post(other, r.alice, "gone")
	if event := c.next(); event.Surface.Chat != other || event.Title != "" {
		t.Errorf("%+v", event)
	}
}
