package peoplecli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/client"
	"parley/cmd/gateway/config"
	"parley/cmd/gateway/wiring"
	"parley/people"
	"parley/routing"
	"parley/sessions"
)

// Door is where people are let in: through the gateway that runs here, or
// straight on the store where none does.
type Door interface {
	Everybody(ctx context.Context) (people.Everybody, error)
	Give(ctx context.Context, who string, role people.Role) (people.Person, error)
}

// AtRest are the people of a store that no gateway uses.
func AtRest(store people.Store, configured people.Configured) Door {
	return atRest{&people.Room{Store: store, Configured: configured}}
}

// atRest is the store of a gateway that does not run. Whoever may open it is
// nobody that could shut themselves out.
type atRest struct{ *people.Room }

// Give is that of people.Room.
func (a atRest) Give(ctx context.Context, who string, role people.Role) (people.Person, error) {
	return a.Room.Give(ctx, "", who, role)
}

// command is the command, with what it touches of its process.
type command struct{ *cli.Env }

// Command is `gateway people`.
func Command(e *cli.Env, flags *cli.Flags) *cobra.Command {
	p := command{e}
	command := &cobra.Command{Use: "people", Short: "Show who may talk to the gateway, and change it",
		Long: "Who may talk to the gateway of this data folder. One that runs here is asked; otherwise the store is opened.\n" +
			"An ID is an identity such as telegram:12345, as /whoami prints it; a CODE is that of a request to be let in.",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() }}
	command.AddCommand(
		&cobra.Command{Use: "list", Short: "List who is known, and who asks to be let in", Args: cobra.NoArgs,
			RunE: func(command *cobra.Command, _ []string) error {
				return p.with(command.Context(), flags, true, func(ctx context.Context, where Door, _ bool) error {
					return p.list(ctx, where, flags.AsJSON)
				})
			}},
		p.allow(flags),
		&cobra.Command{Use: "block CODE|ID", Short: "Never answer somebody", Args: cobra.ExactArgs(1),
			RunE: func(command *cobra.Command, args []string) error {
				return p.give(command.Context(), flags, args[0], routing.Blocked)
			}},
		&cobra.Command{Use: "role CODE|ID ROLE", Short: "Give somebody a role: owner, member, guest or blocked", Args: cobra.ExactArgs(2),
			RunE: func(command *cobra.Command, args []string) error {
				return p.give(command.Context(), flags, args[0], people.Role(args[1]))
			}},
		&cobra.Command{Use: "remove CODE|ID", Short: "Take back the role that was given to somebody", Args: cobra.ExactArgs(1),
			RunE: func(command *cobra.Command, args []string) error {
				return p.give(command.Context(), flags, args[0], "")
			}},
	)
	return command
}

func (p command) allow(flags *cli.Flags) *cobra.Command {
	role := letIn(routing.Member)
	command := &cobra.Command{Use: "allow CODE|ID", Short: "Let somebody in", Args: cobra.ExactArgs(1),
		Example: "  gateway people allow 7KQ2MA\n  gateway people allow telegram:12345 --role owner",
		RunE: func(command *cobra.Command, args []string) error {
			return p.give(command.Context(), flags, args[0], people.Role(role))
		}}
	command.Flags().Var(&role, "role", "as what: member or owner")
	return command
}

// letIn is a role that lets somebody in, as a flag.
type letIn people.Role

// Set implements pflag.Value.
func (l *letIn) Set(text string) error {
	if role := people.Role(text); role != routing.Member && role != routing.Owner {
		return errors.New("who is let in is a member or an owner; `gateway people role` gives other roles")
	}
	*l = letIn(text)
	return nil
}

// String implements pflag.Value.
func (l *letIn) String() string { return string(*l) }

// Type implements pflag.Value.
func (l *letIn) Type() string { return "ROLE" }

// with reaches the people of this data folder; live: through a gateway that
// runs. A command that only looks leaves nothing behind where nothing is yet.
func (p command) with(ctx context.Context, flags *cli.Flags, looks bool, use func(ctx context.Context, where Door, live bool) error) error {
	return p.Reach(ctx, flags, func(ctx context.Context, c *client.Client) error { return use(ctx, client.People{Client: c}, true) }, func(c config.Config) error {
		return wiring.WithIdle(ctx, c, looks, func(store sessions.Store) error {
			return use(ctx, AtRest(store, people.NewConfigured(c.Owners, c.Members, c.Blocked)), false)
		})
	})
}
