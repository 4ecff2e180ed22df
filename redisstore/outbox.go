package redisstore

import (
	"context"
	"encoding/json"

	"parley/sessions"
)

// rowArgs are the arguments of new rows: see readrows. A row's lane is in its
// surface's home partition, wherever the row is written, and so is its payload
// if that is long. entries: the rows may name entries of the same call.
func (s *Store) rowArgs(ctx context.Context, p partition, list []sessions.NewDelivery, entries bool) ([]any, error) {
	args := []any{len(list)}
	for _, d := range list {
		lane := s.ofSurface(d.Surface)
		blob, inline, err := s.payload(ctx, lane, d.Payload)
		if err != nil {
			return nil, err
		}
		entry := 0
		if entries {
			entry = d.Entry + 1
		}
		args = append(args, d.Surface, bit(lane == p), partitionedID(lane), entry, blob, inline)
	}
	return args, nil
}

// delivery reads what the scripts' takelane function returns.
func (s *Store) delivery(ctx context.Context, r *reply) (sessions.Delivery, error) {
	d := sessions.Delivery{Surface: r.text(), ID: r.text(), Session: r.text(), Entry: r.number()}
	blob, payload := r.text(), r.text()
	d.Attempt, d.MaybeSent = int(r.number()), r.flag()
	d.Lane = sessions.Lane{ID: d.Surface, Nonce: r.text()}
	if r.err != nil {
		return d, r.err
	}
	d.Payload = json.RawMessage(payload)
	if blob == "" {
		return d, nil
	}
	var err error
	d.Payload, err = s.fetch(ctx, s.ofSurface(d.Surface), blob)
	return d, err
}

func (s *Store) deliveries(ctx context.Context, r *reply) ([]sessions.Delivery, error) {
	var list []sessions.Delivery
	for r.more() {
		d, err := s.delivery(ctx, r.list())
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, r.err
}

// Enqueue adds rows that belong to no session.
func (s *Store) Enqueue(ctx context.Context, request sessions.EnqueueRequest) (sessions.EnqueueResult, error) {
	if err := request.Check(); err != nil {
		return sessions.EnqueueResult{}, err
	}
	p := s.ofSurface(request.Deliveries[0].Surface)
	rows, err := s.rowArgs(ctx, p, request.Deliveries, false)
	if err != nil {
		return sessions.EnqueueResult{}, err
	}
	keep := dedupeFor
	if request.KeyFor > 0 {
		keep = max(request.KeyFor.Milliseconds(), 1)
	}
	args := append([]any{request.Key, keep}, rows...)
	code, r, err := s.answer(ctx, p, s.scripts.enqueue, append(args, claimMillis(request.Send), newToken())...)
	switch {
	case err != nil:
		return sessions.EnqueueResult{}, err
	case code == "dup":
		return sessions.EnqueueResult{Duplicate: true}, nil
	case code != "ok":
		return sessions.EnqueueResult{}, r.refusal(code, "enqueue")
	}
	sends, err := s.deliveries(ctx, r.list())
	return sessions.EnqueueResult{Sends: sends}, err
}

// Take takes a lane and its first row.
func (s *Store) Take(ctx context.Context, lane string, claimer sessions.Claimer) (sessions.Delivery, error) {
	if err := sessions.CheckKey("lane", lane); err != nil {
		return sessions.Delivery{}, err
	}
	if err := claimer.Check(); err != nil {
		return sessions.Delivery{}, err
	}
	code, r, err := s.answer(ctx, s.ofSurface(lane), s.scripts.take, lane, newToken(), claimer.For.Milliseconds())
	if err != nil {
		return sessions.Delivery{}, err
	}
	if code != "ok" {
		return sessions.Delivery{}, r.refusal(code, "take")
	}
	return s.delivery(ctx, r.list())
}

// Settle ends an attempt.
func (s *Store) Settle(ctx context.Context, settlement sessions.Settlement, claimer sessions.Claimer) (*sessions.Delivery, error) {
	if err := settlement.Check(claimer); err != nil {
		return nil, err
	}
	d := settlement.Delivery
	receipt, err := receiptOf(settlement)
	if err != nil {
		return nil, err
	}
	p, next := s.ofSurface(d.Lane.ID), int64(0)
	if settlement.Next {
		next = claimer.For.Milliseconds()
	}
	code, r, err := s.answer(ctx, p, s.scripts.settle, d.Lane.ID, d.Lane.Nonce, d.ID,
		bit(settlement.State == sessions.DeliveryPending), settlement.After.Milliseconds(), bit(settlement.MaybeSent),
		bit(settlement.Uncounted), receipt, bit(s.of(d.Session) == p), next, newToken())
	if err != nil {
		return nil, err
	}
	if code != "ok" {
		return nil, r.refusal(code, "settle")
	}
	forwards, following := r.list(), r.optional()
	s.forwardAll(ctx, p, forwards, nil)
	if following == nil {
		return nil, r.err
	}
	row, err := s.delivery(ctx, following)
	return &row, err
}

// receiptOf is the payload of the entry that a settled row becomes.
func receiptOf(st sessions.Settlement) (string, error) {
	d := st.Delivery
	text, err := json.Marshal(sessions.DeliveryEntry{
		Delivery: d.ID, EntryID: sessions.EntryID(d.Entry), Surface: d.Surface, State: st.State,
		MessageIDs: st.MessageIDs, Reason: sessions.ReasonOf(st.Reason), Attempts: d.Attempt,
	})
	return string(text), err
}
