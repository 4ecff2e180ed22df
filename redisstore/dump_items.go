package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"parley/sessions"
	"parley/sessions/archive"
)

// textOf is the answer of a plain command; found is false where there is none.
func (s *Store) textOf(ctx context.Context, p partition, args ...any) (text string, found bool, err error) {
	val, err := s.command(ctx, p, args...)
	if errors.Is(err, redis.Nil) {
		return "", false, nil
	}
	text, found = val.(string)
	return text, found, err
}

// fields reads some fields of a hash; what is not there is empty.
func (s *Store) fields(ctx context.Context, n named, names ...string) ([]string, error) {
	args := []any{"hmget", n.key}
	for _, name := range names {
		args = append(args, name)
	}
	val, err := s.command(ctx, n.partition, args...)
	if err != nil {
		return nil, err
	}
	list, _ := val.([]any)
	out := make([]string, len(names))
	for i := range min(len(list), len(out)) {
		out[i], _ = list[i].(string)
	}
	return out, nil
}

func numberOf(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64) // an absent field is 0
	return n
}

func (s *Store) dumpChat(ctx context.Context, n named) (any, sessions.ItemKind, error) {
	text, found, err := s.textOf(ctx, n.partition, "get", n.key)
	if err != nil || !found {
		return nil, "", err
	}
	at, by, _ := strings.Cut(text, " ")
	return archive.ChatItem{Chat: n.name, By: by, At: fromMillis(numberOf(at))}, archive.ItemChat, nil
}

func (s *Store) dumpLock(ctx context.Context, n named) (any, sessions.ItemKind, error) {
	if n.name == linkLock {
		return nil, "", nil
	}
	code, r, err := s.answer(ctx, n.partition, s.scripts.dumpLock, n.name)
	if err != nil || code != "ok" {
		return nil, "", err
	}
	return archive.LockItem{Name: n.name, Fence: numberOf(r.text()), Data: r.text(), Expires: r.time()}, archive.ItemLock, r.err
}

func (s *Store) dumpUser(ctx context.Context, n named) (any, sessions.ItemKind, error) {
	code, r, err := s.answer(ctx, n.partition, s.scripts.who, n.name)
	if err != nil || code != "ok" {
		return nil, "", err
	}
	user := r.user()
	if user.Role == "" && len(user.Identities) == 1 {
		return nil, "", r.err
	}
	return user, archive.ItemUser, r.err
}

func (s *Store) dumpSession(ctx context.Context, n named, from int64, limit int) (items []sessions.Item, next int64, err error) {
	if from == 0 {
		item, err := s.sessionItem(ctx, n)
		if err != nil {
			return nil, 0, err
		}
		body, err := itemOf(archive.ItemSession, item)
		if err != nil || item.Record.Seq == item.Record.Cleared {
			return []sessions.Item{body}, 0, err
		}
		items, from = append(items, body), item.Record.Cleared+1
	}
	room := int64(min(limit-len(items), sessions.EntriesPerCall))
	if room == 0 {
		return items, from, nil
	}
	entries, err := s.Range(ctx, n.name, from, from+room-1)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		item, err := itemOf(archive.ItemEntry, archive.EntryItem{Session: n.name, Entry: e})
		if err != nil {
			return nil, 0, err
		}
		items, next = append(items, item), e.Seq+1
	}
	if int64(len(entries)) < room {
		next = 0
	}
	return items, next, nil
}

func (s *Store) sessionItem(ctx context.Context, n named) (item archive.SessionItem, err error) {
	code, r, err := s.answer(ctx, n.partition, s.scripts.dumpSession, n.name)
	if err != nil {
		return item, err
	}
	if code != "ok" {
		return item, r.refusal(code, "dump")
	}
	h, err := r.list().whole()
	if err != nil {
		return item, err
	}
	item.Record, item.Leaf, item.Placed, item.ReadyAt = h.Record, h.Leaf, h.placed, r.time()
	if item.Record.Status == sessions.StatusRunning {
		item.Record.Status = statusAtRest(item.Record.State)
	}
	if err := h.turns(&item); err != nil {
		return item, err
	}
	for _, text := range r.list().texts() {
		m, err := parseQueued(text)
		if err != nil {
			return item, err
		}
		item.Queue = append(item.Queue, m)
	}
	for waiting := r.list(); waiting.more(); {
		item.Waiting = append(item.Waiting, waiting.number())
	}
	return item, r.err
}

// turns fills in the open turn, or the last one.
func (h hot) turns(item *archive.SessionItem) error {
	if h.turn == "" {
		return nil
	}
	turn, err := parseTurn(h.turn)
	if h.tip > 0 {
		turn.Attempts, turn.Stop = int(h.attempts), h.stop
		item.Open = &turn
	} else {
		item.Last = &turn
	}
	return err
}

// statusAtRest is the status of a session in which nothing runs.
func statusAtRest(state sessions.State) sessions.Status {
	if state == sessions.StateSuspended || state == sessions.StateExpired {
		return sessions.StatusInactive
	}
	return sessions.StatusIdle
}

// parseQueued reads what queuedText wrote.
func parseQueued(text string) (m archive.QueuedMessage, err error) {
	f := strings.SplitN(text, "\n", 5)
	if len(f) != 5 {
		return m, errReply
	}
	m = archive.QueuedMessage{Seq: numberOf(f[0]), Alone: f[2] == "1", Rights: f[3], Surface: f[4]}
	m.SentAt, m.Sequence, err = parseOrder(f[1])
	return m, err
}

// parseOrder reads what orderText wrote.
func parseOrder(text string) (sentAt time.Time, sequence int64, err error) {
	if len(text) != 40 {
		return time.Time{}, 0, errReply
	}
	ms, err1 := strconv.ParseUint(text[:20], 10, 64)
	order, err2 := strconv.ParseUint(text[20:], 10, 64)
	if err1 != nil || err2 != nil {
		return time.Time{}, 0, errReply
	}
	sequence = int64(order ^ orderFlip)                        //nolint:gosec // undoes orderText
	sentAt = time.UnixMilli(int64(ms ^ orderFlip)).UTC()       //nolint:gosec // undoes orderText
	if sentAt.Equal(time.UnixMilli(time.Time{}.UnixMilli())) { // it had none
		sentAt = time.Time{}
	}
	return sentAt, sequence, nil
}

// parseTurn reads what turnText wrote.
func parseTurn(text string) (t archive.TurnItem, err error) {
	f := strings.SplitN(text, "\n", 5)
	if len(f) != 5 {
		return t, errReply
	}
	t.Tip = numberOf(f[0])
	for part := range strings.SplitSeq(f[1], ",") {
		seq, order, _ := strings.Cut(part, ":")
		m := archive.QueuedMessage{Seq: numberOf(seq), Alone: f[2] == "1", Rights: f[3], Surface: f[4]}
		if m.SentAt, m.Sequence, err = parseOrder(order); err != nil {
			return t, err
		}
		t.Messages = append(t.Messages, m)
	}
	return t, nil
}

func (s *Store) dumpBinding(ctx context.Context, n named) (any, sessions.ItemKind, error) {
	text, found, err := s.textOf(ctx, n.partition, "get", n.key)
	if err != nil || !found || text == "" {
		return nil, "", err
	}
	there, err := s.there(ctx, text[1:])
	if err != nil || !there {
		return nil, "", err
	}
	return archive.BindingItem{Surface: n.name, Session: text[1:]}, archive.ItemBinding, nil
}

// there reports whether there is such a session.
func (s *Store) there(ctx context.Context, session string) (bool, error) {
	p := s.of(session)
	val, err := s.command(ctx, p, "exists", p.key("s", session))
	return val == int64(1), err
}

func (s *Store) dumpTimer(ctx context.Context, n named) (any, sessions.ItemKind, error) {
	f, err := s.fields(ctx, n, "p", "d", "b", "du", "f")
	if err != nil || f[4] == "" {
		return nil, "", err
	}
	home, name, _ := strings.Cut(n.name, "/")
	t := sessions.Timer{Home: unescapeHome(home), Name: name, Purpose: f[0], Due: fromMillis(numberOf(f[3])), Fence: numberOf(f[4])}
	if f[1] != "" {
		t.Payload = json.RawMessage(f[1])
	}
	if f[2] != "" {
		t.Payload, err = s.fetch(ctx, n.partition, f[2])
	}
	return archive.TimerItem{Timer: t}, archive.ItemTimer, err
}

func (s *Store) dumpDead(ctx context.Context, n named) (any, sessions.ItemKind, error) {
	f, err := s.fields(ctx, n, "sid", "at", "why", "n", "seqs", "tn", "turn")
	if err != nil || f[0] == "" {
		return nil, "", err
	}
	item := archive.DeadItem{Placed: numberOf(f[5]), Letter: sessions.DeadLetter{
		ID: n.name, Session: f[0], At: fromMillis(numberOf(f[1])), Reason: f[2], Attempts: int(numberOf(f[3])),
	}}
	for seq := range strings.SplitSeq(f[4], ",") {
		item.Letter.Messages = append(item.Letter.Messages, numberOf(seq))
	}
	item.Turn, err = parseTurn(f[6])
	return item, archive.ItemDead, err
}

func (s *Store) dumpRows(ctx context.Context, n named, from int64, limit int) (items []sessions.Item, next int64, err error) {
	val, err := s.command(ctx, n.partition, "lrange", n.key, from, from+int64(limit)-1)
	if err != nil {
		return nil, 0, err
	}
	texts := read(val).texts()
	for i, text := range texts {
		item, err := s.rowItem(ctx, n, text)
		if err != nil {
			return nil, 0, err
		}
		if i == 0 && from == 0 {
			h, err := s.fields(ctx, named{partition: n.partition, key: n.partition.key("oh", n.name)}, "no", "at", "ms")
			if err != nil {
				return nil, 0, err
			}
			item.Attempt, item.MaybeSent = int(numberOf(h[1])), h[0] != "" || h[2] != ""
		}
		body, err := itemOf(archive.ItemRow, item)
		if err != nil {
			return nil, 0, err
		}
		items = append(items, body)
	}
	if len(texts) == limit {
		next = from + int64(limit)
	}
	return items, next, nil
}

// rowItem reads "id\nsession\nentry\nblob\npayload".
func (s *Store) rowItem(ctx context.Context, n named, text string) (item archive.RowItem, err error) {
	f := strings.SplitN(text, "\n", 5)
	if len(f) != 5 {
		return item, errReply
	}
	item = archive.RowItem{ID: f[0], Surface: n.name, Session: f[1], Entry: numberOf(f[2]), Payload: json.RawMessage(f[4])}
	if f[3] != "" {
		if item.Payload, err = s.fetch(ctx, n.partition, f[3]); err != nil {
			return item, err
		}
	}
	if item.Session == "" {
		return item, nil
	}
	there, err := s.there(ctx, item.Session)
	if !there {
		item.Session, item.Entry = "", 0
	}
	return item, err
}

func (s *Store) dumpSchedule(ctx context.Context, n named) (any, sessions.ItemKind, error) {
	f, err := s.fields(ctx, n, "by", "def", "st", "v", "cr")
	if err != nil || f[3] == "" {
		return nil, "", err
	}
	return archive.ScheduleItem{
		ID: n.name, By: f[0], Definition: json.RawMessage(f[1]), State: json.RawMessage(f[2]),
		Version: numberOf(f[3]), CreatedAt: fromMillis(numberOf(f[4])),
	}, archive.ItemSchedule, nil
}

func (s *Store) dumpRuns(ctx context.Context, n named, from int64, limit int) (items []sessions.Item, next int64, err error) {
	p := n.partition
	val, err := s.command(ctx, p, "zrange", p.key("gz", n.name), from, from+int64(limit)-1, "withscores")
	if err != nil {
		return nil, 0, err
	}
	for r := read(val); r.more(); {
		id, at := r.text(), r.number()
		body, _, err := s.textOf(ctx, p, "hget", n.key, id)
		if err != nil {
			return nil, 0, err
		}
		item, err := itemOf(archive.ItemRun, archive.RunItem{Schedule: n.name, ID: id, At: fromMillis(at), Body: json.RawMessage(body)})
		if err != nil {
			return nil, 0, err
		}
		items = append(items, item)
	}
	if len(items) == limit {
		next = from + int64(limit)
	}
	return items, next, nil
}

// dumpKey reads a dedupe key: see once and seen in lua/lib/core.lua. One that
// only says that its session is elsewhere is there once more.
func (s *Store) dumpKey(ctx context.Context, n named) (any, sessions.ItemKind, error) {
	code, r, err := s.answer(ctx, n.partition, s.scripts.dumpKey, n.name)
	if err != nil || code != "ok" {
		return nil, "", err
	}
	seq, session, _ := strings.Cut(r.text(), " ")
	size, rest, _ := strings.Cut(n.name, ":")
	length := int(numberOf(size))
	if seq == ">" || length > len(rest) {
		return nil, "", r.err
	}
	item := archive.KeyItem{Home: rest[:length], Key: rest[length:], Until: r.time(), Session: session, Seq: numberOf(seq)}
	if session == "" {
		return item, archive.ItemKey, r.err
	}
	there, err := s.there(ctx, session)
	if !there {
		item.Session, item.Seq = "", 0
	}
	return item, archive.ItemKey, errors.Join(err, r.err)
}
