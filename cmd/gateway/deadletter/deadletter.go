package deadletter

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/client"
	"parley/cmd/gateway/config"
	"parley/cmd/gateway/logging"
	"parley/cmd/gateway/wiring"
	"parley/sessions"
)

// deadlettersMax is how many are listed.
const deadlettersMax = 1000

// deadLetters is where they are: the store, or a running gateway's API.
type deadLetters interface {
	DeadLetters(ctx context.Context, limit int) ([]sessions.DeadLetter, error)
	Replay(ctx context.Context, id string) error
	DropDead(ctx context.Context, id string) error
}

// command is the command, with what it touches of its process.
type command struct{ *cli.Env }

// Command is `gateway deadletter`.
func Command(e *cli.Env, flags *cli.Flags) *cobra.Command {
	p := command{e}
	command := &cobra.Command{Use: "deadletter", Short: "List, replay or drop messages whose answer failed for good", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() }}
	command.AddCommand(
		&cobra.Command{Use: "list", Short: "List them, newest first", Args: cobra.NoArgs,
			RunE: func(command *cobra.Command, _ []string) error {
				return p.withDeadLetters(command.Context(), flags, func(ctx context.Context, where deadLetters, _ bool) error {
					return p.deadletterList(ctx, where, flags.AsJSON)
				})
			}},
		p.deadletterChange(flags, "replay", "Have them answered once more", deadLetters.Replay,
			func(live bool) string {
				if live {
					return "is being answered once more"
				}
				return "will be answered at the next `gateway run`"
			}),
		p.deadletterChange(flags, "drop", "Forget them; the messages stay in the log", deadLetters.DropDead,
			func(bool) string { return "is forgotten" }),
	)
	return command
}

// deadletterChange is a command that does something to each dead letter that
// it is given; done says what has happened, live whether a gateway runs.
func (p command) deadletterChange(flags *cli.Flags, verb, short string, change func(deadLetters, context.Context, string) error, done func(live bool) string) *cobra.Command {
	return &cobra.Command{Use: verb + " ID…", Short: short, Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, ids []string) error {
			return p.withDeadLetters(command.Context(), flags, func(ctx context.Context, where deadLetters, live bool) error {
				for _, id := range ids {
					err := change(where, ctx, id)
					if errors.Is(err, sessions.ErrNotFound) {
						return fmt.Errorf("there is no dead letter %q; `gateway deadletter list` shows them", id)
					}
					if err != nil {
						return err
					}
					if err := p.Report(flags, id, verb, done(live)); err != nil {
						return err
					}
				}
				return nil
			})
		}}
}

// withDeadLetters asks the gateway that runs on this machine, or, if none
// does, the store itself.
func (p command) withDeadLetters(ctx context.Context, flags *cli.Flags, use func(ctx context.Context, where deadLetters, live bool) error) error {
	return p.Reach(ctx, flags, func(ctx context.Context, c *client.Client) error { return use(ctx, c, true) }, func(c config.Config) error {
		return wiring.WithIdle(ctx, c, true, func(store sessions.Store) error { return use(ctx, store, false) })
	})
}

func (p command) deadletterList(ctx context.Context, where deadLetters, asJSON bool) error {
	letters, err := where.DeadLetters(ctx, deadlettersMax)
	if err != nil {
		return err
	}
	if asJSON {
		return p.PrintJSON(append([]sessions.DeadLetter{}, letters...))
	}
	if len(letters) == 0 {
		fmt.Fprintln(p.Out, "no dead letters")
		return nil
	}
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSESSION\tWHEN\tATTEMPTS\tREASON")
	for _, letter := range letters {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\n", letter.ID, logging.Visible(letter.Session), letter.At.Format(time.DateTime),
			letter.Attempts, logging.Visible(logging.Redact(letter.Reason)))
	}
	return table.Flush()
}
