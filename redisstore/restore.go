package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"parley/sessions"
	"parley/sessions/archive"
)

// planned is an item that was checked and is ready to be written.
type planned func(ctx context.Context) error

// Restore checks all items first, and then writes them one after the other:
// what belongs to several partitions is written so that writing it again ends
// the same.
func (s *Store) Restore(ctx context.Context, items []sessions.Item) error {
	if len(items) > sessions.ListMax {
		return &sessions.InvalidError{What: "items", Why: fmt.Sprintf("at most %d go into one call", sessions.ListMax)}
	}
	var plan []planned
	for i := 0; i < len(items); {
		if items[i].Kind == archive.ItemEntry {
			write, count, err := s.planEntries(items[i:])
			if err != nil {
				return err
			}
			plan, i = append(plan, write), i+count
			continue
		}
		write, err := s.plan(items[i])
		if err != nil {
			return err
		}
		plan, i = append(plan, write), i+1
	}
	for _, write := range plan {
		if err := write(ctx); err != nil {
			return err
		}
	}
	return nil
}

// decoded reads an item's body.
func decoded[T any](item sessions.Item) (v T, err error) {
	if err := json.Unmarshal(item.Body, &v); err != nil {
		return v, &sessions.InvalidError{What: "item " + string(item.Kind), Why: err.Error()}
	}
	return v, nil
}

// planner decodes, checks and writes the items of one kind.
func planner[T any](item sessions.Item, check func(T) error, write func(context.Context, T) error) (planned, error) {
	v, err := decoded[T](item)
	if err == nil {
		err = check(v)
	}
	return func(ctx context.Context) error { return write(ctx, v) }, err
}

func (s *Store) plan(item sessions.Item) (planned, error) {
	switch item.Kind {
	case archive.ItemChat:
		return planner(item, func(c archive.ChatItem) error { return sessions.CheckKey("chat", c.Chat) }, s.restoreChat)
	case archive.ItemLock:
		return planner(item, func(l archive.LockItem) error {
			return errors.Join(sessions.CheckKey("lock", l.Name), sessions.CheckLockData(l.Data, 0))
		}, s.restoreLock)
	case archive.ItemUser:
		return planner(item, checkUserItem, s.restoreUser)
	case archive.ItemSession:
		return planner(item, checkSessionItem, s.restoreSession)
	case archive.ItemBinding:
		return planner(item, func(b archive.BindingItem) error {
			return sessions.AttachRequest{Session: b.Session, Surface: b.Surface}.Check()
		}, s.restoreBinding)
	case archive.ItemTimer:
		return planner(item, func(t archive.TimerItem) error { return sessions.CheckTimer(t.Timer, 0) }, s.restoreTimer)
	case archive.ItemDead:
		return planner(item, checkDeadItem, s.restoreDead)
	case archive.ItemRow:
		return planner(item, func(r archive.RowItem) error {
			return errors.Join(sessions.CheckKey("surface", r.Surface), sessions.CheckKey("delivery id", r.ID))
		}, s.restoreRow)
	case archive.ItemSchedule:
		return planner(item, func(g archive.ScheduleItem) error { return sessions.CheckScheduleID(g.ID) }, s.restoreSchedule)
	case archive.ItemRun:
		return planner(item, func(r archive.RunItem) error {
			return errors.Join(sessions.CheckScheduleID(r.Schedule), sessions.CheckKey("run id", r.ID))
		}, s.restoreRun)
	case archive.ItemKey:
		return planner(item, func(k archive.KeyItem) error {
			return errors.Join(sessions.CheckKey("home", k.Home), sessions.CheckKey("key", k.Key))
		}, s.restoreKey)
	}
	return nil, &sessions.InvalidError{What: "item", Why: fmt.Sprintf("%.40q is no kind of items", item.Kind)}
}

func (s *Store) restoreChat(ctx context.Context, c archive.ChatItem) error {
	p := s.ofSurface(c.Chat)
	_, err := s.command(ctx, p, "set", p.key("ch", c.Chat), strconv.FormatInt(millis(c.At), 10)+" "+c.By)
	return err
}

func (s *Store) restoreLock(ctx context.Context, l archive.LockItem) error {
	_, _, err := s.answer(ctx, s.of(l.Name), s.scripts.restoreLock, l.Name, l.Fence, l.Data, millis(l.Expires))
	return err
}

func checkUserItem(u sessions.User) error {
	if len(u.Identities) == 0 || u.Identities[0] != u.ID {
		return &sessions.InvalidError{What: "user", Why: "its id must be the first of its identities"}
	}
	for _, identity := range u.Identities {
		if err := sessions.CheckIdentity(identity); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) restoreUser(ctx context.Context, u sessions.User) error {
	for _, identity := range u.Identities[1:] {
		p := s.of(identity)
		if _, err := s.command(ctx, p, "set", p.key("u", identity), u.ID); err != nil {
			return err
		}
	}
	p := s.of(u.ID)
	_, err := s.command(ctx, p, "hset", p.key("U", u.ID), "ids", strings.Join(u.Identities[1:], "\n"))
	if err == nil {
		_, err = s.run(ctx, p, s.scripts.userRole, u.ID, u.Role)
	}
	return err
}

func checkSessionItem(item archive.SessionItem) error {
	r := item.Record
	if r.Seq < 0 || r.Cleared < 0 || r.Cleared > r.Seq || item.Leaf < 0 || item.Leaf > r.Seq || item.Placed < 0 {
		return &sessions.InvalidError{What: "session item", Why: r.ID + ": its numbers cannot be"}
	}
	for _, turn := range []*archive.TurnItem{item.Open, item.Last} {
		if turn != nil && (len(turn.Messages) == 0 || turn.Tip < 1) {
			return &sessions.InvalidError{What: "session item", Why: r.ID + ": a turn answers no message"}
		}
	}
	return sessions.CheckImport(r)
}

func (s *Store) restoreSession(ctx context.Context, item archive.SessionItem) error {
	dueAt := int64(-1)
	if item.Open != nil || len(item.Queue) > 0 {
		dueAt = millis(item.ReadyAt)
	}
	st := stage{store: s, partition: s.of(item.Record.ID)}
	_, err := s.plant(ctx, &st, item, dueAt)
	if errors.Is(err, sessions.ErrConflict) { // it is there
		return nil
	}
	return err
}

// planEntries takes the entries of one session that follow each other.
func (s *Store) planEntries(items []sessions.Item) (write planned, count int, err error) {
	var session string
	var first, size int64
	var texts []any
	for _, item := range items {
		if item.Kind != archive.ItemEntry {
			break
		}
		e, err := decoded[archive.EntryItem](item)
		if err != nil {
			return nil, 0, err
		}
		if count > 0 && (e.Session != session || e.Entry.Seq != first+int64(count) || size > stageBytes) {
			break
		}
		if count == 0 {
			session, first = e.Session, e.Entry.Seq
		}
		text, err := checkedEntry(e)
		if err != nil {
			return nil, 0, err
		}
		texts, size, count = append(texts, text), size+int64(len(text)), count+1
	}
	return func(ctx context.Context) error {
		code, r, err := s.answer(ctx, s.of(session), s.scripts.restoreEntries, append([]any{session, first}, texts...)...)
		switch {
		case err != nil:
			return err
		case code == "gap":
			return &sessions.InvalidError{What: "entry", Why: sessions.EntryID(first) + " of " + session + " does not follow what is there"}
		case code != "ok":
			return r.refusal(code, "restore")
		}
		return nil
	}, count, nil
}

func checkedEntry(e archive.EntryItem) (string, error) {
	if err := sessions.CheckID(e.Session); err != nil {
		return "", err
	}
	if e.Entry.Seq < 1 || e.Entry.Parent < 0 {
		return "", &sessions.InvalidError{What: "entry", Why: "its numbers cannot be"}
	}
	if err := (sessions.NewEntry{Type: e.Entry.Type, Payload: e.Entry.Payload}).Check(); err != nil {
		return "", err
	}
	return entryText(e.Entry)
}

func (s *Store) restoreBinding(ctx context.Context, b archive.BindingItem) error {
	p := s.ofSurface(b.Surface)
	text := "=" + b.Session // see lua/lib/record.lua
	if s.of(b.Session) != p {
		text = ">" + b.Session
	}
	_, err := s.command(ctx, p, "set", p.key("b", b.Surface), text)
	return err
}

func (s *Store) restoreTimer(ctx context.Context, item archive.TimerItem) error {
	t := item.Timer
	p := s.of(t.Home)
	if string(t.Payload) == "null" {
		t.Payload = nil
	}
	blob, inline, err := s.payload(ctx, p, t.Payload)
	if err != nil {
		return err
	}
	return s.plain(ctx, p, s.scripts.restoreTimer, timerRef(t.Home, t.Name), t.Purpose, blob, inline, millis(t.Due), t.Fence)
}

// plain runs a script that answers ok or refuses.
func (s *Store) plain(ctx context.Context, p partition, sc *script, values ...any) error {
	code, r, err := s.answer(ctx, p, sc, values...)
	if err != nil || code == "ok" {
		return err
	}
	return r.refusal(code, "restore")
}

func checkDeadItem(d archive.DeadItem) error {
	if len(d.Turn.Messages) == 0 || len(d.Letter.Messages) == 0 {
		return &sessions.InvalidError{What: "dead letter", Why: "it has no messages"}
	}
	return errors.Join(sessions.CheckID(d.Letter.Session), sessions.CheckKey("dead letter", d.Letter.ID))
}

func (s *Store) restoreDead(ctx context.Context, d archive.DeadItem) error {
	l := d.Letter
	seqs := make([]string, len(l.Messages))
	for i, seq := range l.Messages {
		seqs[i] = strconv.FormatInt(seq, 10)
	}
	return s.plain(ctx, s.of(l.Session), s.scripts.restoreDead, l.ID, l.Session, millis(l.At), l.Reason, l.Attempts,
		d.Placed, strings.Join(seqs, ","), turnText(d.Turn))
}

func (s *Store) restoreRow(ctx context.Context, r archive.RowItem) error {
	p := s.ofSurface(r.Surface)
	blob, inline, err := s.payload(ctx, p, r.Payload)
	if err != nil {
		return err
	}
	return s.plain(ctx, p, s.scripts.restoreRow, r.Surface, r.ID, r.Session, r.Entry, blob, inline, r.Attempt, bit(r.MaybeSent))
}

func (s *Store) restoreSchedule(ctx context.Context, g archive.ScheduleItem) error {
	return s.plain(ctx, s.ofSchedule(g.ID), s.scripts.restoreSchedule, g.ID, g.By, string(g.Definition), string(g.State),
		g.Version, millis(g.CreatedAt))
}

func (s *Store) restoreRun(ctx context.Context, r archive.RunItem) error {
	return s.plain(ctx, s.ofSchedule(r.Schedule), s.scripts.restoreRun, r.Schedule, r.ID, millis(r.At), string(r.Body))
}

// restoreKey writes a dedupe key where it is looked for: in its home's
// partition, and where its session is in another one, there; see once and seen
// in lua/lib/core.lua.
func (s *Store) restoreKey(ctx context.Context, k archive.KeyItem) error {
	home := s.ofSurface(k.Home)
	if k.Home == k.Session {
		home = s.of(k.Home)
	}
	name := strconv.Itoa(len(k.Home)) + ":" + k.Home + k.Key
	value := strconv.FormatInt(k.Seq, 10) + " " + k.Session
	set := func(p partition, value string) error {
		_, err := s.command(ctx, p, "set", p.key("d", name), value, "pxat", k.Until.UnixMilli())
		return err
	}
	if k.Session == "" || s.of(k.Session) == home {
		return set(home, value)
	}
	if err := set(s.of(k.Session), value); err != nil {
		return err
	}
	return set(home, "> "+k.Session)
}
