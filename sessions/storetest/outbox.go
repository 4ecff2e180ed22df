package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"parley/sessions"
)

func outboxTests() []test {
	return []test{
		{"rows of a surface go out one at a time, in order", outboxOrder},
		{"surfaces do not wait for each other", outboxLanes},
		{"of takes at the same time one wins", outboxTogether},
		{"enqueue happens once per key, for its time", outboxEnqueueOnce},
		{"enqueue takes the lane if it is free", outboxEnqueueSends},
		{"a row that was sent leaves a receipt in its session", outboxReceipt},
		{"every end of a row leaves its receipt", outboxReceipts},
		{"a row that is tried again stays first and waits", outboxRetry},
		{"an uncounted attempt does not count", outboxUncounted},
		{"what may have been sent stays said so", outboxMaybeSent},
		{"a row that was never settled may have been sent", outboxLapsed},
		{"a late worker whom nobody replaced may settle", outboxLate},
		{"a replaced worker's settlement is refused", outboxFenced},
		{"a row is settled once", outboxSettledOnce},
		{"settling with next goes through the lane", outboxNext},
		{"the outbox survives a restart", outboxSurvives},
		{"an empty lane has nothing", outboxNothing},
	}
}

func outboxOrder(tr *trial) {
	tr.enqueue(nil, surface, "1", "2")
	tr.enqueue(nil, surface, "3")
	var got []string
	var ids []string
	for len(tr.due(sessions.WorkLane)) > 0 {
		lane := tr.lane()
		d := tr.take(lane, "w1")
		got, ids = append(got, rowText(d)), append(ids, d.ID)
		_, err := tr.store.Take(tr.ctx, lane, worker("w2"))
		tr.wantErr(err, sessions.ErrBusy)
		equal(tr, "due while it is held", len(tr.due(sessions.WorkLane)), 0)
		tr.check(d.Lane.ID == lane && d.Surface == surface && d.Attempt == 1, "row %+v", d)
		tr.settle(sessions.Settlement{Delivery: d, State: sessions.DeliverySent, MessageIDs: []string{"1"}})
	}
	equalSlices(tr, "sent", got, []string{"1", "2", "3"})
	slices.Sort(ids)
	equal(tr, "ids", len(slices.Compact(ids)), 3)
}

func outboxLanes(tr *trial) {
	here := tr.enqueue(claimer("w1"), surface, "h1", "h2")
	there := tr.enqueue(claimer("w1"), other, "t1")
	tr.check(len(here) == 1 && len(there) == 1 && rowText(there[0]) == "t1", "sends %v, %v", here, there)
	tr.check(here[0].Lane.ID != there[0].Lane.ID && here[0].ID != there[0].ID, "lanes %v, %v", here[0].Lane, there[0].Lane)
}

func outboxTogether(tr *trial) {
	tr.enqueue(nil, surface, "1", "2", "3")
	lane := tr.lane()
	won := make([]bool, 12)
	tr.together(len(won), func(i int) error {
		d, err := tr.store.Take(tr.ctx, lane, worker(strconv.Itoa(i)))
		won[i] = err == nil
		if err != nil {
			tr.wantErrIs(err, sessions.ErrBusy)
		} else if rowText(d) != "1" {
			return fmt.Errorf("took %s first", rowText(d))
		}
		return nil
	})
	equal(tr, "winners", len(slices.DeleteFunc(won, func(w bool) bool { return !w })), 1)
}

func outboxEnqueueOnce(tr *trial) {
	request := sessions.EnqueueRequest{Key: "greet", KeyFor: time.Hour, Deliveries: []sessions.NewDelivery{row(surface, "hi")}, Send: claimer("w1")}
	first := must(tr.store.Enqueue(tr.ctx, request))(tr)
	tr.check(!first.Duplicate && len(first.Sends) == 1, "first %+v", first)
	second := must(tr.store.Enqueue(tr.ctx, request))(tr)
	tr.check(second.Duplicate && len(second.Sends) == 0, "second %+v", second)
	equal(tr, "next", tr.settle(sessions.Settlement{Delivery: first.Sends[0], State: sessions.DeliverySent, Next: true}), nil)
	tr.clock.Advance(61 * time.Minute)
	third := must(tr.store.Enqueue(tr.ctx, request))(tr)
	tr.check(!third.Duplicate, "after the key's time: %+v", third)
	request.Key, request.KeyFor = "greet-2", 0
	must(tr.store.Enqueue(tr.ctx, request))(tr)
	tr.clock.Advance(sessions.DedupeFor - time.Hour)
	tr.check(must(tr.store.Enqueue(tr.ctx, request))(tr).Duplicate, "forgotten too early")
}

func outboxEnqueueSends(tr *trial) {
	tr.enqueue(nil, surface, "1")
	sends := tr.enqueue(claimer("w1"), surface, "2")
	tr.check(len(sends) == 1 && rowText(sends[0]) == "1", "sends %v", sends)
	equal(tr, "sends into a held lane", len(tr.enqueue(claimer("w2"), surface, "3")), 0)
}

// sent is a row of a session's turn, taken by w1.
func (tr *trial) sent(text string) (string, sessions.Delivery, int64) {
	tr.Helper()
	turn := tr.begin("q")
	d := row(surface, text)
	d.Entry = 0
	result := tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers(text), Deliveries: []sessions.NewDelivery{d}, Send: claimer("w1")})
	return turn.Lease.Session, result.Sends[0], result.Entries[0].Seq
}

func (tr *trial) lastReceipt(id string) sessions.DeliveryEntry {
	tr.Helper()
	log := tr.log(id)
	e := log[len(log)-1]
	equal(tr, "last entry", e.Type, sessions.EntryDelivery)
	var receipt sessions.DeliveryEntry
	if err := json.Unmarshal(e.Payload, &receipt); err != nil {
		tr.Fatal(err)
	}
	return receipt
}

func outboxReceipt(tr *trial) {
	id, d, seq := tr.sent("a")
	before := tr.get(id)
	tr.settle(sessions.Settlement{Delivery: d, State: sessions.DeliverySent, MessageIDs: []string{"501", "502"}})
	r := tr.lastReceipt(id)
	tr.check(r.Delivery == d.ID && r.EntryID == sessions.EntryID(seq) && r.Surface == surface && r.State == sessions.DeliverySent && r.Attempts == 1 && r.Reason == "", "receipt %+v", r)
	equalSlices(tr, "message ids", r.MessageIDs, []string{"501", "502"})
	after := tr.get(id)
	tr.check(after.Leaf == before.Leaf && after.Seq == before.Seq+1 && after.Version > before.Version, "record %+v", after)
	equal(tr, "due", len(tr.due(sessions.WorkLane)), 0)
}

func outboxReceipts(tr *trial) {
	for _, state := range []sessions.DeliveryState{sessions.DeliveryUnknown, sessions.DeliveryFailed} {
		id, d, _ := tr.sent("a")
		tr.settle(sessions.Settlement{Delivery: d, State: sessions.DeliveryPending})
		d = tr.take(d.Lane.ID, "w1")
		tr.settle(sessions.Settlement{Delivery: d, State: state, Reason: "chat is gone"})
		r := tr.lastReceipt(id)
		tr.check(r.State == state && r.Reason == "chat is gone" && r.Attempts == 2 && len(r.MessageIDs) == 0, "receipt %+v", r)
	}
	sends := tr.enqueue(claimer("w1"), other, "of no session")
	tr.settle(sessions.Settlement{Delivery: sends[0], State: sessions.DeliveryFailed, Reason: "x"})
	equal(tr, "due", len(tr.due(sessions.WorkLane)), 0)
}

func outboxRetry(tr *trial) {
	tr.enqueue(nil, surface, "1", "2")
	d := tr.take(tr.lane(), "w1")
	next := tr.settle(sessions.Settlement{Delivery: d, State: sessions.DeliveryPending, After: time.Hour, Reason: "503", Next: true})
	tr.check(next == nil, "the next row overtook: %v", next)
	equal(tr, "due", len(tr.due(sessions.WorkLane)), 0)
	_, err := tr.store.Take(tr.ctx, d.Lane.ID, worker("w2"))
	tr.wantErr(err, sessions.ErrNothing)
	tr.clock.Advance(61 * time.Minute)
	again := tr.take(tr.lane(), "w2")
	tr.check(again.ID == d.ID && again.Attempt == 2 && !again.MaybeSent && again.Lane.Nonce != d.Lane.Nonce, "again %+v", again)
	next = tr.settle(sessions.Settlement{Delivery: again, State: sessions.DeliveryPending, Next: true})
	tr.check(next != nil && next.ID == d.ID && next.Attempt == 3, "tried again at once: %+v", next)
	next = tr.settle(sessions.Settlement{Delivery: *next, State: sessions.DeliverySent, Next: true})
	tr.check(next != nil && rowText(*next) == "2" && next.Attempt == 1, "next %+v", next)
}

func outboxUncounted(tr *trial) {
	d := tr.enqueue(claimer("w1"), surface, "1")[0]
	for range 3 {
		tr.settle(sessions.Settlement{Delivery: d, State: sessions.DeliveryPending, Uncounted: true})
		d = tr.take(d.Lane.ID, "w1")
		equal(tr, "attempt", d.Attempt, 1)
	}
}

func outboxMaybeSent(tr *trial) {
	d := tr.enqueue(claimer("w1"), surface, "1")[0]
	tr.settle(sessions.Settlement{Delivery: d, State: sessions.DeliveryPending, MaybeSent: true})
	d = tr.take(d.Lane.ID, "w1")
	tr.check(d.MaybeSent, "not said so")
	tr.settle(sessions.Settlement{Delivery: d, State: sessions.DeliveryPending})
	d = tr.take(d.Lane.ID, "w1")
	tr.check(d.MaybeSent, "forgotten after a later attempt")
}

func outboxLapsed(tr *trial) {
	d := tr.enqueue(claimer("w1"), surface, "1", "2")[0]
	tr.clock.Advance(2 * lease)
	again := tr.take(tr.lane(), "w2")
	tr.check(again.ID == d.ID && again.MaybeSent && again.Attempt == 2, "again %+v", again)
	next := tr.settle(sessions.Settlement{Delivery: again, State: sessions.DeliverySent, Next: true})
	tr.check(next != nil && !next.MaybeSent && next.Attempt == 1, "the next row: %+v", next)
}

func outboxLate(tr *trial) {
	id, d, _ := tr.sent("a")
	tr.clock.Advance(2 * lease)
	tr.settle(sessions.Settlement{Delivery: d, State: sessions.DeliverySent, MessageIDs: []string{"9"}})
	equal(tr, "receipt", tr.lastReceipt(id).State, sessions.DeliverySent)
	equal(tr, "due", len(tr.due(sessions.WorkLane)), 0)
}

func (tr *trial) settleRefused(d sessions.Delivery) {
	tr.Helper()
	for _, state := range []sessions.DeliveryState{sessions.DeliverySent, sessions.DeliveryUnknown, sessions.DeliveryFailed, sessions.DeliveryPending} {
		_, err := tr.store.Settle(tr.ctx, sessions.Settlement{Delivery: d, State: state, Next: true}, worker("w1"))
		tr.wantErr(err, sessions.ErrFenced)
	}
}

func outboxFenced(tr *trial) {
	id, d, _ := tr.sent("a")
	tr.clock.Advance(2 * lease)
	again := tr.take(d.Lane.ID, "w2")
	seq := tr.get(id).Seq
	tr.settleRefused(d)
	equal(tr, "seq", tr.get(id).Seq, seq)
	forged := again
	forged.Lane.Nonce = ""
	tr.settleRefused(forged)
	tr.settle(sessions.Settlement{Delivery: again, State: sessions.DeliverySent})
	tr.settleRefused(again)
}

func outboxSettledOnce(tr *trial) {
	tr.enqueue(nil, surface, "1", "2")
	first := tr.take(tr.lane(), "w1")
	next := tr.settle(sessions.Settlement{Delivery: first, State: sessions.DeliverySent, Next: true})
	tr.settleRefused(first)
	tr.settle(sessions.Settlement{Delivery: *next, State: sessions.DeliveryPending})
	tr.settleRefused(*next)
	equal(tr, "row", rowText(tr.take(tr.lane(), "w1")), "2")
}

func outboxNext(tr *trial) {
	d := &tr.enqueue(claimer("w1"), surface, "1", "2", "3")[0]
	var got []string
	for d != nil {
		got = append(got, rowText(*d))
		_, err := tr.store.Take(tr.ctx, d.Lane.ID, worker("w2"))
		tr.wantErr(err, sessions.ErrBusy)
		tr.clock.Advance(lease - time.Minute) // each row has its own time
		d = tr.settle(sessions.Settlement{Delivery: *d, State: sessions.DeliverySent, Next: true})
	}
	equalSlices(tr, "sent", got, []string{"1", "2", "3"})
}

func outboxSurvives(tr *trial) {
	tr.enqueue(nil, surface, "1", "2")
	d := tr.take(tr.lane(), "w1")
	tr.reopen()
	if tr.opened.FreesHeld {
		_, err := tr.store.Settle(tr.ctx, sessions.Settlement{Delivery: d, State: sessions.DeliverySent}, sessions.Claimer{})
		tr.wantErr(err, sessions.ErrFenced)
		d = tr.take(d.Lane.ID, "w2")
		tr.check(rowText(d) == "1" && d.MaybeSent && d.Attempt == 2, "after a restart %+v", d)
	} else {
		_, err := tr.store.Take(tr.ctx, d.Lane.ID, worker("w2"))
		tr.wantErr(err, sessions.ErrBusy)
	}
	next := tr.settle(sessions.Settlement{Delivery: d, State: sessions.DeliverySent, Next: true})
	tr.check(next != nil && rowText(*next) == "2", "next %v", next)
	tr.reopen()
	tr.clock.Advance(2 * lease)
	again := tr.take(tr.lane(), "w2")
	tr.check(rowText(again) == "2" && again.MaybeSent, "again %+v", again)
}

func outboxNothing(tr *trial) {
	d := tr.enqueue(claimer("w1"), surface, "1")[0]
	equal(tr, "next", tr.settle(sessions.Settlement{Delivery: d, State: sessions.DeliverySent, Next: true}), nil)
	_, err := tr.store.Take(tr.ctx, d.Lane.ID, worker("w1"))
	tr.wantErr(err, sessions.ErrNothing)
	_, err = tr.store.Take(tr.ctx, "nothing-like-a-lane", worker("w1"))
	if _, invalid := err.(*sessions.InvalidError); !invalid { //nolint:errorlint // either is right
		tr.wantErr(err, sessions.ErrNothing)
	}
}
