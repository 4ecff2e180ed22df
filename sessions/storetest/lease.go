package storetest

import (
	"time"

	"parley/sessions"
)

func leaseTests() []test {
	return []test{
		{"one holder at a time", leaseOne},
		{"of claims at the same time one wins", leaseTogether},
		{"a lease runs out by the store's clock", leaseRunsOut},
		{"renewing keeps a lease", leaseRenewed},
		{"renewing many leases answers each", leaseRenewMany},
		{"a late holder whom nobody replaced may go on", leaseLate},
		{"a replaced holder is refused everything", leaseFenced},
		{"a wrong epoch or nonce is refused", leaseForged},
		{"a committed lease is over", leaseOver},
		{"stop is told at the renewal and ends with the turn", stopTold},
		{"stop reaches who takes the turn over", stopTakenOver},
		{"stop without a turn changes nothing", stopNothing},
		{"a lease survives a restart", leaseSurvives},
		{"a claim of an unknown session is not found", leaseUnknown},
	}
}

func leaseOne(tr *trial) {
	turn := tr.begin("q")
	tr.cannotClaim(turn.Lease.Session, sessions.ErrBusy)
	_, err := tr.store.Claim(tr.ctx, sessions.ClaimRequest{Session: turn.Lease.Session, Claimer: worker("w1")})
	tr.wantErr(err, sessions.ErrBusy)
}

func leaseTogether(tr *trial) {
	id := tr.say(tr.said("q"), sessions.PostQueued).Session
	won := make([]bool, 12)
	tr.together(len(won), func(i int) error {
		_, err := tr.store.Claim(tr.ctx, sessions.ClaimRequest{Session: id, Claimer: worker("w")})
		won[i] = err == nil
		if err != nil {
			tr.wantErrIs(err, sessions.ErrBusy)
		}
		return nil
	})
	n := 0
	for _, w := range won {
		if w {
			n++
		}
	}
	equal(tr, "winners", n, 1)
}

func leaseRunsOut(tr *trial) {
	turn := tr.begin("q")
	tr.appendTo(turn, "partial")
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 0)
	tr.clock.Advance(lease + time.Minute)
	due := tr.due(sessions.WorkTurn)
	tr.check(len(due) == 1 && due[0].ID == turn.Lease.Session, "due %v", due)
	again := tr.claim(turn.Lease.Session, "w2")
	tr.wantTaken(again, "q")
	tr.check(again.Attempt == 2 && again.Lease.Epoch > turn.Lease.Epoch && again.Lease.Nonce != turn.Lease.Nonce, "taken over: %+v", again)
	tr.done(again, "answer")
	tr.wantBranch(turn.Lease.Session, "q", "partial", "answer")
	tr.cannotClaim(turn.Lease.Session, sessions.ErrNothing)
}

func leaseRenewed(tr *trial) {
	turn := tr.begin("q")
	for range 3 {
		tr.clock.Advance(lease - time.Minute)
		renewed := must(tr.store.Renew(tr.ctx, []sessions.Lease{turn.Lease}, lease))(tr)
		tr.check(renewed[0].Held && !renewed[0].Stop, "renewed %+v", renewed)
		tr.cannotClaim(turn.Lease.Session, sessions.ErrBusy)
	}
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 0)
}

func leaseRenewMany(tr *trial) {
	held := tr.begin("q")
	r := tr.said("q")
	r.Surface, r.Claim = other, claimer("w1")
	over := tr.say(r, sessions.PostClaimed).Turn
	tr.done(over, "a")
	unknown := sessions.Lease{Session: "telegram:nobody", Epoch: 1, Nonce: "x"}
	renewed := must(tr.store.Renew(tr.ctx, []sessions.Lease{over.Lease, held.Lease, unknown, held.Lease}, lease))(tr)
	equalSlices(tr, "renewed", renewed, []sessions.RenewResult{{}, {Held: true}, {}, {Held: true}})
	equal(tr, "none", len(must(tr.store.Renew(tr.ctx, nil, lease))(tr)), 0)
}

func leaseLate(tr *trial) {
	turn := tr.begin("q")
	tr.clock.Advance(2 * lease)
	tr.appendTo(turn, "late")
	renewed := must(tr.store.Renew(tr.ctx, []sessions.Lease{turn.Lease}, lease))(tr)
	tr.check(renewed[0].Held, "not held")
	tr.cannotClaim(turn.Lease.Session, sessions.ErrBusy)
	tr.clock.Advance(2 * lease)
	tr.done(turn, "answer")
	tr.wantBranch(turn.Lease.Session, "q", "late", "answer")
	tr.cannotClaim(turn.Lease.Session, sessions.ErrNothing)
}

// refused expects that a lease is refused everything and changes nothing.
func (tr *trial) refused(l sessions.Lease) {
	tr.Helper()
	before := tr.get(l.Session)
	_, err := tr.store.Append(tr.ctx, l, tr.answers("stale"))
	tr.wantErr(err, sessions.ErrFenced)
	for _, outcome := range []sessions.Outcome{sessions.Done, sessions.Unanswered, sessions.Again, sessions.Park, sessions.HandBack} {
		_, err = tr.store.Commit(tr.ctx, sessions.CommitRequest{
			Lease: l, Outcome: outcome, Entries: tr.answers("stale"), Deliveries: []sessions.NewDelivery{row(surface, "stale")},
			Patch: sessions.Patch{Name: new("stale")}, Next: claimer("w1"), Send: claimer("w1"),
		})
		tr.wantErr(err, sessions.ErrFenced)
	}
	renewed := must(tr.store.Renew(tr.ctx, []sessions.Lease{l}, lease))(tr)
	tr.check(!renewed[0].Held, "a refused lease is held")
	after := tr.get(l.Session)
	tr.check(after.Version == before.Version && after.Seq == before.Seq && after.Name == before.Name, "a stale write landed: %+v", after)
	equal(tr, "lanes due", len(tr.due(sessions.WorkLane)), 0)
}

func leaseFenced(tr *trial) {
	turn := tr.begin("q")
	tr.clock.Advance(2 * lease)
	again := tr.claim(turn.Lease.Session, "w1")
	tr.refused(turn.Lease)
	tr.done(again, "answer")
	tr.refused(turn.Lease)
	tr.wantBranch(turn.Lease.Session, "q", "answer")
}

func leaseForged(tr *trial) {
	turn := tr.begin("q")
	for _, l := range []sessions.Lease{
		{Session: turn.Lease.Session, Epoch: turn.Lease.Epoch, Nonce: turn.Lease.Nonce + "x"},
		{Session: turn.Lease.Session, Epoch: turn.Lease.Epoch, Nonce: ""},
		{Session: turn.Lease.Session, Epoch: turn.Lease.Epoch + 1, Nonce: turn.Lease.Nonce},
		{Session: turn.Lease.Session, Epoch: turn.Lease.Epoch - 1, Nonce: turn.Lease.Nonce},
	} {
		tr.refused(l)
	}
	_, err := tr.store.Append(tr.ctx, sessions.Lease{Session: "telegram:nobody", Epoch: 1, Nonce: "x"}, tr.answers("a"))
	tr.wantErr(err, sessions.ErrFenced)
	tr.done(turn, "answer")
}

func leaseOver(tr *trial) {
	for _, outcome := range []sessions.Outcome{sessions.Done, sessions.Unanswered, sessions.Again, sessions.HandBack, sessions.Park} {
		turn := tr.begin("q")
		tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: outcome})
		tr.refused(turn.Lease)
		tr.refused(sessions.Lease{Session: turn.Lease.Session, Epoch: turn.Lease.Epoch})
		if outcome == sessions.Again || outcome == sessions.HandBack {
			tr.done(tr.claim(turn.Lease.Session, "w2"), "a")
		}
	}
}

func stopTold(tr *trial) {
	turn := tr.begin("q")
	running := must(tr.store.Stop(tr.ctx, turn.Lease.Session))(tr)
	tr.check(running, "no turn runs")
	renewed := must(tr.store.Renew(tr.ctx, []sessions.Lease{turn.Lease}, lease))(tr)
	tr.check(renewed[0].Held && renewed[0].Stop, "renewed %+v", renewed)
	tr.queued("q2", "member", "")
	result := tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Next: claimer("w1")})
	tr.check(!result.Next.Stop, "the next turn is asked to stop as well")
	renewed = must(tr.store.Renew(tr.ctx, []sessions.Lease{result.Next.Lease}, lease))(tr)
	tr.check(!renewed[0].Stop, "the next turn is asked to stop as well")
}

func stopTakenOver(tr *trial) {
	turn := tr.begin("q")
	must(tr.store.Stop(tr.ctx, turn.Lease.Session))(tr)
	tr.clock.Advance(2 * lease)
	turn = tr.claim(turn.Lease.Session, "w2")
	tr.check(turn.Stop, "the wish to stop is forgotten")
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Again, After: time.Hour})
	running := must(tr.store.Stop(tr.ctx, turn.Lease.Session))(tr)
	tr.check(running, "a turn that is tried again later is open")
}

func stopNothing(tr *trial) {
	id := tr.say(tr.said("q"), sessions.PostQueued).Session
	before := tr.get(id).Version
	running := must(tr.store.Stop(tr.ctx, id))(tr)
	tr.check(!running && tr.get(id).Version == before, "stopped %v", running)
	tr.check(!tr.claim(id, "w1").Stop, "a later turn is asked to stop")
	_, err := tr.store.Stop(tr.ctx, "telegram:nobody")
	tr.wantErr(err, sessions.ErrNotFound)
}

func leaseSurvives(tr *trial) {
	turn := tr.begin("q")
	tr.say(tr.heard("l"), sessions.PostLogged)
	tr.appendTo(turn, "a")
	tr.reopen()
	if tr.opened.FreesHeld {
		equal(tr, "status", tr.get(turn.Lease.Session).Status, sessions.StatusIdle)
		equal(tr, "due", len(tr.due(sessions.WorkTurn)), 1)
		tr.refused(turn.Lease)
	} else {
		tr.cannotClaim(turn.Lease.Session, sessions.ErrBusy)
		tr.appendTo(turn, "b")
		tr.clock.Advance(2 * lease)
	}
	again := tr.claim(turn.Lease.Session, "w2")
	equal(tr, "attempt", again.Attempt, 2)
	tr.refused(turn.Lease)
	tr.done(again, "c")
	want := []string{"q", "a", "b", "c", "l"}
	if tr.opened.FreesHeld {
		want = []string{"q", "a", "c", "l"}
	}
	tr.wantBranch(turn.Lease.Session, want...)
}

func leaseUnknown(tr *trial) {
	tr.cannotClaim("telegram:nobody", sessions.ErrNotFound)
	id := tr.post(tr.heard("x")).Session
	tr.cannotClaim(id, sessions.ErrNothing)
}
