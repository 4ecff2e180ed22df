package sqlitestore

import (
	"database/sql"
	"time"

	"parley/sessions"
	"parley/sessions/archive"
)

// dumpSessions reads sessions by id, each with its entries. A mark's A is the
// session given last, N its entry given last; 0: none yet.
func (t *tx) dumpSessions(p *page, behind mark) error {
	if behind.A != "" {
		if err := t.dumpRest(p, behind); err != nil || p.full() {
			return err
		}
	}
	for {
		r, err := t.findBy("SELECT "+rowColumns+" FROM sessions s WHERE s.id > ? ORDER BY s.id LIMIT 1", behind.A)
		if err != nil || r == nil {
			return err
		}
		behind = mark{Kind: archive.ItemSession, A: r.id}
		item, err := t.sessionItem(r)
		if err != nil {
			return err
		}
		if err := p.add(archive.ItemSession, item, behind); err != nil {
			return enough(err)
		}
		if err := t.dumpEntries(p, r, 0); err != nil || p.full() {
			return err
		}
	}
}

// dumpRest reads the entries of a session that were not given yet.
func (t *tx) dumpRest(p *page, behind mark) error {
	r, err := t.find(behind.A)
	if err != nil || r == nil {
		return err
	}
	return t.dumpEntries(p, r, behind.N)
}

func (t *tx) dumpEntries(p *page, r *row, behind int64) error {
	return t.each(func(rows *sql.Rows) error {
		e, err := scanEntry(rows)
		if err != nil {
			return err
		}
		return p.add(archive.ItemEntry, archive.EntryItem{Session: r.id, Entry: e}, mark{Kind: archive.ItemSession, A: r.id, N: e.Seq})
	}, "SELECT "+entryColumns+" FROM entries WHERE log = ? AND seq > ? ORDER BY seq LIMIT ?", r.log, behind, p.left())
}

// sessionItem is a session as it is while nobody holds its lease.
func (t *tx) sessionItem(r *row) (item archive.SessionItem, err error) {
	if r.status == sessions.StatusRunning {
		r.rest()
	}
	if item.Record, err = t.record(r); err != nil {
		return item, err
	}
	item.Leaf, item.Placed = r.leaf, r.placed
	switch {
	case r.open() && r.nonce == "":
		item.ReadyAt = fromMillis(r.leaseUntil)
	case !r.open() && r.queued > 0:
		item.ReadyAt = fromMillis(r.readyAt)
	}
	if item.Open, err = openItem(r); err != nil {
		return item, err
	}
	if item.Last, err = lastItem(r); err != nil {
		return item, err
	}
	queue, err := t.queueOf(r, -1)
	if err != nil {
		return item, err
	}
	item.Queue = messageItems(queue)
	item.Waiting, err = t.waitingLogged(r)
	return item, err
}

func openItem(r *row) (*archive.TurnItem, error) {
	if !r.open() {
		return nil, nil //nolint:nilnil // there is none
	}
	list, err := decodeMessages(r.taken)
	item := turnItem(list)
	item.Attempts, item.Stop = r.attempts, r.stop
	return &item, err
}

func lastItem(r *row) (*archive.TurnItem, error) {
	if r.open() || r.last == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	list, err := decodeMessages(r.last)
	item := turnItem(list)
	return &item, err
}

// turnItem is a turn by its messages. It began when the last of them was
// placed, so that is its tip.
func turnItem(list []message) archive.TurnItem {
	return archive.TurnItem{Tip: list[len(list)-1].Seq, Messages: messageItems(list)}
}

func messageItems(list []message) []archive.QueuedMessage {
	var items []archive.QueuedMessage
	for _, m := range list {
		items = append(items, archive.QueuedMessage{
			Seq: m.Seq, Rights: m.Rights, Surface: m.Surface, Alone: m.Alone, SentAt: time.UnixMilli(m.SentAt).UTC(), Sequence: m.Sequence,
		})
	}
	return items
}

// messagesOf is messageItems backwards.
func messagesOf(items []archive.QueuedMessage) []message {
	list := make([]message, len(items))
	for i, m := range items {
		list[i] = message{Seq: m.Seq, Rights: m.Rights, Surface: m.Surface, Alone: m.Alone, SentAt: m.SentAt.UnixMilli(), Sequence: m.Sequence}
	}
	return list
}
