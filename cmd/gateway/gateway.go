package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/adapters"
	"parley/agent"
	"parley/api"
	"parley/bot"
	"parley/bot/budget"
	"parley/bot/checkpoints"
	"parley/bot/metrics"
	"parley/cmd/gateway/config"
	"parley/cmd/gateway/datafolder"
	"parley/cmd/gateway/doctor"
	"parley/cmd/gateway/marks"
	"parley/cmd/gateway/wiring"
	"parley/drafts"
	"parley/internal/secret"
	"parley/routing"
	"parley/sessions"
	"parley/sessions/leaselock"
)

// setup is what a gateway is made from.
type setup struct {
	config  config.Config
	version string
	zone    string // IANA name of the gateway's own time zone
	file    string // of the configuration; empty: there is none
	warned  []string
	log     *slog.Logger
	grace   time.Duration // for running turns at a stop; 0: the bot's default
}

// gateway is one running gateway: open builds it, run serves until it is told
// to stop, close frees what open took.
type gateway struct {
	setup
	replica  string
	token    secret.String // of the API, configured or drawn
	metrics  *metrics.Metrics
	raw      sessions.Store // as it was opened
	store    sessions.Store // g.drafts
	drafts   *drafts.Store
	mark     *marks.Mark // nil: the store is embedded
	adapters []adapters.Adapter
	model    agent.Model
	small    agent.Model // nil: model
	bot      *bot.Bot
	listener net.Listener
	server   *api.Server
}

// openGateway builds every part and listens, but takes nothing in yet. What
// was opened before a part that fails is closed again.
func openGateway(ctx context.Context, from setup) (g *gateway, err error) {
	g = &gateway{setup: from, replica: marks.ReplicaName()}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
			g = nil
		}
	}()
	for _, build := range []func(context.Context) error{g.openStore, g.openMark, g.openToken, g.openModel, g.openPlatforms, g.openBot, g.listen, g.openServer} {
		if err = build(ctx); err != nil {
			return g, err
		}
	}
	return g, nil
}

func (g *gateway) openStore(ctx context.Context) error {
	store, err := wiring.OpenStore(ctx, g.config, g.log)
	if err != nil {
		return wiring.StoreError(g.config.Store.URL, err)
	}
	g.metrics = bot.NewMetrics(g.version)
	again := time.Duration(0)
	if marks.Shared(g.config.Store.URL) {
		again = drafts.AgainEvery
	}
	g.drafts = drafts.Over(g.metrics.Store(store), again)
	g.raw, g.store = store, g.drafts
	return nil
}

// openMark says on a shared store that a gateway runs.
func (g *gateway) openMark(ctx context.Context) (err error) {
	if marks.Shared(g.config.Store.URL) {
		g.mark, err = marks.Take(ctx, g.store, g.replica, g.log)
	}
	return err
}

// openToken comes after the store, whose lock keeps others from drawing one.
func (g *gateway) openToken(context.Context) (err error) {
	if g.token = g.config.HTTP.Token; g.token.IsZero() {
		g.token, err = datafolder.KeptToken(g.config.Data)
	}
	return err
}

func (g *gateway) openModel(context.Context) (err error) {
	if g.model, err = wiring.NewModel(g.config.Models.Default); err != nil {
		return err
	}
	if g.config.Models.Small != g.config.Models.Default {
		g.small, err = wiring.NewModel(g.config.Models.Small)
	}
	return err
}

func (g *gateway) openPlatforms(context.Context) (err error) {
	locker := &leaselock.Locker{Store: g.store, Replica: g.replica, Log: g.log, Count: g.metrics}
	g.adapters, err = wiring.NewAdapters(g.config, locker, g.log)
	return err
}

func (g *gateway) openBot(context.Context) (err error) {
	zone, err := time.LoadLocation(g.zone)
	if err != nil {
		return fmt.Errorf("the time zone %q is not known: %w", g.zone, err)
	}
	persona, err := g.config.PersonaText()
	if err != nil {
		return err
	}
	g.bot, err = bot.New(bot.Config{
		Store: g.store, Adapters: g.adapters, Model: g.model, Small: g.small, Checkpoints: checkpoints.Rules{Enabled: g.config.Checkpoints.Enabled}, Policy: policy(g.config),
		Owners: g.config.Owners, Members: g.config.Members, Blocked: g.config.Blocked,
		TurnsMax: g.config.Limits.Turns, Limits: limits(g.config.Limits),
		Log: g.log, LogText: g.config.Log.Text, Replica: g.replica, Grace: g.grace, Metrics: g.metrics,
		Persona: agent.Persona(g.config.Name, persona), Zone: zone,
		Affinity: g.config.Sessions.Affinity, Fanout: g.config.Sessions.Fanout,
		Schedules: declared(g.config), Retention: retention(g.config), Heartbeat: heartbeat(g.config),
		Followup: g.config.Sessions.Queue == config.QueueFollowup, Debounce: time.Duration(g.config.Sessions.Debounce),
	})
	return err
}

func limits(l config.Limits) budget.Limits {
	return budget.Limits{
		Reserve: l.Reserve, Members: budget.Rate(l.Members), Guests: budget.Rate(l.Guests),
		Chats: budget.Rate(l.Chats), Schedules: budget.Rate(l.Schedules),
	}
}

func policy(c config.Config) routing.Policy {
	return routing.Policy{
		Access:       routing.Access{DM: routing.DMAccess(c.Access.DM), Groups: routing.GroupAccess(c.Access.Groups)},
		OwnerAlways:  *c.Groups.OwnerAlways,
		ThreadFollow: *c.Groups.ThreadFollow,
	}
}

func (g *gateway) listen(ctx context.Context) (err error) {
	var listening net.ListenConfig
	if g.listener, err = listening.Listen(ctx, "tcp", g.config.HTTP.Listen); err != nil {
		return fmt.Errorf("cannot listen on %s: %w", g.config.HTTP.Listen, err)
	}
	return nil
}

func (g *gateway) openServer(context.Context) (err error) {
	g.server, err = api.New(api.Config{
		Store: g.store, Operations: g.bot, Schedules: g.bot.ScheduleAPI(), Drafts: g.drafts, People: g.bot.People(), Doctor: g.examine,
		Token: g.token, Tokens: tokens(g.config.HTTP),
		Local: g.local(), Open: g.config.HTTP.Open,
		Hosts: g.config.HTTP.Hosts, Limits: api.Limits{Connections: connectionsMax()},
		Shown: wiring.Shown, Version: g.version, Logger: g.log, Metrics: g.metrics.Handler(),
		Page: api.Page{Model: g.model.Name(), Demo: g.isDemo(), Hint: g.hint(), Ideas: g.ideas(), Commands: menu()},
	})
	if err != nil {
		return err
	}
	for pattern, handler := range wiring.Webhooks(g.adapters) {
		g.server.Mount(pattern, handler)
	}
	return nil
}

// examine is what the gateway finds of itself.
func (g *gateway) examine(ctx context.Context) []api.Check {
	return doctor.Inside{
		Config: g.config, File: g.file, Warnings: g.warned, Address: g.address(),
		Store: g.raw, Adapters: g.adapters, Model: g.model,
	}.Checks(ctx)
}

func tokens(c config.HTTP) []api.Token {
	var out []api.Token
	for _, token := range c.Tokens {
		out = append(out, api.Token{Name: token.Name, Token: token.Token, Scope: api.Scope(token.Scope), Namespace: token.Namespace, MaxRole: token.MaxRole})
	}
	return out
}

// local reports whether the gateway is for this machine only: nobody set a
// token, and nobody else can reach the address.
func (g *gateway) local() bool {
	host, _, err := net.SplitHostPort(g.listener.Addr().String())
	return err == nil && config.Loopback(host) && g.config.HTTP.Token.IsZero()
}

func (g *gateway) isDemo() bool { return g.config.Models.Default.Provider == config.ProviderDemo }

func (g *gateway) hint() string {
	if !g.isDemo() {
		return ""
	}
	return "The offline demo model answers. Set OPENAI_API_KEY to talk to a real one."
}

// ideas are first messages that the demo model understands.
func (g *gateway) ideas() []string {
	if !g.isDemo() {
		return nil
	}
	return []string{"help", "markdown", "slow", "/help"}
}

func menu() []adapters.CommandInfo {
	var out []adapters.CommandInfo
	for _, command := range routing.Commands() {
		out = append(out, adapters.CommandInfo{Name: command.Name, Description: command.Description, Groups: command.GroupMenu})
	}
	return out
}

// address is where this machine reaches the gateway.
func (g *gateway) address() string {
	host, port, err := net.SplitHostPort(g.listener.Addr().String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// run serves until ctx ends or a part fails; then it stops all parts. The HTTP
// server and the bot stop side by side, because neither waits for the other:
// the server ends its streams and lets answers under way finish, the bot takes
// in nothing new, lets running turns end, and settles what it is sending. The
// store outlives both; close ends it.
func (g *gateway) run(ctx context.Context) error { return g.mark.During(ctx, g.runParts) }

func (g *gateway) runParts(ctx context.Context) error {
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return g.server.Serve(ctx, g.listener) })
	parts.Go(func() error { return g.bot.Run(ctx) })
	parts.Go(func() error { g.diagnose(ctx); return nil })
	return parts.Wait()
}

// diagnose logs, once, what would make a platform's bot silently deaf, or the
// store forget. A refused token is left out: the connection has said so by then.
func (g *gateway) diagnose(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() {
		asking, cancel := context.WithTimeout(ctx, wiring.DiagnoseTimeout)
		defer cancel()
		logFindings(g.log.With("part", "store"), wiring.StoreFindings(asking, g.raw))
	})
	for _, adapter := range g.adapters {
		doctor, ok := adapter.(adapters.Doctor)
		if !ok {
			continue
		}
		all.Go(func() {
			if !settled(ctx, adapter) || ctx.Err() != nil {
				return
			}
			asking, cancel := context.WithTimeout(ctx, wiring.DiagnoseTimeout)
			defer cancel()
			findings := doctor.Diagnose(asking)
			if adapter.Health().State != adapters.Refused {
				logFindings(g.log.With("platform", adapter.Capabilities().Platform), findings)
			}
		})
	}
	all.Wait()
}

// close frees the port and the store, in this order. Idempotent, and fit for
// a gateway that was only built in part.
func (g *gateway) close() error {
	var failures []error
	if g.listener != nil {
		if err := g.listener.Close(); !errors.Is(err, net.ErrClosed) {
			failures = append(failures, err)
		}
	}
	if g.mark != nil {
		g.mark.Drop()
	}
	if g.store != nil {
		failures = append(failures, g.store.Close())
	}
	return errors.Join(failures...)
}
