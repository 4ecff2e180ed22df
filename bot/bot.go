package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"parley/adapters"
	"parley/agent"
	"parley/bot/budget"
	"parley/bot/checkpoints"
	"parley/bot/commands"
	"parley/bot/delivery"
	"parley/bot/due"
	"parley/bot/life"
	"parley/bot/metrics"
	"parley/bot/turns"
	"parley/internal/guard"
	"parley/internal/pause"
	"parley/people"
	"parley/routing"
	"parley/scheduler"
	"parley/sessions"
)

// Defaults of Config.
const (
	TurnsMaxDefault = 1000
	GraceDefault    = 20 * time.Second
)

// menuTimeout bounds one try to register the command menu.
const menuTimeout = 4 * time.Second

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
	// Limits share them out. Their Turns is TurnsMax.
	Limits budget.Limits
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
	Checkpoints checkpoints.Rules
	// Small is the model for chores such as checkpoints. Nil: Model.
	Small agent.Model
	// Metrics counts what this bot does, and belongs to it alone. Nil: its own,
	// that nobody reads. Whoever makes them also makes Store one that they count.
	Metrics *metrics.Metrics
}

// Bot is the gateway's core. Make one with New, then call Run once.
type Bot struct {
	config      Config
	store       sessions.Store
	log         *slog.Logger
	metrics     *metrics.Metrics
	life        *life.Life
	people      *people.Directory
	listed      *listed
	announcer   *announcer
	outbox      *delivery.Outbox
	turns       *turns.Runner
	checkpoints *checkpoints.Maker
	schedules   *schedules
	budget      *budget.Budget
	commands    *commands.Commands
	timers      map[string]timerHandler
}

// New checks the configuration and makes a Bot that does nothing yet.
func New(config Config) (*Bot, error) {
	if config.Store == nil || config.Model == nil {
		return nil, errors.New("bot: a store and a model are required")
	}
	config = config.withDefaults()
	b := &Bot{config: config, store: config.Store, log: config.Log, metrics: config.Metrics, life: life.New(config.Log)}
	configured := people.NewConfigured(config.Owners, config.Members, config.Blocked)
	b.people = people.NewDirectory(config.Store, configured)
	b.listed = newListed(config.Store)
	b.outbox = b.newOutbox()
	config.Limits.Turns = config.TurnsMax
	b.budget = budget.New(config.Limits)
	b.announcer = newAnnouncer(b.store, b.outbox, configured, b.log)
	b.checkpoints = b.newCheckpoints()
	b.schedules = b.newSchedules(config)
	b.turns = b.newTurns()
	b.schedules.turns = b.turns
	b.timers = b.timerHandlers()
	b.commands = b.newCommands()
	gauges := metrics.Gauges{
		Running: b.turns.Running, Max: config.TurnsMax, Adapters: config.Adapters,
		ModelUp:  func() bool { problem, _ := b.turns.ModelHealth(); return problem == "" },
		Stopping: b.life.Stopping,
	}
	if err := b.metrics.Watch(gauges); err != nil {
		return nil, fmt.Errorf("bot: %w", err)
	}
	return b, nil
}

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Metrics == nil {
		c.Metrics = NewMetrics("")
	}
	if c.Replica == "" {
		c.Replica = sessions.DrawID("gateway-", nil)
	}
	if c.TurnsMax <= 0 {
		c.TurnsMax = TurnsMaxDefault
	}
	if c.Grace <= 0 {
		c.Grace = GraceDefault
	}
	if c.Zone == nil {
		c.Zone = time.UTC
	}
	return c
}

// NewMetrics makes the metrics of one bot. version is what they show of it.
func NewMetrics(version string) *metrics.Metrics {
	return metrics.New(version, metrics.Words{Chores: choreNames(), CheckpointReasons: checkpoints.Reasons(), CheckpointOutcomes: checkpoints.Outcomes()})
}

func (b *Bot) newOutbox() *delivery.Outbox {
	return delivery.New(delivery.Config{
		Store: b.store, Connections: b.config.Adapters, Life: b.life, Replica: b.config.Replica, Log: b.log,
		GivenUp: func(row sessions.Delivery, state sessions.DeliveryState, err error) {
			b.announcer.givenUp(b.life, row, state, err)
		},
		Ended: func(session string) { b.schedules.look(session) }, Moved: b.movedWhileSending,
		Attempted: b.metrics.Attempted, PutBack: b.metrics.PutBack,
	})
}

func (b *Bot) newCheckpoints() *checkpoints.Maker {
	model := b.config.Small
	if model == nil {
		model = b.config.Model
	}
	return checkpoints.New(checkpoints.Config{
		Rules: b.config.Checkpoints, Store: b.store, Model: b.metrics.Model(model), Retry: b.config.Retry, Outbox: b.outbox,
		Life: b.life, Metrics: b.metrics, Log: b.log, Zone: b.config.Zone,
	})
}

func (b *Bot) newTurns() *turns.Runner {
	return turns.New(turns.Config{
		Store: b.store, Model: b.config.Model, Outbox: b.outbox, Life: b.life, Metrics: b.metrics, Log: b.log, Replica: b.config.Replica,
		Persona: b.config.Persona, Zone: b.config.Zone, Fanout: b.config.Fanout, Max: b.config.TurnsMax, Retry: b.config.Retry,
		KindOf: b.schedules.kindOf, Admit: b.admit, Answered: b.checkpoints.Answered,
		Empty: func(record sessions.Record, cause string) { b.announcer.emptyAnswer(b.life, record, cause) },
	})
}

func (b *Bot) newFinder() *due.Finder {
	return due.New(due.Config{
		Store: b.store, Life: b.life, Log: b.log, Take: b.take,
		Changed: func(identity string) { b.people.Forget(identity) },
	})
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
	for _, adapter := range b.config.Adapters {
		intake.Go(func() { b.listen(adapter) })
		intake.Go(func() { b.registerCommands(adapter) })
	}
	intake.Go(func() { b.newFinder().Run(b.life.Intake) })
	intake.Go(func() { b.turns.Probe(b.life.Intake) })
	intake.Go(func() { b.schedules.declare(b.life.Intake) })
	renewing.Go(func() { b.turns.Renew(b.life.Sending) })

	<-ctx.Done()
	b.log.Info("stopping: taking in nothing new", "turns_running", b.turns.Running())
	b.life.EndIntake()
	intake.Wait()
	b.life.Drain(b.config.Grace, b.handBack)
	b.life.EndSending()
	renewing.Wait()
	return nil
}

// handBack gives the turns that still run back to the store.
func (b *Bot) handBack() {
	b.log.Warn("turns still run; they are handed back", "turns", b.turns.Running())
	b.turns.HandBack()
}

// listen runs one adapter. What it returns is final for that adapter; after a
// fault it is run again, so that it is not deaf for good.
func (b *Bot) listen(adapter adapters.Adapter) {
	name := string(adapter.Capabilities().Platform)
	for attempt := 1; ; attempt++ {
		err := guard.Run(b.log, name, func() error { return adapter.Run(b.life.Intake, b.takeIn) })
		switch {
		case errors.Is(err, guard.ErrPanic) && b.life.Intake.Err() == nil:
			pause.After(b.life.Intake, attempt)
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
	for attempt := 1; b.life.Intake.Err() == nil; attempt++ {
		call, cancel := context.WithTimeout(b.life.Intake, menuTimeout)
		err := guard.Run(b.log, "the command menu", func() error { return registrar.RegisterCommands(call, menu) })
		cancel()
		if err == nil {
			return
		}
		b.log.Debug("the command menu could not be registered; it is tried again", "platform", adapter.Capabilities().Platform, "error", err)
		pause.After(b.life.Intake, attempt)
	}
}
