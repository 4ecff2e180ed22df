package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"parley/adapters"
	"parley/cmd/gateway/config"
)

// How a newcomer goes on.
const (
	connectModel = "Set OPENAI_API_KEY or ANTHROPIC_API_KEY (or OPENAI_BASE_URL for a server of your own) and start again to talk to a real model."
	nameOwner    = "Send the bot /whoami, put what it prints (%s:…) into GATEWAY_OWNERS and start again."
)

func (p *program) runCommand(flags *common) *cobra.Command {
	return &cobra.Command{
		Use: "run", Short: "Run the gateway", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return p.run(command.Context(), flags) },
	}
}

func (p *program) run(ctx context.Context, flags *common) error {
	loaded, err := p.load(flags)
	if err != nil {
		return err
	}
	log := p.logger(loaded.Config.Log)
	for _, warning := range loaded.Warnings {
		log.Warn(warning)
	}
	if err := makeDataFolder(loaded.Config.Data); err != nil {
		return err
	}
	g, err := openGateway(ctx, setup{config: loaded.Config, version: p.version, log: log})
	if err != nil {
		return err
	}
	mine := runFile{Address: g.address(), Token: g.token.Reveal(), PID: os.Getpid()}
	err = writeRunFile(loaded.Config.Data, mine)
	if err == nil {
		err = p.serve(ctx, g)
	}
	return errors.Join(err, removeRunFile(loaded.Config.Data, mine), g.close())
}

// serve announces the gateway and runs it.
func (p *program) serve(ctx context.Context, g *gateway) error {
	if p.started != nil {
		p.started(g)
	}
	if p.isTerminal(p.out) {
		p.welcome(g)
	}
	g.log.Info("the gateway runs", "version", g.version, "url", g.address(), "store", g.config.Store.URL,
		"model", g.model.Name(), "platforms", strings.Join(connected(g.config), ","), "owners", len(g.config.Owners))
	err := g.run(ctx)
	g.log.Info("the gateway has stopped")
	return err
}

// welcome tells a person what is running, where to look, and what to do next.
func (p *program) welcome(g *gateway) {
	page := g.address()
	if !g.openToLoopback() {
		page = g.server.LoginLink(page) + "  (signs one browser in, once)"
	}
	rows := []welcomeRow{
		{"Chat page", page, ""},
		{"Terminal", "gateway chat", ""},
		modelRow(g),
	}
	for _, platform := range platforms() {
		rows = append(rows, platform.row(g.config))
	}
	rows = append(rows, []welcomeRow{
		{"Store", g.config.Store.URL.String(), ""},
		{"Check", "gateway doctor", ""},
		{"Stop", "Ctrl-C", ""},
	}...)
	title := "Parley " + g.version + " is running."
	if p.color(p.out) {
		title = "\x1b[1m" + title + "\x1b[0m"
	}
	fmt.Fprintf(p.out, "\n%s\n\n", title)
	for _, row := range rows {
		fmt.Fprintf(p.out, "  %-10s %s\n", row.part, row.state)
		if row.next != "" {
			fmt.Fprintf(p.out, "  %-10s → %s\n", "", row.next)
		}
	}
	fmt.Fprintln(p.out)
}

// welcomeRow is one part of the gateway, how it is, and what to do about it.
type welcomeRow struct{ part, state, next string }

func modelRow(g *gateway) welcomeRow {
	if g.isDemo() {
		return welcomeRow{"Model", "the offline demo", connectModel}
	}
	return welcomeRow{"Model", fmt.Sprintf("%s at %s", g.model.Name(), g.config.Models.Default.BaseURL), ""}
}

// row says how the platform is, and what to do next.
func (p platform) row(c config.Config) welcomeRow {
	if !p.on(c) {
		return welcomeRow{p.title, "off", p.connect}
	}
	state := "on"
	if p.id == adapters.Slack && !c.Slack.SigningSecret.IsZero() {
		state = "on, events over HTTP at " + slackEvents
	}
	if p.deserted(c) {
		return welcomeRow{p.title, state + ", but nobody may talk to it yet", fmt.Sprintf(nameOwner, p.id)}
	}
	return welcomeRow{p.title, state, ""}
}

// deserted reports whether nobody there may talk to the bot directly.
func (p platform) deserted(c config.Config) bool {
	return c.Access.DM == config.DMKnown && !p.known(c.Owners) && !p.known(c.Members)
}
