package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"parley/api"
	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/client"
)

func (p *program) healthCommand(flags *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "health", Short: "Ask the gateway that runs on this machine whether it hears and works; fails if not", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return p.Ask(command.Context(), flags, func(ctx context.Context, c *client.Client) error { return p.health(ctx, c, flags) })
		},
	}
}

// health is the check for a container without a shell: it asks /readyz of the
// gateway of this data folder.
func (p *program) health(ctx context.Context, c *client.Client, flags *cli.Flags) error {
	readiness, err := c.Ready(ctx)
	if err != nil {
		return err
	}
	if flags.AsJSON {
		if err := p.PrintJSON(readiness); err != nil || readiness.Ready {
			return err
		}
		return cli.ErrReported
	}
	if !readiness.Ready {
		return errors.New(unwell(readiness))
	}
	_, err = fmt.Fprintf(p.Out, "ready: %s hears and works\n", c.Address())
	return err
}

// unwell names the parts that are not well and what helps.
func unwell(r api.Readiness) string {
	var parts []string
	for _, part := range r.Parts {
		if part.OK {
			continue
		}
		line := part.Name + " is " + part.State
		if part.Problem != "" {
			line += " (" + part.Problem + ")"
		}
		parts = append(parts, line)
	}
	return "not ready: " + strings.Join(parts, "; ") + "; `gateway doctor` checks each part"
}
