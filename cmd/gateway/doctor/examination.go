package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"parley/adapters"
	"parley/agent"
	"parley/cmd/gateway/config"
	"parley/cmd/gateway/logging"
	"parley/cmd/gateway/wiring"
	"parley/sessions"
)

// examination gathers checks.
type examination struct {
	config config.Config
	now    func() time.Time
	checks []Check
}

func (e *examination) add(part string, level adapters.Level, what, remedy string) {
	e.checks = append(e.checks, Check{Part: part, Finding: adapters.Finding{Level: level, What: logging.Redact(what), Remedy: remedy}})
}

// part looks at one thing.
type part func(ctx context.Context, e *examination)

// all looks at several things side by side, each for a bounded time, and keeps
// their order.
func (e *examination) all(ctx context.Context, parts []part) {
	found := make([]examination, len(parts))
	var wg sync.WaitGroup
	for i, look := range parts {
		found[i] = examination{config: e.config, now: e.now}
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, wiring.DiagnoseTimeout)
			defer cancel()
			look(ctx, &found[i])
		})
	}
	wg.Wait()
	for _, one := range found {
		e.checks = append(e.checks, one.checks...)
	}
}

// outside looks at what a gateway with this configuration would meet.
func (e *examination) outside(ctx context.Context) {
	e.data(ctx) // before the store: that of an embedded one is in it
	parts := []part{func(ctx context.Context, e *examination) { e.store(ctx) }, func(ctx context.Context, e *examination) { e.people(ctx) }}
	for _, platform := range wiring.Platforms() {
		parts = append(parts, func(ctx context.Context, e *examination) { e.platform(ctx, platform) })
	}
	parts = append(parts, func(ctx context.Context, e *examination) { e.model(ctx) }, func(ctx context.Context, e *examination) { e.http(ctx) })
	e.all(ctx, parts)
}

// configuration reports whether there is one to go on with.
func (e *examination) configuration(loaded config.Loaded, err error) bool {
	for _, warning := range loaded.Warnings {
		e.add("config", adapters.LevelWarning, warning, "set only what is meant")
	}
	var problems config.Errors
	switch {
	case errors.As(err, &problems):
		for _, problem := range problems {
			e.add("config", adapters.LevelProblem, problem.String(), "change it, then run this again")
		}
		return false
	case err != nil:
		e.add("config", adapters.LevelProblem, err.Error(), "")
		return false
	case loaded.File == "":
		e.add("config", adapters.LevelOK, "no file; the environment and the defaults are in order", "")
	default:
		e.add("config", adapters.LevelOK, loaded.File+" is in order", "")
	}
	e.config = loaded.Config
	return true
}

// Inside is a running gateway, as it looks at itself. Everything is required
// but File and Warnings.
type Inside struct {
	Config   config.Config
	File     string
	Warnings []string
	Address  string // as in http://127.0.0.1:8080
	Store    sessions.Store
	Adapters []adapters.Adapter
	Model    agent.Model
}

// Checks are the same as those of a gateway that does not run, but of the very
// connections that are in use.
func (g Inside) Checks(ctx context.Context) []Check {
	e := &examination{now: time.Now}
	e.configuration(config.Loaded{Config: g.Config, File: g.File, Warnings: g.Warnings}, nil)
	e.data(ctx)
	parts := []part{
		func(ctx context.Context, e *examination) { e.openStore(ctx, g.Store) },
		func(ctx context.Context, e *examination) { e.people(ctx) },
	}
	for _, platform := range wiring.Platforms() {
		if !platform.On(g.Config) {
			parts = append(parts, func(ctx context.Context, e *examination) { e.platform(ctx, platform) })
		}
	}
	for _, adapter := range g.Adapters {
		parts = append(parts, func(ctx context.Context, e *examination) { e.connection(ctx, adapter) })
	}
	parts = append(parts, func(ctx context.Context, e *examination) {
		if g.Config.Models.Default.Provider == config.ProviderDemo {
			e.model(ctx)
			return
		}
		e.probe(ctx, g.Config.Models.Default, g.Model)
	})
	e.all(ctx, parts)
	e.add("http", adapters.LevelOK, "listens at "+g.Address, "")
	return e.checks
}

// connection says how a connection is, and what would make its bot deaf.
func (e *examination) connection(ctx context.Context, adapter adapters.Adapter) {
	part, health := string(adapter.Capabilities().Platform), adapter.Health()
	if health.OK() {
		e.add(part, adapters.LevelOK, fmt.Sprintf("%s as %s, since %s", health.State, adapter.Account(), health.Since.Format(time.DateTime)), "")
	} else {
		e.add(part, adapters.LevelProblem, fmt.Sprintf("%s: %s", health.State, health.Problem), "")
	}
	e.adapter(ctx, part, adapter)
}
