package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"parley/cmd/gateway/config"
)

// common are the flags of every command.
type common struct {
	file   string // --config
	asJSON bool   // --json
}

func (p *program) rootCommand() *cobra.Command {
	var flags common
	root := &cobra.Command{
		Use:           "gateway",
		Short:         "An AI agent in Telegram, Discord, Slack, the browser and the terminal",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return fmt.Errorf("%w; `%s --help` lists what there is", err, command.CommandPath())
	})
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().StringVar(&flags.file, "config", "", "configuration file (default: "+config.FileDefault+", if it is there)")
	root.PersistentFlags().BoolVar(&flags.asJSON, "json", false, "print JSON")
	root.AddCommand(
		p.runCommand(&flags),
		p.chatCommand(&flags),
		p.doctorCommand(&flags),
		p.healthCommand(&flags),
		p.configCommand(&flags),
		p.sessionsCommand(&flags),
		p.schedulesCommand(&flags),
		p.deadletterCommand(&flags),
		p.migrateCommand(&flags),
		p.versionCommand(&flags),
	)
	return root
}

func (p *program) versionCommand(flags *common) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if flags.asJSON {
				return p.printJSON(map[string]string{"version": p.version})
			}
			_, err := fmt.Fprintln(p.out, p.version)
			return err
		},
	}
}
