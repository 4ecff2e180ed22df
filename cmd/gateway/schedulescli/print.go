package schedulescli

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"parley/cmd/gateway/cli"
	"parley/scheduler"
	"parley/sessions"
)

// How much of a schedule is printed in a line.
const (
	promptColumn   = 40 // runes
	timeColumnForm = "2006-01-02 15:04:05 MST"
)

// pageMax is how many schedules are asked for at a time.
const pageMax = 200

func (p command) listSchedules(ctx context.Context, place schedulePlace, by string, asJSON bool) error {
	views, cursor := []scheduler.View{}, ""
	for {
		part, next, err := place.List(ctx, sessions.ScheduleList{By: by, Cursor: cursor, Limit: pageMax})
		if err != nil {
			return err
		}
		views = append(views, part...)
		if cursor = next; next == "" {
			break
		}
	}
	if asJSON {
		return p.PrintJSON(views)
	}
	if len(views) == 0 {
		_, err := fmt.Fprintln(p.Out, "no schedules; `gateway schedules add --help` shows how to make one")
		return err
	}
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tWHEN\tSTATUS\tNEXT\tLAST\tBY\tPROMPT")
	for _, view := range views {
		next, last := "-", "-"
		if len(view.Next) > 0 {
			next = view.Next[0].Format(timeColumnForm)
		}
		if view.Last != nil {
			last = string(view.Last.Outcome)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", view.ID, cli.Printable(view.When()), view.Status, next, last, cli.Printable(view.By), cli.Printable(shorten(view.Prompt, promptColumn)))
	}
	return table.Flush()
}

// shorten keeps the first line of a text, at most limit runes of it.
func shorten(text string, limit int) string {
	for i, r := range text {
		if r == '\n' || r == '\r' {
			return text[:i] + "…"
		}
		if limit--; limit == 0 {
			return text[:i] + "…"
		}
	}
	return text
}

func (p command) madeSchedule(view scheduler.View, asJSON bool) error {
	if asJSON {
		return p.PrintJSON(view)
	}
	fmt.Fprintf(p.Out, "%s is set: %s\n", view.ID, cli.Printable(view.Said()))
	for _, next := range view.Next {
		fmt.Fprintln(p.Out, "  next", next.Format("Mon "+timeColumnForm))
	}
	return nil
}

func (p command) scheduleRuns(ctx context.Context, place schedulePlace, id string, limit int, asJSON bool) error {
	runs, err := place.History(ctx, id, limit)
	if err != nil {
		return scheduleError(id, err)
	}
	if asJSON {
		return p.PrintJSON(append([]scheduler.Run{}, runs...))
	}
	if len(runs) == 0 {
		_, err := fmt.Fprintln(p.Out, "it did not run yet")
		return err
	}
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PLANNED\tOUTCOME\tATTEMPTS\tTOOK\tSESSION\tREASON")
	for _, run := range runs {
		outcome, took := string(run.Outcome), "-"
		if outcome == "" {
			outcome = string(run.Phase)
		}
		if !run.StartedAt.IsZero() && !run.EndedAt.IsZero() {
			took = run.EndedAt.Sub(run.StartedAt).Round(time.Millisecond).String()
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\t%s\n", run.Planned.UTC().Format(time.RFC3339), outcome, run.Attempt, took, run.Session, cli.Printable(run.Error))
	}
	return table.Flush()
}
