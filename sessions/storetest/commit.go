package storetest

import (
	"strings"
	"time"

	"parley/sessions"
)

func commitTests() []test {
	return []test{
		{"done writes entries, rows and record together", commitDone},
		{"a commit leaves what waits due at once", commitLeavesDue},
		{"a turn without an answer is over and does not count", commitUnanswered},
		{"again keeps the messages, counts, and waits", commitAgain},
		{"hand back keeps the messages and does not count", commitHandBack},
		{"what is handed back for later waits", commitHandBackLater},
		{"a store never parks by itself", commitNeverParks},
		{"park makes a dead letter and frees the session", commitPark},
		{"a commit takes the free lanes of its rows", commitSends},
		{"rows follow what waits in their lane", commitSendsOlder},
		{"rows of a commit point to their entries", commitEntryOfRow},
		{"a patch of a commit applies", commitPatch},
		{"what was acknowledged survives a restart", commitSurvives},
	}
}

func commitDone(tr *trial) {
	turn := tr.begin("q")
	before := tr.get(turn.Lease.Session)
	entries := append(tr.answers("a"), sessions.NewEntry{Type: sessions.EntryTurn})
	result := tr.commit(sessions.CommitRequest{
		Lease: turn.Lease, Outcome: sessions.Done, Entries: entries,
		Deliveries: []sessions.NewDelivery{{Surface: surface, Payload: row(surface, "a").Payload, Entry: 0}},
		Patch:      sessions.Patch{Preview: new("a")},
	})
	equalSlices(tr, "entries", tr.texts(result.Entries), []string{"a", "turn"})
	tr.check(result.Next == nil && len(result.Sends) == 0, "result %+v", result)
	after := tr.get(turn.Lease.Session)
	tr.check(after.Status == sessions.StatusIdle && after.TurnCount == 1 && after.Preview == "a" && after.Version > before.Version, "record %+v", after)
	equal(tr, "lanes due", len(tr.due(sessions.WorkLane)), 1)
	equal(tr, "turns due", len(tr.due(sessions.WorkTurn)), 0)
}

func commitLeavesDue(tr *trial) {
	turn := tr.begin("q")
	tr.queued("q2", "member", "")
	equal(tr, "due while it runs", len(tr.due(sessions.WorkTurn)), 0)
	tr.done(turn, "a")
	due := tr.due(sessions.WorkTurn)
	tr.check(len(due) == 1 && due[0].ID == turn.Lease.Session, "due %v", due)
}

func commitUnanswered(tr *trial) {
	turn := tr.begin("q")
	tr.queued("q2", "member", "")
	result := tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Unanswered, Next: claimer("w1")})
	tr.check(result.Next != nil, "what waits is not taken up")
	tr.commit(sessions.CommitRequest{Lease: result.Next.Lease, Outcome: sessions.Unanswered})
	after := tr.get(turn.Lease.Session)
	tr.check(after.Status == sessions.StatusIdle && after.TurnCount == 0 && after.MessageCount == 2, "record %+v", after)
	tr.cannotClaim(turn.Lease.Session, sessions.ErrNothing)
	equal(tr, "dead letters", len(must(tr.store.DeadLetters(tr.ctx, 10))(tr)), 0)
	again, _, err := tr.store.Again(tr.ctx, sessions.AgainRequest{Session: turn.Lease.Session, Claim: claimer("w1")})
	tr.check(err == nil && again != nil, "it cannot be run again: %v", err)
	tr.done(again, "a")
	equal(tr, "turns", tr.get(turn.Lease.Session).TurnCount, 1)
}

func commitAgain(tr *trial) {
	turn := tr.begin("q")
	tr.queued("q2", "member", "")
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Again, After: time.Hour, Reason: "model away", Next: claimer("w1")})
	record := tr.get(turn.Lease.Session)
	tr.check(record.Status == sessions.StatusIdle && record.Queued == 1 && record.TurnCount == 0, "record %+v", record)
	tr.cannotClaim(turn.Lease.Session, sessions.ErrNothing)
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 0)
	tr.clock.Advance(59 * time.Minute)
	tr.cannotClaim(turn.Lease.Session, sessions.ErrNothing)
	tr.clock.Advance(2 * time.Minute)
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 1)
	again := tr.claim(turn.Lease.Session, "w2")
	tr.wantTaken(again, "q")
	equal(tr, "attempt", again.Attempt, 2)
	tr.done(again, "a")
	tr.wantTaken(tr.claim(turn.Lease.Session, "w2"), "q2")
}

func commitHandBack(tr *trial) {
	turn := tr.begin("q")
	for range 5 {
		tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.HandBack, Entries: tr.answers("part")})
		equal(tr, "due", len(tr.due(sessions.WorkTurn)), 1)
		equal(tr, "status", tr.get(turn.Lease.Session).Status, sessions.StatusIdle)
		turn = tr.claim(turn.Lease.Session, "w2")
		tr.wantTaken(turn, "q")
		equal(tr, "attempt", turn.Attempt, 1)
	}
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Again})
	turn = tr.claim(turn.Lease.Session, "w2")
	equal(tr, "attempt", turn.Attempt, 2)
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.HandBack})
	equal(tr, "attempt", tr.claim(turn.Lease.Session, "w2").Attempt, 2)
}

func commitHandBackLater(tr *trial) {
	turn := tr.begin("q")
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.HandBack, After: time.Minute})
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 0)
	tr.cannotClaim(turn.Lease.Session, sessions.ErrNothing)
	tr.queued("q2", "owner", "")
	equal(tr, "due with more behind it", len(tr.due(sessions.WorkTurn)), 0)
	tr.clock.Advance(2 * time.Minute)
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 1)
	again := tr.claim(turn.Lease.Session, "w2")
	tr.wantTaken(again, "q")
	equal(tr, "attempt", again.Attempt, 1)
}

func commitNeverParks(tr *trial) {
	turn := tr.begin("q")
	for want := 2; want <= sessions.AttemptsMax+2; want++ {
		tr.clock.Advance(2 * lease)
		turn = tr.claim(turn.Lease.Session, "w1")
		equal(tr, "attempt", turn.Attempt, want)
	}
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Park, Reason: "enough"})
	letters := must(tr.store.DeadLetters(tr.ctx, 10))(tr)
	equal(tr, "attempts", letters[0].Attempts, sessions.AttemptsMax+2)
}

func commitPark(tr *trial) {
	turn := tr.begin("q")
	tr.queued("q2", "owner", "")
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Park, Reason: strings.Repeat("r", 2000)})
	letters := must(tr.store.DeadLetters(tr.ctx, 10))(tr)
	equal(tr, "letters", len(letters), 1)
	l := letters[0]
	tr.check(l.ID != "" && l.Session == turn.Lease.Session && l.Attempts == 1 && len(l.Reason) == sessions.ReasonMax && !l.At.IsZero(), "letter %+v", l)
	equalSlices(tr, "messages", l.Messages, []int64{1})
	record := tr.get(turn.Lease.Session)
	tr.check(record.TurnCount == 0 && record.Status == sessions.StatusIdle, "record %+v", record)
	tr.wantTaken(tr.claim(turn.Lease.Session, "w1"), "q2")
}

func commitSends(tr *trial) {
	turn := tr.begin("q")
	result := tr.commit(sessions.CommitRequest{
		Lease: turn.Lease, Outcome: sessions.Done, Send: claimer("w1"),
		Deliveries: []sessions.NewDelivery{row(surface, "here 1"), row(other, "there 1"), row(surface, "here 2")},
	})
	equal(tr, "sends", len(result.Sends), 2)
	for i, want := range []struct{ surface, text string }{{surface, "here 1"}, {other, "there 1"}} {
		s := result.Sends[i]
		tr.check(s.Surface == want.surface && rowText(s) == want.text && s.Attempt == 1 && !s.MaybeSent && s.Session == turn.Lease.Session && s.ID != "", "send %+v", s)
	}
	equal(tr, "lanes due", len(tr.due(sessions.WorkLane)), 0)
	_, err := tr.store.Take(tr.ctx, result.Sends[0].Lane.ID, worker("w2"))
	tr.wantErr(err, sessions.ErrBusy)
	turn = tr.begin("q again")
	result = tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Send: claimer("w1"), Deliveries: []sessions.NewDelivery{row(surface, "here 3")}})
	equal(tr, "sends into a lane that is held", len(result.Sends), 0)
}

func commitSendsOlder(tr *trial) {
	tr.enqueue(nil, surface, "older")
	turn := tr.begin("q")
	result := tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Send: claimer("w1"), Deliveries: []sessions.NewDelivery{row(surface, "newer")}})
	tr.check(len(result.Sends) == 1 && rowText(result.Sends[0]) == "older" && result.Sends[0].Session == "", "sends %+v", result.Sends)
	tr.settle(sessions.Settlement{Delivery: result.Sends[0], State: sessions.DeliveryPending, After: time.Hour})
	turn = tr.begin("q")
	result = tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Send: claimer("w1"), Deliveries: []sessions.NewDelivery{row(surface, "newest")}})
	equal(tr, "sends while the first waits", len(result.Sends), 0)
}

func commitEntryOfRow(tr *trial) {
	turn := tr.begin("q")
	rows := []sessions.NewDelivery{row(surface, "for b"), row(other, "for none")}
	rows[0].Entry = 1
	result := tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("a", "b"), Deliveries: rows, Send: claimer("w1")})
	equal(tr, "entry", result.Sends[0].Entry, result.Entries[1].Seq)
	equal(tr, "no entry", result.Sends[1].Entry, 0)
}

func commitPatch(tr *trial) {
	turn := tr.begin("q")
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Patch: sessions.Patch{
		Name: new("n"), ContextTokens: new(int64(12)), Metadata: map[string]any{"k": "v"}, WorkingMemory: new("m"),
	}})
	r := tr.get(turn.Lease.Session)
	tr.check(r.Name == "n" && r.ContextTokens == 12 && r.Metadata["k"] == "v" && r.WorkingMemory == "m", "record %+v", r)
}

func commitSurvives(tr *trial) {
	turn := tr.begin("q")
	tr.queued("q2", "member", "")
	tr.commit(sessions.CommitRequest{
		Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("a"), Deliveries: []sessions.NewDelivery{row(surface, "a")},
	})
	tr.reopen()
	d := tr.take(tr.lane(), "w2")
	equal(tr, "row", rowText(d), "a")
	next := tr.claim(turn.Lease.Session, "w2")
	tr.wantTaken(next, "q2")
	tr.wantBranch(turn.Lease.Session, "q", "a", "q2")
}
