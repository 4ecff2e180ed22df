package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/config"
	"parley/cmd/gateway/deadletter"
	"parley/cmd/gateway/doctor"
	"parley/cmd/gateway/migrate"
	"parley/cmd/gateway/peoplecli"
	"parley/cmd/gateway/schedulescli"
	"parley/cmd/gateway/sessionscli"
)

func (p *program) rootCommand() *cobra.Command {
	var flags cli.Flags
	root := &cobra.Command{
		Use:           "gateway",
		Short:         "An AI agent in Telegram, Discord, Slack, the browser and the terminal",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
	}
	// The library's own flag prints through text/template.
	version := root.Flags().Bool("version", false, "print the version")
	root.RunE = func(command *cobra.Command, _ []string) error {
		if *version {
			_, err := fmt.Fprintln(p.Out, p.Version)
			return err
		}
		return command.Help()
	}
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; `%s --help` lists what there is", err, command.CommandPath())}
	})
	root.PersistentFlags().StringVar(&flags.File, "config", "", "configuration file (default: "+config.FileDefault+", if it is there)")
	root.PersistentFlags().BoolVar(&flags.AsJSON, "json", false, "print JSON")
	root.AddCommand(
		p.runCommand(&flags),
		p.chatCommand(&flags),
		doctor.Command(p.Env, &flags),
		p.healthCommand(&flags),
		p.loginCommand(&flags),
		p.configCommand(&flags),
		sessionscli.Command(p.Env, &flags, p.sessionsNew(&flags)),
		schedulescli.Command(p.Env, &flags),
		deadletter.Command(p.Env, &flags),
		peoplecli.Command(p.Env, &flags),
		migrate.Command(p.Env, &flags),
		p.versionCommand(&flags),
	)
	explainUsage(root)
	return root
}

func (p *program) versionCommand(flags *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if flags.AsJSON {
				return p.PrintJSON(map[string]string{"version": p.Version})
			}
			_, err := fmt.Fprintln(p.Out, p.Version)
			return err
		},
	}
}
