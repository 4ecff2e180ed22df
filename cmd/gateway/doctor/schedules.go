package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/adapters"
	"parley/scheduler"
	"parley/sessions"
)

// chores tells what the gateway's own schedules have done, and which of the
// others do not fire any more.
func (e *examination) chores(ctx context.Context, store sessions.Schedules) {
	tallies, err := scheduler.Tallies(ctx, store)
	if err != nil {
		e.add("schedules", adapters.LevelProblem, err.Error(), "check the store")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(tallies)) {
		tally := tallies[name]
		what := fmt.Sprintf("chore %s: %d at the last time, %d in all", name, tally.Count, tally.Total)
		if !tally.At.IsZero() {
			what += ", last done " + tally.At.Format(time.DateTime) + " UTC"
		}
		if tally.Error != "" {
			e.add("schedules", adapters.LevelWarning, what+"; it failed: "+tally.Error, "it is tried again while a gateway runs")
			continue
		}
		e.add("schedules", adapters.LevelOK, what, "")
	}
	e.disabled(ctx, store)
}

// disabledMax is how many schedules are looked through.
const disabledMax = 1000

func (e *examination) disabled(ctx context.Context, store sessions.Schedules) {
	views, _, err := (&scheduler.Book{Store: store}).List(ctx, sessions.ScheduleList{Limit: disabledMax})
	if err != nil {
		e.add("schedules", adapters.LevelProblem, err.Error(), "check the store")
		return
	}
	var disabled []string
	for _, view := range views {
		if view.Status == scheduler.Disabled {
			disabled = append(disabled, view.ID)
		}
	}
	if len(disabled) > 0 {
		e.add("schedules", adapters.LevelWarning, fmt.Sprintf("%d of %d schedules are disabled after failures: %s", len(disabled), len(views), strings.Join(disabled, ", ")),
			"`gateway schedules history ID` tells why, `gateway schedules resume ID` starts one again")
		return
	}
	e.add("schedules", adapters.LevelOK, fmt.Sprintf("%d schedules, none disabled", len(views)), "")
}
