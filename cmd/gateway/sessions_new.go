package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley/adapters"
	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/client"
	"parley/cmd/gateway/datafolder"
	"parley/cmd/gateway/logging"
	"parley/sessions"
)

// tidyTimeout bounds the tidying after a chat.
const tidyTimeout = 5 * time.Second

func (p *program) sessionsNew(flags *cli.Flags) *cobra.Command {
	return &cobra.Command{Use: "new [NAME]", Short: "Begin a new conversation here in the terminal",
		Long: "Begin a new conversation here in the terminal, called NAME, or after the day.\n" +
			"It is kept once something was said, and removed again if nothing was answered. `gateway chat --session NAME` goes on with it.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return p.newSession(command.Context(), flags, strings.Join(args, ""))
		}}
}

func (p *program) newSession(ctx context.Context, flags *cli.Flags, name string) error {
	loaded, err := p.Load(flags)
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
	if name == "" {
		name = time.Now().Format(time.DateOnly) + "-" + strings.ToLower(rand.Text()[:4])
	}
	if err := checkName(name); err != nil {
		return err
	}
	return p.chatHere(ctx, loaded.Config, func(ctx context.Context, c *client.Client, welcome string) error {
		id := terminalSession(name)
		_, err := c.Session(ctx, id)
		if err == nil {
			return fmt.Errorf("there is a conversation %s already; `gateway chat --session %s` goes on with it", id, name)
		}
		if !errors.Is(err, sessions.ErrNotFound) {
			return err
		}
		fmt.Fprintf(p.Err, "%s is a new conversation\n", id)
		return p.holdTidily(ctx, c, name, data, welcome, "", flags.AsJSON)
	})
}

// terminalSession is the first session of a terminal's name.
func terminalSession(name string) string {
	return sessions.BareID(adapters.Surface{Platform: adapters.CLI, Account: adapters.Local, Chat: name}.Key())
}

// holdTidily holds a conversation, and removes afterwards what the chat has
// opened and got no answer in. What cannot be removed stays, and does no harm.
func (p *program) holdTidily(ctx context.Context, c *client.Client, name, data, welcome, text string, asJSON bool) error {
	before := openedBefore(ctx, c, name)
	err := p.hold(ctx, c, name, data, welcome, text, asJSON)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTimeout)
	defer cancel()
	opened := []string{terminalSession(name)}
	if current, err := c.Resolve(ctx, name); err == nil && current != opened[0] {
		opened = append(opened, current)
	}
	for _, id := range opened {
		if !before[id] {
			_, _ = c.Discard(ctx, id)
		}
	}
	return err
}

// openedBefore are the sessions of a terminal's name that something was said
// in.
func openedBefore(ctx context.Context, c *client.Client, name string) map[string]bool {
	before := map[string]bool{}
	ids := []string{terminalSession(name)}
	if current, err := c.Resolve(ctx, name); err == nil && current != ids[0] {
		ids = append(ids, current)
	}
	for _, id := range ids {
		session, err := c.Session(ctx, id)
		before[id] = err != nil && !errors.Is(err, sessions.ErrNotFound) || err == nil && session.Seq > 0
	}
	return before
}
