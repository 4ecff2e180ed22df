package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/sessions"
)

func scheduleTests() []test {
	return []test{
		{"a schedule is created once and read back", scheduleCreated},
		{"a change is taken only on the version it is based on", scheduleChanged},
		{"of changes at the same time one wins", scheduleTogether},
		{"a version never comes again, not even after a removal", scheduleVersions},
		{"what a change does not bring stays", schedulePartly},
		{"the timer is set, replaced and cancelled with the change", scheduleTimer},
		{"a change that is refused leaves the timer and the runs", scheduleRefused},
		{"a save ends the firing it came from", scheduleFiring},
		{"the timer outlives the sessions of the schedule", scheduleApart},
		{"runs come newest first, and are replaced by id", scheduleRuns},
		{"of many runs the newest are kept", scheduleRunsKept},
		{"lists have every schedule once", scheduleLists},
		{"lists can be limited to a maker", scheduleMakers},
		{"a removed schedule leaves nothing", scheduleRemoved},
		{"the time of reading is the store's", scheduleReadAt},
		{"schedules survive a restart", scheduleSurvives},
		{"what no store takes is refused", scheduleInvalid},
	}
}

// newSchedule is a change that creates a schedule.
func newSchedule(id string) sessions.ScheduleChange {
	return sessions.ScheduleChange{ID: id, By: "telegram:7", Definition: json.RawMessage(`{"cron":"@hourly"}`), State: json.RawMessage(`{"n":0}`)}
}

func (tr *trial) save(c sessions.ScheduleChange) sessions.Schedule {
	tr.Helper()
	return must(tr.store.SaveSchedule(tr.ctx, c))(tr)
}

func (tr *trial) cannotSave(c sessions.ScheduleChange, want error) {
	tr.Helper()
	_, err := tr.store.SaveSchedule(tr.ctx, c)
	tr.wantErr(err, want)
}

func (tr *trial) schedule(id string) sessions.Schedule {
	tr.Helper()
	return must(tr.store.Schedule(tr.ctx, id))(tr)
}

// onTop is a change of a schedule as it was read.
func onTop(s sessions.Schedule, state string) sessions.ScheduleChange {
	return sessions.ScheduleChange{ID: s.ID, Version: s.Version, State: json.RawMessage(state)}
}

func record(id string, at time.Time, body string) sessions.ScheduleRun {
	return sessions.ScheduleRun{ID: id, At: at.UTC().Truncate(time.Millisecond), Body: json.RawMessage(body)}
}

func (tr *trial) runIDs(id string, limit int) []string {
	tr.Helper()
	out := []string{}
	for _, run := range must(tr.store.ScheduleRuns(tr.ctx, id, limit))(tr) {
		out = append(out, run.ID)
	}
	return out
}

func scheduleCreated(tr *trial) {
	_, err := tr.store.Schedule(tr.ctx, "a")
	tr.wantErr(err, sessions.ErrNotFound)
	made := tr.save(newSchedule("a"))
	got := tr.schedule("a")
	tr.check(made.Version > 0 && got.Version == made.Version, "versions %d and %d", made.Version, got.Version)
	for _, s := range []sessions.Schedule{made, got} {
		tr.check(s.ID == "a" && s.By == "telegram:7" && string(s.Definition) == `{"cron":"@hourly"}` && string(s.State) == `{"n":0}`, "schedule %+v", s)
		tr.check(s.CreatedAt.Equal(made.CreatedAt) && tr.clock.Now().Sub(s.CreatedAt).Abs() < time.Minute, "made at %v", s.CreatedAt)
	}
	tr.cannotSave(newSchedule("a"), sessions.ErrConflict)
	equalSlices(tr, "runs", tr.runIDs("a", 10), []string{})
}

func scheduleChanged(tr *trial) {
	first := tr.save(newSchedule("a"))
	second := tr.save(onTop(first, `{"n":1}`))
	tr.cannotSave(onTop(first, `{"n":2}`), sessions.ErrConflict)
	equal(tr, "state", string(tr.schedule("a").State), `{"n":1}`)
	equal(tr, "version", tr.schedule("a").Version, second.Version)
	tr.cannotSave(sessions.ScheduleChange{ID: "b", Version: first.Version}, sessions.ErrNotFound)
}

func scheduleTogether(tr *trial) {
	first := tr.save(newSchedule("a"))
	won := make([]bool, 12)
	tr.together(len(won), func(i int) error {
		c := onTop(first, fmt.Sprintf(`{"n":%d}`, i))
		c.Runs = []sessions.ScheduleRun{record(strconv.Itoa(i), tr.clock.Now(), `{}`)}
		_, err := tr.store.SaveSchedule(tr.ctx, c)
		won[i] = err == nil
		if err != nil {
			tr.wantErrIs(err, sessions.ErrConflict)
		}
		return nil
	})
	winner := slices.Index(won, true)
	equal(tr, "winners", len(slices.DeleteFunc(won, func(w bool) bool { return !w })), 1)
	equal(tr, "state", string(tr.schedule("a").State), fmt.Sprintf(`{"n":%d}`, winner))
	equalSlices(tr, "runs", tr.runIDs("a", 100), []string{strconv.Itoa(winner)})
}

func scheduleVersions(tr *trial) {
	seen := map[int64]bool{}
	for range 4 {
		s := tr.save(newSchedule("a"))
		for _, version := range []int64{s.Version, tr.save(onTop(s, `{}`)).Version} {
			tr.check(!seen[version], "version %d comes again", version)
			seen[version] = true
		}
		tr.do(tr.store.RemoveSchedule(tr.ctx, "a"))
	}
}

func schedulePartly(tr *trial) {
	first := tr.save(newSchedule("a"))
	second := tr.save(sessions.ScheduleChange{ID: "a", Version: first.Version, Definition: json.RawMessage(`{"every":"1h"}`), By: "other"})
	third := tr.save(onTop(second, `{"n":1}`))
	tr.check(string(third.Definition) == `{"every":"1h"}` && string(third.State) == `{"n":1}` && third.By == "telegram:7", "schedule %+v", third)
	equal(tr, "state before", string(second.State), `{"n":0}`)
}

func (tr *trial) timerOf(id string) sessions.Timer {
	tr.Helper()
	return tr.fire(sessions.ScheduleHome(id), sessions.ScheduleTimer)
}

func scheduleTimer(tr *trial) {
	c := newSchedule("a")
	c.Due = tr.clock.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	s := tr.save(c)
	equal(tr, "due", len(tr.due(sessions.WorkTimer)), 0)
	tr.clock.Advance(61 * time.Minute)
	due := tr.due(sessions.WorkTimer)
	tr.check(len(due) == 1 && due[0].Home == sessions.ScheduleHome("a") && due[0].ID == sessions.ScheduleTimer, "due %v", due)
	first := tr.timerOf("a")
	tr.check(first.Purpose == sessions.SchedulePurpose && first.Due.Equal(c.Due) && first.Fence > 0, "timer %+v", first)

	again := onTop(s, `{}`)
	again.Due = tr.clock.Now().Add(-time.Hour)
	s = tr.save(again)
	second := tr.timerOf("a")
	tr.check(second.Fence != first.Fence, "both settings have fence %d", first.Fence)
	tr.save(onTop(s, `{}`))
	tr.clock.Advance(2 * lease)
	tr.cannotFire(sessions.ScheduleHome("a"), sessions.ScheduleTimer)
	equal(tr, "due", len(tr.due(sessions.WorkTimer)), 0)
}

func scheduleRefused(tr *trial) {
	c := newSchedule("a")
	c.Due = tr.clock.Now().Add(time.Hour)
	first := tr.save(c)
	late := onTop(first, `{"n":2}`)
	late.Runs = []sessions.ScheduleRun{record("r", tr.clock.Now(), `{}`)}
	tr.save(func() sessions.ScheduleChange { c := onTop(first, `{"n":1}`); c.Due = tr.clock.Now(); return c }())
	tr.cannotSave(late, sessions.ErrConflict)
	equal(tr, "due", len(tr.due(sessions.WorkTimer)), 1)
	equalSlices(tr, "runs", tr.runIDs("a", 10), []string{})
}

func scheduleFiring(tr *trial) {
	c := newSchedule("a")
	c.Due = tr.clock.Now()
	s := tr.save(c)
	fired := tr.timerOf("a")
	next := onTop(s, `{}`)
	next.Due = tr.clock.Now().Add(time.Hour)
	tr.save(next)
	tr.wantErr(tr.store.FinishTimer(tr.ctx, fired), sessions.ErrFenced)
	tr.clock.Advance(2 * lease)
	tr.cannotFire(sessions.ScheduleHome("a"), sessions.ScheduleTimer)
}

func scheduleApart(tr *trial) {
	c := newSchedule("a")
	c.Due = tr.clock.Now().Add(time.Hour)
	tr.save(c)
	r := tr.said("tick")
	r.Surface, r.New.Source.Type, r.Claim = "schedule:local:a", sessions.Direct, claimer("w1")
	result := tr.say(r, sessions.PostClaimed)
	equal(tr, "session", result.Session, "schedule:a")
	tr.done(result.Turn, "tock")
	tr.do(tr.store.Delete(tr.ctx, result.Session))
	tr.clock.Advance(61 * time.Minute)
	equal(tr, "purpose", tr.timerOf("a").Purpose, sessions.SchedulePurpose)
}

func scheduleRuns(tr *trial) {
	at := tr.clock.Now().UTC().Truncate(time.Second)
	c := newSchedule("a")
	c.Runs = []sessions.ScheduleRun{record("2", at.Add(time.Hour), `{"o":"a"}`), record("1", at, `{"o":"b"}`), record("3", at.Add(2*time.Hour), `{"o":"c"}`)}
	s := tr.save(c)
	other := newSchedule("b")
	other.Runs = c.Runs[:1]
	tr.save(other)
	equalSlices(tr, "runs", tr.runIDs("a", 10), []string{"3", "2", "1"})
	change := onTop(s, `{}`)
	change.Runs = []sessions.ScheduleRun{record("2", at.Add(time.Hour), `{"o":"d"}`)}
	tr.save(change)
	got := must(tr.store.ScheduleRuns(tr.ctx, "a", 2))(tr)
	tr.check(len(got) == 2 && got[1].ID == "2" && string(got[1].Body) == `{"o":"d"}` && got[1].At.Equal(at.Add(time.Hour)), "runs %+v", got)
	_, err := tr.store.ScheduleRuns(tr.ctx, "c", 2)
	tr.wantErr(err, sessions.ErrNotFound)
}

func scheduleRunsKept(tr *trial) {
	at := tr.clock.Now().UTC().Truncate(time.Second)
	s := tr.save(newSchedule("a"))
	for from := 0; from < sessions.ScheduleRunsKept+50; from += 50 {
		c := onTop(s, `{}`)
		for i := from; i < from+50; i++ {
			c.Runs = append(c.Runs, record(strconv.Itoa(i), at.Add(time.Duration(i)*time.Minute), `{}`))
		}
		s = tr.save(c)
	}
	ids := tr.runIDs("a", sessions.ListMax)
	equal(tr, "kept", len(ids), sessions.ScheduleRunsKept)
	equal(tr, "newest", ids[0], strconv.Itoa(sessions.ScheduleRunsKept+49))
	equal(tr, "oldest", ids[len(ids)-1], "50")
}

// listed goes through all parts of a list.
func (tr *trial) scheduleIDs(by string, limit int) []string {
	tr.Helper()
	out, cursor := []string{}, ""
	for {
		part, next, err := tr.store.ListSchedules(tr.ctx, sessions.ScheduleList{By: by, Limit: limit, Cursor: cursor})
		tr.do(err)
		tr.check(len(part) <= limit, "a part of %d, limit %d", len(part), limit)
		for _, s := range part {
			out = append(out, s.ID)
			tr.check(len(s.Definition) > 0 && len(s.State) > 0 && s.Version > 0 && !s.ReadAt.IsZero(), "schedule %+v", s)
		}
		if next == "" {
			return out
		}
		cursor = next
	}
}

func scheduleLists(tr *trial) {
	equalSlices(tr, "none", tr.scheduleIDs("", 10), []string{})
	want := []string{}
	for i := range 37 {
		want = append(want, fmt.Sprintf("s-%02d", i))
		tr.save(newSchedule(want[i]))
	}
	for _, limit := range []int{1, 5, 37, 1000} {
		got := tr.scheduleIDs("", limit)
		slices.Sort(got)
		equalSlices(tr, "list in parts of "+strconv.Itoa(limit), got, want)
	}
	_, _, err := tr.store.ListSchedules(tr.ctx, sessions.ScheduleList{})
	tr.wantInvalid(err)
}

func scheduleMakers(tr *trial) {
	for i, by := range []string{"x:1", "x:2", "x:1", "", "x:1"} {
		c := newSchedule(fmt.Sprintf("s-%d", i))
		c.By = by
		tr.save(c)
	}
	got := tr.scheduleIDs("x:1", 2)
	slices.Sort(got)
	equalSlices(tr, "of a maker", got, []string{"s-0", "s-2", "s-4"})
	equalSlices(tr, "of nobody", tr.scheduleIDs("x:9", 2), []string{})
	tr.do(tr.store.RemoveSchedule(tr.ctx, "s-2"))
	equal(tr, "of a maker", len(tr.scheduleIDs("x:1", 10)), 2)
}

func scheduleRemoved(tr *trial) {
	tr.wantErr(tr.store.RemoveSchedule(tr.ctx, "a"), sessions.ErrNotFound)
	c := newSchedule("a")
	c.Due, c.Runs = tr.clock.Now(), []sessions.ScheduleRun{record("r", tr.clock.Now(), `{}`)}
	old := tr.save(c)
	tr.do(tr.store.RemoveSchedule(tr.ctx, "a"))
	tr.cannotFire(sessions.ScheduleHome("a"), sessions.ScheduleTimer)
	equal(tr, "due", len(tr.due(sessions.WorkTimer)), 0)
	tr.cannotSave(onTop(old, `{}`), sessions.ErrNotFound)
	tr.save(newSchedule("a"))
	tr.cannotSave(onTop(old, `{}`), sessions.ErrConflict)
	equalSlices(tr, "runs", tr.runIDs("a", 10), []string{})
}

func scheduleReadAt(tr *trial) {
	made := tr.save(newSchedule("a"))
	tr.clock.Advance(24 * time.Hour)
	later := tr.schedule("a").ReadAt.Sub(made.ReadAt)
	tr.check(later > 23*time.Hour && later < 25*time.Hour, "a day later it is read %v later", later)
	listed, _, err := tr.store.ListSchedules(tr.ctx, sessions.ScheduleList{Limit: 1})
	tr.do(err)
	tr.check(tr.clock.Now().Sub(listed[0].ReadAt).Abs() < time.Minute, "listed at %v", listed[0].ReadAt)
}

func scheduleSurvives(tr *trial) {
	c := newSchedule("a")
	c.Due, c.Runs = tr.clock.Now().Add(time.Hour), []sessions.ScheduleRun{record("r", tr.clock.Now(), `{}`)}
	s := tr.save(c)
	tr.reopen()
	equal(tr, "version", tr.schedule("a").Version, s.Version)
	equalSlices(tr, "runs", tr.runIDs("a", 10), []string{"r"})
	tr.clock.Advance(61 * time.Minute)
	equal(tr, "purpose", tr.timerOf("a").Purpose, sessions.SchedulePurpose)
	tr.save(onTop(s, `{}`))
}

func scheduleInvalid(tr *trial) {
	for name, change := range map[string]func(*sessions.ScheduleChange){
		"no id":         func(c *sessions.ScheduleChange) { c.ID = "" },
		"a space":       func(c *sessions.ScheduleChange) { c.ID = "a b" },
		"a long id":     func(c *sessions.ScheduleChange) { c.ID = strings.Repeat("x", sessions.ScheduleIDMax+1) },
		"no definition": func(c *sessions.ScheduleChange) { c.Definition = nil },
		"no state":      func(c *sessions.ScheduleChange) { c.State = nil },
		"no object":     func(c *sessions.ScheduleChange) { c.State = json.RawMessage(`[1]`) },
		"empty":         func(c *sessions.ScheduleChange) { c.State = json.RawMessage(``) },
		"too long": func(c *sessions.ScheduleChange) {
			c.Definition = json.RawMessage(`{"x":"` + strings.Repeat("x", sessions.ScheduleMax) + `"}`)
		},
		"no run id":   func(c *sessions.ScheduleChange) { c.Runs = []sessions.ScheduleRun{record("", time.Now(), `{}`)} },
		"no run body": func(c *sessions.ScheduleChange) { c.Runs = []sessions.ScheduleRun{{ID: "r"}} },
		"a run twice": func(c *sessions.ScheduleChange) {
			c.Runs = []sessions.ScheduleRun{record("r", time.Now(), `{}`), record("r", time.Now(), `{}`)}
		},
		"many runs": func(c *sessions.ScheduleChange) { c.Runs = make([]sessions.ScheduleRun, sessions.ScheduleRunsMax+1) },
		"a version": func(c *sessions.ScheduleChange) { c.Version = -1 },
	} {
		c := newSchedule("a")
		change(&c)
		_, err := tr.store.SaveSchedule(tr.ctx, c)
		if _, ok := errors.AsType[*sessions.InvalidError](err); !ok {
			tr.Errorf("%s: %v, want an InvalidError", name, err)
		}
	}
	_, err := tr.store.Schedule(tr.ctx, "")
	tr.wantInvalid(err)
	tr.wantInvalid(tr.store.RemoveSchedule(tr.ctx, "a b"))
	_, err = tr.store.ScheduleRuns(tr.ctx, "a", 0)
	tr.wantInvalid(err)
}
