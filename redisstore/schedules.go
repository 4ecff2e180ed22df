package redisstore

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"parley/sessions"
)

func (s *Store) ofSchedule(id string) partition { return s.of(sessions.ScheduleHome(id)) }

func scheduleTimer(id string) string {
	return timerRef(sessions.ScheduleHome(id), sessions.ScheduleTimer)
}

// SaveSchedule creates or changes a schedule.
func (s *Store) SaveSchedule(ctx context.Context, change sessions.ScheduleChange) (sessions.Schedule, error) {
	if err := change.Check(); err != nil {
		return sessions.Schedule{}, err
	}
	due := int64(0)
	if !change.Due.IsZero() {
		due = max(change.Due.UnixMilli(), 1)
	}
	args := []any{
		change.ID, change.Version, change.By, string(change.Definition), string(change.State),
		scheduleTimer(change.ID), sessions.SchedulePurpose, due, sessions.ScheduleRunsKept, len(change.Runs),
	}
	for _, run := range change.Runs {
		args = append(args, run.ID, run.At.UnixMilli(), string(run.Body))
	}
	return s.scheduleOf(ctx, change.ID, s.scripts.scheduleSave, "save a schedule", args...)
}

// Schedule reads a schedule.
func (s *Store) Schedule(ctx context.Context, id string) (sessions.Schedule, error) {
	if err := sessions.CheckScheduleID(id); err != nil {
		return sessions.Schedule{}, err
	}
	return s.scheduleOf(ctx, id, s.scripts.scheduleGet, "read a schedule", id)
}

// scheduleOf runs a script that answers with a schedule.
func (s *Store) scheduleOf(ctx context.Context, id string, sc *script, attempted string, args ...any) (sessions.Schedule, error) {
	code, r, err := s.answer(ctx, s.ofSchedule(id), sc, args...)
	if err != nil {
		return sessions.Schedule{}, err
	}
	if code != "ok" {
		return sessions.Schedule{}, r.refusal(code, attempted)
	}
	schedule, err := r.list().schedule()
	schedule.ReadAt = r.time()
	if err == nil {
		err = r.err
	}
	return schedule, err
}

// schedule reads what the scripts answer as {id, fields of g}.
func (r *reply) schedule() (sessions.Schedule, error) {
	out := sessions.Schedule{
		ID: r.text(), By: r.text(), Definition: json.RawMessage(r.text()), State: json.RawMessage(r.text()),
		Version: r.number(), CreatedAt: r.time(),
	}
	return out, r.err
}

// ListSchedules goes through the partitions one after the other. The cursor is
// a partition's number and the last id of it.
func (s *Store) ListSchedules(ctx context.Context, list sessions.ScheduleList) ([]sessions.Schedule, string, error) {
	if err := list.Check(); err != nil {
		return nil, "", err
	}
	first, after, err := s.parseCursor(list.Cursor)
	if err != nil {
		return nil, "", err
	}
	var all []sessions.Schedule
	for _, p := range s.parts[first:] {
		wanted := list.Limit - len(all)
		some, err := s.listIn(ctx, p, list.By, after, wanted)
		if err != nil {
			return nil, "", err
		}
		all, after = append(all, some...), ""
		if len(some) == wanted {
			return all, strconv.Itoa(p.index) + "-" + all[len(all)-1].ID, nil
		}
	}
	return all, "", nil
}

func (s *Store) parseCursor(cursor string) (first int, after string, err error) {
	if cursor == "" {
		return 0, "", nil
	}
	if p, ok := s.ofID(cursor); ok {
		_, after, _ = strings.Cut(cursor, "-")
		return p.index, after, nil
	}
	return 0, "", &sessions.InvalidError{What: "cursor", Why: "it is none that this store gave"}
}

func (s *Store) listIn(ctx context.Context, p partition, by, after string, limit int) ([]sessions.Schedule, error) {
	val, err := s.run(ctx, p, s.scripts.scheduleList, by, after, limit)
	if err != nil {
		return nil, err
	}
	r := read(val)
	now := r.time()
	var some []sessions.Schedule
	for r.more() {
		schedule, err := r.list().schedule()
		if err != nil {
			return nil, err
		}
		schedule.ReadAt = now
		some = append(some, schedule)
	}
	return some, r.err
}

// RemoveSchedule removes a schedule, its timer and its runs.
func (s *Store) RemoveSchedule(ctx context.Context, id string) error {
	if err := sessions.CheckScheduleID(id); err != nil {
		return err
	}
	return s.affirm(ctx, s.ofSchedule(id), s.scripts.scheduleRemove, sessions.ErrNotFound, id, scheduleTimer(id))
}

// ScheduleRuns reads the newest runs of a schedule.
func (s *Store) ScheduleRuns(ctx context.Context, id string, limit int) ([]sessions.ScheduleRun, error) {
	if err := sessions.CheckScheduleID(id); err != nil {
		return nil, err
	}
	if err := sessions.CheckList(limit); err != nil {
		return nil, err
	}
	code, r, err := s.answer(ctx, s.ofSchedule(id), s.scripts.scheduleRuns, id, limit)
	if err != nil {
		return nil, err
	}
	if code != "ok" {
		return nil, r.refusal(code, "read the runs of a schedule")
	}
	var runs []sessions.ScheduleRun
	for r.more() {
		f := r.list()
		run := sessions.ScheduleRun{ID: f.text(), At: time.UnixMilli(f.number()).UTC(), Body: json.RawMessage(f.text())}
		if f.err != nil {
			return nil, f.err
		}
		runs = append(runs, run)
	}
	return runs, r.err
}
