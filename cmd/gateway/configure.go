package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"parley/cmd/gateway/config"
	"parley/cmd/gateway/logging"
)

func (p *program) load(flags *common) (config.Loaded, error) {
	return config.Load(flags.file, p.lookup)
}

// logger makes the logger that the configuration asks for, on the error output.
func (p *program) logger(c config.Log) *slog.Logger {
	return logging.New(p.err, logging.Options{
		Level: level(c.Level),
		JSON:  c.Format == config.FormatJSON || c.Format == config.FormatAuto && !p.isTerminal(p.err),
		Color: p.color(p.err),
		Text:  c.Text,
	})
}

func level(l config.LogLevel) slog.Level {
	switch l {
	case config.LevelDebug:
		return slog.LevelDebug
	case config.LevelWarn:
		return slog.LevelWarn
	case config.LevelError:
		return slog.LevelError
	case config.LevelInfo:
	}
	return slog.LevelInfo
}

func (p *program) configCommand(flags *common) *cobra.Command {
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

func (p *program) configCheck(flags *common) error {
	loaded, err := p.load(flags)
	found := checked{File: loaded.File, Problems: config.Errors{}, Warnings: loaded.Warnings}
	if err != nil && !errors.As(err, &found.Problems) {
		return err
	}
	if flags.asJSON {
		err = p.printJSON(found)
	} else {
		p.printChecked(found)
		err = nil
	}
	if err == nil && len(found.Problems) > 0 {
		return errReported
	}
	return err
}

func (p *program) printChecked(found checked) {
	for _, problem := range found.Problems {
		fmt.Fprintln(p.err, "✗ "+logging.Visible(problem.String()))
	}
	for _, warning := range found.Warnings {
		fmt.Fprintln(p.err, "! "+logging.Visible(warning))
	}
	switch {
	case len(found.Problems) > 0:
	case found.File == "":
		fmt.Fprintln(p.out, "✓ no configuration file; the environment and the defaults are in order")
	default:
		fmt.Fprintln(p.out, "✓ "+found.File+" is in order")
	}
}

func (p *program) configSchema() error {
	schema, err := config.Schema()
	if err != nil {
		return err
	}
	return p.printJSON(schema)
}

func (p *program) configPrint(flags *common) error {
	loaded, err := p.load(flags)
	if err != nil {
		return err
	}
	if flags.asJSON {
		return p.printJSON(loaded.Config)
	}
	text, err := loaded.Config.YAML()
	if err != nil {
		return err
	}
	_, err = p.out.Write(text)
	return err
}

func (p *program) printJSON(value any) error {
	encoder := json.NewEncoder(p.out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
