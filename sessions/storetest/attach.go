package storetest

import (
	"fmt"
	"slices"
	"time"

	"parley/sessions"
)

func attachTests() []test {
	return []test{
		{"attach gives a free surface a session", attachFree},
		{"attach moves a surface from the session it had", attachMoves},
		{"attach of the surface a session has changes nothing", attachSame},
		{"attach with revive is activity", attachRevives},
		{"attach with revive leaves a running turn running", attachRevivesRunning},
		{"a direct session is never taken into a group", attachGroup},
		{"attach of nothing, or of what is over, leaves the surface alone", attachRefused},
		{"surfaces stand in the order they were attached", attachOrder},
		{"messages follow a surface to a session elsewhere and back", attachPosts},
		{"a message seen before the surface moved is a duplicate after", attachDedupeBefore},
		{"a message sent to a session elsewhere is one, however often it comes", attachDedupeAfter},
		{"a turn begins with a message from an attached surface", attachClaims},
		{"a full queue elsewhere refuses and forgets the key", attachFull},
		{"a new session takes an attached surface off the old one", attachRotates},
		{"what was asked before the surface moved is answered where it was asked", attachTurnLeft},
		{"a session that ended elsewhere is replaced at the next message", attachEnded},
		{"a chat that moves takes an attached session along", attachChatMoves},
		{"detach makes the next message begin a new session", detachNext},
		{"detach of a surface without session, or another's, changes nothing", detachIdle},
		{"detach of nothing, or of what is over", detachRefused},
		{"surface keys are taken literally", attachLiterally},
		{"one surface attached from many at the same time has one session", attachTogether},
		{"one surface attached and detached by many while messages come stays whole", attachWhilePosting},
		{"bindings survive a restart", attachSurvives},
	}
}

// attach makes a session the current one of a surface, and returns the one it had.
func (tr *trial) attach(id, to string) string {
	tr.Helper()
	record, previous, err := tr.store.Attach(tr.ctx, sessions.AttachRequest{Session: id, Surface: to})
	must(record, err)(tr)
	tr.check(record.ID == id && slices.Contains(record.Surfaces, to), "attached %s: %+v", to, record)
	return previous
}

func (tr *trial) detach(id, from string) sessions.Record {
	tr.Helper()
	record := must(tr.store.Detach(tr.ctx, id, from))(tr)
	tr.check(record.ID == id && !slices.Contains(record.Surfaces, from), "detached %s: %+v", from, record)
	return record
}

// wantSurfaces waits until a session's surfaces are these, in order.
func (tr *trial) wantSurfaces(id string, want ...string) {
	tr.Helper()
	tr.eventually(fmt.Sprintf("%s has the surfaces %q", id, want), func() bool { return slices.Equal(tr.get(id).Surfaces, want) })
}

func attachFree(tr *trial) {
	before := tr.make(sessions.NewSession{ID: "api:s"})
	equal(tr, "previous", tr.attach("api:s", surface), "")
	equal(tr, "bound", tr.bound(surface), "api:s")
	after := tr.get("api:s")
	equalSlices(tr, "surfaces", after.Surfaces, []string{surface})
	tr.check(after.State == sessions.StateCreated && after.LastActivityAt.Equal(before.LastActivityAt), "attaching is no activity: %+v", after)
	equal(tr, "next message", tr.post(tr.heard("hello")).Session, "api:s")
}

func attachMoves(tr *trial) {
	old := tr.post(tr.heard("old")).Session
	was := tr.get(old)
	for i := range 4 {
		id := tr.make(sessions.NewSession{ID: fmt.Sprintf("api:s%d", i)}).ID
		equal(tr, "previous", tr.attach(id, surface), old)
		equal(tr, "bound", tr.bound(surface), id)
		tr.wantSurfaces(old)
		tr.wantSurfaces(id, surface)
		old = id
	}
	left := tr.get(was.ID)
	tr.check(left.State == sessions.StateActive && left.Status == sessions.StatusIdle && left.LastActivityAt.Equal(was.LastActivityAt), "the session that was left: %+v", left)
	equal(tr, "back", tr.attach(was.ID, surface), old)
	equal(tr, "next message", tr.post(tr.heard("again")).Session, was.ID)
	tr.wantBranch(was.ID, "old", "again")
}

func attachSame(tr *trial) {
	for _, id := range []string{tr.post(tr.heard("near")).Session, tr.make(sessions.NewSession{ID: "api:far"}).ID} {
		tr.attach(id, surface)
		before := tr.get(id)
		equal(tr, "previous", tr.attach(id, surface), "")
		tr.sameRecord("attached once more", tr.get(id), before)
	}
}

func attachRevives(tr *trial) {
	id := tr.suspended("hello")
	before := tr.get(id)
	tr.clock.Advance(time.Hour)
	tr.attach(id, surface)
	tr.check(tr.wantState(id, sessions.StateSuspended, sessions.StatusInactive).LastActivityAt.Equal(before.LastActivityAt), "attaching is no activity")
	for range 2 {
		tr.clock.Advance(time.Minute)
		record, previous, err := tr.store.Attach(tr.ctx, sessions.AttachRequest{Session: id, Surface: surface, Revive: true})
		must(record, err)(tr)
		equal(tr, "previous", previous, "")
		tr.sameRecord("revived", record, tr.wantState(id, sessions.StateActive, sessions.StatusIdle))
		tr.check(record.LastActivityAt.After(before.LastActivityAt), "it was last active %v", record.LastActivityAt)
		before = record
	}
	far := tr.make(sessions.NewSession{ID: "api:far"}).ID
	_, previous, err := tr.store.Attach(tr.ctx, sessions.AttachRequest{Session: far, Surface: surface, Revive: true})
	equal(tr, "previous", must(previous, err)(tr), id)
	tr.wantState(far, sessions.StateActive, sessions.StatusIdle)
}

func attachRevivesRunning(tr *trial) {
	turn := tr.begin("question")
	id := turn.Lease.Session
	must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}}))(tr)
	_, _, err := tr.store.Attach(tr.ctx, sessions.AttachRequest{Session: id, Surface: other, Revive: true})
	tr.do(err)
	tr.wantState(id, sessions.StateActive, sessions.StatusRunning)
	tr.done(turn, "answer")
	tr.wantState(id, sessions.StateActive, sessions.StatusIdle)
}

func attachGroup(tr *trial) {
	bound := tr.post(tr.heard("the group's own")).Session
	direct := tr.make(sessions.NewSession{ID: "api:direct", Source: sessions.Source{Type: sessions.Direct}})
	_, _, err := tr.store.Attach(tr.ctx, sessions.AttachRequest{Session: direct.ID, Surface: surface, Group: true, Revive: true})
	tr.wantErr(err, sessions.ErrGroup)
	equal(tr, "bound", tr.bound(surface), bound)
	tr.sameRecord("refused", tr.get(direct.ID), direct)
	tr.attach(direct.ID, other)
	for i, n := range []sessions.NewSession{{ID: "api:group", Source: sessions.Source{Type: sessions.Group}}, {ID: "api:neither"}} {
		tr.make(n)
		_, previous, err := tr.store.Attach(tr.ctx, sessions.AttachRequest{Session: n.ID, Surface: surface, Group: true})
		must(previous, err)(tr)
		equal(tr, "previous", previous, []string{bound, "api:group"}[i])
	}
}

func attachRefused(tr *trial) {
	bound := tr.post(tr.heard("x")).Session
	before := tr.get(bound)
	over := tr.make(sessions.NewSession{ID: "api:over"}).ID
	tr.ended(over)
	_, _, err := tr.store.Attach(tr.ctx, sessions.AttachRequest{Session: "api:nobody", Surface: surface})
	tr.wantErr(err, sessions.ErrNotFound)
	_, _, err = tr.store.Attach(tr.ctx, sessions.AttachRequest{Session: over, Surface: surface})
	tr.wantExpired(err, over)
	equal(tr, "bound", tr.bound(surface), bound)
	tr.sameRecord("the surface's session", tr.get(bound), before)
	_, _, err = tr.store.Attach(tr.ctx, sessions.AttachRequest{Session: "api:nobody", Surface: other})
	tr.wantErr(err, sessions.ErrNotFound)
	equal(tr, "free surface", tr.bound(other), "")
}

func attachOrder(tr *trial) {
	id := tr.make(sessions.NewSession{ID: "api:s", Surface: "api:local:s"}).ID
	want := []string{"api:local:s"}
	for i := range 6 {
		to := fmt.Sprintf("slack:1:%d", (i*5)%6)
		tr.attach(id, to)
		want = append(want, to)
		equalSlices(tr, "surfaces", tr.get(id).Surfaces, want)
	}
	tr.detach(id, want[2])
	tr.attach(id, want[2])
	equalSlices(tr, "surfaces", tr.get(id).Surfaces, slices.Concat(want[:2], want[3:], want[2:3]))
}

func attachPosts(tr *trial) {
	near := tr.post(tr.heard("one")).Session
	far := []string{tr.make(sessions.NewSession{ID: "api:far-1"}).ID, tr.make(sessions.NewSession{ID: "cli:far-2"}).ID}
	for _, id := range far {
		tr.attach(id, surface)
		r := tr.heard("to " + id)
		r.UserID = "u-bob"
		result := tr.say(r, sessions.PostLogged)
		tr.check(result.Session == id && result.Seq == 1 && !result.Created, "posted %+v", result)
		record := tr.get(id)
		tr.check(record.State == sessions.StateActive && record.Preview == "to "+id && record.UserID == "u-bob", "record %+v", record)
		equal(tr, "surface of the message", must(tr.log(id)[0].Message())(tr).Surface, surface)
	}
	tr.attach(near, surface)
	tr.post(tr.heard("two"))
	tr.wantBranch(near, "one", "two")
	tr.wantBranch(far[0], "to "+far[0])
	equal(tr, "messages", tr.get(near).MessageCount, 2)
}

func attachDedupeBefore(tr *trial) {
	r := tr.said("before")
	first := tr.say(r, sessions.PostQueued)
	for i := range 3 {
		far := tr.make(sessions.NewSession{ID: fmt.Sprintf("api:far-%d", i)}).ID
		tr.attach(far, surface)
		r.Claim = claimer("w1")
		again := tr.say(r, sessions.PostDuplicate)
		tr.check(again.Session == first.Session && again.Turn == nil && !again.Created, "the redelivery: %+v", again)
		equal(tr, "entries", len(tr.log(far)), 0)
	}
	tr.detach("api:far-2", surface)
	tr.say(r, sessions.PostDuplicate)
	equal(tr, "bound", tr.bound(surface), "")
}

func attachDedupeAfter(tr *trial) {
	far := tr.make(sessions.NewSession{ID: "api:far"}).ID
	tr.attach(far, surface)
	r := tr.said("once")
	outcomes := make([]sessions.PostResult, 12)
	tr.together(len(outcomes), func(i int) (err error) {
		outcomes[i], err = tr.store.Post(tr.ctx, r)
		return err
	})
	first := 0
	for _, o := range outcomes {
		tr.check(o.Session == far && (o.Seq == 1 || o.Outcome == sessions.PostDuplicate && o.Seq == 0), "posted %+v", o)
		if o.Outcome != sessions.PostDuplicate {
			first++
		}
	}
	equal(tr, "posted", first, 1)
	tr.wantSession(far, 1)
	next := tr.make(sessions.NewSession{ID: "cli:next"}).ID
	for _, move := range []func(){func() { tr.attach(next, surface) }, func() { tr.detach(next, surface) }, func() { tr.post(tr.said("new")) }} {
		move()
		equal(tr, "the redelivery's session", tr.say(r, sessions.PostDuplicate).Session, far)
	}
	tr.clock.Advance(sessions.DedupeFor - time.Minute)
	tr.say(r, sessions.PostDuplicate)
	tr.clock.Advance(2 * time.Minute)
	tr.say(r, sessions.PostQueued)
}

// wantSession expects a session with so many entries and messages.
func (tr *trial) wantSession(id string, messages int64) {
	tr.Helper()
	record := tr.get(id)
	tr.check(record.Seq == messages && record.MessageCount == messages && len(tr.log(id)) == int(messages), "%s has seq %d and %d messages, want %d", id, record.Seq, record.MessageCount, messages)
}

func attachClaims(tr *trial) {
	far := tr.make(sessions.NewSession{ID: "api:far"}).ID
	tr.post(tr.into(far, "known"))
	tr.attach(far, surface)
	r := tr.said("question")
	r.Claim, r.Known = claimer("w1"), sessions.Known{Session: far, Seq: 1}
	turn := tr.say(r, sessions.PostClaimed).Turn
	tr.wantTaken(turn, "question")
	tr.wantTail(turn, 1, "question")
	tr.check(turn.Lease.Session == far && SurfaceOf(turn) == surface && turn.Record.Status == sessions.StatusRunning, "turn %+v", turn)
	again := tr.say(r, sessions.PostDuplicate)
	tr.check(again.Turn == nil && again.Session == far, "once more: %+v", again)
	result := tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("answer"), Deliveries: []sessions.NewDelivery{row(surface, "answer")}, Send: claimer("w1")})
	equal(tr, "sends", len(result.Sends), 1)
	tr.settle(sessions.Settlement{Delivery: result.Sends[0], State: sessions.DeliverySent, MessageIDs: []string{"1"}})
	tr.eventually("the receipt is in the log", func() bool { return len(tr.log(far)) == 4 })
	debounced := tr.said("later")
	debounced.Debounce = time.Minute
	tr.say(debounced, sessions.PostQueued)
	tr.cannotClaim(far, sessions.ErrNothing)
	tr.clock.Advance(2 * time.Minute)
	tr.wantTaken(tr.claim(far, "w1"), "later")
}

func attachFull(tr *trial) {
	far := tr.make(sessions.NewSession{ID: "api:far"}).ID
	tr.attach(far, surface)
	turn := tr.begin("question")
	equal(tr, "session", turn.Lease.Session, far)
	tr.together(sessions.QueueMax, func(int) error {
		_, err := tr.store.Post(tr.ctx, sessions.PostRequest{Session: far, Trigger: true, Message: sessions.Message{Role: sessions.RoleUser, Text: "more"}})
		return err
	})
	refused := tr.said("one too many")
	for range 2 {
		_, err := tr.store.Post(tr.ctx, refused)
		tr.wantErr(err, sessions.ErrQueueFull)
	}
	tr.done(turn, "answer")
	tr.claim(far, "w1")
	tr.say(refused, sessions.PostQueued)
	tr.say(refused, sessions.PostDuplicate)
}

func attachRotates(tr *trial) {
	far := tr.make(sessions.NewSession{ID: "api:far", Surface: "api:local:far"}).ID
	tr.attach(far, surface)
	tr.post(tr.heard("hello"))
	request := sessions.RotateRequest{Key: "new-1", New: sessions.NewSession{Surface: surface, UserID: "u-ann"}, Deliveries: []sessions.NewDelivery{row(surface, "new")}}
	result := must(tr.store.Rotate(tr.ctx, request))(tr)
	equal(tr, "old", result.Old, far)
	tr.wantSurfaces(far, "api:local:far")
	tr.eventually("the old session is suspended", func() bool {
		r := tr.get(far)
		return r.State == sessions.StateSuspended && r.Status == sessions.StatusInactive
	})
	equal(tr, "bound", tr.bound(surface), result.Record.ID)
	tr.check(must(tr.store.Rotate(tr.ctx, request))(tr).Duplicate, "the rotation happened twice")
	equal(tr, "next message", tr.post(tr.heard("anew")).Session, result.Record.ID)
	equal(tr, "the other surface", tr.bound("api:local:far"), far)
}

func attachTurnLeft(tr *trial) {
	turn := tr.begin("question")
	id := turn.Lease.Session
	tr.queued("follow-up", "member", "")
	far := tr.make(sessions.NewSession{ID: "api:far"}).ID
	equal(tr, "previous", tr.attach(far, surface), id)
	renewed := must(tr.store.Renew(tr.ctx, []sessions.Lease{turn.Lease}, lease))(tr)
	tr.check(renewed[0].Held && !renewed[0].Stop, "renewal after the surface moved: %+v", renewed[0])
	result := tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("answer"), Deliveries: []sessions.NewDelivery{row(SurfaceOf(turn), "answer")}, Next: claimer("w1"), Send: claimer("w1")})
	tr.check(len(result.Sends) == 1 && result.Sends[0].Surface == surface, "sends %+v", result.Sends)
	tr.wantTaken(result.Next, "follow-up")
	equal(tr, "answers go to", SurfaceOf(result.Next), surface)
	tr.done(result.Next, "answer 2")
	tr.wantBranch(id, "question", "answer", "follow-up", "answer 2")
}

func attachEnded(tr *trial) {
	for i, end := range []func(id string){func(id string) { tr.ended(id) }, func(id string) { tr.do(tr.store.Delete(tr.ctx, id)) }} {
		far := tr.make(sessions.NewSession{ID: fmt.Sprintf("api:far-%d", i)}).ID
		on := fmt.Sprintf("telegram:1:%d", i)
		tr.attach(far, on)
		before := tr.heard("before")
		before.Surface = on
		tr.say(before, sessions.PostLogged)
		end(far)
		equal(tr, "the redelivery", tr.post(before).Outcome, sessions.PostDuplicate)
		after := tr.said("after")
		after.Surface, after.Claim = on, claimer("w1")
		result := tr.say(after, sessions.PostClaimed)
		tr.check(result.Created && result.Session != far && result.Seq == 1, "the next message: %+v", result)
		equal(tr, "bound", tr.bound(on), result.Session)
		tr.say(after, sessions.PostDuplicate)
	}
}

func attachChatMoves(tr *trial) {
	far := tr.make(sessions.NewSession{ID: "api:far"}).ID
	tr.attach(far, surface)
	tr.do(tr.store.MoveChat(tr.ctx, surface, other))
	equal(tr, "bound", tr.bound(other), far)
	equal(tr, "old key", tr.bound(surface), "")
	tr.wantSurfaces(far, other)
	r := tr.heard("hello")
	r.Surface = other
	equal(tr, "next message", tr.post(r).Session, far)
}

func detachNext(tr *trial) {
	near := tr.post(tr.heard("near")).Session
	for _, id := range []string{near, tr.make(sessions.NewSession{ID: "api:far"}).ID} {
		tr.attach(id, surface)
		before := tr.get(id)
		after := tr.detach(id, surface)
		tr.check(after.State == before.State && after.Status == before.Status && after.LastActivityAt.Equal(before.LastActivityAt), "detached %+v", after)
		equal(tr, "bound", tr.bound(surface), "")
		result := tr.post(tr.heard("anew"))
		tr.check(result.Created && result.Session != id, "the next message: %+v", result)
	}
	tr.wantBranch(near, "near")
}

func detachIdle(tr *trial) {
	for _, id := range []string{tr.post(tr.heard("near")).Session, tr.make(sessions.NewSession{ID: "api:far", Surface: "api:local:far"}).ID} {
		before := tr.get(id)
		tr.sameRecord("a free surface", tr.detach(id, "slack:1:free"), before)
		r := tr.heard("another's")
		r.Surface = other
		owner := tr.post(r).Session
		tr.sameRecord("another's surface", tr.detach(id, other), before)
		equal(tr, "bound", tr.bound(other), owner)
		tr.wantSurfaces(owner, other)
		own := before.Surfaces[0]
		once := tr.detach(id, own)
		tr.sameRecord("once more", tr.detach(id, own), once)
	}
}

func detachRefused(tr *trial) {
	_, err := tr.store.Detach(tr.ctx, "api:nobody", surface)
	tr.wantErr(err, sessions.ErrNotFound)
	bound := tr.post(tr.heard("x")).Session
	_, err = tr.store.Detach(tr.ctx, "api:nobody", surface)
	tr.wantErr(err, sessions.ErrNotFound)
	over := tr.make(sessions.NewSession{ID: "api:over"}).ID
	tr.ended(over)
	_, err = tr.store.Detach(tr.ctx, over, surface)
	tr.wantExpired(err, over)
	equal(tr, "bound", tr.bound(surface), bound)
}

func attachLiterally(tr *trial) {
	id := tr.make(sessions.NewSession{ID: "api:s"}).ID
	var want []string
	for _, name := range oddNames() {
		to := "telegram:1:" + name
		equal(tr, "previous", tr.attach(id, to), "")
		want = append(want, to)
	}
	equalSlices(tr, "surfaces", tr.get(id).Surfaces, want)
	for i, to := range want {
		r := tr.heard(fmt.Sprintf("m%d", i))
		r.Surface, r.Key = to, "key of "+to
		result := tr.post(r)
		tr.check(result.Session == id && result.Seq == int64(i+1), "a message on %q: %+v", to, result)
		tr.say(r, sessions.PostDuplicate)
	}
	for i, to := range want {
		tr.detach(id, to)
		equalSlices(tr, "surfaces", tr.get(id).Surfaces, want[i+1:])
		equal(tr, "bound", tr.bound(to), "")
	}
}

func attachTogether(tr *trial) {
	ids := []string{tr.post(tr.heard("near")).Session}
	for i := range 11 {
		ids = append(ids, tr.make(sessions.NewSession{ID: fmt.Sprintf("api:s%d", i)}).ID)
	}
	left := make([]string, len(ids))
	tr.together(len(ids), func(i int) (err error) {
		for range 3 {
			if _, left[i], err = tr.store.Attach(tr.ctx, sessions.AttachRequest{Session: ids[i], Surface: surface}); err != nil {
				return err
			}
		}
		return nil
	})
	tr.oneBinding(surface, ids)
}

// oneBinding waits until a surface is among the surfaces of the session it is
// bound to, once, and of no other.
func (tr *trial) oneBinding(of string, ids []string) {
	tr.Helper()
	bound := tr.bound(of)
	tr.eventually("only "+bound+" names "+of, func() bool {
		for _, id := range ids {
			times := 0
			for _, s := range tr.get(id).Surfaces {
				if s == of {
					times++
				}
			}
			if (times == 1) != (id == bound) || times > 1 {
				return false
			}
		}
		return tr.bound(of) == bound
	})
}

func attachWhilePosting(tr *trial) {
	ids := []string{tr.post(tr.heard("near")).Session}
	for i := range 3 {
		ids = append(ids, tr.make(sessions.NewSession{ID: fmt.Sprintf("api:s%d", i)}).ID)
	}
	const posters, posts = 4, 30
	results := make([][]sessions.PostResult, posters)
	tr.together(posters+len(ids), func(n int) error {
		if n >= posters {
			return tr.attachAndDetach(ids[n-posters], 15)
		}
		for i := range posts {
			r := sessions.PostRequest{Key: fmt.Sprintf("p%d.%d", n, i), Surface: surface, Message: sessions.Message{Role: sessions.RoleUser, Text: fmt.Sprintf("p%d.%d", n, i)}}
			first, err := tr.store.Post(tr.ctx, r)
			if err != nil {
				return err
			}
			again, err := tr.store.Post(tr.ctx, r)
			if err != nil || again.Outcome != sessions.PostDuplicate || again.Session != first.Session {
				return fmt.Errorf("posted %+v, then %+v, %w", first, again, err)
			}
			results[n] = append(results[n], first)
		}
		return nil
	})
	all := map[string]bool{}
	for n := range results {
		for i, r := range results[n] {
			all[r.Session] = true
			entry := must(tr.store.Range(tr.ctx, r.Session, r.Seq, r.Seq))(tr)
			equalSlices(tr, "the entry of "+r.Session, tr.texts(entry), []string{fmt.Sprintf("p%d.%d", n, i)})
		}
	}
	for _, id := range ids {
		all[id] = true
	}
	tr.oneBinding(surface, keysOf(all))
}

func keysOf(set map[string]bool) (keys []string) {
	for key := range set {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func (tr *trial) attachAndDetach(id string, times int) error {
	for range times {
		if _, _, err := tr.store.Attach(tr.ctx, sessions.AttachRequest{Session: id, Surface: surface}); err != nil {
			return err
		}
		if _, err := tr.store.Detach(tr.ctx, id, surface); err != nil {
			return err
		}
	}
	return nil
}

func attachSurvives(tr *trial) {
	near := tr.post(tr.heard("near")).Session
	far := tr.make(sessions.NewSession{ID: "api:far"}).ID
	tr.attach(far, surface)
	tr.attach(near, other)
	tr.wantSurfaces(near, other)
	tr.reopen()
	equal(tr, "bound", tr.bound(surface), far)
	equal(tr, "bound", tr.bound(other), near)
	equalSlices(tr, "surfaces", tr.get(far).Surfaces, []string{surface})
	equal(tr, "next message", tr.post(tr.heard("x")).Session, far)
	tr.detach(far, surface)
	tr.reopen()
	equal(tr, "bound after detaching", tr.bound(surface), "")
}
