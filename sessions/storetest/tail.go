package storetest

import (
	"time"

	"parley/sessions"
)

func tailTests() []test {
	return []test{
		{"without known the tail is the log", tailAll},
		{"with known the tail continues it", tailContinues},
		{"a known of another session or the future counts as none", tailForeign},
		{"a long tail is cut and says so", tailCut},
		{"exactly as many as fit continue", tailExact},
		{"the next turn's tail has all that its holder lacks", tailNext},
		{"the next turn's tail repeats what was waiting", tailNextWaiting},
		{"a taken-over turn's tail has what the first holder wrote", tailTakenOver},
	}
}

func (tr *trial) wantTail(turn *sessions.Turn, from int64, want ...string) {
	tr.Helper()
	equalSlices(tr, "tail", tr.texts(turn.Tail), want)
	equal(tr, "tail from", turn.TailFrom, from)
	if n := len(turn.Tail); n > 0 {
		equal(tr, "tail's end", turn.Tail[n-1].Seq, turn.Record.Seq)
	}
	tr.sameAsLog(turn)
}

// sameAsLog expects that the turn's entries are the log's, as they stand now.
func (tr *trial) sameAsLog(turn *sessions.Turn) {
	tr.Helper()
	for _, entries := range [][]sessions.Entry{turn.Tail, turn.Taken} {
		for _, e := range entries {
			stored := must(tr.store.Range(tr.ctx, turn.Lease.Session, e.Seq, e.Seq))(tr)[0]
			tr.check(e.Parent == stored.Parent && e.Waiting == stored.Waiting && e.Type == stored.Type &&
				e.Time.Equal(stored.Time) && string(e.Payload) == string(stored.Payload), "entry %+v of the turn is %+v in the log", e, stored)
		}
	}
}

func tailAll(tr *trial) {
	tr.post(tr.heard("l1"))
	tr.post(tr.heard("l2"))
	turn := tr.begin("q")
	tr.wantTail(turn, 0, "l1", "l2", "q")
}

func tailContinues(tr *trial) {
	id := tr.post(tr.heard("l1")).Session
	tr.post(tr.heard("l2"))
	r := tr.said("q")
	r.Claim, r.Known = claimer("w1"), sessions.Known{Session: id, Seq: 1}
	turn := tr.say(r, sessions.PostClaimed).Turn
	tr.wantTail(turn, 1, "l2", "q")
	tr.done(turn, "a")
	tr.say(tr.said("q2"), sessions.PostQueued)
	next := must(tr.store.Claim(tr.ctx, sessions.ClaimRequest{Session: id, Claimer: worker("w1"), Known: sessions.Known{Session: id, Seq: 4}}))(tr)
	tr.wantTail(next, 4, "q2")
	tr.done(next, "a2")
	again, _, err := tr.store.Again(tr.ctx, sessions.AgainRequest{Session: id, Claim: claimer("w1"), Known: sessions.Known{Session: id, Seq: 6}})
	must(again, err)(tr)
	tr.wantTail(again, 6, "leaf")
}

func tailForeign(tr *trial) {
	tr.post(tr.heard("l1"))
	for _, known := range []sessions.Known{{Session: "telegram:other", Seq: 1}, {Session: "", Seq: 1}} {
		r := tr.said("q")
		r.Claim, r.Known = claimer("w1"), known
		turn := tr.say(r, sessions.PostClaimed).Turn
		equal(tr, "tail from", turn.TailFrom, 0)
		equal(tr, "tail", len(turn.Tail), int(turn.Record.Seq))
		tr.done(turn, "a")
	}
	r := tr.said("q")
	r.Claim, r.Known = claimer("w1"), sessions.Known{Session: must(tr.store.Bound(tr.ctx, surface))(tr).ID, Seq: 99}
	turn := tr.say(r, sessions.PostClaimed).Turn
	equal(tr, "tail from", turn.TailFrom, 0)
	equal(tr, "tail", len(turn.Tail), int(turn.Record.Seq))
}

// filled is a session whose log has n entries.
func (tr *trial) filled(n int) string {
	tr.Helper()
	turn := tr.begin("q")
	texts := make([]string, n-1)
	for i := range texts {
		texts[i] = "x"
	}
	tr.done(turn, "x")
	for len(texts) > 1 {
		turn = tr.begin("x")
		k := max(0, min(len(texts)-2, sessions.EntriesPerCall))
		tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers(texts[:k]...)})
		texts = texts[k+1:]
	}
	return turn.Lease.Session
}

func tailCut(tr *trial) {
	id := tr.filled(300)
	r := tr.said("q")
	r.Claim, r.Known = claimer("w1"), sessions.Known{Session: id, Seq: 10}
	turn := tr.say(r, sessions.PostClaimed).Turn
	equal(tr, "tail", len(turn.Tail), sessions.TailMax)
	equal(tr, "tail from", turn.TailFrom, 0)
	equal(tr, "last", turn.Tail[sessions.TailMax-1].Seq, turn.Record.Seq)
}

func tailExact(tr *trial) {
	id := tr.filled(300)
	seq := tr.get(id).Seq
	r := tr.said("q")
	r.Claim, r.Known = claimer("w1"), sessions.Known{Session: id, Seq: seq + 1 - sessions.TailMax}
	turn := tr.say(r, sessions.PostClaimed).Turn
	equal(tr, "tail", len(turn.Tail), sessions.TailMax)
	equal(tr, "tail from", turn.TailFrom, r.Known.Seq)
	equal(tr, "first", turn.Tail[0].Seq, r.Known.Seq+1)
}

func tailNext(tr *trial) {
	turn := tr.begin("q1")
	tr.post(tr.heard("l1"))
	tr.queued("q2", "member", "")
	tr.appendTo(turn, "a1")
	result := tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("a2"), Next: claimer("w1")})
	tr.wantTail(result.Next, 1, "l1", "q2", "a1", "a2")
	tr.wantBranch(turn.Lease.Session, "q1", "a1", "a2", "l1", "q2")
}

func tailNextWaiting(tr *trial) {
	id := tr.say(tr.said("q1"), sessions.PostQueued).Session
	tr.post(tr.heard("l1"))
	r := tr.said("q2")
	r.Rights = "owner"
	tr.say(r, sessions.PostQueued)
	turn := tr.claim(id, "w1")
	tr.wantTail(turn, 0, "q1", "l1", "q2")
	result := tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("a1"), Next: claimer("w1")})
	tr.wantTail(result.Next, 1, "l1", "q2", "a1")
}

func tailTakenOver(tr *trial) {
	turn := tr.begin("q1")
	id := turn.Lease.Session
	tr.appendTo(turn, "call")
	tr.post(tr.heard("l1"))
	tr.clock.Advance(2 * lease)
	again := must(tr.store.Claim(tr.ctx, sessions.ClaimRequest{Session: id, Claimer: worker("w2"), Known: sessions.Known{Session: id, Seq: 1}}))(tr)
	tr.wantTail(again, 1, "call", "l1")
	tr.appendTo(again, "result")
	tr.clock.Advance(time.Minute)
	tr.queued("q2", "member", "")
	result := tr.commit(sessions.CommitRequest{Lease: again.Lease, Outcome: sessions.Done, Next: claimer("w2")})
	tr.wantTail(result.Next, 2, "l1", "result", "q2")
}
