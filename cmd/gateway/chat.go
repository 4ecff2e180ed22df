package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"parley/adapters"
	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/client"
	"parley/cmd/gateway/config"
	"parley/cmd/gateway/datafolder"
	"parley/cmd/gateway/logging"
	"parley/cmd/gateway/terminal"
	"parley/internal/secret"
	"parley/sessions"
)

// Files of the chat in the data folder, and how long a token's file may be.
const (
	historyFile  = "chat-history"
	chatLogFile  = "chat.log"
	tokenFileMax = 4096
)

// chatGrace is how long who leaves a chat waits for a running answer; then the
// turn is handed back, and runs again when a gateway does.
const chatGrace = 2 * time.Second

type chatFlags struct {
	*cli.Flags
	session   string
	last      bool // --continue
	url       string
	tokenFile string
	text      string // the one message to say; empty: a conversation is held
}

func (p *program) chatCommand(flags *cli.Flags) *cobra.Command {
	chat := chatFlags{Flags: flags}
	command := &cobra.Command{
		Use: "chat [TEXT…]", Short: "Talk to the agent here in the terminal; with TEXT, say that and print the answer",
		Long: "Talk to the agent here in the terminal. In a pipe, every line is one message and its answer is printed.\n" +
			"A gateway that runs here is used; otherwise one is started for the time of the chat, without platforms.",
		RunE: func(command *cobra.Command, words []string) error {
			chat.text = strings.Join(words, " ")
			return p.chat(command.Context(), chat)
		},
	}
	command.Flags().StringVar(&chat.session, "session", sessionDefault, "name of the conversation")
	command.Flags().BoolVar(&chat.last, "continue", false, "go on with the conversation that was held last in this directory")
	command.Flags().StringVar(&chat.url, "url", "", "address of a gateway that runs elsewhere")
	command.Flags().StringVar(&chat.tokenFile, "token-file", "", "file that holds its token (default: GATEWAY_TOKEN)")
	command.MarkFlagsMutuallyExclusive("session", "continue")
	return command
}

func (p *program) chat(ctx context.Context, flags chatFlags) error {
	loaded, err := p.Load(flags.Flags)
	if err != nil {
		return err
	}
	for _, warning := range loaded.Warnings {
		fmt.Fprintln(p.Err, "gateway: "+logging.Visible(warning))
	}
	data := loaded.Config.Data
	if err := datafolder.Make(data); err != nil {
		return err
	}
	name := flags.session
	if err := checkName(name); err != nil {
		return err
	}
	hold := func(ctx context.Context, c *client.Client, welcome string) error {
		if flags.last {
			if name, err = p.lastHere(ctx, c); err != nil {
				return err
			}
		}
		return p.holdTidily(ctx, c, name, data, welcome, flags.text, flags.AsJSON)
	}
	if flags.url != "" {
		return p.chatElsewhere(ctx, flags, loaded.Config, hold)
	}
	return p.chatHere(ctx, loaded.Config, hold)
}

func (p *program) chatElsewhere(ctx context.Context, flags chatFlags, c config.Config, hold cli.HoldFunc) error {
	token := c.HTTP.Token
	if flags.tokenFile != "" {
		content, err := os.ReadFile(flags.tokenFile)
		if err != nil {
			return fmt.Errorf("cannot read the token: %w; check --token-file", err)
		}
		if len(content) > tokenFileMax {
			return fmt.Errorf("%s is too large to be a token; check --token-file", flags.tokenFile)
		}
		token = secret.New(strings.TrimSpace(string(content)))
	}
	return cli.WithClient(ctx, flags.url, token, "", hold)
}

// chatHere uses the gateway that runs on this machine, or starts one.
func (p *program) chatHere(ctx context.Context, c config.Config, hold cli.HoldFunc) error {
	running, found, err := p.Running(ctx, c.Data)
	if err != nil {
		return err
	}
	if found {
		return cli.WithClient(ctx, running.Address, running.Secret(), "", hold)
	}
	log, closeLog, err := p.chatLog(c)
	if err != nil {
		return err
	}
	defer closeLog()
	g, err := openGateway(ctx, setup{config: alone(c), version: p.Version, zone: p.Zone(c, log), log: log, grace: chatGrace})
	if errors.Is(err, sessions.ErrLocked) {
		return fmt.Errorf("%w, and its %s does not say where it can be reached", err, filepath.Join(c.Data, datafolder.RunFileName))
	}
	if err != nil {
		return err
	}
	return errors.Join(p.chatWith(ctx, g, hold), g.close())
}

// alone is the configuration of a gateway for one chat: no platforms, and a
// port that nobody else knows.
func alone(c config.Config) config.Config {
	c = c.WithoutPlatforms()
	c.HTTP = config.HTTP{Listen: "127.0.0.1:0", Token: secret.New(rand.Text())}
	return c
}

// chatWith runs a gateway for the time of a chat.
func (p *program) chatWith(ctx context.Context, g *gateway, hold cli.HoldFunc) error {
	if p.started != nil {
		p.started(g)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var serving errgroup.Group
	serving.Go(func() error { return g.run(ctx) })
	err := cli.WithClient(ctx, g.address(), g.token, g.hint(), hold)
	stop()
	return errors.Join(err, serving.Wait())
}

// chatLog is where the gateway of a chat logs: the chat has the screen.
func (p *program) chatLog(c config.Config) (log *slog.Logger, closeLog func(), err error) {
	file, err := os.OpenFile(filepath.Join(c.Data, chatLogFile), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot write the chat's log: %w", err)
	}
	options := logging.Options{Level: cli.Level(c.Log.Level), JSON: c.Log.Format == config.FormatJSON, Text: c.Log.Text}
	return logging.New(file, options), func() { _ = file.Close() }, nil
}

// hold holds the conversation: on a terminal with everything it can do, else
// line by line.
func (p *program) hold(ctx context.Context, c *client.Client, name, data, welcome, text string, asJSON bool) error {
	chat := terminal.Chat{Client: c, Name: name, Sender: client.Sender{ID: adapters.CLI.Owner(), Name: userName()}}
	c.From(adapters.Surface{Platform: adapters.CLI, Account: adapters.Local, Chat: name}, p.Workspace())
	if text != "" {
		return terminal.Once(ctx, chat, text, p.Out, asJSON)
	}
	if asJSON || !p.IsTerminal(p.In) || !p.IsTerminal(p.Out) {
		return terminal.Plain(ctx, chat, p.In, p.Out, asJSON)
	}
	history, err := terminal.OpenHistory(filepath.Join(data, historyFile))
	if err != nil {
		return err
	}
	width, height := cli.Size(p.Out)
	return terminal.Run(ctx, chat, terminal.Options{
		In: p.In, Out: p.Out, Environ: p.Environ, Color: p.Color(p.Out), Width: width, Height: height,
		History: history, Welcome: welcome,
	})
}

func userName() string {
	if person, err := user.Current(); err == nil {
		return person.Username
	}
	return ""
}
