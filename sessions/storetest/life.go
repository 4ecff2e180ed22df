package storetest

import (
	"errors"
	"time"

	"parley/sessions"
)

func lifeTests() []test {
	return []test{
		{"create, activate, suspend, touch, expire: the whole life", lifeWhole},
		{"a message that asks for nothing changes no status, but that of what it revives", lifeLogged},
		{"touch makes a created session active", touchCreated},
		{"touch of an active session is activity and no change of state", touchActive},
		{"touch revives a suspended session", touchSuspended},
		{"touch of a replaced session whose turn runs leaves it running", touchRunning},
		{"touch of nothing, or of what is over", touchRefused},
		{"expire ends a session in any state", expireAnyState},
		{"expire happens once", expireOnce},
		{"expire frees the surfaces, near and far", expireFrees},
		{"expire while a turn runs asks it to stop, and what waits is answered", expireRunning},
		{"an expired session is read and nothing else", expireReadable},
		{"expire of nothing is not found", func(tr *trial) {
			_, err := tr.store.Expire(tr.ctx, "api:nobody")
			tr.wantErr(err, sessions.ErrNotFound)
		}},
		{"changes of life are hinted", lifeHints},
		{"life survives a restart", lifeSurvives},
		{"life refuses ids that cannot be", lifeIDs},
	}
}

func (tr *trial) touch(id string) sessions.Record {
	tr.Helper()
	return must(tr.store.Touch(tr.ctx, id))(tr)
}

func (tr *trial) ended(id string) sessions.Record {
	tr.Helper()
	return must(tr.store.Expire(tr.ctx, id))(tr)
}

// suspended is a session with a message that was replaced by /new.
func (tr *trial) suspended(text string) string {
	tr.Helper()
	id := tr.post(tr.heard(text)).Session
	must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}}))(tr)
	tr.wantState(id, sessions.StateSuspended, sessions.StatusInactive)
	return id
}

func (tr *trial) wantState(id string, state sessions.State, status sessions.Status) sessions.Record {
	tr.Helper()
	r := tr.get(id)
	tr.check(r.State == state && r.Status == status, "%s is %s/%s, want %s/%s", id, r.State, r.Status, state, status)
	return r
}

func lifeWhole(tr *trial) {
	id := tr.make(sessions.NewSession{Surface: surface, UserID: "u-ann"}).ID
	tr.wantState(id, sessions.StateCreated, sessions.StatusIdle)
	tr.clock.Advance(time.Minute)
	tr.post(tr.heard("hello"))
	active := tr.wantState(id, sessions.StateActive, sessions.StatusIdle)
	tr.clock.Advance(time.Hour)
	equalSlices(tr, "swept", tr.sweep(sessions.SweepSuspend, time.Minute, 10), []string{id})
	suspended := tr.wantState(id, sessions.StateSuspended, sessions.StatusInactive)
	tr.clock.Advance(time.Minute)
	tr.touch(id)
	revived := tr.wantState(id, sessions.StateActive, sessions.StatusIdle)
	tr.clock.Advance(time.Minute)
	tr.ended(id)
	expired := tr.wantState(id, sessions.StateExpired, sessions.StatusInactive)
	all := []sessions.Record{active, suspended, revived, expired}
	for i, r := range all[1:] {
		tr.check(r.StateChangedAt.After(all[i].StateChangedAt), "%s at %v, then %s at %v", all[i].State, all[i].StateChangedAt, r.State, r.StateChangedAt)
	}
	tr.check(expired.LastActivityAt.Equal(revived.LastActivityAt) && suspended.LastActivityAt.Equal(active.LastActivityAt), "the end is no activity")
}

func lifeLogged(tr *trial) {
	id := tr.post(tr.heard("hello")).Session
	tr.post(tr.into(id, "more"))
	tr.wantState(id, sessions.StateActive, sessions.StatusIdle)
	must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}}))(tr)
	tr.post(tr.into(id, "after it was left"))
	tr.wantState(id, sessions.StateActive, sessions.StatusIdle)

	turn := tr.begin("question")
	id = turn.Lease.Session
	tr.post(tr.into(id, "meanwhile"))
	tr.wantState(id, sessions.StateActive, sessions.StatusRunning)
	must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}}))(tr)
	tr.wantState(id, sessions.StateSuspended, sessions.StatusInactive)
	tr.post(tr.into(id, "after it was left"))
	tr.wantState(id, sessions.StateActive, sessions.StatusRunning)
	tr.done(turn, "answer")
	tr.wantState(id, sessions.StateActive, sessions.StatusIdle)
}

func touchCreated(tr *trial) {
	before := tr.make(sessions.NewSession{Surface: surface, UserID: "u-ann"})
	tr.clock.Advance(time.Hour)
	got := tr.touch(before.ID)
	tr.sameRecord("touched", got, tr.wantState(before.ID, sessions.StateActive, sessions.StatusIdle))
	tr.check(got.LastActivityAt.Sub(before.LastActivityAt) >= time.Hour && got.StateChangedAt.Equal(got.LastActivityAt), "active %v, changed %v", got.LastActivityAt, got.StateChangedAt)
	tr.check(got.Version > before.Version && got.Seq == 0 && got.MessageCount == 0 && got.CreatedAt.Equal(before.CreatedAt), "touched %+v", got)
}

func touchActive(tr *trial) {
	id := tr.post(tr.heard("hello")).Session
	before := tr.get(id)
	tr.clock.Advance(time.Hour)
	after := tr.touch(id)
	tr.check(after.LastActivityAt.Sub(before.LastActivityAt) >= time.Hour, "active %v, then %v", before.LastActivityAt, after.LastActivityAt)
	equal(tr, "state changed", after.StateChangedAt, before.StateChangedAt)
	equal(tr, "preview", after.Preview, "hello")
}

func touchSuspended(tr *trial) {
	id := tr.suspended("hello")
	tr.clock.Advance(time.Hour)
	tr.touch(id)
	r := tr.wantState(id, sessions.StateActive, sessions.StatusIdle)
	equal(tr, "surfaces", len(r.Surfaces), 0)
	tr.check(tr.bound(surface) != id, "touching moved the binding")
}

func touchRunning(tr *trial) {
	turn := tr.begin("question")
	id := turn.Lease.Session
	must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}}))(tr)
	tr.touch(id)
	tr.wantState(id, sessions.StateActive, sessions.StatusRunning)
	tr.done(turn, "answer")
	tr.wantState(id, sessions.StateActive, sessions.StatusIdle)
}

func touchRefused(tr *trial) {
	_, err := tr.store.Touch(tr.ctx, "api:nobody")
	tr.wantErr(err, sessions.ErrNotFound)
	id := tr.post(tr.heard("hello")).Session
	before := tr.ended(id)
	tr.clock.Advance(time.Hour)
	_, err = tr.store.Touch(tr.ctx, id)
	tr.wantExpired(err, id)
	tr.sameRecord("refused", tr.get(id), before)
}

// wantExpired expects the error of an operation that an expired session does
// not allow.
func (tr *trial) wantExpired(err error, id string) {
	tr.Helper()
	tr.wantStateError(err)
	var state *sessions.StateError
	errors.As(err, &state)
	tr.check(state.Session == id && state.State == sessions.StateExpired, "error %+v of %s", state, id)
}

func expireAnyState(tr *trial) {
	created := tr.make(sessions.NewSession{ID: "api:created"}).ID
	suspended := tr.suspended("hello")
	active := tr.post(tr.heard("hello")).Session
	for _, id := range []string{created, active, suspended} {
		before := tr.get(id)
		tr.clock.Advance(time.Minute)
		got := tr.ended(id)
		tr.sameRecord("expired", got, tr.wantState(id, sessions.StateExpired, sessions.StatusInactive))
		tr.check(got.StateChangedAt.After(before.StateChangedAt) && got.LastActivityAt.Equal(before.LastActivityAt) && got.Version > before.Version, "expired %+v", got)
	}
}

func expireOnce(tr *trial) {
	id := tr.post(tr.heard("hello")).Session
	first := tr.ended(id)
	tr.clock.Advance(time.Hour)
	tr.sameRecord("once more", tr.ended(id), first)
}

func expireFrees(tr *trial) {
	id := tr.make(sessions.NewSession{ID: "api:s", Surface: "api:local:s"}).ID
	surfaces := []string{"api:local:s", surface, other, "slack:1:2:3"}
	for _, s := range surfaces[1:] {
		tr.attach(id, s)
	}
	equal(tr, "surfaces left", len(tr.ended(id).Surfaces), 0)
	for _, s := range surfaces {
		r := tr.heard("on " + s)
		r.Surface = s
		got := tr.post(r)
		tr.check(got.Created && got.Session != id, "a message on %s went to %s", s, got.Session)
		equal(tr, "bound", tr.bound(s), got.Session)
	}
	tr.wantState(id, sessions.StateExpired, sessions.StatusInactive)
	equal(tr, "entries", len(tr.log(id)), 0)
}

func expireRunning(tr *trial) {
	turn := tr.begin("question")
	id := turn.Lease.Session
	tr.queued("follow-up", "member", "")
	tr.ended(id)
	renewed := must(tr.store.Renew(tr.ctx, []sessions.Lease{turn.Lease}, lease))(tr)
	tr.check(renewed[0].Held && renewed[0].Stop, "renewal after the end: %+v", renewed[0])
	tr.appendTo(turn, "call")
	result := tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("answer"), Deliveries: []sessions.NewDelivery{row(surface, "answer")}, Send: claimer("w1")})
	equal(tr, "sends", len(result.Sends), 1)
	tr.wantState(id, sessions.StateExpired, sessions.StatusInactive)
	next := tr.claim(id, "w2")
	tr.wantTaken(next, "follow-up")
	tr.done(next, "answer 2")
	tr.settle(sessions.Settlement{Delivery: result.Sends[0], State: sessions.DeliverySent})
	tr.wantState(id, sessions.StateExpired, sessions.StatusInactive)
	tr.wantBranch(id, "question", "call", "answer", "follow-up", "answer 2")
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), 0)
}

func expireReadable(tr *trial) {
	turn := tr.begin("question")
	id := turn.Lease.Session
	tr.done(turn, "answer")
	_, letter := tr.parked("poison")
	record := tr.ended(id)
	for name, try := range map[string]func() error{
		"post":   func() error { _, err := tr.store.Post(tr.ctx, tr.into(id, "late")); return err },
		"update": func() error { _, err := tr.store.Update(tr.ctx, id, sessions.Patch{Name: new("late")}); return err },
		"open":   func() error { _, _, err := tr.store.Open(tr.ctx, sessions.NewSession{ID: id}); return err },
		"touch":  func() error { _, err := tr.store.Touch(tr.ctx, id); return err },
		"attach": func() error {
			_, _, err := tr.store.Attach(tr.ctx, sessions.AttachRequest{Session: id, Surface: other, Revive: true})
			return err
		},
		"detach":                  func() error { _, err := tr.store.Detach(tr.ctx, id, other); return err },
		"run the last turn again": func() error { _, _, err := tr.store.Again(tr.ctx, sessions.AgainRequest{Session: id}); return err },
		"replay a dead letter":    func() error { return tr.store.Replay(tr.ctx, letter) },
		"write a note": func() error {
			_, err := tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: []sessions.NewEntry{entry(sessions.EntryBranchSummary, "late")}})
			return err
		},
	} {
		err := try()
		tr.Logf("%s: %v", name, err)
		tr.wantExpired(err, id)
		if state, ok := errors.AsType[*sessions.StateError](err); ok {
			equal(tr, "what was attempted", state.Attempted, name)
		}
	}
	tr.sameRecord("refused", tr.get(id), record)
	tr.wantBranch(id, "question", "answer", "poison", "broken")
	tr.wantFound(sessions.Query{States: []sessions.State{sessions.StateExpired}}, id)
}

func lifeHints(tr *trial) {
	id := tr.make(sessions.NewSession{Surface: surface}).ID
	events := tr.watch(id)
	status := func(e sessions.LiveEvent) bool { return e.Session == id && e.Kind == sessions.LiveStatus }
	tr.touch(id)
	until(tr, events, "the hint of a touch", status)
	tr.clock.Advance(time.Hour)
	tr.sweep(sessions.SweepSuspend, time.Minute, 10)
	until(tr, events, "the hint of a sweep", status)
	tr.ended(id)
	until(tr, events, "the hint of the end", status)
}

func lifeSurvives(tr *trial) {
	touched := tr.make(sessions.NewSession{ID: "api:touched"}).ID
	tr.touch(touched)
	expired := tr.post(tr.heard("x")).Session
	tr.ended(expired)
	records := map[string]sessions.Record{touched: tr.get(touched), expired: tr.get(expired)}
	tr.reopen()
	for id, r := range records {
		tr.sameRecord("after a restart", tr.get(id), r)
	}
	equal(tr, "bound", tr.bound(surface), "")
}

func lifeIDs(tr *trial) {
	for _, id := range badIDs() {
		_, err := tr.store.Touch(tr.ctx, id)
		tr.wantInvalid(err)
		_, err = tr.store.Expire(tr.ctx, id)
		tr.wantInvalid(err)
		_, err = tr.store.Detach(tr.ctx, id, surface)
		tr.wantInvalid(err)
		_, _, err = tr.store.Attach(tr.ctx, sessions.AttachRequest{Session: id, Surface: surface})
		tr.wantInvalid(err)
		tr.wantInvalid(tr.store.Delete(tr.ctx, id))
		_, err = tr.store.Discard(tr.ctx, id)
		tr.wantInvalid(err)
	}
	id := tr.make(sessions.NewSession{ID: "api:s"}).ID
	for _, s := range badKeys() {
		_, _, err := tr.store.Attach(tr.ctx, sessions.AttachRequest{Session: id, Surface: s})
		tr.wantInvalid(err)
		_, err = tr.store.Detach(tr.ctx, id, s)
		tr.wantInvalid(err)
	}
}
