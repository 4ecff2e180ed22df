package sessionscli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/gateway/cli"
	"parley/conversations"
	"parley/sessions"
	"parley/sessions/view"
)

// command is the command, with what it touches of its process.
type command struct{ *cli.Env }

// Command is `gateway sessions`.
func Command(e *cli.Env, flags *cli.Flags, newOne *cobra.Command) *cobra.Command {
	p := command{e}
	command := &cobra.Command{Use: "sessions", Short: "List, show, export, import, fork, clear or remove conversations",
		Long: "Conversations of this data folder. A gateway that runs here is asked; otherwise the store is opened.",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() }}
	command.AddCommand(
		newOne,
		p.sessionsList(flags),
		p.sessionsShow(flags),
		p.sessionsTree(flags),
		p.sessionsExport(flags),
		p.sessionsImport(flags),
		p.sessionsFork(flags),
		p.sessionsClear(flags),
		p.sessionsRemove(flags),
	)
	return command
}

// listFlags are the filters of `sessions list`.
type listFlags struct {
	all, here                      bool
	states                         []string
	user, workspace, surface, kind string
	since                          time.Duration
	limit                          int
}

func (p command) sessionsList(flags *cli.Flags) *cobra.Command {
	var list listFlags
	command := &cobra.Command{Use: "list", Short: "List conversations, the newest activity first", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if list.here {
				if list.workspace = p.Workspace(); list.workspace == "" {
					return errors.New("this directory's name cannot be a workspace; leave out --here")
				}
			}
			return p.withSessions(command.Context(), flags, true, func(ctx context.Context, place Place) error {
				return p.listSessions(ctx, place, list, flags.AsJSON)
			})
		}}
	command.Flags().BoolVar(&list.all, "all", false, "also those that are suspended or expired")
	command.Flags().StringArrayVar(&list.states, "state", nil, "only this state: created, active, suspended, expired (may be repeated)")
	command.Flags().StringVar(&list.user, "user", "", "only this user's, as in telegram:12345")
	command.Flags().StringVar(&list.workspace, "workspace", "", "only of this workspace; a terminal's is the directory it began in")
	command.Flags().BoolVar(&list.here, "here", false, "only those that terminals began in this directory")
	command.Flags().StringVar(&list.surface, "surface", "", "only the current one of this surface")
	command.Flags().StringVar(&list.kind, "type", "", "only direct, or only group")
	command.Flags().DurationVar(&list.since, "since", 0, "only with activity within this time, as in 24h")
	command.Flags().IntVar(&list.limit, "limit", sessions.FindDefault, "how many at most")
	command.MarkFlagsMutuallyExclusive("all", "state")
	command.MarkFlagsMutuallyExclusive("here", "workspace")
	return command
}

func (l listFlags) query(now time.Time) sessions.Query {
	query := sessions.Query{UserID: l.user, WorkspaceID: l.workspace, Surface: l.surface, Type: sessions.Type(l.kind)}
	for _, state := range l.states {
		query.States = append(query.States, sessions.State(state))
	}
	if len(query.States) == 0 && !l.all {
		query.States = []sessions.State{sessions.StateCreated, sessions.StateActive}
	}
	if l.since > 0 {
		query.ActiveAfter = now.Add(-l.since)
	}
	return query
}

func (p command) sessionsShow(flags *cli.Flags) *cobra.Command {
	last := 0
	command := &cobra.Command{Use: "show ID", Short: "Show a conversation and what was said last", Args: oneID,
		RunE: func(command *cobra.Command, args []string) error {
			return p.withSessions(command.Context(), flags, true, func(ctx context.Context, place Place) error {
				return p.showSession(ctx, place, args[0], last, flags.AsJSON)
			})
		}}
	command.Flags().IntVar(&last, "last", 10, "how much of what happened last")
	return command
}

func (p command) sessionsTree(flags *cli.Flags) *cobra.Command {
	limit := 0
	command := &cobra.Command{Use: "tree ID", Short: "Draw a conversation with its branches", Args: oneID,
		RunE: func(command *cobra.Command, args []string) error {
			return p.withSessions(command.Context(), flags, true, func(ctx context.Context, place Place) error {
				return p.drawSession(ctx, place, args[0], limit, flags.AsJSON)
			})
		}}
	command.Flags().IntVar(&limit, "limit", view.TreeDefault, fmt.Sprintf("how many entries at most, up to %d", view.TreeMax))
	return command
}

func (p command) sessionsFork(flags *cli.Flags) *cobra.Command {
	at, name := "", ""
	command := &cobra.Command{Use: "fork ID", Short: "Begin a new conversation with what was said in another", Args: oneID,
		RunE: func(command *cobra.Command, args []string) error {
			return p.withSessions(command.Context(), flags, false, func(ctx context.Context, place Place) error {
				var entry *string
				if at != "" {
					entry = &at
				}
				made, err := place.Fork(ctx, args[0], entry, name)
				if conversations.CodeOf(err) == conversations.NoEntry {
					return fmt.Errorf("there is no entry %s in the tree of %s; `gateway sessions tree %s` shows those there are", strconv.Quote(at), args[0], args[0])
				}
				if err != nil {
					return p.sessionError(args[0], err)
				}
				return p.made(flags, made.ID, "forked from "+args[0]+"; `gateway sessions show "+made.ID+"` shows it")
			})
		}}
	command.Flags().StringVar(&at, "at", "", "the last entry it shall have, as in e12 (default: where the conversation stands)")
	command.Flags().StringVar(&name, "name", "", "the new one's name (default: the old one's)")
	return command
}

func (p command) sessionsClear(flags *cli.Flags) *cobra.Command {
	yes := false
	command := &cobra.Command{Use: "clear ID", Short: "Erase what was said, for good; the conversation itself stays", Args: oneID,
		RunE: func(command *cobra.Command, args []string) error {
			return p.withSessions(command.Context(), flags, false, func(ctx context.Context, place Place) error {
				session, err := place.Session(ctx, args[0])
				if err != nil {
					return p.sessionError(args[0], err)
				}
				if err := p.Sure(yes, fmt.Sprintf("erase all %d entries of %s for good", session.Seq-session.Cleared, session.ID)); err != nil {
					return err
				}
				if _, err := place.Clear(ctx, args[0]); err != nil {
					return p.sessionError(args[0], err)
				}
				return p.Report(flags, args[0], "clear", "is empty now")
			})
		}}
	command.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return command
}

func (p command) sessionsRemove(flags *cli.Flags) *cobra.Command {
	yes := false
	command := &cobra.Command{Use: "rm ID…", Short: "Remove direct conversations for good", Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, ids []string) error {
			return p.withSessions(command.Context(), flags, false, func(ctx context.Context, place Place) error {
				if err := p.Sure(yes, "remove "+strings.Join(ids, ", ")+" for good"); err != nil {
					return err
				}
				for _, id := range ids {
					if err := place.Delete(ctx, id); err != nil {
						return p.sessionError(id, err)
					}
					if err := p.Report(flags, id, "rm", "is removed"); err != nil {
						return err
					}
				}
				return nil
			})
		}}
	command.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return command
}

func oneID(command *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes the id of one conversation; `gateway sessions list --all` shows them", command.CommandPath())
	}
	return nil
}

// made reports a session that is new: its id alone on the output, for the
// next command, and the rest beside it.
func (p command) made(flags *cli.Flags, id, said string) error {
	if flags.AsJSON {
		return p.PrintJSON(map[string]string{"id": id})
	}
	if _, err := fmt.Fprintln(p.Out, cli.Printable(id)); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.Err, cli.Printable(said))
	return err
}

// sessionError is an error about a session, with the next step here.
func (p command) sessionError(id string, err error) error {
	switch conversations.CodeOf(err) {
	case conversations.NotFound:
		return fmt.Errorf("there is no conversation %s; `gateway sessions list --all` shows those there are", strconv.Quote(id))
	case conversations.GroupOnly:
		return fmt.Errorf("%s is a group's conversation, and those are kept; `gateway sessions clear %s` erases what was said", id, id)
	case conversations.Expired:
		return fmt.Errorf("%s has expired; it can be shown, exported and forked (`gateway sessions fork %s`), and nothing else", id, id)
	case conversations.Running:
		return fmt.Errorf("%s is being answered, or messages wait there; try again when it is done, or say /stop there first", id)
	}
	return err
}
