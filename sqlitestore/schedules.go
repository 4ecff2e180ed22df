package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"parley/sessions"
)

// SaveSchedule creates or changes a schedule.
func (s *Store) SaveSchedule(ctx context.Context, change sessions.ScheduleChange) (sessions.Schedule, error) {
	if err := change.Check(); err != nil {
		return sessions.Schedule{}, err
	}
	return written(ctx, s, func(t *tx) (sessions.Schedule, error) {
		old, err := t.schedule(change.ID)
		switch {
		case err != nil && (change.Version != 0 || err != sessions.ErrNotFound): //nolint:errorlint // schedule's own, bare
			return sessions.Schedule{}, err
		case err == nil && change.Version != old.Version:
			return sessions.Schedule{}, sessions.ErrConflict
		}
		return t.saveSchedule(old, change)
	})
}

func (t *tx) saveSchedule(now sessions.Schedule, change sessions.ScheduleChange) (sessions.Schedule, error) {
	if change.Version == 0 {
		now = sessions.Schedule{ID: change.ID, By: change.By, CreatedAt: t.time(), ReadAt: t.time()}
	}
	if change.Definition != nil {
		now.Definition = change.Definition
	}
	if change.State != nil {
		now.State = change.State
	}
	var err error
	if now.Version, err = t.fence(); err != nil {
		return now, err
	}
	if _, err := t.exec(`INSERT INTO schedules (id, by, definition, state, version, created_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET definition = excluded.definition, state = excluded.state, version = excluded.version`,
		now.ID, now.By, string(now.Definition), string(now.State), now.Version, now.CreatedAt.UnixMilli()); err != nil {
		return now, err
	}
	if err := t.setScheduleTimer(now.ID, now.Version, change.Due); err != nil {
		return now, err
	}
	return now, t.saveRuns(now.ID, change.Runs)
}

// fence draws a number that was never drawn before.
func (t *tx) fence() (last int64, err error) {
	_, err = t.one("UPDATE fences SET last = last + 1 RETURNING last", nil, []any{&last})
	return last, err
}

// setScheduleTimer sets the timer anew; the version serves as its fence.
func (t *tx) setScheduleTimer(id string, fence int64, due time.Time) error {
	home := sessions.ScheduleHome(id)
	if due.IsZero() {
		_, err := t.exec("DELETE FROM timers WHERE home = ? AND name = ?", home, sessions.ScheduleTimer)
		return err
	}
	at := due.UnixMilli()
	_, err := t.exec(`INSERT INTO timers (home, name, purpose, payload, due, fence, due_at) VALUES (?1, ?2, ?3, '', ?4, ?5, ?4)
		ON CONFLICT DO UPDATE SET purpose = excluded.purpose, payload = '', due = excluded.due, fence = excluded.fence, due_at = excluded.due_at`,
		home, sessions.ScheduleTimer, sessions.SchedulePurpose, at, fence)
	if at <= t.now {
		t.wakes = append(t.wakes, sessions.WorkItem{Kind: sessions.WorkTimer, ID: sessions.ScheduleTimer, Home: home, Due: fromMillis(at)})
	}
	return err
}

func (t *tx) saveRuns(schedule string, runs []sessions.ScheduleRun) error {
	for _, run := range runs {
		if _, err := t.exec(`INSERT INTO schedule_runs (schedule, id, at, body) VALUES (?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET at = excluded.at, body = excluded.body`, schedule, run.ID, run.At.UnixMilli(), string(run.Body)); err != nil {
			return err
		}
	}
	if len(runs) == 0 {
		return nil
	}
	_, err := t.exec(`DELETE FROM schedule_runs WHERE schedule = ?1 AND id IN
		(SELECT id FROM schedule_runs WHERE schedule = ?1 ORDER BY at DESC, id DESC LIMIT -1 OFFSET ?2)`, schedule, sessions.ScheduleRunsKept)
	return err
}

const scheduleColumns = "id, by, definition, state, version, created_at"

// schedule reads one. sessions.ErrNotFound, bare.
func (t *tx) schedule(id string) (sessions.Schedule, error) {
	var row scheduleRow
	found, err := t.one("SELECT "+scheduleColumns+" FROM schedules WHERE id = ?", []any{id}, row.into())
	if err == nil && !found {
		err = sessions.ErrNotFound
	}
	return row.schedule(t), err
}

// scheduleRow is what is scanned of a row with scheduleColumns.
type scheduleRow struct {
	sessions.Schedule
	definition, state string
	created           int64
}

func (r *scheduleRow) into() []any {
	return []any{&r.ID, &r.By, &r.definition, &r.state, &r.Version, &r.created}
}

func (r *scheduleRow) schedule(t *tx) sessions.Schedule {
	r.Definition, r.State = json.RawMessage(r.definition), json.RawMessage(r.state)
	r.CreatedAt, r.ReadAt = fromMillis(r.created), t.time()
	return r.Schedule
}

// Schedule reads a schedule.
func (s *Store) Schedule(ctx context.Context, id string) (sessions.Schedule, error) {
	if err := sessions.CheckScheduleID(id); err != nil {
		return sessions.Schedule{}, err
	}
	return read(ctx, s, func(t *tx) (sessions.Schedule, error) { return t.schedule(id) })
}

// ListSchedules reads a part of the schedules, by id. The cursor is the last id.
func (s *Store) ListSchedules(ctx context.Context, list sessions.ScheduleList) ([]sessions.Schedule, string, error) {
	if err := list.Check(); err != nil {
		return nil, "", err
	}
	query, args := "SELECT "+scheduleColumns+" FROM schedules WHERE id > ? ORDER BY id LIMIT ?", []any{list.Cursor, list.Limit}
	if list.By != "" {
		query, args = "SELECT "+scheduleColumns+" FROM schedules WHERE by = ? AND id > ? ORDER BY id LIMIT ?", []any{list.By, list.Cursor, list.Limit}
	}
	part, err := read(ctx, s, func(t *tx) (part []sessions.Schedule, err error) {
		err = t.each(func(rows *sql.Rows) error {
			var row scheduleRow
			err := rows.Scan(row.into()...)
			part = append(part, row.schedule(t))
			return err
		}, query, args...)
		return part, err
	})
	if err != nil || len(part) < list.Limit {
		return part, "", err
	}
	return part, part[len(part)-1].ID, nil
}

// RemoveSchedule removes a schedule, its timer and its runs.
func (s *Store) RemoveSchedule(ctx context.Context, id string) error {
	if err := sessions.CheckScheduleID(id); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec("DELETE FROM schedules WHERE id = ?", id)
		if err != nil {
			return err
		}
		if n == 0 {
			return sessions.ErrNotFound
		}
		if _, err := t.exec("DELETE FROM schedule_runs WHERE schedule = ?", id); err != nil {
			return err
		}
		return t.setScheduleTimer(id, 0, time.Time{})
	})
}

// ScheduleRuns reads the newest runs of a schedule.
func (s *Store) ScheduleRuns(ctx context.Context, id string, limit int) ([]sessions.ScheduleRun, error) {
	if err := sessions.CheckScheduleID(id); err != nil {
		return nil, err
	}
	if err := sessions.CheckList(limit); err != nil {
		return nil, err
	}
	return read(ctx, s, func(t *tx) (runs []sessions.ScheduleRun, err error) {
		if _, err := t.schedule(id); err != nil {
			return nil, err
		}
		err = t.each(func(rows *sql.Rows) error {
			var run sessions.ScheduleRun
			var at int64
			var body string
			err := rows.Scan(&run.ID, &at, &body)
			run.At, run.Body = time.UnixMilli(at).UTC(), json.RawMessage(body)
			runs = append(runs, run)
			return err
		}, "SELECT id, at, body FROM schedule_runs WHERE schedule = ? ORDER BY at DESC, id DESC LIMIT ?", id, limit)
		return runs, err
	})
}
