package storetest

import (
	"strconv"
	"time"

	"parley/sessions"
)

func collectTests() []test {
	return []test{
		{"what waits with equal rights is one turn", collectEqual},
		{"other rights begin the next turn", collectRights},
		{"another surface begins the next turn", collectSurfaces},
		{"one that is alone has a turn of its own", collectAlone},
		{"a turn takes up so many and no more", collectMax},
		{"messages of a turn are in the platform's own order", collectOrder},
		{"a commit with next takes up what waits", collectNext},
		{"a post with claim takes up the first waiting, not its own", collectPostClaims},
		{"debounce delays the turn from the newest message on", debounceDelays},
		{"debounce holds also after a turn", debounceAfterTurn},
		{"a message without debounce ends the delay", debounceEnds},
	}
}

func (tr *trial) queued(text, rights, surface string) {
	tr.Helper()
	r := tr.said(text)
	r.Rights = rights
	if surface != "" {
		r.Session, r.Surface = must(tr.store.Bound(tr.ctx, r.Surface))(tr).ID, surface
	}
	tr.say(r, sessions.PostQueued)
}

func collectEqual(tr *trial) {
	turn := tr.begin("q1")
	for _, text := range []string{"q2", "q3", "q4"} {
		tr.queued(text, "member", "")
	}
	tr.done(turn, "a1")
	next := tr.claim(turn.Lease.Session, "w1")
	tr.wantTaken(next, "q2", "q3", "q4")
	equal(tr, "queued", tr.get(turn.Lease.Session).Queued, 0)
	for i, e := range next.Taken {
		tr.check(!e.Waiting && (i == 0 || e.Parent == next.Taken[i-1].Seq), "taken %+v", e)
	}
	tr.done(next, "a2")
	tr.cannotClaim(turn.Lease.Session, sessions.ErrNothing)
	equal(tr, "turns", tr.get(turn.Lease.Session).TurnCount, 2)
}

func collectRights(tr *trial) {
	turn := tr.begin("q1")
	id := turn.Lease.Session
	tr.queued("guest 1", "guest", "")
	tr.queued("guest 2", "guest", "")
	tr.queued("owner 1", "owner", "")
	tr.queued("guest 3", "guest", "")
	tr.done(turn, "a1")
	for _, want := range [][]string{{"guest 1", "guest 2"}, {"owner 1"}, {"guest 3"}} {
		turn = tr.claim(id, "w1")
		tr.wantTaken(turn, want...)
		tr.done(turn, "a")
	}
	tr.wantBranch(id, "q1", "a1", "guest 1", "guest 2", "a", "owner 1", "a", "guest 3", "a")
}

func collectSurfaces(tr *trial) {
	turn := tr.begin("q1")
	tr.queued("here", "member", "")
	tr.queued("there", "member", other)
	tr.queued("there too", "member", other)
	tr.done(turn, "a1")
	turn = tr.claim(turn.Lease.Session, "w1")
	tr.wantTaken(turn, "here")
	equal(tr, "answer goes to", SurfaceOf(turn), surface)
	tr.done(turn, "a2")
	turn = tr.claim(turn.Lease.Session, "w1")
	tr.wantTaken(turn, "there", "there too")
	equal(tr, "answer goes to", SurfaceOf(turn), other)
}

func collectAlone(tr *trial) {
	turn := tr.begin("q1")
	tr.queued("a", "member", "")
	alone := tr.said("alone")
	alone.Alone = true
	tr.say(alone, sessions.PostQueued)
	tr.queued("b", "member", "")
	tr.queued("c", "member", "")
	tr.done(turn, "x")
	for _, want := range [][]string{{"a"}, {"alone"}, {"b", "c"}} {
		turn = tr.claim(turn.Lease.Session, "w1")
		tr.wantTaken(turn, want...)
		tr.done(turn, "x")
	}
}

func collectMax(tr *trial) {
	turn := tr.begin("q")
	for i := range sessions.CollectMax + 3 {
		tr.queued(strconv.Itoa(i), "member", "")
	}
	tr.done(turn, "a")
	turn = tr.claim(turn.Lease.Session, "w1")
	equal(tr, "first", len(turn.Taken), sessions.CollectMax)
	equal(tr, "queued", tr.get(turn.Lease.Session).Queued, 3)
	tr.done(turn, "a")
	turn = tr.claim(turn.Lease.Session, "w1")
	tr.wantTaken(turn, "50", "51", "52")
}

func collectOrder(tr *trial) {
	turn := tr.begin("q")
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, m := range []struct {
		text     string
		sent     time.Time
		sequence int64
	}{
		{"4th", at.Add(time.Second), 2}, {"3rd", at.Add(time.Second), 1}, {"5th", at.Add(time.Second), 2},
		{"1st", at, 9}, {"6th", at.Add(1001 * time.Millisecond), 0}, {"2nd", at.Add(999 * time.Millisecond), 1 << 52},
	} {
		r := tr.said(m.text)
		r.Message.SentAt, r.Message.Sequence = m.sent, m.sequence
		tr.say(r, sessions.PostQueued)
	}
	tr.done(turn, "a")
	turn = tr.claim(turn.Lease.Session, "w1")
	tr.wantTaken(turn, "1st", "2nd", "3rd", "4th", "5th", "6th")
	tr.wantBranch(turn.Lease.Session, "q", "a", "1st", "2nd", "3rd", "4th", "5th", "6th")
	equalSlices(tr, "by seq", tr.texts(tr.log(turn.Lease.Session)), []string{"q", "4th", "3rd", "5th", "1st", "6th", "2nd", "a"})
}

func collectNext(tr *trial) {
	turn := tr.begin("q1")
	tr.queued("q2", "member", "")
	tr.queued("q3", "owner", "")
	result := tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("a1"), Next: claimer("w1")})
	next := result.Next
	tr.check(next != nil, "no next turn")
	tr.wantTaken(next, "q2")
	tr.check(next.Lease.Epoch > turn.Lease.Epoch && next.Lease.Nonce != turn.Lease.Nonce && next.Attempt == 1, "lease %+v after %+v", next.Lease, turn.Lease)
	equal(tr, "status", next.Record.Status, sessions.StatusRunning)
	tr.cannotClaim(turn.Lease.Session, sessions.ErrBusy)
	result = tr.commit(sessions.CommitRequest{Lease: next.Lease, Outcome: sessions.Park, Next: claimer("w1")})
	tr.wantTaken(result.Next, "q3")
	result = tr.commit(sessions.CommitRequest{Lease: result.Next.Lease, Outcome: sessions.Done, Next: claimer("w1")})
	tr.check(result.Next == nil, "a next turn out of nothing")
	equal(tr, "status", tr.get(turn.Lease.Session).Status, sessions.StatusIdle)
}

func collectPostClaims(tr *trial) {
	id := tr.say(tr.said("guest's"), sessions.PostQueued).Session
	r := tr.said("owner's")
	r.Rights, r.Claim = "owner", claimer("w1")
	result := tr.say(r, sessions.PostClaimed)
	tr.wantTaken(result.Turn, "guest's")
	equal(tr, "queued", tr.get(id).Queued, 1)
	tr.done(result.Turn, "a")
	tr.say(tr.said("owner's 2"), sessions.PostQueued)
	tr.wantTaken(tr.claim(id, "w1"), "owner's")
}

func (tr *trial) bounced(text string, wait time.Duration) string {
	tr.Helper()
	r := tr.said(text)
	r.Debounce, r.Claim = wait, claimer("w1")
	return tr.say(r, sessions.PostQueued).Session
}

func debounceDelays(tr *trial) {
	id := tr.bounced("a", time.Hour)
	tr.cannotClaim(id, sessions.ErrNothing)
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 0)
	tr.clock.Advance(50 * time.Minute)
	tr.bounced("b", time.Hour)
	tr.clock.Advance(50 * time.Minute)
	tr.cannotClaim(id, sessions.ErrNothing)
	tr.clock.Advance(11 * time.Minute)
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 1)
	tr.wantTaken(tr.claim(id, "w1"), "a", "b")
}

func debounceAfterTurn(tr *trial) {
	turn := tr.begin("q")
	tr.bounced("a", time.Hour)
	result := tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Next: claimer("w1")})
	tr.check(result.Next == nil, "a turn before its time")
	tr.cannotClaim(turn.Lease.Session, sessions.ErrNothing)
	equal(tr, "status", tr.get(turn.Lease.Session).Status, sessions.StatusIdle)
	tr.clock.Advance(61 * time.Minute)
	tr.wantTaken(tr.claim(turn.Lease.Session, "w1"), "a")
}

func debounceEnds(tr *trial) {
	id := tr.bounced("a", time.Hour)
	tr.say(tr.said("b"), sessions.PostQueued)
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 1)
	tr.wantTaken(tr.claim(id, "w1"), "a", "b")
}
