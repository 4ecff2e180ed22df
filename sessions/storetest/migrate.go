package storetest

import (
	"encoding/json"
	"fmt"
	"time"

	"parley/sessions"
)

// fill puts something of everything into a store. It returns the ids of all
// sessions.
func (tr *trial) fill() []string {
	tr.Helper()
	tr.fillPeople()
	ids := tr.fillSessions()
	ids = append(ids, tr.fillTurns()...)
	tr.fillOutbox()
	tr.fillTimers()
	tr.fillSchedules()
	return ids
}

func (tr *trial) fillPeople() {
	tr.Helper()
	tr.do(tr.store.ListChat(tr.ctx, "telegram:1:100", "telegram:1"))
	tr.do(tr.store.ListChat(tr.ctx, "slack:1:{odd}", "telegram:1"))
	tr.do(tr.store.SaveLock(tr.ctx, tr.lock("telegram:poll", "w1"), `{"offset":7}`, 0))
	saved := tr.lock("discord:shard", "w1")
	tr.do(tr.store.SaveLock(tr.ctx, saved, "äöü\n\x00", time.Hour))
	tr.do(tr.store.Unlock(tr.ctx, saved))
	tr.role("telegram:1", "owner")
	tr.role("telegram:2", "member")
	tr.link("telegram:1", "slack:U1")
	tr.link("telegram:7", "slack:U7")
	tr.offer("telegram:2")
}

// fillSessions makes sessions of all states and shapes that are at rest.
func (tr *trial) fillSessions() []string {
	tr.Helper()
	created := tr.make(sessions.NewSession{Surface: "cli:local:work", UserID: "telegram:1", WorkspaceID: "/home", Name: "work", Agent: "guide", Metadata: map[string]any{"n": "v", "deep": map[string]any{"list": []any{"a", 1.5, nil}}}, Source: sessions.Source{Kind: "cli", Interactive: true, Platform: "cli", TriggerID: "t", Type: sessions.Direct}})
	talked := tr.talked()
	tr.note(talked, leafTo(2), entry(sessions.EntryBranchSummary, "s"), entry(sessions.EntryReaction, "<b>&\u2028"))
	must(tr.store.Update(tr.ctx, talked, sessions.Patch{WorkingMemory: new("memory"), ContextTokens: new(int64(77)), Checkpoint: &sessions.Checkpoint{Seq: 4, Turns: 2}, Description: &sessions.Description{Text: "d", Source: sessions.DescriptionUser}}))(tr)
	tr.attach(talked, "slack:1:C:5")
	tr.attach(created.ID, "telegram:1:far")
	suspended := tr.suspendedDirect("web:local:phone")
	tr.post(tr.into(tr.make(sessions.NewSession{ID: "api:by-id"}).ID, "by its id"))
	expired := tr.direct("telegram:1:expired", "x")
	tr.ended(expired)
	cleared := tr.direct("telegram:1:cleared", "gone")
	tr.clear(cleared)
	tr.post(tr.into(cleared, "left"))
	tr.imported(chatRecord("api:imported"), chat()...)
	gone := tr.direct("telegram:1:gone", "x")
	tr.do(tr.store.Delete(tr.ctx, gone))
	return []string{created.ID, talked, suspended, "api:by-id", expired, cleared, "api:imported", tr.bound("web:local:phone")}
}

// fillTurns makes sessions in which something runs, waits, or was parked.
func (tr *trial) fillTurns() []string {
	tr.Helper()
	on := func(surface string) *sessions.Turn {
		r := tr.said("q on " + surface)
		r.Surface, r.Claim = surface, claimer("w1")
		r.Message.SentAt, r.Message.Sequence = time.Date(2026, 1, 2, 3, 4, 5, int(6*time.Millisecond), time.UTC), 7
		return tr.say(r, sessions.PostClaimed).Turn
	}
	running := on("telegram:1:running")
	tr.appendTo(running, "call")
	r := tr.said("waits alone")
	r.Surface, r.Alone, r.Rights, r.Message.Sequence = "telegram:1:running", true, "owner", 9
	tr.say(r, sessions.PostQueued)
	l := tr.heard("logged, waits")
	l.Surface = "telegram:1:running"
	tr.say(l, sessions.PostLogged)
	tr.note(running.Lease.Session, entry(sessions.EntryLabel, "waits too"))
	must(tr.store.Stop(tr.ctx, running.Lease.Session))(tr)
	retried := on("telegram:1:retried")
	tr.commit(sessions.CommitRequest{Lease: retried.Lease, Outcome: sessions.Again, After: 6 * time.Hour, Reason: "later"})
	debounced := tr.said("debounced")
	debounced.Surface, debounced.Debounce = "telegram:1:debounced", 6*time.Hour
	waiting := tr.say(debounced, sessions.PostQueued).Session
	var parked []*sessions.Turn
	for i := range 2 {
		parked = append(parked, on(fmt.Sprintf("telegram:1:parked-%d", i)))
		tr.commit(sessions.CommitRequest{Lease: parked[i].Lease, Outcome: sessions.Park, Entries: tr.answers("broken"), Reason: fmt.Sprintf("bad %d", i)})
		tr.clock.Advance(time.Second)
	}
	moved := tr.heard("behind the dead letter")
	moved.Surface = "telegram:1:parked-1"
	tr.post(moved)
	return []string{running.Lease.Session, retried.Lease.Session, waiting, parked[0].Lease.Session, parked[1].Lease.Session}
}

// fillOutbox puts rows into the outbox: with and without a session, taken,
// tried and given up for now.
func (tr *trial) fillOutbox() {
	tr.Helper()
	for i := range 5 {
		must(tr.store.Enqueue(tr.ctx, sessions.EnqueueRequest{Key: fmt.Sprintf("row-%d", i), Deliveries: []sessions.NewDelivery{row("telegram:1:rows", fmt.Sprintf("row %d", i))}}))(tr)
	}
	d := tr.enqueue(claimer("w1"), "telegram:1:tried", "tried", "behind")[0]
	tr.settle(sessions.Settlement{Delivery: d, State: sessions.DeliveryPending, MaybeSent: true})
	r := tr.said("q")
	r.Surface, r.Claim = "telegram:1:sent", claimer("w1")
	turn := tr.say(r, sessions.PostClaimed).Turn
	result := tr.commit(sessions.CommitRequest{
		Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("one", "two"), Send: claimer("w1"),
		Deliveries: []sessions.NewDelivery{{Surface: "telegram:1:sent", Payload: json.RawMessage(`{"text":"one"}`), Entry: 0}, {Surface: "telegram:1:sent", Payload: json.RawMessage(`{"text":"two"}`), Entry: 1}},
	})
	tr.settle(sessions.Settlement{Delivery: result.Sends[0], State: sessions.DeliverySent, MessageIDs: []string{"m1"}})
}

func (tr *trial) fillTimers() {
	tr.Helper()
	tr.setTimer("cli:work", "idle", 6*time.Hour)
	tr.setTimer("elsewhere", "due", 0)
	tr.setTimer("elsewhere", "fired", 0)
	tr.fire("elsewhere", "fired")
	tr.do(tr.store.SetTimer(tr.ctx, sessions.Timer{Home: "elsewhere", Name: "bare"}, 7*time.Hour))
}

func (tr *trial) fillSchedules() {
	tr.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range 3 {
		runs := []sessions.ScheduleRun{}
		for n := range i {
			runs = append(runs, sessions.ScheduleRun{ID: fmt.Sprintf("run-%d", n), At: at.Add(time.Duration(n) * time.Hour), Body: json.RawMessage(`{"state":"ok"}`)})
		}
		must(tr.store.SaveSchedule(tr.ctx, sessions.ScheduleChange{
			ID: fmt.Sprintf("schedule-%d", i), By: "telegram:1", Definition: json.RawMessage(`{"cron":"0 9 * * 1-5"}`), State: json.RawMessage(`{"n":1}`), Due: tr.clock.Now().Add(6 * time.Hour), Runs: runs,
		}))(tr)
	}
}

// migrates fills a, restores its dump into b, and expects b to be the same and
// to go on.
func migrates(a, b *trial) {
	a.Helper()
	ids := a.fill()
	items := a.dump(sessions.ListMax)
	b.restore(items, 25)
	b.sameItems("restored", b.dump(sessions.ListMax), items)
	for _, id := range ids {
		want := a.get(id)
		if want.Status == sessions.StatusRunning {
			want.Status = sessions.StatusIdle
		}
		b.sameRecord("restored "+id, b.get(id), want)
		log := a.log(id)
		for i, e := range b.log(id) {
			b.check(i < len(log) && sameJSON(e.Payload, log[i].Payload), "entry %+v of %s: %s", e, id, e.Payload)
			e.Payload = log[i].Payload
			b.sameEntry(e, log[i])
		}
	}
	for _, on := range []string{surface, "cli:local:work", "telegram:1:far", "slack:1:C:5", "web:local:phone", "telegram:1:expired", "telegram:1:gone", "telegram:1:running"} {
		equal(b, "bound to "+on, b.bound(on), a.bound(on))
	}
	b.rowsInOrder()
	b.peopleGoOn()
	b.turnsGoOn(a)
	b.outboxGoesOn()
	b.timersGoOn(a)
	b.schedulesGoOn(a)
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x) //nolint:errchkjson // it was JSON
	q, _ := json.Marshal(y) //nolint:errchkjson // it was JSON
	return string(p) == string(q)
}

func (tr *trial) peopleGoOn() {
	tr.Helper()
	tr.check(tr.listed("telegram:1:100") && tr.listed("slack:1:{odd}"), "chats are not listed")
	tr.wantUser("owner", "telegram:1", "slack:U1")
	tr.wantUser("member", "telegram:2")
	tr.wantUser("", "telegram:7", "slack:U7")
	for name, data := range map[string]string{"telegram:poll": `{"offset":7}`, "discord:shard": "äöü\n\x00"} {
		equal(tr, "data of "+name, tr.lock(name, "w9").Data, data)
	}
	tr.link("telegram:1", "slack:U7")
	tr.wantUser("owner", "telegram:1", "slack:U1", "telegram:7", "slack:U7")
}

// turnsGoOn expects what waits in fillTurns to be taken up as it would have been.
func (tr *trial) turnsGoOn(before *trial) {
	tr.Helper()
	running := tr.bound("telegram:1:running")
	turn := tr.claim(running, "w9")
	tr.wantTaken(turn, "q on telegram:1:running")
	tr.check(turn.Attempt == 2 && turn.Stop && turn.Lease.Epoch > before.get(running).Epoch, "turn %+v", turn)
	next := tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("answer"), Next: claimer("w9")}).Next
	tr.wantTaken(next, "waits alone")
	tr.done(next, "answer 2")
	tr.wantBranch(running, "q on telegram:1:running", "call", "answer", "logged, waits", "label", "waits alone", "answer 2")
	later := []string{tr.bound("telegram:1:retried"), tr.bound("telegram:1:debounced")}
	for _, id := range later {
		tr.cannotClaim(id, sessions.ErrNothing)
	}
	letters := tr.dead()
	equal(tr, "dead letters", len(letters), 2)
	for i, l := range before.dead() {
		tr.check(letters[i].ID == l.ID && letters[i].Reason == l.Reason && letters[i].At.Equal(l.At) && letters[i].Attempts == l.Attempts, "dead letter %+v, was %+v", letters[i], l)
		tr.do(tr.store.Replay(tr.ctx, l.ID))
		tr.done(tr.claim(l.Session, "w9"), "answer")
	}
	tr.wantBranch(letters[1].Session, "q on telegram:1:parked-0", "answer")
	tr.wantBranch(letters[0].Session, "q on telegram:1:parked-1", "broken", "behind the dead letter", "q on telegram:1:parked-1", "answer")
	tr.clock.Advance(6*time.Hour + time.Minute)
	for i, id := range later {
		again := tr.claim(id, "w9")
		equal(tr, "attempt", again.Attempt, 2-i)
		tr.done(again, "answer")
	}
	tr.sameKeys(before)
}

// sameKeys expects what was seen before to be a duplicate.
func (tr *trial) sameKeys(before *trial) {
	tr.Helper()
	for _, r := range before.posted {
		was, err := before.store.Post(tr.ctx, r)
		must(was, err)(tr)
		is := tr.say(r, sessions.PostDuplicate)
		tr.check(was.Outcome == sessions.PostDuplicate && is.Session == was.Session && is.Seq == was.Seq, "the redelivery of %s: %+v, was %+v", r.Key, is, was)
	}
}

func (tr *trial) outboxGoesOn() {
	tr.Helper()
	texts := map[string][]string{}
	for _, w := range tr.due(sessions.WorkLane) {
		d := tr.take(w.ID, "w9")
		if d.Surface == "telegram:1:tried" {
			tr.check(d.Attempt == 2 && d.MaybeSent, "tried %+v", d)
		}
		for next := &d; next != nil; next = tr.settle(sessions.Settlement{Delivery: *next, State: sessions.DeliverySent, MessageIDs: []string{"9"}, Next: true}) {
			texts[next.Surface] = append(texts[next.Surface], rowText(*next))
		}
	}
	equalSlices(tr, "rows", texts["telegram:1:rows"], []string{"row 0", "row 1", "row 2", "row 3", "row 4"})
	equalSlices(tr, "tried", texts["telegram:1:tried"], []string{"tried", "behind"})
	equalSlices(tr, "sent", texts["telegram:1:sent"], []string{"two"})
	id := tr.bound("telegram:1:sent")
	log := tr.log(id)
	var receipt sessions.DeliveryEntry
	tr.do(json.Unmarshal(log[len(log)-1].Payload, &receipt))
	equal(tr, "receipt of", receipt.EntryID, "e3")
	again := must(tr.store.Enqueue(tr.ctx, sessions.EnqueueRequest{Key: "row-0", Deliveries: []sessions.NewDelivery{row("telegram:1:rows", "row 0")}}))(tr)
	tr.check(again.Duplicate, "a row's key was forgotten")
}

func (tr *trial) timersGoOn(before *trial) {
	tr.Helper()
	for _, name := range []string{"due", "fired"} {
		was := before.fire("elsewhere", name)
		is := tr.fire("elsewhere", name)
		tr.check(is.Purpose == was.Purpose && string(is.Payload) == string(was.Payload) && is.Due.Equal(was.Due), "timer %+v, was %+v", is, was)
		equal(tr, "fence of "+name, is.Fence, was.Fence)
		tr.do(tr.store.FinishTimer(tr.ctx, is))
		tr.setTimer("elsewhere", name, 0)
		tr.check(tr.fire("elsewhere", name).Fence != is.Fence, "timer %s has its fence again", name)
	}
	tr.fire("cli:work", "idle")
	tr.cannotFire("elsewhere", "bare")
}

func (tr *trial) schedulesGoOn(before *trial) {
	tr.Helper()
	for i := range 3 {
		id := fmt.Sprintf("schedule-%d", i)
		was, is := must(before.store.Schedule(tr.ctx, id))(tr), must(tr.store.Schedule(tr.ctx, id))(tr)
		tr.check(is.By == was.By && sameJSON(is.Definition, was.Definition) && sameJSON(is.State, was.State) && is.Version == was.Version && is.CreatedAt.Equal(was.CreatedAt), "schedule %+v, was %+v", is, was)
		equal(tr, "runs", len(must(tr.store.ScheduleRuns(tr.ctx, id, 10))(tr)), i)
		changed := must(tr.store.SaveSchedule(tr.ctx, sessions.ScheduleChange{ID: id, Version: is.Version, State: json.RawMessage(`{"n":2}`)}))(tr)
		tr.check(changed.Version != is.Version, "version %d again", is.Version)
	}
}
