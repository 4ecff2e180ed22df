package sqlitestore

import (
	"database/sql"
	"encoding/json"
	"time"

	"parley/sessions"
	"parley/sessions/archive"
)

// How the items of each kind are read, but for sessions.

func (t *tx) dumpChats(p *page, behind mark) error {
	return t.each(func(rows *sql.Rows) error {
		var c archive.ChatItem
		var at int64
		if err := rows.Scan(&c.Chat, &c.By, &at); err != nil {
			return err
		}
		c.At = fromMillis(at)
		return p.add(archive.ItemChat, c, mark{Kind: archive.ItemChat, A: c.Chat})
	}, "SELECT chat, by, at FROM chats WHERE chat > ? ORDER BY chat LIMIT ?", behind.A, p.left())
}

func (t *tx) dumpLocks(p *page, behind mark) error {
	return t.each(func(rows *sql.Rows) error {
		var l archive.LockItem
		var expires int64
		if err := rows.Scan(&l.Name, &l.Fence, &l.Data, &expires); err != nil {
			return err
		}
		if expires != never {
			l.Expires = fromMillis(expires)
		}
		return p.add(archive.ItemLock, l, mark{Kind: archive.ItemLock, A: l.Name})
	}, "SELECT name, fence, data, expires FROM locks WHERE name > ? AND data <> '' AND expires > ? ORDER BY name LIMIT ?", behind.A, t.now, p.left())
}

func (t *tx) dumpUsers(p *page, behind mark) error {
	users, err := t.usersBehind(behind.A, p.left())
	for _, u := range users {
		if err := p.add(archive.ItemUser, u, mark{Kind: archive.ItemUser, A: u.ID}); err != nil {
			return enough(err)
		}
	}
	return err
}

// enough is an error but errEnough.
func enough(err error) error {
	if err == errEnough { //nolint:errorlint // add's own, bare
		return nil
	}
	return err
}

func (t *tx) dumpBindings(p *page, behind mark) error {
	return t.each(func(rows *sql.Rows) error {
		var b archive.BindingItem
		if err := rows.Scan(&b.Surface, &b.Session); err != nil {
			return err
		}
		return p.add(archive.ItemBinding, b, mark{Kind: archive.ItemBinding, A: b.Surface})
	}, "SELECT b.surface, s.id FROM bindings b CROSS JOIN sessions s ON s.num = b.session WHERE b.surface > ? ORDER BY b.surface LIMIT ?", behind.A, p.left())
}

func (t *tx) dumpTimers(p *page, behind mark) error {
	return t.each(func(rows *sql.Rows) error {
		var timer sessions.Timer
		var payload string
		var due int64
		if err := rows.Scan(&timer.Home, &timer.Name, &timer.Purpose, &payload, &due, &timer.Fence); err != nil {
			return err
		}
		timer.Due = time.UnixMilli(due).UTC()
		if payload != "" {
			timer.Payload = json.RawMessage(payload)
		}
		return p.add(archive.ItemTimer, archive.TimerItem{Timer: timer}, mark{Kind: archive.ItemTimer, A: timer.Home, B: timer.Name})
	}, "SELECT home, name, purpose, payload, due, fence FROM timers WHERE (home, name) > (?, ?) ORDER BY home, name LIMIT ?", behind.A, behind.B, p.left())
}

func (t *tx) dumpDead(p *page, behind mark) error {
	return t.each(func(rows *sql.Rows) error {
		var d archive.DeadItem
		var num, at int64
		var messages string
		if err := rows.Scan(&num, &d.Letter.ID, &d.Letter.Session, &messages, &d.Letter.Reason, &d.Letter.Attempts, &at, &d.Placed); err != nil {
			return err
		}
		list, err := decodeMessages(messages)
		if err != nil {
			return err
		}
		d.Letter.At, d.Letter.Messages, d.Turn = fromMillis(at), seqs(list), turnItem(list)
		return p.add(archive.ItemDead, d, mark{Kind: archive.ItemDead, N: num})
	}, `SELECT d.num, coalesce(d.id, CAST(d.num AS TEXT)), s.id, d.messages, d.reason, d.attempts, d.at, d.placed
		FROM dead d CROSS JOIN sessions s ON s.num = d.session WHERE d.num > ? ORDER BY d.num LIMIT ?`, behind.N, p.left())
}

// dumpRows reads the outbox lane by lane. The first row of a lane that is held
// was taken.
func (t *tx) dumpRows(p *page, behind mark) error {
	return t.each(func(rows *sql.Rows) error {
		var r archive.RowItem
		var num int64
		var payload string
		if err := rows.Scan(&num, &r.ID, &r.Surface, &r.Session, &r.Entry, &payload, &r.Attempt, &r.MaybeSent); err != nil {
			return err
		}
		r.Payload = json.RawMessage(payload)
		return p.add(archive.ItemRow, r, mark{Kind: archive.ItemRow, A: r.Surface, N: num})
	}, `SELECT o.num, coalesce(o.id, CAST(o.num AS TEXT)), o.surface, coalesce(s.id, ''), o.entry, o.payload, o.attempt,
		o.maybe_sent OR coalesce(l.nonce, '') <> '' AND NOT EXISTS (SELECT 1 FROM outbox f WHERE f.surface = o.surface AND f.num < o.num)
		FROM outbox o LEFT JOIN sessions s ON s.num = o.session LEFT JOIN lanes l ON l.surface = o.surface
		WHERE (o.surface, o.num) > (?, ?) ORDER BY o.surface, o.num LIMIT ?`, behind.A, behind.N, p.left())
}

func (t *tx) dumpSchedules(p *page, behind mark) error {
	return t.each(func(rows *sql.Rows) error {
		var row scheduleRow
		if err := rows.Scan(row.into()...); err != nil {
			return err
		}
		s := row.schedule(t)
		item := archive.ScheduleItem{ID: s.ID, By: s.By, Definition: s.Definition, State: s.State, Version: s.Version, CreatedAt: s.CreatedAt}
		return p.add(archive.ItemSchedule, item, mark{Kind: archive.ItemSchedule, A: s.ID})
	}, "SELECT "+scheduleColumns+" FROM schedules WHERE id > ? ORDER BY id LIMIT ?", behind.A, p.left())
}

func (t *tx) dumpRuns(p *page, behind mark) error {
	return t.each(func(rows *sql.Rows) error {
		var r archive.RunItem
		var at int64
		var body string
		if err := rows.Scan(&r.Schedule, &r.ID, &at, &body); err != nil {
			return err
		}
		r.At, r.Body = time.UnixMilli(at).UTC(), json.RawMessage(body)
		return p.add(archive.ItemRun, r, mark{Kind: archive.ItemRun, A: r.Schedule, B: r.ID})
	}, "SELECT schedule, id, at, body FROM schedule_runs WHERE (schedule, id) > (?, ?) ORDER BY schedule, id LIMIT ?", behind.A, behind.B, p.left())
}

// dumpKeys leaves out the keys that schema 1 stored without their home; they
// run out soon after it.
func (t *tx) dumpKeys(p *page, behind mark) error {
	return t.each(func(rows *sql.Rows) error {
		var k archive.KeyItem
		var until int64
		if err := rows.Scan(&k.Home, &k.Key, &until, &k.Session, &k.Seq); err != nil {
			return err
		}
		k.Until = fromMillis(until)
		if k.Session == "" {
			k.Seq = 0
		}
		return p.add(archive.ItemKey, k, mark{Kind: archive.ItemKey, A: k.Key})
	}, `SELECT d.home, d.key, d.until, coalesce(s.id, ''), d.seq FROM dedupe d LEFT JOIN sessions s ON s.num = d.session
		WHERE d.key > ? AND d.until > ? AND d.home <> '' ORDER BY d.key LIMIT ?`, behind.A, t.now, p.left())
}
