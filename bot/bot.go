package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"parley/adapters"
	"parley/agent"
	"parley/routing"
	"parley/scheduler"
	"parley/sessions"
)

// Defaults of Config.
const (
	TurnsMaxDefault = 1000
	GraceDefault    = 20 * time.Second
)

// Config is what a Bot is made of. Store and Model are required.
type Config struct {
	Store    sessions.Store
	Adapters []adapters.Adapter
	Model    agent.Model
	Policy   routing.Policy
	// Owners, Members and Blocked are identities like telegram:12345. Everybody
	// else is a guest. Blocked wins over the others, Owners over Members.
	Owners, Members, Blocked []adapters.Identity
	Log                      *slog.Logger
	// LogText puts the text of messages into the log.
	LogText bool
	// Replica names this process among all that share the store.
	Replica string
	Persona string         // what the bot is, for its system prompt; empty: a plain assistant
	Zone    *time.Location // of the times in the system prompt; nil: UTC
	// Affinity: a direct chat without a session goes on with its person's
	// newest direct one of the same workspace.
	Affinity bool
	// Fanout shows answers in a session's other chats as well.
	Fanout bool
	// Followup gives each message a turn of its own; otherwise those that
	// wait are answered together.
	Followup bool
	// Debounce is how long a chat has been quiet when its messages are taken
	// up. Local surfaces have none.
	Debounce time.Duration
	// TurnsMax is how many turns run here at once; more wait in the store.
	TurnsMax int
	// Grace is how long running turns may go on after a stop was asked for.
	Grace time.Duration
	// Retry bounds the trying of model calls.
	Retry agent.RunOptions
	// Schedules are those that the configuration declares: Run makes the stored
	// ones exactly these. Nil: it leaves them as they are.
	Schedules []scheduler.Definition
	Retention Retention
	Heartbeat Heartbeat // only with Schedules
	// Checkpoints says when some are made unasked.
	Checkpoints Checkpoints
	// Small is the model for chores such as checkpoints. Nil: Model.
	Small agent.Model
	// Metrics counts what this bot does, and belongs to it alone. Nil: its own,
	// that nobody reads.
	Metrics *Metrics
}

// Bot is the gateway's core. Make one with New, then call Run once.
type Bot struct {
	store    sessions.Store
	adapters []adapters.Adapter
	model    agent.Model
	policy   routing.Policy
	people   *people
	listed   *listed
	tails    *tails
	leases   *leases
	suspects *suspects
	prober   *prober
	hand     *inHand
	links    *links
	log      *slog.Logger
	logText  bool
	replica  string
	persona  string
	zone     *time.Location
	affinity bool
	fanout   bool
	followup bool
	debounce time.Duration
	turnsMax int
	grace    time.Duration
	retry    agent.RunOptions
	metrics  *Metrics
	started  time.Time

	owners    []adapters.Identity
	declared  []scheduler.Definition
	heartbeat Heartbeat
	schedules *scheduler.Scheduler
	chores    *scheduler.Chores
	timers    map[string]timerHandler

	checkpoints *checkpoints

	// The three lives of a stop, each ending later than the one before:
	// intake takes events and work up, thinking runs turns, sending delivers.
	intake, thinking, sending          context.Context
	endIntake, endThinking, endSending context.CancelCauseFunc
	// tasks are the goroutines of spawn and the calls of enter. Once closed is
	// set, enter adds none; spawn is only called from within one of them or
	// from the intake, which ends first.
	tasks  sync.WaitGroup
	gate   sync.Mutex
	closed bool
}

// New checks the configuration and makes a Bot that does nothing yet.
func New(config Config) (*Bot, error) {
	if config.Store == nil || config.Model == nil {
		return nil, errors.New("bot: a store and a model are required")
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	if config.Metrics == nil {
		config.Metrics = NewMetrics("")
	}
	config.Store = config.Metrics.Store(config.Store)
	b := &Bot{
		store: config.Store, adapters: config.Adapters, model: observedModel{config.Model, config.Metrics}, policy: config.Policy,
		people: newPeople(config), listed: newListed(config.Store), tails: newTails(cacheSessions), suspects: newSuspects(), hand: newInHand(dueParallel), links: newLinks(),
		log: config.Log, logText: config.LogText, replica: config.Replica, persona: config.Persona, zone: config.Zone,
		affinity: config.Affinity, fanout: config.Fanout, followup: config.Followup, debounce: config.Debounce,
		turnsMax: config.TurnsMax, grace: config.Grace, retry: config.Retry, metrics: config.Metrics, started: time.Now(),
	}
	if b.replica == "" {
		b.replica = sessions.DrawID("gateway-", nil)
	}
	if b.turnsMax <= 0 {
		b.turnsMax = TurnsMaxDefault
	}
	if b.grace <= 0 {
		b.grace = GraceDefault
	}
	if b.zone == nil {
		b.zone = time.UTC
	}
	small := b.model
	if config.Small != nil {
		small = observedModel{config.Small, config.Metrics}
	}
	b.checkpoints = newCheckpoints(config.Checkpoints, small)
	b.prober = newProber(config.Model, b.log)
	b.owners, b.declared, b.heartbeat = config.Owners, config.Schedules, config.Heartbeat
	if b.declared != nil && b.heartbeat.Every > 0 {
		b.declared = append(slices.Clone(b.declared), b.heartbeat.definition())
	}
	b.schedules, b.chores = b.newScheduler(), b.newChores(config.Retention)
	b.timers = b.timerHandlers()
	b.leases = newLeases(config.Store, func(msg string, err error) { b.log.Error(msg, "error", err) })
	background := context.Background()
	b.intake, b.endIntake = context.WithCancelCause(background)
	b.thinking, b.endThinking = context.WithCancelCause(background)
	b.sending, b.endSending = context.WithCancelCause(background)
	if err := b.metrics.watch(b); err != nil {
		return nil, fmt.Errorf("bot: metrics belong to one bot: %w", err)
	}
	return b, nil
}

// Run takes in, thinks and sends until ctx ends, then stops in this order:
//
//  1. intake: adapters stop listening and no more work is taken up, so that
//     nothing new begins;
//  2. running turns may finish within Grace; then they are handed back to the
//     store, uncounted, for another replica or the next start;
//  3. sends that have begun end, and their receipts are stored.
//
// The caller closes the store afterwards. An adapter whose credentials are
// refused ends alone; the others go on.
func (b *Bot) Run(ctx context.Context) error {
	var intake, renewing sync.WaitGroup
	for _, adapter := range b.adapters {
		intake.Go(func() { b.listen(adapter) })
		intake.Go(func() { b.registerCommands(adapter) })
	}
	intake.Go(func() { b.findWork(b.intake) })
	intake.Go(func() { b.prober.run(b.intake) })
	intake.Go(func() { b.declareSchedules(b.intake) })
	renewing.Go(func() { b.leases.run(b.sending) })

	<-ctx.Done()
	b.log.Info("stopping: taking in nothing new", "turns_running", b.leases.count())
	b.endIntake(errDraining)
	intake.Wait()
	b.drain()
	b.endSending(errDraining)
	renewing.Wait()
	return nil
}

// drain waits for the spawned goroutines, at most Grace before turns are
// handed back, and then as long as a send and its receipt may take.
func (b *Bot) drain() {
	b.close()
	done := make(chan struct{})
	go func() { b.tasks.Wait(); close(done) }()
	grace := time.NewTimer(b.grace)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
		b.log.Warn("turns still run; they are handed back", "turns", b.leases.count())
		b.leases.stopAll(errDraining)
		b.endThinking(errDraining)
		<-done
	}
	b.endThinking(errDraining)
}

// listen runs one adapter. What it returns is final for that adapter; after a
// fault it is run again, so that it is not deaf for good.
func (b *Bot) listen(adapter adapters.Adapter) {
	name := string(adapter.Capabilities().Platform)
	for attempt := 1; ; attempt++ {
		err := guarded(b.log, name, func() error { return adapter.Run(b.intake, b.takeIn) })
		switch {
		case errors.Is(err, errPanic) && b.intake.Err() == nil:
			wait(b.intake, backoff(attempt, jitter()))
			continue
		case err != nil:
			b.log.Error("this connection is given up; the rest goes on", "platform", name, "error", err)
		}
		return
	}
}

// registerCommands puts the commands into the platform's own menu, where it has
// one. It tries until it succeeds or intake ends.
func (b *Bot) registerCommands(adapter adapters.Adapter) {
	registrar, ok := adapter.(adapters.CommandRegistrar)
	if !ok {
		return
	}
	var menu []adapters.CommandInfo
	for _, spec := range routing.Commands() {
		menu = append(menu, adapters.CommandInfo{Name: spec.Name, Description: spec.Description, Groups: spec.GroupMenu})
	}
	for attempt := 1; b.intake.Err() == nil; attempt++ {
		call, cancel := context.WithTimeout(b.intake, sendTimeout)
		err := guarded(b.log, "the command menu", func() error { return registrar.RegisterCommands(call, menu) })
		cancel()
		if err == nil {
			return
		}
		b.log.Debug("the command menu could not be registered; it is tried again", "platform", adapter.Capabilities().Platform, "error", err)
		wait(b.intake, backoff(attempt, jitter()))
	}
}

// enter begins a call from outside that may spawn; false: the gateway stops.
// leave ends it.
func (b *Bot) enter() bool {
	b.gate.Lock()
	defer b.gate.Unlock()
	if b.closed {
		return false
	}
	b.tasks.Add(1)
	return true
}

func (b *Bot) leave() { b.tasks.Done() }

func (b *Bot) close() {
	b.gate.Lock()
	defer b.gate.Unlock()
	b.closed = true
}

// spawn runs f in a goroutine that Run waits for.
func (b *Bot) spawn(f func()) {
	b.tasks.Go(func() { b.safely("a task", f) })
}

// claimer is the claimer for turns, nil when this process has enough of them
// or is stopping: then the store keeps the work for later or for others.
func (b *Bot) claimer() *sessions.Claimer {
	if b.intake.Err() != nil || b.leases.count() >= b.turnsMax {
		return nil
	}
	return &sessions.Claimer{Owner: b.replica, For: sessions.LeaseFor}
}
