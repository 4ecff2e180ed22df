package sqlitestore

import (
	"context"

	"parley/sessions"
	"parley/sessions/archive"
)

// restoreTogether is how many items share one operation, so that a large page
// makes no large transaction.
const restoreTogether = 100

// Restore writes items.
func (s *Store) Restore(ctx context.Context, items []sessions.Item) error {
	bodies, err := archive.DecodeItems(items)
	if err != nil {
		return err
	}
	for len(bodies) > 0 {
		some := bodies[:min(restoreTogether, len(bodies))]
		bodies = bodies[len(some):]
		err := s.write(ctx, func(t *tx) error {
			for _, body := range some {
				if err := t.restore(body); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) restore(body any) error {
	switch b := body.(type) {
	case archive.ChatItem:
		return t.put("INSERT INTO chats (chat, by, at) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET by = excluded.by, at = excluded.at", b.Chat, b.By, toMillis(b.At))
	case archive.LockItem:
		expires := never
		if !b.Expires.IsZero() {
			expires = toMillis(b.Expires)
		}
		return t.put(`INSERT INTO locks (name, owner, fence, until, data, expires) VALUES (?, '', ?, 0, ?, ?)
			ON CONFLICT DO UPDATE SET fence = max(fence, excluded.fence), data = excluded.data, expires = excluded.expires`,
			b.Name, b.Fence, b.Data, expires)
	case sessions.User:
		return t.keepUser(b)
	case archive.SessionItem:
		return t.restoreSession(b)
	case archive.EntryItem:
		return t.restoreEntry(b)
	case archive.BindingItem:
		return t.restoreBinding(b)
	case archive.TimerItem:
		return t.restoreTimer(b.Timer)
	case archive.DeadItem:
		return t.restoreDead(b)
	case archive.RowItem:
		return t.restoreRow(b)
	case archive.ScheduleItem:
		return t.restoreSchedule(b)
	case archive.RunItem:
		return t.put("INSERT INTO schedule_runs (schedule, id, at, body) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET at = excluded.at, body = excluded.body",
			b.Schedule, b.ID, b.At.UnixMilli(), string(b.Body))
	case archive.KeyItem:
		return t.restoreKey(b)
	}
	return &sessions.InvalidError{What: "item", Why: "this store keeps none of its kind"}
}

// put is exec where it does not matter how many rows were changed.
func (t *tx) put(query string, args ...any) error {
	_, err := t.exec(query, args...)
	return err
}

// restored reads a session that an item refers to.
func (t *tx) restored(id string) (*row, error) {
	r, err := t.find(id)
	if err == nil && r == nil {
		err = &sessions.InvalidError{What: "item", Why: "session " + id + " does not come before it"}
	}
	return r, err
}

func (t *tx) restoreEntry(b archive.EntryItem) error {
	r, err := t.restored(b.Session)
	if err != nil {
		return err
	}
	return t.putEntry(r.log, b.Entry)
}

func (t *tx) restoreBinding(b archive.BindingItem) error {
	r, err := t.restored(b.Session)
	if err != nil {
		return err
	}
	return t.put("INSERT INTO bindings (surface, session) VALUES (?, ?) ON CONFLICT DO UPDATE SET session = excluded.session", b.Surface, r.num)
}

// restoreTimer sets a timer as it was, and lets no later one have its fence.
func (t *tx) restoreTimer(timer sessions.Timer) error {
	payload := string(timer.Payload)
	if payload == "null" {
		payload = ""
	}
	err := t.put(`INSERT INTO timers (home, name, purpose, payload, due, fence, due_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?5)
		ON CONFLICT DO UPDATE SET purpose = excluded.purpose, payload = excluded.payload, due = excluded.due, fence = excluded.fence, due_at = excluded.due_at`,
		timer.Home, timer.Name, timer.Purpose, payload, timer.Due.UnixMilli(), timer.Fence)
	if err != nil {
		return err
	}
	return t.drawn(timer.Fence)
}

// drawn lets a number that was drawn elsewhere not be drawn again.
func (t *tx) drawn(number int64) error {
	return t.put("UPDATE fences SET last = max(last, ?)", number)
}

func (t *tx) restoreSchedule(b archive.ScheduleItem) error {
	err := t.put(`INSERT INTO schedules (id, by, definition, state, version, created_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET definition = excluded.definition, state = excluded.state, version = excluded.version`,
		b.ID, b.By, string(b.Definition), string(b.State), b.Version, toMillis(b.CreatedAt))
	if err != nil {
		return err
	}
	return t.drawn(b.Version)
}

func (t *tx) restoreKey(b archive.KeyItem) error {
	var session int64
	if b.Session != "" {
		r, err := t.restored(b.Session)
		if err != nil {
			return err
		}
		session = r.num
	}
	return t.put(`INSERT INTO dedupe (home, key, until, session, seq) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET home = excluded.home, until = excluded.until, session = excluded.session, seq = excluded.seq`,
		b.Home, b.Key, toMillis(b.Until), session, b.Seq)
}
