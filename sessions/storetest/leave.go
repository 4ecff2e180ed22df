package storetest

import (
	"parley/sessions"
)

func leaveTests() []test {
	return []test{
		{"leave takes a participant off, and no other", leaveOne},
		{"leave of the first participant, and of the last", leaveAll},
		{"who left and speaks again takes part again", leaveAndReturn},
		{"leave is idempotent, and whoever takes no part changes nothing", leaveTwice},
		{"who has become another user leaves as that one", leaveMerged},
		{"leave of nothing is not found", func(tr *trial) {
			_, err := tr.store.Leave(tr.ctx, "api:nobody", "u-ann")
			tr.wantErr(err, sessions.ErrNotFound)
			_, err = tr.store.Leave(tr.ctx, "api:nobody", "")
			tr.wantInvalid(err)
		}},
		{"who takes no part in a group's session does not write into it alone", leaveWrites},
		{"an owner writes alone into any session", leaveOwner},
		{"a place that was taken for a group is mended, not left", leaveAssumed},
		{"what was left survives a restart", leaveSurvives},
	}
}

func (tr *trial) leave(id, user string) sessions.Record {
	tr.Helper()
	record := must(tr.store.Leave(tr.ctx, id, user))(tr)
	tr.sameRecord("left", tr.get(id), record)
	return record
}

func leaveOne(tr *trial) {
	id := tr.spoke(surface, "u-ann", "u-bob", "u-cy")
	before := tr.get(id)
	after := tr.leave(id, "u-bob")
	equalSlices(tr, "participants", after.Participants, []string{"u-ann", "u-cy"})
	tr.check(after.Version > before.Version && after.LastActivityAt.Equal(before.LastActivityAt) && after.State == before.State && after.Seq == before.Seq, "left %+v", after)
	tr.wantFound(sessions.Query{Participant: "u-bob"})
	tr.wantFound(sessions.Query{Participant: "u-cy"}, id)
}

func leaveAll(tr *trial) {
	id := tr.spoke(surface, "u-ann", "u-bob", "u-cy")
	for _, step := range []struct {
		user string
		left []string
	}{{"u-ann", []string{"u-bob", "u-cy"}}, {"u-cy", []string{"u-bob"}}, {"u-bob", nil}} {
		equalSlices(tr, "participants", tr.leave(id, step.user).Participants, step.left)
		equal(tr, "user", tr.get(id).UserID, "u-ann")
		tr.wantFound(sessions.Query{Participant: step.user})
	}
	tr.wantFound(sessions.Query{UserID: "u-ann"}, id)
}

func leaveAndReturn(tr *trial) {
	id := tr.spoke(surface, "u-ann", "u-bob")
	for _, user := range []string{"u-ann", "u-bob"} {
		tr.leave(id, user)
	}
	tr.spoke(surface, "u-cy", "u-ann", "u-bob")
	tr.wantParticipants(id, "u-ann", "u-cy", "u-ann", "u-bob")
	for _, user := range []string{"u-ann", "u-bob", "u-cy"} {
		tr.wantFound(sessions.Query{Participant: user}, id)
	}
	tr.leave(id, "u-cy")
	tr.wantParticipants(id, "u-ann", "u-ann", "u-bob")
	tr.wantFound(sessions.Query{Participant: "u-cy"})
	tr.leave(id, "u-ann")
	tr.leave(id, "u-bob")
	tr.spoke(surface, "u-ann")
	tr.wantParticipants(id, "u-ann", "u-ann")
	tr.wantFound(sessions.Query{Participant: "u-ann"}, id)
}

func leaveTwice(tr *trial) {
	id := tr.spoke(surface, "u-ann", "u-bob")
	must(twice(tr, "Leave", func(s sessions.Store) (sessions.Record, error) { return s.Leave(tr.ctx, id, "u-bob") }))(tr)
	before := tr.get(id)
	tr.sameRecord("left again", before, tr.leave(id, "u-bob"))
	tr.sameRecord("left by a stranger", before, tr.leave(id, "u-dan"))
	tr.ended(id)
	equal(tr, "participants", len(tr.leave(id, "u-ann").Participants), 0)
}

func leaveMerged(tr *trial) {
	id := tr.spoke(surface, "telegram:8", "slack:U1")
	tr.link("telegram:1", "slack:U1")
	tr.wantParticipants(id, "telegram:8", "telegram:8", "telegram:1")
	tr.leave(id, "slack:U1")
	tr.wantParticipants(id, "telegram:8", "telegram:8")
}

// alone is a post on a surface where nobody but the user talks with the bot.
func (tr *trial) alone(on, user, text string) sessions.PostRequest {
	r := tr.said(text)
	r.Surface, r.UserID, r.New.Source.Type = on, user, sessions.Direct
	return r
}

func leaveWrites(tr *trial) {
	const own, hers = "telegram:1:5", "telegram:1:6"
	id := tr.spoke(surface, "u-ann", "u-bob")
	for _, on := range []string{own, hers} {
		tr.attach(id, on)
	}
	equal(tr, "who takes part writes", tr.post(tr.alone(own, "u-bob", "hello")).Session, id)
	tr.leave(id, "u-bob")
	before := tr.get(id)
	last := tr.alone(own, "u-bob", "what do they say?")
	last.Claim = claimer("w")
	posted := tr.say(last, sessions.PostClaimed)
	tr.check(posted.Created && posted.Session != id, "posted %+v", posted)
	equal(tr, "bound", tr.bound(own), posted.Session)
	equal(tr, "again", tr.say(last, sessions.PostDuplicate).Session, posted.Session)
	tr.wantSurfaces(id, surface, hers)
	after := tr.get(id)
	tr.check(after.Seq == before.Seq && after.State == before.State && after.Status == before.Status, "the group's is %+v, was %+v", after, before)
	equal(tr, "who takes part writes on", tr.post(tr.alone(hers, "u-ann", "still here")).Session, id)
	direct := tr.post(tr.alone("telegram:1:7", "u-ann", "mine")).Session
	equal(tr, "a direct one is not looked at", tr.post(tr.alone("telegram:1:7", "u-dan", "mine too")).Session, direct)
}

func leaveOwner(tr *trial) {
	const own = "telegram:1:5"
	id := tr.spoke(surface, "u-ann")
	tr.attach(id, own)
	r := tr.alone(own, "u-boss", "hello")
	r.Anywhere = true
	equal(tr, "session", tr.post(r).Session, id)
	nobody := tr.alone(own, "", "hello")
	equal(tr, "nobody's", tr.post(nobody).Session, id)
}

func leaveAssumed(tr *trial) {
	first := tr.make(sessions.NewSession{Surface: surface, Source: sessions.Source{Type: sessions.Group, Assumed: true}})
	equal(tr, "session", tr.post(tr.alone(surface, "u-ann", "hello")).Session, first.ID)
	equal(tr, "type", tr.get(first.ID).Source.Type, sessions.Direct)
}

func leaveSurvives(tr *trial) {
	id := tr.spoke(surface, "u-ann", "u-bob", "u-cy")
	want := tr.leave(id, "u-ann")
	tr.reopen()
	tr.sameRecord("after the restart", want, tr.get(id))
	tr.wantFound(sessions.Query{Participant: "u-ann"})
}
