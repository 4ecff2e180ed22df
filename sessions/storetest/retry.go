package storetest

import (
	"time"

	"parley/sessions"
)

func retryTests() []test {
	return []test{
		{"again runs the last turn once more from its messages", againRuns},
		{"again without claim leaves the turn due", againDue},
		{"again of nothing, or while something runs or waits", againRefused},
		{"again happens once per key", againOnce},
		{"again takes the dead letter with it", againDead},
		{"again revives and counts as activity", againRevives},
		{"dead letters are listed newest first and survive", deadListed},
		{"a replay where nothing happened since runs in place", replayInPlace},
		{"a replay after the conversation moved on is written anew", replayAnew},
		{"a replay waits its turn", replayWaits},
		{"a dropped dead letter is gone, its messages stay", deadDropped},
		{"unknown dead letters are not found", deadUnknown},
	}
}

func (tr *trial) again(r sessions.AgainRequest) (*sessions.Turn, bool) {
	tr.Helper()
	turn, duplicate, err := tr.store.Again(tr.ctx, r)
	must(turn, err)(tr)
	return turn, duplicate
}

func againRuns(tr *trial) {
	turn := tr.begin("q1")
	id := turn.Lease.Session
	tr.queued("q2", "member", "")
	tr.queued("q3", "member", "")
	tr.done(turn, "a1")
	turn = tr.claim(id, "w1")
	tr.done(turn, "bad answer")
	tr.post(tr.heard("l1"))
	again, duplicate := tr.again(sessions.AgainRequest{Session: id, Claim: claimer("w2")})
	tr.check(!duplicate && again != nil, "no turn")
	tr.wantTaken(again, "q2", "q3")
	tr.check(again.Attempt == 1 && again.Lease.Epoch > turn.Lease.Epoch && SurfaceOf(again) == surface, "turn %+v", again)
	tr.sameAsLog(again)
	tr.done(again, "good answer")
	tr.wantBranch(id, "q1", "a1", "q2", "q3", "good answer")
	equalSlices(tr, "log", tr.texts(tr.log(id)), []string{"q1", "q2", "q3", "a1", "bad answer", "l1", "leaf", "good answer"})
	equal(tr, "messages", tr.get(id).MessageCount, 4)
}

func againDue(tr *trial) {
	turn := tr.begin("q")
	id := turn.Lease.Session
	tr.done(turn, "a")
	again, _ := tr.again(sessions.AgainRequest{Session: id})
	tr.check(again == nil, "a turn without claim")
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 1)
	tr.say(tr.heard("l"), sessions.PostLogged)
	turn = tr.claim(id, "w1")
	tr.wantTaken(turn, "q")
	equal(tr, "attempt", turn.Attempt, 1)
	tr.done(turn, "b")
	tr.wantBranch(id, "q", "b", "l")
}

func againRefused(tr *trial) {
	_, _, err := tr.store.Again(tr.ctx, sessions.AgainRequest{Session: "telegram:nobody"})
	tr.wantErr(err, sessions.ErrNotFound)
	id := tr.post(tr.heard("l")).Session
	request := sessions.AgainRequest{Session: id, Claim: claimer("w1")}
	_, _, err = tr.store.Again(tr.ctx, request)
	tr.wantErr(err, sessions.ErrNothing)
	turn := tr.begin("q")
	_, _, err = tr.store.Again(tr.ctx, request)
	tr.wantStateError(err)
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Again, After: time.Hour})
	_, _, err = tr.store.Again(tr.ctx, request)
	tr.wantStateError(err)
	tr.clock.Advance(2 * time.Hour)
	tr.queued("q2", "member", "")
	tr.done(tr.claim(id, "w1"), "a")
	_, _, err = tr.store.Again(tr.ctx, request)
	tr.wantStateError(err)
	tr.done(tr.claim(id, "w1"), "a2")
	tr.expire(id)
	_, _, err = tr.store.Again(tr.ctx, request)
	tr.wantStateError(err)
}

func againOnce(tr *trial) {
	turn := tr.begin("q")
	id := turn.Lease.Session
	tr.done(turn, "a")
	request := sessions.AgainRequest{Key: "retry-1", Session: id, Claim: claimer("w1")}
	first, duplicate := tr.again(request)
	tr.check(first != nil && !duplicate, "first %v", first)
	second, duplicate := tr.again(request)
	tr.check(second == nil && duplicate, "second %v", second)
	tr.done(first, "b")
	third, duplicate := tr.again(request)
	tr.check(third == nil && duplicate, "third %v", third)
	tr.wantBranch(id, "q", "b")
}

func (tr *trial) parked(text string) (id, letter string) {
	tr.Helper()
	turn := tr.begin(text)
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Park, Entries: tr.answers("broken"), Reason: "bad " + text})
	letters := must(tr.store.DeadLetters(tr.ctx, 1))(tr)
	return turn.Lease.Session, letters[0].ID
}

func (tr *trial) dead() []sessions.DeadLetter {
	tr.Helper()
	return must(tr.store.DeadLetters(tr.ctx, 10))(tr)
}

func againDead(tr *trial) {
	id, _ := tr.parked("q")
	again, _ := tr.again(sessions.AgainRequest{Session: id, Claim: claimer("w1")})
	tr.wantTaken(again, "q")
	equal(tr, "attempt", again.Attempt, 1)
	equal(tr, "letters", len(tr.dead()), 0)
}

func againRevives(tr *trial) {
	turn := tr.begin("q")
	id := turn.Lease.Session
	tr.done(turn, "a")
	must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}}))(tr)
	before := tr.get(id)
	tr.clock.Advance(time.Hour)
	tr.again(sessions.AgainRequest{Session: id})
	after := tr.get(id)
	tr.check(after.State == sessions.StateActive && after.Status == sessions.StatusIdle && after.LastActivityAt.After(before.LastActivityAt), "record %+v", after)
}

func deadListed(tr *trial) {
	tr.parked("q1")
	tr.clock.Advance(time.Second)
	tr.parked("q2")
	tr.clock.Advance(time.Second)
	tr.parked("q3")
	reasons := func(letters []sessions.DeadLetter) (out []string) {
		for _, l := range letters {
			out = append(out, l.Reason)
		}
		return out
	}
	equalSlices(tr, "letters", reasons(tr.dead()), []string{"bad q3", "bad q2", "bad q1"})
	equalSlices(tr, "two letters", reasons(must(tr.store.DeadLetters(tr.ctx, 2))(tr)), []string{"bad q3", "bad q2"})
	tr.reopen()
	equalSlices(tr, "letters", reasons(tr.dead()), []string{"bad q3", "bad q2", "bad q1"})
}

func replayInPlace(tr *trial) {
	id, letter := tr.parked("q")
	if err := tr.store.Replay(tr.ctx, letter); err != nil {
		tr.Fatal(err)
	}
	equal(tr, "letters", len(tr.dead()), 0)
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 1)
	turn := tr.claim(id, "w1")
	tr.wantTaken(turn, "q")
	equal(tr, "attempt", turn.Attempt, 1)
	tr.done(turn, "a")
	tr.wantBranch(id, "q", "a")
	equal(tr, "messages", tr.get(id).MessageCount, 1)
}

func replayAnew(tr *trial) {
	id, letter := tr.parked("q")
	tr.post(tr.heard("l"))
	before := tr.get(id)
	if err := tr.store.Replay(tr.ctx, letter); err != nil {
		tr.Fatal(err)
	}
	after := tr.get(id)
	tr.check(after.Seq == before.Seq+1 && after.MessageCount == before.MessageCount && after.Queued == 1 && after.LastActivityAt.Equal(before.LastActivityAt), "record %+v", after)
	turn := tr.claim(id, "w1")
	tr.wantTaken(turn, "q")
	tr.check(turn.Attempt == 1 && SurfaceOf(turn) == surface, "turn %+v", turn)
	tr.done(turn, "a")
	tr.wantBranch(id, "q", "broken", "l", "q", "a")
	equal(tr, "letters", len(tr.dead()), 0)
	again, _ := tr.again(sessions.AgainRequest{Session: id, Claim: claimer("w1")})
	equal(tr, "the copy is run again", again.Taken[0].Seq, turn.Taken[0].Seq)
}

func replayWaits(tr *trial) {
	id, letter := tr.parked("q1")
	turn := tr.begin("q2")
	tr.queued("q3", "owner", "")
	if err := tr.store.Replay(tr.ctx, letter); err != nil {
		tr.Fatal(err)
	}
	tr.done(turn, "a2")
	turn = tr.claim(id, "w1")
	tr.wantTaken(turn, "q3")
	tr.done(turn, "a3")
	turn = tr.claim(id, "w1")
	tr.wantTaken(turn, "q1")
	tr.done(turn, "a1")
	tr.wantBranch(id, "q1", "broken", "q2", "a2", "q3", "a3", "q1", "a1")
}

func deadDropped(tr *trial) {
	id, letter := tr.parked("q")
	if err := tr.store.DropDead(tr.ctx, letter); err != nil {
		tr.Fatal(err)
	}
	equal(tr, "letters", len(tr.dead()), 0)
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 0)
	tr.wantBranch(id, "q", "broken")
	tr.wantErr(tr.store.Replay(tr.ctx, letter), sessions.ErrNotFound)
	tr.wantErr(tr.store.DropDead(tr.ctx, letter), sessions.ErrNotFound)
}

func deadUnknown(tr *trial) {
	for _, id := range []string{"nothing", "", "0", "-1", "999999999999999999999"} {
		tr.wantErr(tr.store.Replay(tr.ctx, id), sessions.ErrNotFound)
		tr.wantErr(tr.store.DropDead(tr.ctx, id), sessions.ErrNotFound)
	}
	equal(tr, "letters", len(tr.dead()), 0)
}
