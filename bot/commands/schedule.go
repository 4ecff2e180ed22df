package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/bot/texts"
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

// commandSchedule is /schedule. Owners see and change every schedule, members
// those they made.
func (c *Commands) schedule(ctx context.Context, call Call) (Answer, error) {
	verb, rest, _ := strings.Cut(call.Command.Args, " ")
	rest = strings.TrimSpace(rest)
	var text string
	var err error
	switch strings.ToLower(strings.TrimSpace(verb)) {
	case "", "list":
		text, err = c.scheduleList(ctx, call)
	case "add":
		text, err = c.scheduleAdd(ctx, call, rest)
	case "pause", "resume", "run", "rm", "remove", "history":
		text, err = c.scheduleChange(ctx, call, strings.ToLower(verb), rest)
	default:
		text = texts.ScheduleUsage
	}
	if refusal, known := scheduleRefusal(err); known {
		return say(refusal)
	}
	return Answer{Text: text}, err
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

func (c *Commands) scheduleAdd(ctx context.Context, call Call, text string) (string, error) {
	d, err := scheduler.ParseAdd(text)
	if err != nil {
		return "", err
	}
	here := call.Event.Surface.Key()
	d.By = call.User.ID
	if d.ID == "" { // the same when the command is delivered again
		sum := sha256.Sum256([]byte(call.Key))
		d.ID = "s-" + hex.EncodeToString(sum[:3])
	}
	d = c.Schedules.InZone(d)
	if len(d.DeliverTo) == 0 {
		d.DeliverTo = []string{here}
	}
	if d.ReportTo == "" && call.Event.Direct {
		d.ReportTo = here
	}
	if call.Role != routing.Owner && !onlyHere(d, here) {
		return "Only an owner can have schedules deliver to other chats.", nil
	}
	if every := d.Interval(); call.Role != routing.Owner && every > 0 && every < scheduler.EveryMinMember {
		return "Only an owner can have schedules more often than once a minute.", nil
	}
	view, err := c.Schedules.Add(ctx, d)
	if errors.Is(err, sessions.ErrConflict) && call.Key != "" {
		if there, found := c.Schedules.Get(ctx, d.ID); found == nil && there.By == d.By && there.Prompt == d.Prompt && there.When() == d.WithDefaults().When() {
			view, err = there, nil
		}
	}
	if err != nil {
		return "", err
	}
	c.Log.Info("a schedule was made", "schedule", view.ID, "by", view.By)
	return fmt.Sprintf("Schedule `%s` is set: %s.\n%s", view.ID, view.Said(), comingText(view)), nil
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
func (c *Commands) ownSchedule(ctx context.Context, call Call, id string) (scheduler.View, error) {
	view, err := c.Schedules.Get(ctx, strings.Trim(id, "` "))
	if err == nil && call.Role != routing.Owner && !call.User.Is(view.By) {
		err = sessions.ErrNotFound
	}
	return view, err
}

func (c *Commands) scheduleChange(ctx context.Context, call Call, verb, id string) (string, error) {
	view, err := c.ownSchedule(ctx, call, id)
	if err != nil {
		return "", err
	}
	book := c.Schedules
	switch verb {
	case "pause":
		_, err = book.Pause(ctx, view.ID)
		return "Schedule `" + view.ID + "` is paused. What is planned meanwhile is left out.", err
	case "resume":
		view, err = book.Resume(ctx, view.ID)
		return "Schedule `" + view.ID + "` is active again.\n" + comingText(view), err
	case "run":
		_, err = book.Run(ctx, view.ID, call.Key)
		return "Schedule `" + view.ID + "` runs now.", err
	case "history":
		return c.scheduleHistory(ctx, view)
	}
	err = book.Remove(ctx, view.ID)
	return "Schedule `" + view.ID + "` is removed.", err
}

func (c *Commands) scheduleList(ctx context.Context, call Call) (string, error) {
	makers := []string{""}
	if call.Role != routing.Owner {
		makers = call.User.Identities
	}
	var views []scheduler.View
	for _, by := range makers {
		cursor := ""
		for len(views) <= schedulesShown {
			part, next, err := c.Schedules.List(ctx, sessions.ScheduleList{By: by, Cursor: cursor, Limit: schedulesShown + 1})
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
		return "There are no schedules.\n\n" + texts.ScheduleUsage, nil
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
		line += " (" + texts.Plain(view.Reason) + ")"
	}
	return line + "\n  " + texts.Code(texts.FirstLine(view.Prompt, promptShown))
}

func (c *Commands) scheduleHistory(ctx context.Context, view scheduler.View) (string, error) {
	runs, err := c.Schedules.History(ctx, view.ID, runsShown)
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
		line += ": " + texts.Plain(run.Error)
	}
	return line
}
