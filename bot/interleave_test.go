package bot

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/adapters"
	"parley/agent"
	"parley/bot/due"
	"parley/internal/secret"
	"parley/redisstore"
	"parley/routing"
	"parley/sessions"
	"parley/sessions/storetest"
	"parley/sqlitestore"
	"parley/test/redistest"
)

// How many orders of events are tried.
const (
	ordersInMemory = 100_000
	ordersRaced    = 5_000 // with the race detector; `make test` runs all of them without it
	ordersOfRound  = 250   // with one store, one after the other
	ordersShort    = 2_000
	ordersReal     = 500
)

// A message may arrive at every step of a turn, of its own or another's, on
// either of two gateways, once or twice, while calls to the store get lost on
// their way there or back, gateways die, and leases run out. Whatever comes
// after what: each message is in one prompt whose answer stands in the log, and
// never in two that differ. In memory, time is the test's own.
func TestEachMessageIsInOnePromptWheneverItArrives(t *testing.T) {
	t.Parallel()
	rounds := ordersInMemory / ordersOfRound
	switch {
	case testing.Short():
		rounds = ordersShort / ordersOfRound
	case raceDetector:
		rounds = ordersRaced / ordersOfRound
	}
	for round := range rounds {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rest, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory})
				if err != nil {
					t.Fatal(err)
				}
				defer rest.Close()
				store := storetest.NewMemory(time.Now, rest)
				o := newOrders(t, store, uint64(round))
				o.quiet, o.pass, o.idle, o.faults = synctest.Wait, time.Sleep, store.Idle, true
				defer o.close()
				for i := range ordersOfRound {
					o.play(i)
				}
				if o.parked > ordersOfRound/20 {
					t.Errorf("something was given up in %d of %d chats: that is no exception", o.parked, ordersOfRound)
				}
			})
		})
	}
}

// The same on the real stores, whose own steps cannot be held: there, time and
// the order of what is ready at once are the machine's.
func TestEachMessageIsInOnePromptOnRealStores(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) sessions.Store{
		"sqlite": func(t *testing.T) sessions.Store {
			t.Helper()
			store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory})
			if err != nil {
				t.Fatal(err)
			}
			return store
		},
		"redis": func(t *testing.T) sessions.Store {
			t.Helper()
			server := redistest.Start(t, "--appendfsync", "no")
			store, err := redisstore.Open(t.Context(), redisstore.Config{URL: secret.New(server.URL())})
			if err != nil {
				t.Fatal(err)
			}
			return store
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t)
			defer func() {
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			}()
			o := newOrders(t, store, 1)
			o.quiet, o.pass, o.idle = o.steps.someone, func(time.Duration) { o.steps.someone() }, func() bool { return true }
			defer o.close()
			n := ordersReal
			if testing.Short() {
				n /= 10
			}
			for i := range n {
				o.play(i)
			}
		})
	}
}

// Where a step is held.
var errCut = fmt.Errorf("the test cuts the line: %w", sessions.ErrUnavailable)

// step is someone who waits to go on.
type step struct {
	name    string
	replica int
	on      chan error
}

// steps hold everyone who is about to do something that others can see.
type steps struct {
	mu      sync.Mutex
	waiting []*step
	free    bool // nobody is held any more
	came    chan struct{}
}

// at holds the caller until it may go on. An error: its call is cut off here.
func (s *steps) at(ctx context.Context, replica int, name string) error {
	one := &step{name: name, replica: replica, on: make(chan error, 1)}
	s.mu.Lock()
	if s.free {
		s.mu.Unlock()
		return nil
	}
	s.waiting = append(s.waiting, one)
	s.mu.Unlock()
	select {
	case s.came <- struct{}{}:
	default:
	}
	select {
	case err := <-one.on:
		return err
	case <-ctx.Done():
		s.take(one)
		return ctx.Err()
	}
}

// take takes someone off the list; false: he is not there any more.
func (s *steps) take(one *step) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiting, one)
	if i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	return i >= 0
}

// held are those who wait, in an order that does not depend on who came first.
func (s *steps) held() []*step {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.waiting)
	slices.SortStableFunc(out, func(a, b *step) int {
		return strings.Compare(a.name+strconv.Itoa(a.replica), b.name+strconv.Itoa(b.replica))
	})
	return out
}

// let lets someone go on, or cuts him off.
func (s *steps) let(one *step, err error) {
	if s.take(one) {
		one.on <- err
	}
}

// letAll lets everyone go on from now on.
func (s *steps) letAll() {
	s.mu.Lock()
	s.free = true
	s.mu.Unlock()
	for _, one := range s.held() {
		s.let(one, nil)
	}
}

// someone waits until somebody is held, or for a moment in which nobody comes.
func (s *steps) someone() {
	for range 20 {
		runtime.Gosched()
	}
	late := time.NewTimer(10 * time.Millisecond)
	defer late.Stop()
	for len(s.held()) == 0 {
		select {
		case <-s.came:
		case <-late.C:
			return
		}
	}
}

// gateway is one replica: a bot on the shared store, by a line that the test
// can cut, and its own people.
type gateway struct {
	o       *orders
	replica int
	bot     *Bot
	sink    chan adapters.Sink
	hear    adapters.Sink
	end     func()

	mu     sync.Mutex
	dead   bool // nothing it does has an effect any more
	silent bool // its renewals do not arrive
}

func (g *gateway) gone() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dead
}

// at holds a step of this gateway. What a dead one does has no effect.
func (g *gateway) at(ctx context.Context, name string) error {
	if g.gone() {
		return errCut
	}
	if err := g.o.steps.at(ctx, g.replica, name); err != nil {
		return err
	}
	if g.gone() {
		return errCut
	}
	return nil
}

// call is a call to the store, held on its way there and on its way back.
func call[T any](ctx context.Context, g *gateway, name string, f func() (T, error)) (T, error) {
	var none T
	if err := g.at(ctx, name+" begins"); err != nil {
		return none, err
	}
	out, err := f()
	if err != nil {
		return out, err
	}
	if err := g.at(ctx, name+" ends"); err != nil {
		return none, err
	}
	return out, nil
}

// line is the store as one gateway has it.
type line struct {
	sessions.Store
	g *gateway
}

func (l line) Post(ctx context.Context, r sessions.PostRequest) (sessions.PostResult, error) {
	return call(ctx, l.g, "post", func() (sessions.PostResult, error) { return l.Store.Post(ctx, r) })
}

func (l line) Claim(ctx context.Context, r sessions.ClaimRequest) (*sessions.Turn, error) {
	return call(ctx, l.g, "claim", func() (*sessions.Turn, error) { return l.Store.Claim(ctx, r) })
}

func (l line) Commit(ctx context.Context, r sessions.CommitRequest) (sessions.CommitResult, error) {
	return call(ctx, l.g, "commit", func() (sessions.CommitResult, error) { return l.Store.Commit(ctx, r) })
}

func (l line) Take(ctx context.Context, lane string, c sessions.Claimer) (sessions.Delivery, error) {
	return call(ctx, l.g, "take", func() (sessions.Delivery, error) { return l.Store.Take(ctx, lane, c) })
}

func (l line) Settle(ctx context.Context, r sessions.Settlement, c sessions.Claimer) (*sessions.Delivery, error) {
	return call(ctx, l.g, "settle", func() (*sessions.Delivery, error) { return l.Store.Settle(ctx, r, c) })
}

func (l line) Renew(ctx context.Context, held []sessions.Lease, extend time.Duration) ([]sessions.RenewResult, error) {
	l.g.mu.Lock()
	cut := l.g.dead || l.g.silent
	l.g.mu.Unlock()
	if cut {
		return nil, errCut
	}
	return l.Store.Renew(ctx, held, extend)
}

func (g *gateway) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{Platform: adapters.Telegram, TextMax: partMax}
}

func (g *gateway) Account() string { return account }

func (g *gateway) Run(ctx context.Context, sink adapters.Sink) error {
	g.sink <- sink
	<-ctx.Done()
	return nil
}

func (g *gateway) Split(text string, _ adapters.Format) []string { return []string{text} }

func (g *gateway) Health() adapters.Health { return adapters.Health{State: adapters.Hearing} }

// Send shows an answer, between two steps.
func (g *gateway) Send(ctx context.Context, message adapters.Outgoing) (adapters.Receipt, error) {
	if err := g.at(ctx, "send begins"); err != nil {
		return adapters.Receipt{}, &adapters.SendError{Kind: adapters.SendUnavailable, Reason: err.Error(), Err: err}
	}
	g.o.sent(message.Text)
	if err := g.at(ctx, "send ends"); err != nil {
		return adapters.Receipt{}, &adapters.SendError{Kind: adapters.SendUnknown, Reason: err.Error(), Err: err}
	}
	return adapters.Receipt{MessageIDs: []string{"1"}}, nil
}

func (g *gateway) Name() string { return "numbers" }

// Complete answers with the numbers it was asked about.
func (g *gateway) Complete(ctx context.Context, request agent.Request, _ func(string)) (agent.Answer, error) {
	var numbers []int
	for _, m := range request.Messages {
		if m.Role == sessions.RoleAssistant {
			numbers = nil
			continue
		}
		numbers = append(numbers, numbersOf(m.Text)...)
	}
	g.o.asked(numbers)
	if err := g.at(ctx, "the model begins"); err != nil {
		return agent.Answer{}, err
	}
	if err := g.at(ctx, "the model ends"); err != nil {
		return agent.Answer{}, err
	}
	return agent.Answer{Text: "re " + numbersText(numbers), Model: "numbers"}, nil
}

var numbered = regexp.MustCompile(`\bm(\d+)\b`)

func numbersOf(text string) []int {
	var out []int
	for _, match := range numbered.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(match[1])
		out = append(out, n)
	}
	return out
}

func numbersText(numbers []int) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = "m" + strconv.Itoa(n)
	}
	return strings.Join(words, " ")
}

// orders plays chats, one after the other, on two gateways, each in an order of
// its own.
type orders struct {
	*testing.T
	store    sessions.Store
	random   *rand.Rand
	steps    *steps
	quiet    func()              // returns when nobody moves by himself
	pass     func(time.Duration) // lets time pass
	idle     func() bool         // nothing is left to do in the store
	faults   bool
	gateways [2]*gateway
	births   int
	ends     []func() // of the dead

	mu      sync.Mutex
	prompts [][]int
	shown   map[int]int
	acked   map[int]bool
	trace   []string
	spoilt  bool // something was cut: a prompt may be seen again
	trouble int  // how often that may still happen in this chat
	parked  int  // chats in which something was given up
}

func newOrders(t *testing.T, store sessions.Store, seed uint64) *orders {
	t.Helper()
	return &orders{T: t, store: store, random: rand.New(rand.NewPCG(seed, 4)), steps: &steps{came: make(chan struct{}, 1)}}
}

func (o *orders) asked(numbers []int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.prompts = append(o.prompts, numbers)
}

func (o *orders) sent(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range numbersOf(text) {
		o.shown[n]++
	}
}

func (o *orders) fail(format string, args ...any) {
	o.Helper()
	o.steps.letAll()
	o.Fatalf(format+"\nsteps: %s", append(args, strings.Join(o.trace, "; "))...)
}

// raise starts a gateway in a place.
func (o *orders) raise(replica int) {
	o.births++
	g := &gateway{o: o, replica: replica, sink: make(chan adapters.Sink, 1)}
	b, err := New(Config{
		Store: line{o.store, g}, Adapters: []adapters.Adapter{g}, Model: g, Policy: routing.Policy{OwnerAlways: true},
		Owners: []adapters.Identity{"telegram:owner"}, Retry: agent.RunOptions{Attempts: 1}, Replica: "g" + strconv.Itoa(o.births),
	})
	if err != nil {
		o.fail("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		_ = b.Run(ctx) // nil
		close(done)
	}()
	g.bot, g.hear, g.end = b, <-g.sink, func() { cancel(); <-done }
	o.gateways[replica] = g
}

// kill ends a gateway without a word, and starts another in its place.
func (o *orders) kill(replica int) {
	g := o.gateways[replica]
	g.mu.Lock()
	g.dead = true
	g.mu.Unlock()
	for _, one := range o.steps.held() {
		if one.replica == replica {
			o.steps.let(one, errCut)
		}
	}
	var ended sync.WaitGroup
	ended.Go(g.end)
	o.ends = append(o.ends, ended.Wait)
	o.raise(replica)
}

func (o *orders) close() {
	o.steps.letAll()
	for _, g := range o.gateways {
		if g != nil {
			g.end()
		}
	}
	for _, end := range o.ends {
		end()
	}
}

// arrival is a message that is offered to a gateway.
type offered struct {
	number int
	event  adapters.Event
}

// Bounds of one chat.
const (
	saidMax    = 4
	troubleMax = 2 // times something goes wrong: a turn is given up after three attempts
	patienceIn = 4000
)

// play says a few things in a chat of its own and judges what became of them.
func (o *orders) play(chat int) {
	o.mu.Lock()
	o.prompts, o.shown, o.acked, o.trace, o.spoilt, o.trouble = nil, map[int]int{}, map[int]bool{}, nil, false, 0
	o.mu.Unlock()
	if o.faults && o.random.IntN(4) == 0 {
		o.trouble = 1 + o.random.IntN(troubleMax)
	}
	for replica, g := range o.gateways {
		if g == nil {
			o.raise(replica)
		}
	}
	surface := adapters.Surface{Platform: adapters.Telegram, Account: account, Chat: strconv.Itoa(chat + 1)}
	var waiting []offered
	said := 1 + o.random.IntN(saidMax)
	for n := 1; n <= said; n++ {
		one := offered{n, numberedEvent(surface, n)}
		waiting = append(waiting, one)
		if o.random.IntN(6) == 0 {
			waiting = append(waiting, one) // the platform delivers it twice
		}
	}
	again := make(chan offered, 4*saidMax)
	var offers sync.WaitGroup
	defer offers.Wait()
	for idle := 0; ; {
		o.quiet()
		waiting = append(waiting, drained(again)...)
		held := o.steps.held()
		if len(held)+len(waiting) == 0 {
			if o.done(surface, said) {
				break
			}
			if idle++; idle > patienceIn {
				o.fail("chat %d: not everything was answered: %v of %d", chat, o.shown, said)
			}
			o.pass(due.Every)
			continue
		}
		idle = 0
		if o.trouble > 0 && o.random.IntN(12) == 0 {
			o.disturb(held)
			continue
		}
		pick := o.random.IntN(len(held) + len(waiting))
		if pick < len(held) {
			o.note(held[pick].name, held[pick].replica)
			o.steps.let(held[pick], nil)
			continue
		}
		one := waiting[pick-len(held)]
		waiting = slices.Delete(waiting, pick-len(held), pick-len(held)+1)
		o.offer(one, &offers, again)
	}
	offers.Wait()
	o.judge(chat, surface, said)
}

func drained(from chan offered) []offered {
	var out []offered
	for {
		select {
		case one := <-from:
			out = append(out, one)
		default:
			return out
		}
	}
}

func (o *orders) note(what string, replica int) {
	o.trace = append(o.trace, what+" "+string(rune('a'+replica)))
}

func numberedEvent(surface adapters.Surface, n int) adapters.Event {
	return adapters.Event{
		Kind: adapters.EventMessage, ID: surface.Chat + ":" + strconv.Itoa(n), MessageID: strconv.Itoa(n), Sequence: int64(n), Surface: surface,
		Direct: true, Sender: adapters.Sender{ID: "telegram:owner", Name: "Owner"}, Text: "m" + strconv.Itoa(n), BotName: "bot", Time: time.Unix(1_700_000_000, 0),
	}
}

// offer gives a message to a gateway; the platform offers it again until it is
// acknowledged.
func (o *orders) offer(one offered, offers *sync.WaitGroup, again chan<- offered) {
	g := o.gateways[o.random.IntN(len(o.gateways))]
	o.note("m"+strconv.Itoa(one.number)+" arrives at", g.replica)
	offers.Go(func() {
		if g.hear(context.Background(), one.event) != nil || g.gone() {
			again <- one
			return
		}
		o.mu.Lock()
		o.acked[one.number] = true
		o.mu.Unlock()
	})
}

// disturb lets one thing go wrong.
func (o *orders) disturb(held []*step) {
	o.trouble--
	o.spoilt = true
	replica := o.random.IntN(len(o.gateways))
	held = slices.DeleteFunc(held, func(one *step) bool { return strings.HasPrefix(one.name, "the model") }) // a failure that people are told of
	switch {
	case len(held) > 0 && o.random.IntN(2) == 0:
		one := held[o.random.IntN(len(held))]
		o.note("cut: "+one.name, one.replica)
		o.steps.let(one, errCut)
	case o.random.IntN(2) == 0:
		o.note("kill", replica)
		o.kill(replica)
	default:
		o.note("the leases run out of", replica)
		o.outlast(o.gateways[replica])
	}
}

// outlast lets more time pass than a lease that is not renewed lasts.
func (o *orders) outlast(g *gateway) {
	g.mu.Lock()
	g.silent = true
	g.mu.Unlock()
	o.pass(sessions.LeaseFor + due.Every)
	g.mu.Lock()
	g.silent = false
	g.mu.Unlock()
}

// done reports whether all was acknowledged and shown, and nothing is left to do.
func (o *orders) done(surface adapters.Surface, said int) bool {
	o.mu.Lock()
	all := len(o.acked) == said
	o.mu.Unlock()
	if !all || !o.idle() {
		return false
	}
	if o.faults {
		return true // what was not answered is lost, or was given up
	}
	o.mu.Lock()
	all = len(o.shown) == said
	o.mu.Unlock()
	if !all {
		return false
	}
	record, err := o.store.Bound(context.Background(), surface.Key())
	return err == nil && record.Status == sessions.StatusIdle && record.Queued == 0
}

// judge counts in the log and among the prompts.
func (o *orders) judge(chat int, surface adapters.Surface, said int) {
	stored, answered, parked := o.logOf(surface)
	if len(parked) > 0 {
		o.parked++
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	first := map[int][]int{}
	for _, prompt := range o.prompts {
		// What was given up stays in the history, before what was said later.
		rest := slices.DeleteFunc(slices.Clone(prompt), func(n int) bool { return slices.Contains(parked, n) })
		if len(rest) > 0 {
			prompt = rest
		}
		for _, n := range prompt {
			if before, seen := first[n]; seen && (!o.spoilt || !slices.Equal(before, prompt)) {
				o.fail("chat %d: message %d was in the prompts %v", chat, n, o.prompts)
			}
			first[n] = prompt
		}
	}
	for n := 1; n <= said; n++ {
		if slices.Contains(parked, n) && o.spoilt && stored[n] == 1 {
			continue // given up after three attempts
		}
		if stored[n] != 1 || answered[n] != 1 || o.shown[n] == 0 || !o.spoilt && o.shown[n] != 1 {
			o.fail("chat %d: message %d of %d: stored %d times, answered by %d turns, shown %d times; prompts %v", chat, n, said, stored[n], answered[n], o.shown[n], o.prompts)
		}
	}
}

// logOf counts the numbers that people said and those in committed answers, and
// lists those that were given up.
func (o *orders) logOf(surface adapters.Surface) (stored, answered map[int]int, parked []int) {
	stored, answered = map[int]int{}, map[int]int{}
	record, err := o.store.Bound(context.Background(), surface.Key())
	if err != nil {
		o.fail("%v", err)
	}
	entries, err := o.store.Range(context.Background(), record.ID, 1, record.Seq)
	if err != nil {
		o.fail("%v", err)
	}
	for _, entry := range entries {
		m, err := entry.Message()
		if err != nil {
			continue
		}
		into := stored
		if m.Role == sessions.RoleAssistant {
			into = answered
		}
		for _, n := range numbersOf(m.Text) {
			into[n]++
		}
	}
	letters, err := o.store.DeadLetters(context.Background(), sessions.ListMax)
	if err != nil {
		o.fail("%v", err)
	}
	for _, letter := range letters {
		for _, seq := range letter.Messages {
			if m, err := messageAt(entries, seq); letter.Session == record.ID && err == nil {
				parked = append(parked, numbersOf(m.Text)...)
			}
		}
	}
	return stored, answered, parked
}

func messageAt(entries []sessions.Entry, seq int64) (sessions.Message, error) {
	if seq < 1 || seq > int64(len(entries)) {
		return sessions.Message{}, sessions.ErrNotFound
	}
	return entries[seq-1].Message()
}
