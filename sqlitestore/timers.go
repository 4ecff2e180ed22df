package sqlitestore

import (
	"context"
	"encoding/json"
	"time"

	"parley/sessions"
)

// SetTimer sets or replaces a timer.
func (s *Store) SetTimer(ctx context.Context, timer sessions.Timer, after time.Duration) error {
	if err := sessions.CheckTimer(timer, after); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		due := t.after(after)
		if after == 0 && !timer.Due.IsZero() {
			due = timer.Due.UnixMilli()
		}
		var fence int64
		if _, err := t.one("UPDATE fences SET last = last + 1 RETURNING last", nil, []any{&fence}); err != nil {
			return err
		}
		_, err := t.exec(`INSERT INTO timers (home, name, purpose, payload, due, fence, due_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?5)
			ON CONFLICT DO UPDATE SET purpose = excluded.purpose, payload = excluded.payload, due = excluded.due, fence = excluded.fence, due_at = excluded.due_at`,
			timer.Home, timer.Name, timer.Purpose, string(timer.Payload), due, fence)
		if due <= t.now {
			t.wakes = append(t.wakes, sessions.WorkItem{Kind: sessions.WorkTimer, ID: timer.Name, Home: timer.Home, Due: fromMillis(due)})
		}
		return err
	})
}

// Fire takes a due timer.
func (s *Store) Fire(ctx context.Context, home, name string, claimer sessions.Claimer) (sessions.Timer, error) {
	if err := sessions.CheckTimerName(home, name); err != nil {
		return sessions.Timer{}, err
	}
	if err := claimer.Check(); err != nil {
		return sessions.Timer{}, err
	}
	return written(ctx, s, func(t *tx) (sessions.Timer, error) {
		timer := sessions.Timer{Home: home, Name: name}
		var due int64
		var payload string
		found, err := t.one("UPDATE timers SET due_at = ? WHERE home = ? AND name = ? AND due_at <= ? RETURNING purpose, payload, due, fence",
			[]any{t.after(claimer.For), home, name, t.now}, []any{&timer.Purpose, &payload, &due, &timer.Fence})
		if err == nil && !found {
			err = sessions.ErrNothing
		}
		timer.Due = time.UnixMilli(due).UTC()
		if payload != "" {
			timer.Payload = json.RawMessage(payload)
		}
		return timer, err
	})
}

// FinishTimer removes a timer that was fired.
func (s *Store) FinishTimer(ctx context.Context, timer sessions.Timer) error {
	if err := sessions.CheckTimerName(timer.Home, timer.Name); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec("DELETE FROM timers WHERE home = ? AND name = ? AND fence = ?", timer.Home, timer.Name, timer.Fence)
		return fencedIf(n == 0, err)
	})
}
