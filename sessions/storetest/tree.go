package storetest

import (
	"encoding/json"
	"time"

	"parley/sessions"
)

func treeTests() []test {
	return []test{
		{"logged messages at rest form one branch", treeAtRest},
		{"a triggering message enters the tree when a turn takes it up", treeOnClaim},
		{"a message that triggers during a turn enters behind that turn", treeTriggerWaits},
		{"a message that is logged during a turn enters when the turn ends", treeLoggedWaits},
		{"nothing gets between a tool call and its result", treeToolUnits},
		{"logged messages wait through retries and hand-backs", treeRetryWaits},
		{"a logged message behind a waiting one waits for that one's turn", treeLoggedBehindQueue},
		{"a logged message waits also when the lease has run out", treeLapsedLease},
		{"append writes behind the leaf, in order", treeAppend},
		{"entries beside the tree leave the leaf alone", treeBeside},
		{"a leaf entry moves the leaf", treeLeafMoves},
		{"a leaf entry to nowhere is refused whole", treeLeafNowhere},
		{"a payload comes back as it was", treePayload},
		{"range reads by seq within its bounds", treeRange},
		{"a long range is read in pages", treePages},
	}
}

func treeAtRest(tr *trial) {
	var id string
	for _, text := range []string{"a", "b", "c"} {
		id = tr.say(tr.heard(text), sessions.PostLogged).Session
	}
	tr.wantBranch(id, "a", "b", "c")
	for i, e := range tr.log(id) {
		tr.check(e.Seq == int64(i+1) && e.Parent == int64(i) && !e.Waiting && e.Type == sessions.EntryMessage, "entry %+v", e)
	}
	equal(tr, "leaf", tr.get(id).LeafID(), "e3")
}

func treeOnClaim(tr *trial) {
	id := tr.say(tr.said("question"), sessions.PostQueued).Session
	e := tr.log(id)[0]
	tr.check(e.Waiting && e.Parent == 0, "before its turn: %+v", e)
	equal(tr, "leaf", tr.get(id).Leaf, 0)
	turn := tr.claim(id, "w1")
	tr.check(!turn.Taken[0].Waiting, "taken %+v", turn.Taken[0])
	tr.check(!tr.log(id)[0].Waiting, "after its claim it still waits")
	tr.wantBranch(id, "question")
}

func treeTriggerWaits(tr *trial) {
	turn := tr.begin("q1")
	id := turn.Lease.Session
	tr.say(tr.said("q2"), sessions.PostQueued)
	tr.check(tr.log(id)[1].Waiting, "it does not wait")
	tr.done(turn, "a1")
	tr.check(tr.log(id)[1].Waiting, "it is in the tree before its turn")
	tr.claim(id, "w1")
	tr.wantBranch(id, "q1", "a1", "q2")
}

func treeLoggedWaits(tr *trial) {
	turn := tr.begin("q1")
	id := turn.Lease.Session
	tr.say(tr.heard("l1"), sessions.PostLogged)
	tr.say(tr.said("q2"), sessions.PostQueued)
	tr.say(tr.heard("l2"), sessions.PostLogged)
	tr.wantBranch(id, "q1")
	tr.done(turn, "a1")
	tr.wantBranch(id, "q1", "a1", "l1", "l2")
	equalSlices(tr, "by seq", tr.texts(tr.log(id)), []string{"q1", "l1", "q2", "l2", "a1"})
	tr.done(tr.claim(id, "w1"), "a2")
	tr.wantBranch(id, "q1", "a1", "l1", "l2", "q2", "a2")
}

func treeToolUnits(tr *trial) {
	turn := tr.begin("q")
	id := turn.Lease.Session
	tr.appendTo(turn, "call")
	tr.say(tr.heard("l1"), sessions.PostLogged)
	tr.say(tr.said("q2"), sessions.PostQueued)
	tr.appendTo(turn, "result")
	tr.say(tr.heard("l2"), sessions.PostLogged)
	tr.done(turn, "answer")
	tr.wantBranch(id, "q", "call", "result", "answer", "l1", "l2")
}

func treeRetryWaits(tr *trial) {
	turn := tr.begin("q")
	id := turn.Lease.Session
	tr.say(tr.heard("l1"), sessions.PostLogged)
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Again, Entries: tr.answers("call")})
	tr.say(tr.heard("l2"), sessions.PostLogged)
	tr.wantBranch(id, "q", "call")
	turn = tr.claim(id, "w1")
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.HandBack})
	tr.say(tr.heard("l3"), sessions.PostLogged)
	turn = tr.claim(id, "w1")
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Park, Entries: tr.answers("result")})
	tr.wantBranch(id, "q", "call", "result", "l1", "l2", "l3")
}

func treeLoggedBehindQueue(tr *trial) {
	id := tr.say(tr.said("q1"), sessions.PostQueued).Session
	tr.say(tr.heard("l1"), sessions.PostLogged)
	tr.wantBranch(id)
	turn := tr.claim(id, "w1")
	tr.wantBranch(id, "q1")
	tr.done(turn, "a1")
	tr.wantBranch(id, "q1", "a1", "l1")
	tr.say(tr.heard("l2"), sessions.PostLogged)
	tr.wantBranch(id, "q1", "a1", "l1", "l2")
}

func treeLapsedLease(tr *trial) {
	turn := tr.begin("q1")
	tr.clock.Advance(2 * lease)
	tr.say(tr.heard("l1"), sessions.PostLogged)
	tr.wantBranch(turn.Lease.Session, "q1")
	tr.done(turn, "a1")
	tr.wantBranch(turn.Lease.Session, "q1", "a1", "l1")
}

func treeAppend(tr *trial) {
	turn := tr.begin("q")
	first := tr.appendTo(turn, "a", "b")
	second := tr.appendTo(turn, "c")
	all := append(first, second...) //nolint:gocritic // a new slice on purpose
	for i, e := range all {
		tr.check(e.Seq == int64(i+2) && e.Parent == int64(i+1) && !e.Waiting && !e.Time.IsZero(), "entry %+v", e)
	}
	log := tr.log(turn.Lease.Session)
	for i, e := range all {
		tr.check(string(e.Payload) == string(log[i+1].Payload) && e.Time.Equal(log[i+1].Time), "returned %s, stored %s", e.Payload, log[i+1].Payload)
	}
	record := tr.get(turn.Lease.Session)
	tr.check(record.Seq == 4 && record.Leaf == 4 && record.MessageCount == 1, "record %+v", record)
	equal(tr, "nothing appended", len(must(tr.store.Append(tr.ctx, turn.Lease, nil))(tr)), 0)
}

func treeBeside(tr *trial) {
	turn := tr.begin("q")
	entries := must(tr.store.Append(tr.ctx, turn.Lease, []sessions.NewEntry{
		{Type: sessions.EntryError, Payload: json.RawMessage(`{"text":"oops"}`)}, {Type: sessions.EntryTurn}, tr.answers("a")[0],
	}))(tr)
	tr.check(entries[0].Parent == 0 && entries[1].Parent == 0 && entries[2].Parent == 1, "entries %+v", entries)
	equal(tr, "empty payload", string(entries[1].Payload), "{}")
	equal(tr, "leaf", tr.get(turn.Lease.Session).Leaf, 4)
	tr.wantBranch(turn.Lease.Session, "q", "a")
}

func treeLeafMoves(tr *trial) {
	turn := tr.begin("q")
	id := turn.Lease.Session
	tr.appendTo(turn, "a", "b")
	moved := must(tr.store.Append(tr.ctx, turn.Lease, []sessions.NewEntry{{Type: sessions.EntryLeaf, Target: 2}}))(tr)[0]
	var payload sessions.LeafEntry
	err := json.Unmarshal(moved.Payload, &payload)
	tr.check(err == nil && payload.TargetID == "e2" && moved.Parent == 0, "leaf entry %+v: %s", moved, moved.Payload)
	equal(tr, "leaf", tr.get(id).Leaf, 2)
	tr.done(turn, "c")
	tr.wantBranch(id, "q", "a", "c")
	turn = tr.begin("root")
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: []sessions.NewEntry{{Type: sessions.EntryLeaf}}})
	tr.wantBranch(id)
	tr.say(tr.heard("anew"), sessions.PostLogged)
	tr.wantBranch(id, "anew")
}

func treeLeafNowhere(tr *trial) {
	turn := tr.begin("q")
	tr.say(tr.heard("waits"), sessions.PostLogged)
	before := tr.get(turn.Lease.Session)
	for _, target := range []int64{2, 3, 99} {
		entries := append(tr.answers("a"), sessions.NewEntry{Type: sessions.EntryError}, sessions.NewEntry{Type: sessions.EntryLeaf, Target: target})
		if target == 3 {
			entries[0], entries[1] = entries[1], entries[0] // 3 is beside the tree now
		}
		_, err := tr.store.Append(tr.ctx, turn.Lease, entries)
		tr.wantErr(err, sessions.ErrNotFound)
		_, err = tr.store.Commit(tr.ctx, sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: entries})
		tr.wantErr(err, sessions.ErrNotFound)
	}
	after := tr.get(turn.Lease.Session)
	tr.check(after.Seq == before.Seq && after.Leaf == before.Leaf && after.Version == before.Version, "half written: %+v", after)
	tr.done(turn, "a")
}

func treePayload(tr *trial) {
	turn := tr.begin("q")
	payload := `{"big":9007199254740993,"text":"äöü 🙂\u0000\u001f","list":[1.50,null,{}], "space" : true}`
	must(tr.store.Append(tr.ctx, turn.Lease, []sessions.NewEntry{{Type: sessions.EntryCustomInfo, Payload: json.RawMessage(payload)}}))(tr)
	equal(tr, "payload", string(tr.log(turn.Lease.Session)[1].Payload), payload)
}

func treeRange(tr *trial) {
	before := tr.clock.Now().Add(-time.Second)
	var id string
	for _, text := range []string{"a", "b", "c", "d"} {
		id = tr.post(tr.heard(text)).Session
	}
	for _, c := range []struct {
		from, to int64
		want     []string
	}{{1, 4, []string{"a", "b", "c", "d"}}, {2, 3, []string{"b", "c"}}, {-5, 1, []string{"a"}}, {4, 99, []string{"d"}}, {5, 99, []string{}}, {3, 2, []string{}}} {
		entries := must(tr.store.Range(tr.ctx, id, c.from, c.to))(tr)
		equalSlices(tr, "range", tr.texts(entries), c.want)
		for _, e := range entries {
			tr.check(e.Time.After(before) && e.Time.Location() == time.UTC, "entry's time %v", e.Time)
		}
	}
}

func treePages(tr *trial) {
	turn := tr.begin("q")
	texts := make([]string, 700)
	for i := range texts {
		texts[i] = "x"
	}
	tr.appendTo(turn, texts...)
	tr.appendTo(turn, texts...)
	id := turn.Lease.Session
	first := must(tr.store.Range(tr.ctx, id, 1, 5000))(tr)
	equal(tr, "first page", len(first), sessions.EntriesPerCall)
	second := must(tr.store.Range(tr.ctx, id, first[len(first)-1].Seq+1, 5000))(tr)
	equal(tr, "second page", len(second), 1401-sessions.EntriesPerCall)
	equal(tr, "last", second[len(second)-1].Seq, 1401)
}
