package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// What a store keeps of a schedule.
const (
	ScheduleIDMax   = 128      // bytes
	ScheduleMax     = 64 << 10 // of a definition, a state or the record of a run, each, in bytes of JSON
	ScheduleRunsMax = 100      // records written by one call
	// ScheduleRunsKept is how many runs of a schedule are kept; of more the
	// oldest are dropped.
	ScheduleRunsKept = 200
)

// ScheduleTimer names the one timer of a schedule: its Home is [ScheduleHome],
// its Purpose [SchedulePurpose].
const (
	ScheduleTimer   = "next"
	SchedulePurpose = "schedule"
)

// ScheduleHome is where the timer of a schedule lives. It is no session's id,
// so that the timer outlives what happens to the schedule's sessions.
func ScheduleHome(id string) string { return "schedules:" + id }

// Schedule is a stored schedule. What it means is the scheduler's: a store
// reads neither Definition nor State.
type Schedule struct {
	ID         string
	By         string // who made it; never changes
	Definition json.RawMessage
	State      json.RawMessage
	// Version names what was read: every change gives another one, that no
	// schedule of this ID ever had before, also over a removal.
	Version   int64
	CreatedAt time.Time
	ReadAt    time.Time // when the store answered, by its clock
}

// ScheduleRun is the record of one run.
type ScheduleRun struct {
	ID   string    // unique within its schedule
	At   time.Time // when it was planned; runs are ordered by it, then by ID
	Body json.RawMessage
}

// ScheduleChange creates or changes a schedule. See [Schedules.SaveSchedule].
type ScheduleChange struct {
	ID string
	// Version is the one that the change is based on; 0: there must be none yet.
	Version    int64
	By         string          // counts only when it is created; may be empty
	Definition json.RawMessage // a JSON object; nil: stays, which a new one must not
	State      json.RawMessage // as Definition
	Due        time.Time       // when its timer is due; zero: it has none
	Runs       []ScheduleRun   // written, or replaced where there is one of that ID
}

// ScheduleList asks for a part of the schedules. See [Schedules.ListSchedules].
type ScheduleList struct {
	By     string // only those of this maker; empty: all
	Cursor string // where the last part ended; empty: from the start
	Limit  int    // 1 to ListMax
}

// Schedules are what fires on time. A schedule costs nothing while its timer
// is not due.
type Schedules interface {
	// SaveSchedule creates a schedule, or replaces what the change brings, sets
	// its timer anew (or cancels it), and writes the runs: all or nothing.
	// ErrConflict: the schedule has another version, or exists already.
	// ErrNotFound: Version is given and there is no such schedule.
	SaveSchedule(ctx context.Context, change ScheduleChange) (Schedule, error)
	// Schedule reads a schedule. ErrNotFound.
	Schedule(ctx context.Context, id string) (Schedule, error)
	// ListSchedules reads a part of the schedules, in an order of the store's
	// own. One that is there all the time comes exactly once. cursor is empty
	// after the last part; a part may be shorter than Limit before that.
	ListSchedules(ctx context.Context, list ScheduleList) (part []Schedule, cursor string, err error)
	// RemoveSchedule removes a schedule, its timer and its runs. ErrNotFound.
	RemoveSchedule(ctx context.Context, id string) error
	// ScheduleRuns reads the newest runs of a schedule, newest first, at most
	// limit (1 to ListMax). ErrNotFound.
	ScheduleRuns(ctx context.Context, id string, limit int) ([]ScheduleRun, error)
}

// CheckScheduleID refuses what cannot be a schedule's id.
func CheckScheduleID(id string) error {
	if len(id) > ScheduleIDMax {
		return &InvalidError{What: "schedule id", Why: fmt.Sprintf("it must have at most %d bytes", ScheduleIDMax)}
	}
	if err := CheckID(ScheduleHome(id)); err != nil || id == "" {
		return &InvalidError{What: "schedule id", Why: "it must not be empty, nor contain white space, control characters, braces or slashes"}
	}
	return nil
}

// Check refuses a change of nothing, or beyond a limit.
func (c ScheduleChange) Check() error {
	if err := CheckScheduleID(c.ID); err != nil {
		return err
	}
	if c.Version < 0 {
		return &InvalidError{What: "version", Why: "it must not be negative"}
	}
	if err := checkOptional("maker", c.By); err != nil {
		return err
	}
	isNew := c.Version == 0
	if err := CheckScheduleBody("definition", c.Definition, isNew); err != nil {
		return err
	}
	if err := CheckScheduleBody("state", c.State, isNew); err != nil {
		return err
	}
	return checkRuns(c.Runs)
}

func checkRuns(runs []ScheduleRun) error {
	if len(runs) > ScheduleRunsMax {
		return &InvalidError{What: "runs", Why: fmt.Sprintf("at most %d go into one call", ScheduleRunsMax)}
	}
	for i, run := range runs {
		if err := CheckKey("run id", run.ID); err != nil {
			return err
		}
		if slices.ContainsFunc(runs[:i], func(other ScheduleRun) bool { return other.ID == run.ID }) {
			return &InvalidError{What: "runs", Why: "one of them comes twice"}
		}
		if err := CheckScheduleBody("run", run.Body, true); err != nil {
			return err
		}
	}
	return nil
}

// CheckScheduleBody refuses what cannot be a part of a stored schedule: one
// that is needed and missing, no JSON object, or too long.
func CheckScheduleBody(what string, body json.RawMessage, needed bool) error {
	switch {
	case body == nil && !needed:
		return nil
	case len(body) > ScheduleMax:
		return &InvalidError{What: what, Why: fmt.Sprintf("it must have at most %d bytes", ScheduleMax)}
	case !json.Valid(body) || body[firstByte(body)] != '{':
		return &InvalidError{What: what, Why: "it must be a JSON object"}
	}
	return nil
}

// Check refuses a list without limit, or with a cursor that is none.
func (l ScheduleList) Check() error {
	if err := checkOptional("maker", l.By); err != nil {
		return err
	}
	if err := checkOptional("cursor", l.Cursor); err != nil {
		return err
	}
	return CheckList(l.Limit)
}
