package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/routing"
	"parley/scheduler"
	"parley/sessions"
)

// How much of the schedules is shown in a chat.
const (
	schedulesShown = 30
	runsShown      = 10
	promptShown    = 80 // runes
)

const textScheduleUsage = "Schedules: `/schedule list`, `/schedule add \"0 9 * * 1-5\" zone=Europe/Berlin What is on today?`, " +
	"`/schedule pause|resume|run|rm|history ID`.\n\n" +
	"When is a cron expression in quotes, `@daily`, `every 30m`, or `\"at 2026-05-01 09:00\"`. " +
	"Settings go before the text: `zone=`, `id=`, `to=` (a chat's key, as /whoami prints it), `missed=skip|once|all`, " +
	"`overlap=skip|queue`, `session=shared|fresh`, `jitter=`, `limit=`."

// commandSchedule is /schedule. Owners see and change every schedule, members
// those they made.
func (b *Bot) commandSchedule(ctx context.Context, a arrival) (string, error) {
	verb, rest, _ := strings.Cut(a.decision.Command.Args, " ")
	rest = strings.TrimSpace(rest)
	var text string
	var err error
	switch strings.ToLower(strings.TrimSpace(verb)) {
	case "", "list":
		text, err = b.scheduleList(ctx, a)
	case "add":
		text, err = b.scheduleAdd(ctx, a, rest)
	case "pause", "resume", "run", "rm", "remove", "history":
		text, err = b.scheduleChange(ctx, a, strings.ToLower(verb), rest)
	default:
		return textScheduleUsage, nil
	}
	if refusal, known := scheduleRefusal(err); known {
		return refusal, nil
	}
	return text, err
}

// scheduleRefusal is what people are told of an error that is their own.
func scheduleRefusal(err error) (string, bool) {
	refused, isRefused := errors.AsType[*scheduler.RefusedError](err)
	problem, isProblem := errors.AsType[*scheduler.ProblemError](err)
	tooMany, isTooMany := errors.AsType[*scheduler.TooManyError](err)
	switch {
	case isRefused:
		var out strings.Builder
		out.WriteString("I can't take this schedule:\n")
		for _, p := range refused.Problems {
			out.WriteString("\n- " + p.Field + ": " + p.What)
		}
		return out.String(), true
	case isProblem:
		return "I can't take this schedule: " + problem.What, true
	case isTooMany:
		return "You have too many schedules: " + tooMany.Error(), true
	case errors.Is(err, sessions.ErrNotFound):
		return "There is no such schedule; `/schedule list` shows them.", true
	case errors.Is(err, sessions.ErrConflict):
		return "A schedule of that id exists already, or was just changed by somebody else. Try again, or choose another id.", true
	}
	for _, own := range []error{scheduler.ErrDeclared, scheduler.ErrRuns, scheduler.ErrNotPaused, scheduler.ErrNotActive} {
		if errors.Is(err, own) {
			return own.Error(), true
		}
	}
	return "", false
}

func (b *Bot) scheduleAdd(ctx context.Context, a arrival, text string) (string, error) {
	d, err := scheduler.ParseAdd(text)
	if err != nil {
		return "", err
	}
	here := a.event.Surface.Key()
	d.By = a.user.ID
	if d.ID == "" { // the same when the command is delivered again
		sum := sha256.Sum256([]byte(a.key))
		d.ID = "s-" + hex.EncodeToString(sum[:3])
	}
	if d.Timezone == "" {
		d.Timezone = b.zone.String()
	}
	if len(d.DeliverTo) == 0 {
		d.DeliverTo = []string{here}
	}
	if d.ReportTo == "" && a.event.Direct {
		d.ReportTo = here
	}
	if a.role != routing.Owner && !onlyHere(d, here) {
		return "Only an owner can have schedules deliver to other chats.", nil
	}
	view, err := b.Schedules().Add(ctx, d)
	if errors.Is(err, sessions.ErrConflict) && a.key != "" {
		if there, found := b.Schedules().Get(ctx, d.ID); found == nil && there.By == d.By && there.Prompt == d.Prompt && there.When() == d.WithDefaults().When() {
			view, err = there, nil
		}
	}
	if err != nil {
		return "", err
	}
	b.log.Info("a schedule was made", "schedule", view.ID, "by", view.By)
	return fmt.Sprintf("Schedule `%s` is set: %s.\n%s", view.ID, view.When(), comingText(view)), nil
}

func onlyHere(d scheduler.Definition, here string) bool {
	return !slices.ContainsFunc(d.DeliverTo, func(to string) bool { return to != here }) && (d.ReportTo == "" || d.ReportTo == here)
}

func comingText(view scheduler.View) string {
	if len(view.Next) == 0 {
		return "It does not fire any more."
	}
	var out strings.Builder
	out.WriteString("It fires next:\n")
	for _, next := range view.Next {
		out.WriteString("\n- " + next.Format("Mon 2006-01-02 15:04:05 MST"))
	}
	return out.String()
}

// ownSchedule reads a schedule that the sender may see and change.
func (b *Bot) ownSchedule(ctx context.Context, a arrival, id string) (scheduler.View, error) {
	view, err := b.Schedules().Get(ctx, strings.Trim(id, "` "))
	if err == nil && a.role != routing.Owner && !a.user.Is(view.By) {
		err = sessions.ErrNotFound
	}
	return view, err
}

func (b *Bot) scheduleChange(ctx context.Context, a arrival, verb, id string) (string, error) {
	view, err := b.ownSchedule(ctx, a, id)
	if err != nil {
		return "", err
	}
	book := b.Schedules()
	switch verb {
	case "pause":
		_, err = book.Pause(ctx, view.ID)
		return "Schedule `" + view.ID + "` is paused. What is planned meanwhile is left out.", err
	case "resume":
		view, err = book.Resume(ctx, view.ID)
		return "Schedule `" + view.ID + "` is active again.\n" + comingText(view), err
	case "run":
		_, err = book.Run(ctx, view.ID, a.key)
		return "Schedule `" + view.ID + "` runs now.", err
	case "history":
		return b.scheduleHistory(ctx, view)
	}
	err = book.Remove(ctx, view.ID)
	return "Schedule `" + view.ID + "` is removed.", err
}

func (b *Bot) scheduleList(ctx context.Context, a arrival) (string, error) {
	makers := []string{""}
	if a.role != routing.Owner {
		makers = a.user.Identities
	}
	var views []scheduler.View
	for _, by := range makers {
		cursor := ""
		for len(views) <= schedulesShown {
			part, next, err := b.Schedules().List(ctx, sessions.ScheduleList{By: by, Cursor: cursor, Limit: schedulesShown + 1})
			if err != nil {
				return "", err
			}
			views = append(views, part...)
			if cursor = next; next == "" {
				break
			}
		}
	}
	if len(views) == 0 {
		return "There are no schedules.\n\n" + textScheduleUsage, nil
	}
	var out strings.Builder
	for i, view := range views {
		if i == schedulesShown {
			out.WriteString("\n… and more; `gateway schedules list` shows all.")
			break
		}
		out.WriteString(scheduleLine(view) + "\n")
	}
	return out.String(), nil
}

func scheduleLine(view scheduler.View) string {
	line := fmt.Sprintf("- `%s` %s: %s", view.ID, view.When(), view.Status)
	if len(view.Next) > 0 {
		line += ", next " + view.Next[0].Format("Mon 2006-01-02 15:04 MST")
	}
	if view.Last != nil {
		line += ", last run " + string(view.Last.Outcome)
	}
	if view.Reason != "" {
		line += " (" + view.Reason + ")"
	}
	return line + "\n  " + firstLine(view.Prompt, promptShown)
}

func (b *Bot) scheduleHistory(ctx context.Context, view scheduler.View) (string, error) {
	runs, err := b.Schedules().History(ctx, view.ID, runsShown)
	if err != nil {
		return "", err
	}
	if len(runs) == 0 {
		return "Schedule `" + view.ID + "` did not run yet.", nil
	}
	zone, err := time.LoadLocation(view.Timezone)
	if err != nil {
		zone = time.UTC
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Runs of `%s`, newest first:\n", view.ID)
	for _, run := range runs {
		out.WriteString("\n" + runLine(run, zone))
	}
	return out.String(), nil
}

func runLine(run scheduler.Run, zone *time.Location) string {
	word := string(run.Outcome)
	if word == "" {
		word = string(run.Phase)
	}
	line := "- " + run.Planned.In(zone).Format("2006-01-02 15:04:05") + " " + word
	if run.Attempt > 1 {
		line += fmt.Sprintf(", %d attempts", run.Attempt)
	}
	if !run.EndedAt.IsZero() && !run.StartedAt.IsZero() {
		line += ", took " + run.EndedAt.Sub(run.StartedAt).Round(time.Second).String()
	}
	if run.Error != "" {
		line += ": " + run.Error
	}
	return line
}
