package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley/sessions"
)

func clearTests() []test {
	return []test{
		{"clear erases the entries and keeps record and seq", clearErases},
		{"clear forgets what the record quotes of the entries", clearForgets},
		{"clear forgets what a checkpoint wrote, and only that", clearCheckpoint},
		{"clear takes what waits with it", clearQueue},
		{"clear takes dead letters, timers and the last turn with it", clearRest},
		{"what is in the outbox goes out, and its receipt is written", clearOutbox},
		{"after a clear the conversation begins at the root", clearThenPost},
		{"what was cleared is not read, in pages neither", clearRanges},
		{"nothing leads back to what was cleared", clearNoWayBack},
		{"a known from before the clear counts as none", clearKnown},
		{"a message seen before the clear is a duplicate after", clearDedupe},
		{"clear again, and of an empty session", clearAgain},
		{"clear is refused while a turn is open, and of what is over", clearRefused},
		{"clear is no activity", clearNoActivity},
		{"clear while others post and claim leaves a whole log", clearRaces},
		{"a cleared session can be deleted", clearDelete},
		{"a clear survives a restart", clearSurvives},
	}
}

func (tr *trial) clear(id string) sessions.Record {
	tr.Helper()
	record := must(tr.store.Clear(tr.ctx, id))(tr)
	tr.sameRecord("cleared", record, tr.get(id))
	return record
}

func clearErases(tr *trial) {
	id := tr.talked()
	must(tr.store.Update(tr.ctx, id, sessions.Patch{Name: new("n"), WorkingMemory: new("m"), Metadata: map[string]any{"k": "v"}, Agent: new("guide")}))(tr)
	before := tr.get(id)
	after := tr.clear(id)
	tr.check(after.Seq == 4 && after.Cleared == 4 && after.Leaf == 0 && after.Queued == 0 && after.Version > before.Version, "cleared %+v", after)
	tr.check(after.Name == "n" && after.WorkingMemory == "m" && after.Metadata["k"] == "v" && after.Agent == "guide" && after.UserID == before.UserID, "cleared %+v", after)
	tr.check(after.MessageCount == before.MessageCount && after.TurnCount == before.TurnCount && after.State == before.State && after.Status == before.Status, "cleared %+v", after)
	equalSlices(tr, "participants", after.Participants, before.Participants)
	equalSlices(tr, "surfaces", after.Surfaces, before.Surfaces)
	equal(tr, "entries", len(tr.log(id)), 0)
	equal(tr, "bound", tr.bound(surface), id)
	tr.wantFound(sessions.Query{Surface: surface}, id)
}

func clearForgets(tr *trial) {
	id := tr.talked()
	must(tr.store.Update(tr.ctx, id, sessions.Patch{ContextTokens: new(int64(1234))}))(tr)
	record := tr.get(id)
	tr.check(record.Preview != "" && record.Description == "q1" && record.DescriptionSource == sessions.DescriptionFallback, "record %+v", record)
	after := tr.clear(id)
	tr.check(after.Preview == "" && after.Description == "" && after.DescriptionSource == "" && after.ContextTokens == 0, "cleared %+v", after)
	tr.post(tr.heard("a new first message"))
	equal(tr, "description", tr.get(id).Description, "a new first message")
	for i, source := range []sessions.DescriptionSource{sessions.DescriptionAgent, sessions.DescriptionUser} {
		text := fmt.Sprintf("written %d", i)
		must(tr.store.Update(tr.ctx, id, sessions.Patch{Description: &sessions.Description{Text: text, Source: source}}))(tr)
		equal(tr, "description", tr.clear(id).Description, text)
	}
}

func clearCheckpoint(tr *trial) {
	id := tr.talked()
	for _, source := range []sessions.DescriptionSource{sessions.DescriptionAgent, sessions.DescriptionUser} {
		left := map[sessions.DescriptionSource]string{sessions.DescriptionUser: "about"}[source]
		must(tr.store.Update(tr.ctx, id, sessions.Patch{
			WorkingMemory: new("m"), Description: &sessions.Description{Text: "about", Source: source}, Checkpoint: &sessions.Checkpoint{Seq: tr.get(id).Seq, Turns: 1},
		}))(tr)
		after := tr.clear(id)
		tr.check(after.Description == left && (after.DescriptionSource == "") == (left == "") && after.WorkingMemory == "" && after.Checkpoint == sessions.Checkpoint{Turns: 2} && after.Checked() == after.Seq, "cleared %+v", after)
		if left == "" {
			tr.post(tr.heard("a new first message"))
			equal(tr, "description", tr.get(id).Description, "a new first message")
		}
	}
}

func clearQueue(tr *trial) {
	id := tr.say(tr.said("q1"), sessions.PostQueued).Session
	tr.say(tr.heard("l1"), sessions.PostLogged)
	tr.note(id, entry(sessions.EntryLabel, "x"))
	debounced := tr.said("q2")
	debounced.Debounce = time.Hour
	tr.say(debounced, sessions.PostQueued)
	equal(tr, "queued", tr.clear(id).Queued, 0)
	tr.clock.Advance(2 * time.Hour)
	equal(tr, "due", len(must(tr.store.Due(tr.ctx, 10))(tr)), 0)
	tr.cannotClaim(id, sessions.ErrNothing)
	tr.say(tr.heard("l2"), sessions.PostLogged)
	tr.wantBranch(id, "l2")
	tr.done(tr.begin("q3"), "a3")
	tr.wantBranch(id, "l2", "q3", "a3")
}

func clearRest(tr *trial) {
	id, letter := tr.parked("poison")
	tr.setTimer(id, "mine", time.Minute)
	tr.setTimer("elsewhere", "not mine", time.Minute)
	tr.clear(id)
	equal(tr, "dead letters", len(tr.dead()), 0)
	tr.wantErr(tr.store.Replay(tr.ctx, letter), sessions.ErrNotFound)
	_, _, err := tr.store.Again(tr.ctx, sessions.AgainRequest{Session: id, Claim: claimer("w1")})
	tr.wantErr(err, sessions.ErrNothing)
	tr.clock.Advance(time.Hour)
	due := must(tr.store.Due(tr.ctx, 10))(tr)
	tr.check(len(due) == 1 && due[0].Home == "elsewhere", "due after the clear: %v", due)
	tr.done(tr.begin("q"), "a")
	again, _ := tr.again(sessions.AgainRequest{Session: id, Claim: claimer("w1")})
	tr.wantTaken(again, "q")
}

func clearOutbox(tr *trial) {
	turn := tr.begin("q")
	result := tr.commit(sessions.CommitRequest{
		Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("a"), Send: claimer("w1"),
		Deliveries: []sessions.NewDelivery{{Surface: surface, Payload: json.RawMessage(`{"text":"one"}`), Entry: 0}, row(surface, "two")},
	})
	id := turn.Lease.Session
	tr.clear(id)
	next := tr.settle(sessions.Settlement{Delivery: result.Sends[0], State: sessions.DeliverySent, MessageIDs: []string{"1"}, Next: true})
	tr.check(next != nil && rowText(*next) == "two", "the next row is %v", next)
	tr.settle(sessions.Settlement{Delivery: *next, State: sessions.DeliverySent})
	log := tr.log(id)
	equalSlices(tr, "log", tr.texts(log), []string{"delivery", "delivery"})
	equal(tr, "first seq", log[0].Seq, 3)
}

func clearThenPost(tr *trial) {
	id := tr.talked()
	tr.clear(id)
	result := tr.say(tr.heard("anew"), sessions.PostLogged)
	tr.check(result.Session == id && result.Seq == 5, "posted %+v", result)
	e := tr.entryAt(id, 5)
	tr.check(e.Parent == 0 && !e.Waiting, "entry %+v", e)
	tr.wantBranch(id, "anew")
	turn := tr.begin("q3")
	tr.wantTail(turn, 0, "anew", "q3")
	tr.appendTo(turn, "call", "result")
	tr.done(turn, "a3")
	tr.wantBranch(id, "anew", "q3", "call", "result", "a3")
	tr.note(id, leafTo(5))
	tr.wantBranch(id, "anew")
	record := tr.get(id)
	tr.check(record.Seq == 10 && record.Cleared == 4 && record.MessageCount == 4 && record.Preview == "q3", "record %+v", record)
}

func clearRanges(tr *trial) {
	id := tr.filled(30)
	cleared := tr.clear(id).Cleared
	for range 5 {
		tr.post(tr.heard("x"))
	}
	for _, c := range []struct{ from, to, first, n int64 }{
		{1, 1 << 40, cleared + 1, 5}, {-3, cleared, 0, 0}, {1, cleared + 1, cleared + 1, 1}, {cleared - 2, cleared + 2, cleared + 1, 2}, {cleared + 4, 1 << 40, cleared + 4, 2}, {cleared, cleared, 0, 0},
	} {
		entries := must(tr.store.Range(tr.ctx, id, c.from, c.to))(tr)
		equal(tr, fmt.Sprintf("entries from %d to %d", c.from, c.to), len(entries), int(c.n))
		for i, e := range entries {
			equal(tr, "seq", e.Seq, c.first+int64(i))
		}
	}
}

func clearNoWayBack(tr *trial) {
	id := tr.talked()
	tr.clear(id)
	for _, target := range []int64{1, 2, 4} {
		_, err := tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: []sessions.NewEntry{leafTo(target)}})
		tr.wantErr(err, sessions.ErrNotFound)
		_, err = tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: []sessions.NewEntry{entry(sessions.EntryLabel, "x")}, IfLeaf: &target})
		tr.wantErr(err, sessions.ErrNotFound)
	}
	turn := tr.begin("q")
	_, err := tr.store.Append(tr.ctx, turn.Lease, []sessions.NewEntry{leafTo(2)})
	tr.wantErr(err, sessions.ErrNotFound)
	tr.done(turn, "a")
	tr.note(id, leafTo(0))
	tr.wantBranch(id)
}

func clearKnown(tr *trial) {
	for before := range int64(4) {
		on := fmt.Sprintf("telegram:1:%d", before)
		var id string
		for _, text := range []string{"a", "b", "c"} {
			r := tr.heard(text)
			r.Surface = on
			id = tr.post(r).Session
		}
		tr.clear(id)
		r := tr.said("q")
		r.Surface, r.Claim, r.Known = on, claimer("w1"), sessions.Known{Session: id, Seq: before}
		turn := tr.say(r, sessions.PostClaimed).Turn
		tr.wantTail(turn, 0, "q")
		tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.HandBack})
		again := must(tr.store.Claim(tr.ctx, sessions.ClaimRequest{Session: id, Claimer: worker("w2"), Known: sessions.Known{Session: id, Seq: before}}))(tr)
		tr.wantTail(again, 0, "q")
		tr.done(again, "a")
		later, _, err := tr.store.Again(tr.ctx, sessions.AgainRequest{Session: id, Claim: claimer("w1"), Known: sessions.Known{Session: id, Seq: 4}})
		must(later, err)(tr)
		tr.wantTail(later, 4, "a", "leaf")
	}
}

func clearDedupe(tr *trial) {
	r := tr.said("q")
	id := tr.post(r).Session
	tr.clear(id)
	again := tr.say(r, sessions.PostDuplicate)
	tr.check(again.Session == id && again.Turn == nil, "the redelivery: %+v", again)
	equal(tr, "entries", len(tr.log(id)), 0)
}

func clearAgain(tr *trial) {
	id := tr.talked()
	first := tr.clear(id)
	second := tr.clear(id)
	tr.check(second.Seq == first.Seq && second.Cleared == first.Cleared, "cleared %+v, then %+v", first, second)
	tr.post(tr.heard("x"))
	third := tr.clear(id)
	tr.check(third.Seq == 5 && third.Cleared == 5 && third.Leaf == 0, "cleared %+v", third)
	empty := tr.make(sessions.NewSession{ID: "api:empty"}).ID
	cleared := tr.clear(empty)
	tr.check(cleared.Cleared == 0 && cleared.Seq == 0 && cleared.State == sessions.StateCreated, "cleared %+v", cleared)
	equal(tr, "first seq", tr.post(tr.into(empty, "x")).Seq, 1)
}

func clearRefused(tr *trial) {
	_, err := tr.store.Clear(tr.ctx, "api:nobody")
	tr.wantErr(err, sessions.ErrNotFound)
	turn := tr.begin("q")
	id := turn.Lease.Session
	refused := func() {
		tr.Helper()
		before := tr.get(id)
		_, err := tr.store.Clear(tr.ctx, id)
		tr.wantStateError(err)
		tr.sameRecord("refused", tr.get(id), before)
	}
	refused()
	tr.clock.Advance(2 * lease)
	refused()
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Again, After: time.Minute})
	refused()
	tr.clock.Advance(time.Hour)
	tr.done(tr.claim(id, "w1"), "a")
	tr.ended(id)
	refused()
	tr.wantBranch(id, "q", "a")
}

func clearNoActivity(tr *trial) {
	id := tr.talked()
	before := tr.get(id)
	tr.clock.Advance(time.Hour)
	after := tr.clear(id)
	tr.check(after.LastActivityAt.Equal(before.LastActivityAt) && after.StateChangedAt.Equal(before.StateChangedAt), "cleared %+v", after)
	suspended := tr.suspended("x")
	tr.clear(suspended)
	tr.wantState(suspended, sessions.StateSuspended, sessions.StatusInactive)
}

// clearRaces has posters and workers in one session that is cleared again and
// again; what is left of the log has to be whole.
func clearRaces(tr *trial) {
	id := tr.post(tr.heard("p-first")).Session
	const posters, posts = 4, 25
	tr.together(posters+2, func(n int) error {
		switch n {
		case 0:
			return tr.clearMany(id, 20)
		case 1:
			return tr.claimMany(id, 40)
		}
		return tr.postMany(n, posts)
	})
	for tr.get(id).Queued > 0 {
		tr.done(tr.claim(id, "w1"), "answer")
	}
	record := tr.get(id)
	equal(tr, "messages", record.MessageCount, posters*posts+1)
	log, onBranch := tr.log(id), map[string]bool{}
	for _, text := range tr.branch(id) {
		tr.check(text == "answer" || !onBranch[text], "%q is on the branch twice", text)
		onBranch[text] = true
	}
	for i, e := range log {
		tr.check(e.Seq == record.Cleared+int64(i)+1 && !e.Waiting && onBranch[tr.text(e)], "entry %+v behind %d that were cleared", e, record.Cleared)
	}
	equal(tr, "entries", int64(len(log)), record.Seq-record.Cleared)
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 0)
}

func (tr *trial) clearMany(id string, times int) error {
	for range times {
		if _, err := tr.store.Clear(tr.ctx, id); err != nil {
			if _, running := errors.AsType[*sessions.StateError](err); !running {
				return err
			}
		}
	}
	return nil
}

func (tr *trial) claimMany(id string, times int) error {
	for range times {
		turn, err := tr.store.Claim(tr.ctx, sessions.ClaimRequest{Session: id, Claimer: worker("w2")})
		if errors.Is(err, sessions.ErrNothing) {
			continue
		}
		if err == nil {
			_, err = tr.store.Commit(tr.ctx, sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("answer")})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func clearDelete(tr *trial) {
	id := tr.direct(surface, "x")
	tr.clear(id)
	tr.direct(surface, "y")
	tr.remove(id)
}

func clearSurvives(tr *trial) {
	id := tr.talked()
	before := tr.clear(id)
	tr.reopen()
	tr.sameRecord("after a restart", tr.get(id), before)
	equal(tr, "entries", len(tr.log(id)), 0)
	equal(tr, "next seq", tr.post(tr.heard("x")).Seq, 5)
	tr.wantBranch(id, "x")
}
