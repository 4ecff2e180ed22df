package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/config"
	"parley/cmd/gateway/logging"
)

func (p *program) configCommand(flags *cli.Flags) *cobra.Command {
	command := &cobra.Command{Use: "config", Short: "Check, describe or print the configuration", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() }}
	command.AddCommand(
		&cobra.Command{Use: "check", Short: "Check the configuration and list every problem", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return p.configCheck(flags) }},
		&cobra.Command{Use: "schema", Short: "Print the JSON Schema of the file", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return p.configSchema() }},
		&cobra.Command{Use: "print", Short: "Print the configuration in force, secrets masked", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return p.configPrint(flags) }},
	)
	return command
}

// checked is what `config check` found.
type checked struct {
	File     string        `json:"file,omitempty"`
	Problems config.Errors `json:"problems"`
	Warnings []string      `json:"warnings,omitempty"`
}

func (p *program) configCheck(flags *cli.Flags) error {
	loaded, err := p.Load(flags)
	found := checked{File: loaded.File, Problems: config.Errors{}, Warnings: loaded.Warnings}
	if err != nil && !errors.As(err, &found.Problems) {
		return err
	}
	for i := range found.Problems {
		found.Problems[i].What = logging.Redact(found.Problems[i].What)
	}
	if flags.AsJSON {
		err = p.PrintJSON(found)
	} else {
		p.printChecked(found)
		err = nil
	}
	if err == nil && len(found.Problems) > 0 {
		return cli.ErrReported
	}
	return err
}

func (p *program) printChecked(found checked) {
	for _, problem := range found.Problems {
		fmt.Fprintln(p.Err, "✗ "+cli.Printable(problem.String()))
	}
	for _, warning := range found.Warnings {
		fmt.Fprintln(p.Err, "! "+cli.Printable(warning))
	}
	switch {
	case len(found.Problems) > 0:
	case found.File == "":
		fmt.Fprintln(p.Out, "✓ no configuration file; the environment and the defaults are in order")
	default:
		fmt.Fprintln(p.Out, "✓ "+found.File+" is in order")
	}
}

func (p *program) configSchema() error {
	schema, err := config.Schema()
	if err != nil {
		return err
	}
	return p.PrintJSON(schema)
}

func (p *program) configPrint(flags *cli.Flags) error {
	loaded, err := p.Load(flags)
	if err != nil {
		return err
	}
	if flags.AsJSON {
		return p.PrintJSON(loaded.Config)
	}
	text, err := loaded.Config.YAML()
	if err != nil {
		return err
	}
	_, err = p.Out.Write(text)
	return err
}
