package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/sessions"
)

func deleteTests() []test {
	return []test{
		{"delete removes record, log, bindings, timers and dead letters", deleteAll},
		{"delete in any state", deleteAnyState},
		{"delete frees the surfaces, near and far", deleteFrees},
		{"a deleted id begins anew", deleteAnew},
		{"what is in the outbox of a deleted session goes out", deleteOutbox},
		{"a message seen before the deletion is a duplicate after", deleteDedupe},
		{"a group is never deleted", deleteGroup},
		{"delete while a turn is open or messages wait is refused", deleteRefused},
		{"delete of nothing is not found", func(tr *trial) { tr.wantErr(tr.store.Delete(tr.ctx, "api:nobody"), sessions.ErrNotFound) }},
		{"delete of a long log leaves nothing", deleteLong},
		{"delete while others post and claim loses no message", deleteRaces},
		{"a deletion survives a restart", deleteSurvives},
		{"discard removes a session in which no turn ended", discardUnused},
		{"discard leaves a session in which a turn ended", discardUsed},
		{"discard leaves what may not be deleted", discardRefused},
		{"discard of nothing discards nothing", func(tr *trial) { tr.wantDiscarded("api:nobody", false) }},
	}
}

func (tr *trial) remove(id string) {
	tr.Helper()
	tr.do(tr.store.Delete(tr.ctx, id))
	tr.wantGone(id)
}

// wantGone expects that nothing of a session can be read.
func (tr *trial) wantGone(id string) {
	tr.Helper()
	_, err := tr.store.Get(tr.ctx, id)
	tr.wantErr(err, sessions.ErrNotFound)
	_, err = tr.store.Range(tr.ctx, id, 1, 1<<40)
	tr.wantErr(err, sessions.ErrNotFound)
	_, err = tr.store.Claim(tr.ctx, sessions.ClaimRequest{Session: id, Claimer: worker("w1")})
	tr.wantErr(err, sessions.ErrNotFound)
	_, err = tr.store.Post(tr.ctx, tr.into(id, "late"))
	tr.wantErr(err, sessions.ErrNotFound)
	for _, found := range tr.found(sessions.Query{}) {
		tr.check(found != id, "%s is found still", id)
	}
}

// gone removes a session and expects that nothing at all is left of it.
func (tr *trial) gone(id string) {
	tr.Helper()
	tr.remove(id)
	tr.wantNoTrace(id)
}

func (tr *trial) wantDiscarded(id string, want bool) {
	tr.Helper()
	equal(tr, "discarded "+id, must(tr.store.Discard(tr.ctx, id))(tr), want)
}

func deleteAll(tr *trial) {
	turn := tr.beginDirect("poison")
	id := turn.Lease.Session
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Park, Reason: "bad"})
	letter := tr.dead()[0].ID
	tr.setTimer(id, "mine", time.Minute)
	tr.setTimer("elsewhere", "not mine", time.Minute)
	must(tr.store.Update(tr.ctx, id, sessions.Patch{Name: new("n"), Metadata: map[string]any{"k": "v"}}))(tr)
	tr.gone(id)
	equal(tr, "bound", tr.bound(surface), "")
	equal(tr, "dead letters", len(tr.dead()), 0)
	tr.wantErr(tr.store.Replay(tr.ctx, letter), sessions.ErrNotFound)
	tr.wantErr(tr.store.DropDead(tr.ctx, letter), sessions.ErrNotFound)
	tr.clock.Advance(time.Hour)
	due := must(tr.store.Due(tr.ctx, 10))(tr)
	tr.check(len(due) == 1 && due[0].Home == "elsewhere", "due after the deletion: %v", due)
	for _, q := range []sessions.Query{{UserID: "u-ann"}, {Participant: "u-ann"}, {Surface: surface}, {States: []sessions.State{sessions.StateActive}}} {
		tr.wantFound(q)
	}
	tr.wantErr(tr.store.Delete(tr.ctx, id), sessions.ErrNotFound)
}

func deleteAnyState(tr *trial) {
	created := tr.make(sessions.NewSession{ID: "api:created"}).ID
	suspended := tr.suspendedDirect("api:local:x")
	expired := tr.make(sessions.NewSession{ID: "api:expired", Source: sessions.Source{Type: sessions.Direct}}).ID
	tr.ended(expired)
	for _, id := range []string{created, suspended, expired} {
		tr.remove(id)
	}
}

// suspendedDirect is a direct session that was replaced on its surface.
func (tr *trial) suspendedDirect(on string) string {
	tr.Helper()
	id := tr.make(sessions.NewSession{Surface: on, Source: sessions.Source{Type: sessions.Direct}}).ID
	must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: on}}))(tr)
	return id
}

// direct is a direct session on a surface, with one logged message.
func (tr *trial) direct(on, text string) string {
	tr.Helper()
	r := tr.heard(text)
	r.Surface, r.New.Source.Type = on, sessions.Direct
	return tr.say(r, sessions.PostLogged).Session
}

// beginDirect posts text into a direct session and claims its turn at once.
func (tr *trial) beginDirect(text string) *sessions.Turn {
	tr.Helper()
	r := tr.said(text)
	r.New.Source.Type, r.Claim = sessions.Direct, claimer("w1")
	return tr.say(r, sessions.PostClaimed).Turn
}

func deleteFrees(tr *trial) {
	id := tr.make(sessions.NewSession{ID: "api:s", Surface: "api:local:s"}).ID
	surfaces := []string{"api:local:s", surface, other, "slack:1:2:3"}
	for _, s := range surfaces[1:] {
		tr.attach(id, s)
	}
	tr.remove(id)
	for i, s := range surfaces {
		r := tr.heard("on " + s)
		r.Surface = s
		got := tr.post(r)
		tr.check(got.Created && got.Seq == 1, "message %d on %s: %+v", i, s, got)
		equal(tr, "bound", tr.bound(s), got.Session)
		equalSlices(tr, "surfaces", tr.get(got.Session).Surfaces, []string{s})
	}
}

func deleteAnew(tr *trial) {
	id := tr.direct("cli:local:work", "hello")
	equal(tr, "id", id, "cli:work")
	must(tr.store.Update(tr.ctx, id, sessions.Patch{Name: new("n"), WorkingMemory: new("m"), Metadata: map[string]any{"k": "v"}}))(tr)
	tr.remove(id)
	again := tr.make(sessions.NewSession{Surface: "cli:local:work", UserID: "u-bob"})
	equal(tr, "id", again.ID, id)
	tr.check(again.Seq == 0 && again.Name == "" && again.WorkingMemory == "" && len(again.Metadata) == 0 && again.MessageCount == 0 && again.Preview == "" && again.Description == "", "made anew: %+v", again)
	equalSlices(tr, "participants", again.Participants, []string{"u-bob"})
	equal(tr, "entries", len(tr.log(id)), 0)
	tr.wantFound(sessions.Query{Participant: "u-ann"})
	equal(tr, "first seq", tr.post(tr.into(id, "anew")).Seq, 1)
	tr.wantBranch(id, "anew")
}

func deleteOutbox(tr *trial) {
	turn := tr.beginDirect("question")
	result := tr.commit(sessions.CommitRequest{
		Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("a"), Send: claimer("w1"),
		Deliveries: []sessions.NewDelivery{row(surface, "one"), row(surface, "two")},
	})
	tr.remove(turn.Lease.Session)
	next := tr.settle(sessions.Settlement{Delivery: result.Sends[0], State: sessions.DeliveryPending, Next: true})
	for _, want := range []string{"one", "two"} {
		tr.check(next != nil && rowText(*next) == want && next.Surface == surface, "the next row is %v, want %s", next, want)
		next = tr.settle(sessions.Settlement{Delivery: *next, State: sessions.DeliverySent, MessageIDs: []string{"1"}, Next: true})
	}
	tr.check(next == nil, "one more row: %v", next)
	tr.wantGone(turn.Lease.Session)
}

func deleteDedupe(tr *trial) {
	r := tr.heard("hello")
	r.New.Source.Type = sessions.Direct
	id := tr.post(r).Session
	tr.remove(id)
	again := tr.say(r, sessions.PostDuplicate)
	tr.check(!again.Created && again.Turn == nil, "the redelivery: %+v", again)
	equal(tr, "bound", tr.bound(surface), "")
	tr.check(tr.post(tr.heard("next")).Created, "the next message begins no session")
}

func deleteGroup(tr *trial) {
	id := tr.post(tr.heard("hello")).Session
	before := tr.get(id)
	tr.wantErr(tr.store.Delete(tr.ctx, id), sessions.ErrGroup)
	tr.sameRecord("refused", tr.get(id), before)
	tr.wantBranch(id, "hello")
	tr.ended(id)
	tr.wantErr(tr.store.Delete(tr.ctx, id), sessions.ErrGroup)
}

// busy puts a direct session through everything that keeps it from being
// cleared away, and calls check at each.
func (tr *trial) busy(on string, check func(id, when string)) {
	tr.Helper()
	r := tr.said("question")
	r.Surface, r.New.Source.Type = on, sessions.Direct
	id := tr.say(r, sessions.PostQueued).Session
	check(id, "messages wait")
	turn := tr.claim(id, "w1")
	check(id, "a turn runs")
	tr.clock.Advance(2 * lease)
	check(id, "its lease ran out")
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.HandBack})
	check(id, "it was handed back")
	turn = tr.claim(id, "w1")
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Again, After: time.Hour})
	check(id, "it is to be tried again")
	tr.clock.Advance(2 * time.Hour)
	tr.done(tr.claim(id, "w1"), "answer")
	debounced := tr.said("later")
	debounced.Surface, debounced.New.Source.Type, debounced.Debounce = on, sessions.Direct, time.Hour
	tr.say(debounced, sessions.PostQueued)
	check(id, "messages wait for their debounce")
	tr.clock.Advance(2 * time.Hour)
	tr.done(tr.claim(id, "w1"), "answer 2")
}

func deleteRefused(tr *trial) {
	var id string
	tr.busy(surface, func(busy, when string) {
		id = busy
		tr.Log(when)
		before := tr.get(busy)
		tr.wantStateError(tr.store.Delete(tr.ctx, busy))
		tr.sameRecord(when, tr.get(busy), before)
	})
	tr.wantBranch(id, "question", "answer", "later", "answer 2")
	tr.remove(id)
}

func deleteLong(tr *trial) {
	id := tr.make(sessions.NewSession{ID: "api:long"}).ID
	turnPost := tr.into(id, strings.Repeat("long ", 40<<10))
	turnPost.Trigger, turnPost.Claim = true, claimer("w1")
	turn := tr.say(turnPost, sessions.PostClaimed).Turn
	texts := make([]string, sessions.EntriesPerCall)
	for i := range texts {
		texts[i] = fmt.Sprintf("entry %d", i)
	}
	for range 3 {
		tr.appendTo(turn, texts...)
	}
	tr.done(turn, "answer")
	tr.gone(id)
	tr.make(sessions.NewSession{ID: id})
	equal(tr, "entries", len(tr.log(id)), 0)
}

func deleteRaces(tr *trial) {
	const rounds, posters = 15, 4
	for round := range rounds {
		on := fmt.Sprintf("telegram:1:%d", round)
		first := tr.direct(on, "first")
		posted := make([]sessions.PostResult, posters)
		var deleted error
		tr.together(posters+1, func(n int) (err error) {
			if n == posters {
				deleted = tr.store.Delete(tr.ctx, first)
				return nil
			}
			r := sessions.PostRequest{Key: fmt.Sprintf("%s-e%d", on, n), Surface: on, Trigger: n%2 == 0, Message: sessions.Message{Role: sessions.RoleUser, Text: fmt.Sprintf("m%d", n)}}
			r.New.Source.Type = sessions.Direct
			if r.Trigger {
				r.Claim = claimer(fmt.Sprintf("w%d", n))
			}
			posted[n], err = tr.store.Post(tr.ctx, r)
			return err
		})
		_, busy := errors.AsType[*sessions.StateError](deleted)
		tr.check(deleted == nil || busy, "the deletion: %v", deleted)
		tr.afterDeletion(first, on, deleted == nil, posted)
	}
}

// afterDeletion expects each message in a log, but for those that only were
// logged and went with the session.
func (tr *trial) afterDeletion(first, on string, deleted bool, posted []sessions.PostResult) {
	tr.Helper()
	bound := tr.bound(on)
	for n, p := range posted {
		if deleted && p.Session == first {
			tr.check(p.Outcome == sessions.PostLogged, "message %d was %s and went with its session", n, p.Outcome)
			continue
		}
		equal(tr, "session", p.Session, bound)
		equalSlices(tr, "entry", tr.texts(must(tr.store.Range(tr.ctx, p.Session, p.Seq, p.Seq))(tr)), []string{fmt.Sprintf("m%d", n)})
		if p.Turn != nil {
			tr.done(p.Turn, "answer")
		}
	}
	if deleted && bound != first {
		tr.wantGone(first)
	}
}

func deleteSurvives(tr *trial) {
	id := tr.direct(surface, "hello")
	tr.remove(id)
	tr.reopen()
	tr.wantGone(id)
	equal(tr, "bound", tr.bound(surface), "")
}

func discardUnused(tr *trial) {
	opened := tr.make(sessions.NewSession{Surface: "cli:local:a"}).ID
	talked := tr.direct("cli:local:b", "hello")
	r := tr.said("question")
	r.Surface, r.New.Source.Type, r.Claim = "cli:local:c", sessions.Direct, claimer("w1")
	failed := tr.say(r, sessions.PostClaimed).Turn
	tr.commit(sessions.CommitRequest{Lease: failed.Lease, Outcome: sessions.Park, Reason: "no answer"})
	for i, id := range []string{opened, talked, failed.Lease.Session} {
		tr.wantDiscarded(id, true)
		tr.wantGone(id)
		equal(tr, "bound", tr.bound([]string{"cli:local:a", "cli:local:b", "cli:local:c"}[i]), "")
		tr.wantDiscarded(id, false)
	}
	equal(tr, "dead letters", len(tr.dead()), 0)
}

func discardUsed(tr *trial) {
	r := tr.said("question")
	r.Surface, r.New.Source.Type, r.Claim = "cli:local:a", sessions.Direct, claimer("w1")
	turn := tr.say(r, sessions.PostClaimed).Turn
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done})
	before := tr.get(turn.Lease.Session)
	tr.wantDiscarded(before.ID, false)
	tr.sameRecord("after", tr.get(before.ID), before)
	equal(tr, "bound", tr.bound("cli:local:a"), before.ID)
}

func discardRefused(tr *trial) {
	group := tr.post(tr.heard("hello")).Session
	tr.wantDiscarded(group, false)
	tr.wantBranch(group, "hello")
	r := tr.said("question")
	r.Surface, r.New.Source.Type = other, sessions.Direct
	id := tr.say(r, sessions.PostQueued).Session
	tr.wantDiscarded(id, false)
	turn := tr.claim(id, "w1")
	tr.wantDiscarded(id, false)
	tr.clock.Advance(2 * lease)
	tr.wantDiscarded(id, false)
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Park})
	tr.wantBranch(id, "question")
	tr.wantDiscarded(id, true)
}
