package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"parley/sessions"
)

func postTests() []test {
	return []test{
		{"the first message creates and binds a session", postCreates},
		{"a logged message changes no status and asks for nothing", postLogs},
		{"the stored message says surface and trigger as the request does", postStoresRequest},
		{"an event seen before is a duplicate", postDuplicate},
		{"of the same event at the same time one is stored", postDuplicateTogether},
		{"a key counts for its time and no longer", postDuplicateLater},
		{"without a key nothing is a duplicate", postNoKey},
		{"a key survives a restart", postKeySurvives},
		{"posts at the same time get every seq once", postTogether},
		{"first posts at the same time make one session", postCreateTogether},
		{"speakers become participants, the first one the user", postParticipants},
		{"preview, description and counters follow the messages", postCounters},
		{"a post by id leaves bindings alone", postByID},
		{"a post into nothing is not found", postByUnknownID},
		{"an expired session is replaced, or refused by id", postExpired},
		{"a full queue refuses, logs and forgets the key", postFull},
		{"surfaces do not share sessions", postSurfaces},
		{"the first claim comes with the post", postClaims},
		{"while a turn is open a post only queues", postQueues},
		{"activity grows with posts only", postActivity},
		{"what is meant for a session that the surface has left is refused", postHeld},
		{"a message from a group makes a direct session a group's, for good", postShowsAGroup},
		{"a message of one person makes a session direct that was only assumed to be a group's", postShowsADirectChat},
		{"a message shows nothing of other surfaces", postShowsNothingOfOtherSurfaces},
	}
}

// together runs n calls at the same time and fails on the first error.
func (tr *trial) together(n int, call func(i int) error) {
	tr.Helper()
	errs := make([]error, n)
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		group.Go(func() {
			<-start
			errs[i] = call(i)
		})
	}
	close(start)
	group.Wait()
	for i, err := range errs {
		if err != nil {
			tr.Fatalf("call %d of %d at the same time: %v", i, n, err)
		}
	}
}

func postCreates(tr *trial) {
	r := tr.said("hello")
	r.New = sessions.NewSession{Surface: "ignored", Source: sessions.Source{Kind: "channel", Platform: "telegram"}, WorkspaceID: "team", Metadata: map[string]any{"telegram_chat_id": "100"}}
	result := tr.say(r, sessions.PostQueued)
	tr.check(result.Created && result.Seq == 1 && result.Turn == nil, "result %+v", result)
	record := tr.get(result.Session)
	equal(tr, "state", record.State, sessions.StateActive)
	equal(tr, "status", record.Status, sessions.StatusIdle)
	equal(tr, "workspace", record.WorkspaceID, "team")
	equal(tr, "queued", record.Queued, 1)
	equalSlices(tr, "surfaces", record.Surfaces, []string{surface})
	second := tr.say(tr.said("again"), sessions.PostQueued)
	tr.check(!second.Created && second.Session == result.Session && second.Seq == 2, "second %+v", second)
	equal(tr, "state changed once", tr.get(result.Session).StateChangedAt, record.StateChangedAt)
}

func postLogs(tr *trial) {
	r := tr.heard("chatter")
	r.Claim = claimer("w1")
	id := tr.say(r, sessions.PostLogged).Session
	record := tr.get(id)
	tr.check(record.Status == sessions.StatusIdle && record.Queued == 0 && record.Epoch == 0, "record %+v", record)
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 0)
	tr.cannotClaim(id, sessions.ErrNothing)
	tr.wantBranch(id, "chatter")
}

func postStoresRequest(tr *trial) {
	r := tr.said("hello")
	r.Message.Surface, r.Message.Triggered = "elsewhere", false
	r.Message.Sender = &sessions.Sender{ID: "telegram:5", Name: "Ann", Role: "member"}
	r.Message.MessageID, r.Message.ReplyTo = "77", "76"
	r.Message.SentAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	result := tr.post(r)
	m := must(tr.log(result.Session)[0].Message())(tr)
	tr.check(m.Surface == surface && m.Triggered, "stored surface %s, triggered %v", m.Surface, m.Triggered)
	tr.check(m.Text == "hello" && m.Sender.Name == "Ann" && m.MessageID == "77" && m.ReplyTo == "76" && m.SentAt.Equal(r.Message.SentAt), "stored %+v", m)
}

func postDuplicate(tr *trial) {
	r := tr.said("hello")
	first := tr.post(r)
	before := tr.get(first.Session)
	r.Message.Text = "hello, edited by the retry"
	r.Claim = claimer("w1")
	second := tr.say(r, sessions.PostDuplicate)
	tr.check(second.Session == first.Session && second.Seq == first.Seq && second.Turn == nil && !second.Created, "duplicate %+v", second)
	after := tr.get(first.Session)
	equal(tr, "version", after.Version, before.Version)
	equal(tr, "entries", len(tr.log(first.Session)), 1)
}

func postDuplicateTogether(tr *trial) {
	r := tr.said("hello")
	r.Claim = claimer("w1")
	outcomes := make([]sessions.PostOutcome, 16)
	tr.together(len(outcomes), func(i int) error {
		result, err := tr.store.Post(tr.ctx, r)
		outcomes[i] = result.Outcome
		return err
	})
	count := map[sessions.PostOutcome]int{}
	for _, o := range outcomes {
		count[o]++
	}
	tr.check(count[sessions.PostClaimed] == 1 && count[sessions.PostDuplicate] == len(outcomes)-1, "outcomes %v", count)
	equal(tr, "entries", len(tr.log(must(tr.store.Bound(tr.ctx, surface))(tr).ID)), 1)
}

func postDuplicateLater(tr *trial) {
	r := tr.said("hello")
	tr.post(r)
	tr.clock.Advance(sessions.DedupeFor - time.Hour)
	tr.say(r, sessions.PostDuplicate)
	tr.clock.Advance(2 * time.Hour)
	tr.say(r, sessions.PostQueued)
}

func postNoKey(tr *trial) {
	r := tr.said("hello")
	r.Key = ""
	first, second := tr.post(r), tr.post(r)
	tr.check(first.Seq == 1 && second.Seq == 2, "seqs %d, %d", first.Seq, second.Seq)
}

func postKeySurvives(tr *trial) {
	r := tr.heard("hello")
	first := tr.post(r)
	tr.reopen()
	second := tr.say(r, sessions.PostDuplicate)
	equal(tr, "session", second.Session, first.Session)
	equal(tr, "next seq", tr.post(tr.heard("more")).Seq, 2)
}

func postTogether(tr *trial) {
	const n = 40
	requests := make([]sessions.PostRequest, n)
	for i := range requests {
		requests[i] = tr.said(fmt.Sprintf("m%d", i))
		requests[i].Trigger = i%3 == 0
	}
	seqs := make([]int64, n)
	tr.together(n, func(i int) error {
		result, err := tr.store.Post(tr.ctx, requests[i])
		seqs[i] = result.Seq
		return err
	})
	id := must(tr.store.Bound(tr.ctx, surface))(tr).ID
	log := tr.log(id)
	equal(tr, "entries", len(log), n)
	for i, seq := range seqs {
		tr.check(seq >= 1 && seq <= n && tr.text(log[seq-1]) == fmt.Sprintf("m%d", i), "post %d got seq %d, where %q stands", i, seq, tr.text(log[seq-1]))
	}
	record := tr.get(id)
	tr.check(record.Seq == n && record.MessageCount == n && record.Queued == (n+2)/3, "record %+v", record)
}

func postCreateTogether(tr *trial) {
	created := make([]bool, 12)
	tr.together(len(created), func(i int) error {
		r := sessions.PostRequest{Surface: surface, Message: sessions.Message{Role: sessions.RoleUser, Text: "x"}}
		result, err := tr.store.Post(tr.ctx, r)
		created[i] = result.Created
		return err
	})
	n := 0
	for _, c := range created {
		if c {
			n++
		}
	}
	equal(tr, "created", n, 1)
	equal(tr, "entries", tr.get(must(tr.store.Bound(tr.ctx, surface))(tr).ID).Seq, 12)
}

func postParticipants(tr *trial) {
	for _, user := range []string{"u-bob", "u-ann", "u-bob", "", "u-cy"} {
		r := tr.heard("hi")
		r.UserID = user
		tr.post(r)
	}
	record := must(tr.store.Bound(tr.ctx, surface))(tr)
	equalSlices(tr, "participants", record.Participants, []string{"u-bob", "u-ann", "u-cy"})
	equal(tr, "user", record.UserID, "u-bob")
}

func postCounters(tr *trial) {
	id := tr.post(tr.heard("first words")).Session
	long := strings.Repeat("ä", sessions.PreviewMax+10)
	tr.post(tr.said(long))
	empty := tr.heard("")
	empty.Message.Attachments = []sessions.Attachment{{Kind: "photo"}}
	tr.post(empty)
	of := tr.heard("written by the bot elsewhere")
	of.Message.Role = sessions.RoleAssistant
	of.Message.Text = ""
	tr.post(of)
	record := tr.get(id)
	equal(tr, "messages", record.MessageCount, 3)
	equal(tr, "preview", record.Preview, sessions.PreviewOf(long))
	equal(tr, "description", record.Description, "first words")
	equal(tr, "seq", record.Seq, 4)
}

func postByID(tr *trial) {
	first := tr.post(tr.heard("here")).Session
	r := tr.said("from the side")
	r.Session, r.Surface = first, "api:local:tool"
	result := tr.say(r, sessions.PostQueued)
	equal(tr, "session", result.Session, first)
	_, err := tr.store.Bound(tr.ctx, "api:local:tool")
	tr.wantErr(err, sessions.ErrNotFound)
	equalSlices(tr, "surfaces", tr.get(first).Surfaces, []string{surface})
	equal(tr, "answers go to", SurfaceOf(tr.claim(first, "w1")), "api:local:tool")
}

func postByUnknownID(tr *trial) {
	r := tr.said("hello")
	r.Session = "telegram:2026-01-01-nobody"
	_, err := tr.store.Post(tr.ctx, r)
	tr.wantErr(err, sessions.ErrNotFound)
	r.Session = ""
	tr.say(r, sessions.PostQueued)
}

func postExpired(tr *trial) {
	first := tr.post(tr.heard("hello")).Session
	tr.expire(first)
	r := tr.said("by id")
	r.Session = first
	_, err := tr.store.Post(tr.ctx, r)
	tr.wantStateError(err)
	second := tr.post(tr.said("by surface"))
	tr.check(second.Created && second.Session != first && second.Seq == 1, "second %+v", second)
	equal(tr, "bound", must(tr.store.Bound(tr.ctx, surface))(tr).ID, second.Session)
	equal(tr, "first stays", tr.get(first).State, sessions.StateExpired)
	equal(tr, "first has", len(tr.get(first).Surfaces), 0)
}

func postFull(tr *trial) {
	turn := tr.begin("question")
	tr.together(sessions.QueueMax, func(int) error {
		_, err := tr.store.Post(tr.ctx, sessions.PostRequest{Surface: surface, Trigger: true, Message: sessions.Message{Role: sessions.RoleUser, Text: "more"}})
		return err
	})
	refused := tr.said("one too many")
	before := tr.get(turn.Lease.Session)
	_, err := tr.store.Post(tr.ctx, refused)
	tr.wantErr(err, sessions.ErrQueueFull)
	after := tr.get(turn.Lease.Session)
	tr.check(after.Version == before.Version && after.Seq == before.Seq && after.Queued == sessions.QueueMax, "a refused post changed the record: %+v", after)
	tr.say(tr.heard("logged all the same"), sessions.PostLogged)
	tr.done(turn, "answer")
	next := tr.claim(turn.Lease.Session, "w1")
	equal(tr, "taken", len(next.Taken), sessions.CollectMax)
	tr.say(refused, sessions.PostQueued)
}

func postSurfaces(tr *trial) {
	a := tr.post(tr.heard("here"))
	r := tr.heard("there")
	r.Surface = other
	b := tr.post(r)
	tr.check(a.Session != b.Session && b.Seq == 1, "sessions %s and %s", a.Session, b.Session)
}

func postClaims(tr *trial) {
	turn := tr.begin("question")
	tr.wantTaken(turn, "question")
	record := tr.get(turn.Lease.Session)
	tr.check(turn.Attempt == 1 && !turn.Stop && SurfaceOf(turn) == surface, "turn %+v", turn)
	tr.check(turn.Lease.Epoch == record.Epoch && record.Epoch > 0 && turn.Lease.Nonce != "", "lease %+v, epoch %d", turn.Lease, record.Epoch)
	tr.check(record.Status == sessions.StatusRunning && record.Queued == 0, "record %s, %d queued", record.Status, record.Queued)
	tr.check(turn.Record.ID == record.ID && turn.Record.Version == record.Version && turn.Record.Leaf == 1 && turn.Record.Status == sessions.StatusRunning, "turn's record %+v", turn.Record)
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 0)
	tr.wantBranch(record.ID, "question")
}

func postQueues(tr *trial) {
	turn := tr.begin("question")
	r := tr.said("more")
	r.Claim = claimer("w2")
	tr.say(r, sessions.PostQueued)
	tr.clock.Advance(2 * lease)
	late := tr.said("after the lease")
	late.Claim = claimer("w2")
	tr.say(late, sessions.PostQueued)
	equal(tr, "queued", tr.get(turn.Lease.Session).Queued, 2)
}

func postActivity(tr *trial) {
	id := tr.post(tr.heard("hello")).Session
	first := tr.get(id).LastActivityAt
	tr.clock.Advance(time.Hour)
	turn := tr.begin("question")
	second := tr.get(id).LastActivityAt
	tr.check(second.Sub(first) >= time.Hour, "activity %v, then %v", first, second)
	tr.clock.Advance(time.Minute)
	tr.done(turn, "answer")
	equal(tr, "after the commit", tr.get(id).LastActivityAt, second)
}

func postHeld(tr *trial) {
	early := tr.said("the first")
	early.Key, early.Held = "early", "whichever comes"
	first := tr.post(early).Session
	fresh := sessions.NewSession{Surface: surface}
	rotate := func(key, held string) (sessions.RotateResult, error) {
		return tr.store.Rotate(tr.ctx, sessions.RotateRequest{Key: key, Held: held, New: fresh})
	}
	second := must(rotate("new", first))(tr).Record.ID
	moved := func(what string, err error) {
		tr.Helper()
		refused, ok := errors.AsType[*sessions.MovedError](err)
		tr.check(ok && refused.Session == second, "%s: %v, want that it is %s now", what, err, second)
	}
	late := tr.said("too late")
	late.Key, late.Held = "late", first
	_, err := tr.store.Post(tr.ctx, late)
	moved("post", err)
	_, err = rotate("another", first)
	moved("rotate", err)

	early.Held = first
	equal(tr, "the same again", tr.post(early).Outcome, sessions.PostDuplicate)
	again := must(rotate("new", first))(tr)
	tr.check(again.Duplicate, "the same rotation again: %+v", again)
	equal(tr, "what was refused left nothing", tr.get(second).Seq, 0)

	late.Held = second
	tr.say(late, sessions.PostQueued)
	late.Session = second
	_, err = tr.store.Post(tr.ctx, late)
	tr.wantInvalid(err)
}
