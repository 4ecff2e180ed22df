package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/config"
	"parley/cmd/gateway/datafolder"
	"parley/cmd/gateway/wiring"
)

func (p *program) runCommand(flags *cli.Flags) *cobra.Command {
	var open bool
	command := &cobra.Command{
		Use: "run", Short: "Run the gateway", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return p.run(command.Context(), flags, open) },
	}
	command.Flags().BoolVar(&open, "open", false, "open the chat page in a browser, signed in, if the output is a terminal")
	return command
}

func (p *program) run(ctx context.Context, flags *cli.Flags, open bool) error {
	loaded, err := p.Load(flags)
	if err != nil {
		return err
	}
	log := p.Logger(loaded.Config.Log)
	for _, warning := range loaded.Warnings {
		log.Warn(warning)
	}
	if err := datafolder.Make(loaded.Config.Data); err != nil {
		return err
	}
	g, err := openGateway(ctx, setup{config: loaded.Config, version: p.Version, zone: p.Zone(loaded.Config, log), file: loaded.File, warned: loaded.Warnings, log: log})
	if err != nil {
		return err
	}
	mine := datafolder.RunFile{Address: g.address(), Token: g.token.Reveal(), PID: os.Getpid()}
	err = datafolder.WriteRunFile(loaded.Config.Data, mine)
	if err == nil {
		err = p.serve(ctx, g, open)
	}
	return errors.Join(err, datafolder.RemoveRunFile(loaded.Config.Data, mine), g.close())
}

// serve announces the gateway and runs it.
func (p *program) serve(ctx context.Context, g *gateway, open bool) error {
	if p.started != nil {
		p.started(g)
	}
	if p.IsTerminal(p.Out) {
		p.welcome(g)
		if open {
			cleanUp := p.browse(g.config.Data, g.server.LoginLink(g.address()))
			defer func() { _ = cleanUp() }()
		}
	}
	g.log.Info("the gateway runs", "version", g.version, "url", g.address(), "store", g.config.Store.URL,
		"model", g.model.Name(), "platforms", strings.Join(wiring.Connected(g.config), ","), "owners", len(g.config.Owners))
	err := g.run(ctx)
	g.log.Info("the gateway has stopped")
	return err
}

// welcome tells a person what is running, where to look, and what to do next.
func (p *program) welcome(g *gateway) {
	page := g.address()
	if !g.config.HTTP.Open {
		page = g.server.LoginLink(page) + "  (signs one browser in, once; gateway login prints another)"
	}
	rows := []welcomeRow{
		{"Chat page", page, ""},
		{"Terminal", "gateway chat", ""},
		modelRow(g),
	}
	for _, platform := range wiring.Platforms() {
		rows = append(rows, platformRow(platform, g.config))
	}
	rows = append(rows, []welcomeRow{
		{"Store", g.config.Store.URL.String(), ""},
		{"Check", "gateway doctor", ""},
		{"Stop", "Ctrl-C", ""},
	}...)
	title := "Parley " + g.version + " is running."
	if p.Color(p.Out) {
		title = "\x1b[1m" + title + "\x1b[0m"
	}
	fmt.Fprintf(p.Out, "\n%s\n\n", title)
	for _, row := range rows {
		fmt.Fprintf(p.Out, "  %-10s %s\n", row.part, row.state)
		if row.next != "" {
			fmt.Fprintf(p.Out, "  %-10s → %s\n", "", row.next)
		}
	}
	fmt.Fprintln(p.Out)
}

// welcomeRow is one part of the gateway, how it is, and what to do about it.
type welcomeRow struct{ part, state, next string }

func modelRow(g *gateway) welcomeRow {
	if g.isDemo() {
		return welcomeRow{"Model", "the offline demo", wiring.ConnectModel}
	}
	return welcomeRow{"Model", fmt.Sprintf("%s at %s", g.model.Name(), g.config.Models.Default.BaseURL), ""}
}

// platformRow says how the platform is, and what to do next.
func platformRow(p wiring.Platform, c config.Config) welcomeRow {
	if !p.On(c) {
		return welcomeRow{p.ID.Traits().Title, "off", p.Connect}
	}
	state := "on"
	if p.How != nil {
		state += p.How(c)
	}
	if deserted(p, c) {
		return welcomeRow{p.ID.Traits().Title, state + ", but nobody may talk to it yet", fmt.Sprintf(wiring.NameOwner, p.ID)}
	}
	return welcomeRow{p.ID.Traits().Title, state, ""}
}

// deserted reports whether nobody there may talk to the bot directly.
func deserted(p wiring.Platform, c config.Config) bool {
	return c.Access.DM == config.DMKnown && !p.Known(c.Owners) && !p.Known(c.Members)
}
