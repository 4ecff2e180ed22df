package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley/adapters"
	"parley/api"
	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/client"
	"parley/cmd/gateway/datafolder"
)

// Check is one line of the doctor's report.
type Check = api.Check

// command is the command, with what it touches of its process.
type command struct{ *cli.Env }

// Command is `gateway doctor`.
func Command(e *cli.Env, flags *cli.Flags) *cobra.Command {
	p := command{e}
	return &cobra.Command{
		Use: "doctor", Short: "Check configuration, store, tokens and model, and say what to fix", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return p.doctor(command.Context(), flags) },
	}
}

// doctor checks everything it can and ends with a failure if it found a problem.
func (p command) doctor(ctx context.Context, flags *cli.Flags) error {
	checks := p.examine(ctx, flags)
	if flags.AsJSON {
		if err := p.PrintJSON(checks); err != nil {
			return err
		}
	} else {
		p.printChecks(checks)
	}
	for _, c := range checks {
		if c.Level == adapters.LevelProblem {
			return cli.ErrReported
		}
	}
	return nil
}

// examine asks the gateway that runs on this machine, or, where none does, looks
// at what the configuration here would start. The first line says which.
func (p command) examine(ctx context.Context, flags *cli.Flags) []Check {
	e := &examination{now: time.Now}
	if !e.configuration(p.Load(flags)) {
		return e.checks
	}
	running, found, err := p.Running(ctx, e.config.Data)
	if err == nil && found {
		return p.ask(ctx, running)
	}
	outside := &examination{config: e.config, now: e.now}
	outside.add("gateway", adapters.LevelOff, "none runs with the data folder "+e.config.Data+"; this is what the configuration here would start", "")
	outside.checks = append(outside.checks, e.checks...)
	outside.outside(ctx)
	return outside.checks
}

// ask is what a running gateway finds of itself.
func (p command) ask(ctx context.Context, running datafolder.RunFile) []Check {
	var checks []Check
	err := cli.WithClient(ctx, running.Address, running.Secret(), "", func(ctx context.Context, c *client.Client, _ string) (err error) {
		checks, err = c.Doctor(ctx)
		return err
	})
	e := &examination{}
	if err != nil {
		e.add("gateway", adapters.LevelProblem, fmt.Sprintf("the gateway at %s was asked and does not say: %v", running, err), "look into its log; it may be of another version than this program")
		return e.checks
	}
	e.add("gateway", adapters.LevelOK, fmt.Sprintf("this is what the gateway that runs at %s finds; the settings of this terminal do not count", running), "")
	return append(e.checks, checks...)
}

func marks() map[adapters.Level][2]string {
	return map[adapters.Level][2]string{
		adapters.LevelOK:        {"✓", "\x1b[32m"},
		adapters.LevelOff:       {"–", "\x1b[2m"},
		adapters.LevelWarning:   {"!", "\x1b[33m"},
		adapters.LevelProblem:   {"✗", "\x1b[31m"},
		adapters.LevelUnchecked: {"?", "\x1b[36m"},
	}
}

func (p command) printChecks(checks []Check) {
	for _, c := range checks {
		mark := marks()[c.Level]
		sign := mark[0]
		if p.Color(p.Out) {
			sign = mark[1] + sign + "\x1b[0m"
		}
		fmt.Fprintf(p.Out, "%s %-9s %s\n", sign, c.Part, cli.Printable(c.What))
		if c.Remedy != "" {
			fmt.Fprintf(p.Out, "%s→ %s\n", strings.Repeat(" ", 12), cli.Printable(c.Remedy))
		}
	}
}
