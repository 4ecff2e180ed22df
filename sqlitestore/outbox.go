package sqlitestore

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"

	"parley/sessions"
)

// deliveryLength is how many of 32 letters and digits a delivery's id has.
const deliveryLength = 16

// Enqueue adds rows that belong to no session.
func (s *Store) Enqueue(ctx context.Context, request sessions.EnqueueRequest) (sessions.EnqueueResult, error) {
	if err := request.Check(); err != nil {
		return sessions.EnqueueResult{}, err
	}
	return written(ctx, s, func(t *tx) (result sessions.EnqueueResult, err error) {
		keep := request.KeyFor
		if keep == 0 {
			keep = sessions.DedupeFor
		}
		fresh, err := t.once(request.Deliveries[0].Surface, request.Key, keep, 0, 0)
		if err != nil || !fresh {
			return sessions.EnqueueResult{Duplicate: !fresh}, err
		}
		result.Sends, err = t.enqueue(&row{}, request.Deliveries, nil, request.Send)
		return result, err
	})
}

// enqueue puts rows of a session (the zero row: of none) at the ends of their
// lanes, and takes those lanes that are free for claimer, or wakes somebody
// who will. Without entries, the rows' Entry does not count.
func (t *tx) enqueue(r *row, deliveries []sessions.NewDelivery, entries []sessions.Entry, claimer *sessions.Claimer) ([]sessions.Delivery, error) {
	var sends []sessions.Delivery
	joined := false // a lane that was there
	seen := make(map[string]bool, 1)
	for _, d := range deliveries {
		row := sessions.Delivery{Session: r.id, Surface: d.Surface, Payload: d.Payload}
		if entries != nil && d.Entry >= 0 {
			row.Entry = entries[d.Entry].Seq
		}
		if !seen[d.Surface] {
			seen[d.Surface] = true
			fresh, err := t.openLane(&row, claimer)
			if err != nil {
				return nil, err
			}
			joined = joined || !fresh
		}
		if err := t.insertRow(r.num, &row); err != nil {
			return nil, err
		}
		if row.Attempt > 0 {
			sends = append(sends, row)
		}
	}
	if claimer == nil || !joined {
		return sends, nil
	}
	return t.takeLanes(deliveries, sends, *claimer)
}

// openLane makes the lane of a row unless it is there. With claimer, the lane
// is the claimer's from the start and the row is in its first attempt.
func (t *tx) openLane(d *sessions.Delivery, claimer *sessions.Claimer) (fresh bool, err error) {
	nonce, due := "", t.now
	if claimer != nil {
		nonce, due = rand.Text(), t.after(claimer.For)
	}
	n, err := t.exec("INSERT INTO lanes (surface, nonce, due_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", d.Surface, nonce, due)
	if claimer == nil {
		t.wakeLane(d.Surface)
	} else if n > 0 {
		d.Attempt, d.Lane = 1, sessions.Lane{ID: d.Surface, Nonce: nonce}
	}
	return n > 0, err
}

// insertRow adds a row under an id that no database gives again, not even this
// one after it was restored: platforms know messages by it.
func (t *tx) insertRow(session int64, d *sessions.Delivery) error {
	d.ID = strings.ToLower(rand.Text()[:deliveryLength])
	_, err := t.exec("INSERT INTO outbox (id, surface, session, entry, payload, attempt, maybe_sent) VALUES (?, ?, ?, ?, ?, ?, 0)",
		d.ID, d.Surface, session, d.Entry, string(d.Payload), d.Attempt)
	return err
}

// takeLanes adds the first rows of the lanes that were there and are free to
// those taken already, in the order of the deliveries.
func (t *tx) takeLanes(deliveries []sessions.NewDelivery, taken []sessions.Delivery, claimer sessions.Claimer) ([]sessions.Delivery, error) {
	bySurface := make(map[string]sessions.Delivery, len(taken))
	for _, d := range taken {
		bySurface[d.Surface] = d
	}
	var sends []sessions.Delivery
	seen := make(map[string]bool, len(deliveries))
	for _, d := range deliveries {
		if seen[d.Surface] {
			continue
		}
		seen[d.Surface] = true
		if first, ok := bySurface[d.Surface]; ok {
			sends = append(sends, first)
			continue
		}
		first, refused, err := t.takeLane(d.Surface, claimer)
		if err != nil {
			return nil, err
		}
		if refused == nil {
			sends = append(sends, first)
		}
	}
	return sends, nil
}

func (t *tx) wakeLane(surface string) {
	t.wakes = append(t.wakes, sessions.WorkItem{Kind: sessions.WorkLane, ID: surface, Due: t.time()})
}

// Take takes a lane and its first row.
func (s *Store) Take(ctx context.Context, lane string, claimer sessions.Claimer) (sessions.Delivery, error) {
	if err := sessions.CheckKey("lane", lane); err != nil {
		return sessions.Delivery{}, err
	}
	if err := claimer.Check(); err != nil {
		return sessions.Delivery{}, err
	}
	return written(ctx, s, func(t *tx) (sessions.Delivery, error) {
		taken, refused, err := t.takeLane(lane, claimer)
		if err == nil {
			err = refused
		}
		return taken, err
	})
}

// takeLane takes a lane that is free or whose holder's time is over. refused
// is ErrBusy or ErrNothing.
func (t *tx) takeLane(surface string, claimer sessions.Claimer) (taken sessions.Delivery, refused, err error) {
	var nonce string
	var due int64
	found, err := t.one("SELECT nonce, due_at FROM lanes WHERE surface = ?", []any{surface}, []any{&nonce, &due})
	switch {
	case err != nil:
		return taken, nil, err
	case found && due > t.now && nonce != "":
		return taken, sessions.ErrBusy, nil
	case !found, due > t.now:
		return taken, sessions.ErrNothing, nil
	}
	taken, err = t.takeFirst(surface, claimer, nonce != "")
	return taken, nil, err
}

// takeFirst takes the first row of a lane that has rows. lapsed: it was taken
// before and never settled.
func (t *tx) takeFirst(surface string, claimer sessions.Claimer, lapsed bool) (sessions.Delivery, error) {
	d := sessions.Delivery{Surface: surface, Lane: sessions.Lane{ID: surface, Nonce: rand.Text()}}
	var session int64
	var payload string
	_, err := t.one(`UPDATE outbox SET attempt = attempt + 1, maybe_sent = maybe_sent OR ?
		WHERE num = (SELECT num FROM outbox WHERE surface = ? ORDER BY num LIMIT 1) RETURNING coalesce(id, CAST(num AS TEXT)), session, entry, payload, attempt, maybe_sent`,
		[]any{lapsed, surface}, []any{&d.ID, &session, &d.Entry, &payload, &d.Attempt, &d.MaybeSent})
	if err != nil {
		return d, err
	}
	d.Payload = json.RawMessage(payload)
	if _, err := t.exec("UPDATE lanes SET nonce = ?, due_at = ? WHERE surface = ?", d.Lane.Nonce, t.after(claimer.For), surface); err != nil {
		return d, err
	}
	if session == 0 {
		return d, nil
	}
	_, err = t.one("SELECT id FROM sessions WHERE num = ?", []any{session}, []any{&d.Session})
	return d, err
}

// Settle ends an attempt.
func (s *Store) Settle(ctx context.Context, settlement sessions.Settlement, claimer sessions.Claimer) (*sessions.Delivery, error) {
	if err := settlement.Check(claimer); err != nil {
		return nil, err
	}
	return written(ctx, s, func(t *tx) (*sessions.Delivery, error) {
		if err := t.settle(settlement); err != nil {
			return nil, err
		}
		return t.next(settlement, claimer)
	})
}

// settle writes what became of a row that its worker still holds.
func (t *tx) settle(s sessions.Settlement) error {
	lane := s.Delivery.Lane
	if lane.Nonce == "" {
		return sessions.ErrFenced
	}
	due := t.now
	if s.State == sessions.DeliveryPending {
		due = t.after(s.After)
	}
	held, err := t.exec("UPDATE lanes SET nonce = '', due_at = ? WHERE surface = ? AND nonce = ?", due, lane.ID, lane.Nonce)
	if err != nil {
		return err
	}
	if held == 0 {
		return sessions.ErrFenced
	}
	if s.State == sessions.DeliveryPending {
		num, _ := parseRowID(s.Delivery.ID)
		n, err := t.exec("UPDATE outbox SET attempt = attempt - ?4, maybe_sent = maybe_sent OR ?5 WHERE "+thisRow, s.Delivery.ID, num, lane.ID, s.Uncounted, s.MaybeSent)
		return fencedIf(n == 0, err)
	}
	return t.receive(s)
}

func fencedIf(fenced bool, err error) error {
	if err == nil && fenced {
		return sessions.ErrFenced
	}
	return err
}

// thisRow is the row of an id ?1, which as a number is ?2, on surface ?3: the
// one that brought the id from another store, or the one that has the number.
const thisRow = "num = coalesce((SELECT num FROM outbox WHERE id = ?1), ?2) AND (id IS NULL OR id = ?1) AND surface = ?3"

// receive removes a row and writes its receipt into its session.
func (t *tx) receive(s sessions.Settlement) error {
	gone, found, err := t.removeRow(s.Delivery)
	if err != nil || !found {
		return fencedIf(!found, err)
	}
	if gone.session == 0 {
		return nil
	}
	r, err := t.findNum(gone.session)
	if err != nil || r == nil {
		return err
	}
	if s.Uncounted {
		gone.attempts--
	}
	payload, err := json.Marshal(sessions.DeliveryEntry{
		Delivery: s.Delivery.ID, EntryID: sessions.EntryID(gone.entry), Surface: s.Delivery.Lane.ID, State: s.State,
		MessageIDs: s.MessageIDs, Reason: sessions.ReasonOf(s.Reason), Attempts: gone.attempts,
	})
	if err != nil {
		return err
	}
	if _, err := t.insert(r, sessions.EntryDelivery, payload, 0, false); err != nil {
		return err
	}
	return t.save(r)
}

// longRow is from when on a row may have pages of its own.
const longRow = 500

// removed is what a row was that is gone.
type removed struct {
	session, entry int64
	attempts       int
}

// removeRow removes a row, and what it said.
func (t *tx) removeRow(d sessions.Delivery) (gone removed, found bool, err error) {
	num, _ := parseRowID(d.ID)
	remove := func() (err error) {
		found, err = t.one("DELETE FROM outbox WHERE "+thisRow+" RETURNING session, entry, attempt", []any{d.ID, num, d.Lane.ID}, []any{&gone.session, &gone.entry, &gone.attempts})
		return err
	}
	if len(d.Payload) < longRow {
		err = remove()
	} else {
		err = t.overwriting(remove)
	}
	return gone, found, err
}

// next goes on in a lane whose row was settled: takes its next row if that is
// wanted and due, or frees it.
func (t *tx) next(s sessions.Settlement, claimer sessions.Claimer) (*sessions.Delivery, error) {
	surface := s.Delivery.Lane.ID
	gone, err := t.exec("DELETE FROM lanes WHERE surface = ?1 AND NOT EXISTS (SELECT 1 FROM outbox WHERE surface = ?1)", surface)
	if err != nil || gone > 0 {
		return nil, err
	}
	waits := s.State == sessions.DeliveryPending && s.After > 0
	if waits || !s.Next {
		if !waits {
			t.wakeLane(surface)
		}
		return nil, nil
	}
	d, err := t.takeFirst(surface, claimer, false)
	if err != nil {
		return nil, err
	}
	return &d, nil
}
