package schedulescli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"parley/adapters"
	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/client"
	"parley/cmd/gateway/config"
	"parley/cmd/gateway/wiring"
	"parley/scheduler"
	"parley/sessions"
)

// schedulePlace is where schedules are reached: through the gateway that runs
// here, or straight on the store where none does.
type schedulePlace interface {
	List(ctx context.Context, list sessions.ScheduleList) ([]scheduler.View, string, error)
	Add(ctx context.Context, d scheduler.Definition) (scheduler.View, error)
	Get(ctx context.Context, id string) (scheduler.View, error)
	Pause(ctx context.Context, id string) (scheduler.View, error)
	Resume(ctx context.Context, id string) (scheduler.View, error)
	Run(ctx context.Context, id, key string) (scheduler.View, error)
	Remove(ctx context.Context, id string) error
	History(ctx context.Context, id string, limit int) ([]scheduler.Run, error)
}

var (
	_ schedulePlace = client.Schedules{}
	_ schedulePlace = (*scheduler.Book)(nil)
)

// command is the command, with what it touches of its process.
type command struct{ *cli.Env }

// Command is `gateway schedules`.
func Command(e *cli.Env, flags *cli.Flags) *cobra.Command {
	p := command{e}
	command := &cobra.Command{Use: "schedules", Short: "List, make, pause, run or remove what is done on time",
		Long: "Schedules of this data folder's store. A gateway that runs here is asked; otherwise the store is opened.",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() }}
	command.AddCommand(
		p.schedulesList(flags),
		p.schedulesAdd(flags),
		p.schedulesHistory(flags),
		p.scheduleChange(flags, "pause", "Keep a schedule from firing", "is paused", schedulePlace.Pause),
		p.scheduleChange(flags, "resume", "Let a schedule fire again, from now on", "is active", schedulePlace.Resume),
		p.scheduleChange(flags, "run", "Fire a schedule now", "runs now, or at the next `gateway run`",
			func(place schedulePlace, ctx context.Context, id string) (scheduler.View, error) {
				return place.Run(ctx, id, rand.Text())
			}),
		p.scheduleChange(flags, "rm", "Remove a schedule with its history", "is removed",
			func(place schedulePlace, ctx context.Context, id string) (scheduler.View, error) {
				return scheduler.View{}, place.Remove(ctx, id)
			}),
	)
	return command
}

// withSchedules reaches the schedules of this data folder. A command that only
// looks leaves nothing behind where nothing is yet.
func (p command) withSchedules(ctx context.Context, flags *cli.Flags, looks bool, use func(context.Context, schedulePlace) error) error {
	return p.Reach(ctx, flags, func(ctx context.Context, c *client.Client) error { return use(ctx, client.Schedules{Client: c}) }, func(c config.Config) error {
		return wiring.WithIdle(ctx, c, looks, func(store sessions.Store) error {
			zone := p.Zone(c, p.Logger(c.Log))
			return use(ctx, &scheduler.Book{Store: store, World: scheduler.World{Surface: reachableIn(c)}, Zone: zone})
		})
	})
}

// reachableIn says why nothing can be delivered to a surface with this
// configuration, as far as that is known without a connection.
func reachableIn(c config.Config) func(key string) string {
	return func(key string) string {
		surface, err := adapters.ParseSurface(key)
		switch {
		case err != nil:
			return "not a surface key; /whoami prints the key of a chat"
		case surface.Platform == adapters.Schedule:
			return "a schedule is no place where people read"
		case surface.Account == adapters.Local:
			return ""
		}
		for _, p := range wiring.Platforms() {
			if p.ID == surface.Platform && p.On(c) {
				return ""
			}
		}
		return "no connection to it is configured"
	}
}

func (p command) schedulesList(flags *cli.Flags) *cobra.Command {
	by := ""
	command := &cobra.Command{Use: "list", Short: "List schedules with their next time and last outcome", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return p.withSchedules(command.Context(), flags, true, func(ctx context.Context, place schedulePlace) error {
				return p.listSchedules(ctx, place, by, flags.AsJSON)
			})
		}}
	command.Flags().StringVar(&by, "by", "", "only of this maker: an identity as in telegram:12345, config, or operator")
	return command
}

func (p command) schedulesAdd(flags *cli.Flags) *cobra.Command {
	var d scheduler.Definition
	var missed, overlap, session string
	command := &cobra.Command{
		Use: `add WHEN PROMPT`, Short: "Make a schedule", Args: cobra.ExactArgs(2),
		Long:    "WHEN is a cron expression, @daily and its like, an interval, or a time.",
		Example: "  gateway schedules add \"0 9 * * 1-5\" \"What is on today?\" --zone Europe/Berlin --to telegram:1:2\n  gateway schedules add \"every 2h\" \"Anything new?\"\n  gateway schedules add \"at 2027-05-01 09:00\" \"Happy May Day\"",
		RunE: func(command *cobra.Command, args []string) error {
			d.Missed, d.Overlap, d.Session = scheduler.Missed(missed), scheduler.Overlap(overlap), scheduler.SessionMode(session)
			d.Prompt, d.By = args[1], scheduler.ByOperator
			if err := d.SetWhen(args[0]); err != nil {
				return err
			}
			return p.withSchedules(command.Context(), flags, false, func(ctx context.Context, place schedulePlace) error {
				view, err := place.Add(ctx, d)
				if errors.Is(err, sessions.ErrConflict) {
					return fmt.Errorf("a schedule %s exists already; choose another --id", strconv.Quote(d.ID))
				}
				if err != nil {
					return err
				}
				return p.madeSchedule(view, flags.AsJSON)
			})
		}}
	set := command.Flags()
	set.StringVar(&d.ID, "id", "", "its name (default: one is drawn)")
	set.StringVar(&d.Timezone, "zone", "", "time zone, as in Europe/Berlin (default: the gateway's own)")
	set.StringArrayVar(&d.DeliverTo, "to", nil, "deliver to this chat, by its key (may be repeated; default: the answer stays in the schedule's conversation)")
	set.StringVar(&d.ReportTo, "report", "", "tell failures in this chat (default: to the owners)")
	set.StringVar(&missed, "missed", "", "what was missed: skip, once or all (default: once)")
	set.StringVar(&overlap, "overlap", "", "when the run before goes on: skip or queue (default: skip)")
	set.StringVar(&session, "session", "", "one conversation for all runs or one each: shared or fresh (default: shared)")
	set.StringVar(&d.Jitter, "jitter", "", "be late by up to this, as in 5m")
	set.StringVar(&d.TimeLimit, "limit", "", "how long one attempt may take (default: 10m)")
	return command
}

func (p command) schedulesHistory(flags *cli.Flags) *cobra.Command {
	limit := 0
	command := &cobra.Command{Use: "history ID", Short: "Show the newest runs of a schedule", Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return p.withSchedules(command.Context(), flags, true, func(ctx context.Context, place schedulePlace) error {
				return p.scheduleRuns(ctx, place, args[0], limit, flags.AsJSON)
			})
		}}
	command.Flags().IntVar(&limit, "limit", 20, fmt.Sprintf("how many at most, up to %d", sessions.ScheduleRunsKept))
	return command
}

func (p command) scheduleChange(flags *cli.Flags, verb, short, done string, change func(schedulePlace, context.Context, string) (scheduler.View, error)) *cobra.Command {
	return &cobra.Command{Use: verb + " ID…", Short: short, Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, ids []string) error {
			return p.withSchedules(command.Context(), flags, false, func(ctx context.Context, place schedulePlace) error {
				for _, id := range ids {
					if _, err := change(place, ctx, id); err != nil {
						return scheduleError(id, err)
					}
					if err := p.Report(flags, id, verb, done); err != nil {
						return err
					}
				}
				return nil
			})
		}}
}

func scheduleError(id string, err error) error {
	if errors.Is(err, sessions.ErrNotFound) {
		return fmt.Errorf("there is no schedule %s; `gateway schedules list` shows those there are", strconv.Quote(id))
	}
	return fmt.Errorf("%s: %s", id, strings.TrimPrefix(err.Error(), "This is not possible now: "))
}
