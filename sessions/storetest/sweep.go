package storetest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"parley/sessions"
)

func sweepTests() []test {
	return []test{
		{"a sweep of an empty store changes nothing", sweepNothing},
		{"sweepStale suspends what was inactive for longer, and nothing else", sweepSuspends},
		{"created sessions count for the sweep", sweepCreated},
		{"groups are suspended too", sweepGroups},
		{"a suspended session keeps its surfaces, and a message revives it", sweepRevive},
		{"the longest inactive are swept first, in batches", sweepBatches},
		{"what is busy is passed over and holds up nothing", sweepBusy},
		{"what is swept by activity, not by its making", sweepActivity},
		{"a sweep expires suspended sessions only", sweepExpires},
		{"a sweep deletes direct sessions in any state", sweepDeletes},
		{"what a deletion passes over stays whole", sweepDeletesNotBusy},
		{"an imported session is swept by its old activity", sweepImported},
		{"several sweepers at once return each session once", sweepTogether},
		{"a session that just got a message is never left suspended", sweepAgainstPosts},
		{"a message that meets a deleting sweep is in a log", sweepDeleteAgainstPosts},
		{"a sweep refuses what it does not know", sweepRefuses},
		{"a sweep survives a restart", sweepSurvives},
	}
}

func (tr *trial) sweep(rule sessions.SweepRule, age time.Duration, limit int) []string {
	tr.Helper()
	ids := must(tr.store.Sweep(tr.ctx, sessions.SweepRequest{Rule: rule, Age: age, Limit: limit}))(tr)
	tr.check(len(ids) <= limit, "%d swept, limit %d", len(ids), limit)
	return slices.Concat([]string{}, ids)
}

func sweepNothing(tr *trial) {
	for _, rule := range []sessions.SweepRule{sessions.SweepSuspend, sessions.SweepExpire, sessions.SweepDelete} {
		equal(tr, "swept", len(tr.sweep(rule, time.Millisecond, 10)), 0)
	}
	id := tr.direct(surface, "hello")
	for _, rule := range []sessions.SweepRule{sessions.SweepSuspend, sessions.SweepExpire, sessions.SweepDelete} {
		equal(tr, "swept", len(tr.sweep(rule, time.Hour, 10)), 0)
	}
	tr.wantState(id, sessions.StateActive, sessions.StatusIdle)
}

func sweepSuspends(tr *trial) {
	old := tr.post(tr.heard("old")).Session
	tr.clock.Advance(time.Hour)
	r := tr.heard("new")
	r.Surface = other
	fresh := tr.post(r).Session
	before, untouched := tr.get(old), tr.get(fresh)
	tr.clock.Advance(time.Minute)
	equal(tr, "too young", len(tr.sweep(sessions.SweepSuspend, 2*time.Hour, 10)), 0)
	equalSlices(tr, "swept", tr.sweep(sessions.SweepSuspend, 30*time.Minute, 10), []string{old})
	after := tr.wantState(old, sessions.StateSuspended, sessions.StatusInactive)
	tr.check(after.LastActivityAt.Equal(before.LastActivityAt) && after.StateChangedAt.Sub(before.StateChangedAt) >= time.Hour && after.Version > before.Version, "suspended %+v", after)
	tr.sameRecord("the younger", tr.get(fresh), untouched)
	equal(tr, "swept again", len(tr.sweep(sessions.SweepSuspend, 30*time.Minute, 10)), 0)
	equalSlices(tr, "swept later", tr.sweep(sessions.SweepSuspend, 30*time.Second, 10), []string{fresh})
}

func sweepCreated(tr *trial) {
	id := tr.make(sessions.NewSession{Surface: surface}).ID
	tr.clock.Advance(time.Hour)
	equalSlices(tr, "swept", tr.sweep(sessions.SweepSuspend, time.Minute, 10), []string{id})
	tr.wantState(id, sessions.StateSuspended, sessions.StatusInactive)
	equal(tr, "next message", tr.post(tr.heard("hello")).Session, id)
	tr.wantState(id, sessions.StateActive, sessions.StatusIdle)
}

func sweepGroups(tr *trial) {
	id := tr.post(tr.heard("hello")).Session
	equal(tr, "type", tr.get(id).Source.Type, sessions.Group)
	tr.clock.Advance(time.Hour)
	equalSlices(tr, "suspended", tr.sweep(sessions.SweepSuspend, time.Minute, 10), []string{id})
	equal(tr, "deleted", len(tr.sweep(sessions.SweepDelete, time.Minute, 10)), 0)
	tr.wantBranch(id, "hello")
}

func sweepRevive(tr *trial) {
	far := tr.make(sessions.NewSession{ID: "api:far"}).ID
	near := tr.post(tr.heard("hello")).Session
	tr.attach(far, other)
	tr.clock.Advance(time.Hour)
	equal(tr, "swept", len(tr.sweep(sessions.SweepSuspend, time.Minute, 10)), 2)
	for id, on := range map[string]string{near: surface, far: other} {
		equal(tr, "bound", tr.bound(on), id)
		equalSlices(tr, "surfaces", tr.get(id).Surfaces, []string{on})
		r := tr.said("back")
		r.Surface, r.Claim = on, claimer("w1")
		result := tr.say(r, sessions.PostClaimed)
		equal(tr, "session", result.Session, id)
		tr.wantState(id, sessions.StateActive, sessions.StatusRunning)
		tr.done(result.Turn, "answer")
		tr.wantState(id, sessions.StateActive, sessions.StatusIdle)
	}
	equal(tr, "swept", len(tr.sweep(sessions.SweepSuspend, time.Minute, 10)), 0)
}

func sweepBatches(tr *trial) {
	var want []string
	for i := range 10 {
		tr.clock.Advance(time.Minute)
		want = append(want, tr.make(sessions.NewSession{ID: fmt.Sprintf("api:s%d", (i*7)%10)}).ID)
	}
	tr.clock.Advance(time.Hour)
	for _, n := range []int{3, 3, 3, 1, 0} {
		equalSlices(tr, "batch", tr.sweep(sessions.SweepSuspend, time.Minute, 3), want[:n])
		want = want[n:]
	}
}

func sweepBusy(tr *trial) {
	rested := 0
	tr.busy(surface, func(id, when string) {
		rested++
		rest := tr.make(sessions.NewSession{ID: fmt.Sprintf("api:rest-%d", rested), Source: sessions.Source{Type: sessions.Direct}}).ID
		tr.clock.Advance(5 * time.Minute) // short against the lease
		before := tr.get(id)
		for _, rule := range []sessions.SweepRule{sessions.SweepSuspend, sessions.SweepExpire, sessions.SweepDelete} {
			equalSlices(tr, when, tr.sweep(rule, time.Minute, 1), []string{rest})
		}
		equal(tr, when, len(tr.sweep(sessions.SweepSuspend, time.Minute, 1)), 0)
		tr.sameRecord(when, tr.get(id), before)
	})
	tr.clock.Advance(time.Hour)
	ids := tr.sweep(sessions.SweepSuspend, time.Minute, 10)
	equalSlices(tr, "at rest", ids, []string{tr.bound(surface)})
}

func sweepActivity(tr *trial) {
	a, b, c := tr.direct("api:local:a", "x"), tr.direct("api:local:b", "x"), tr.direct("api:local:c", "x")
	tr.clock.Advance(time.Hour)
	tr.touch(a)
	tr.clock.Advance(time.Minute)
	tr.post(tr.into(b, "again"))
	tr.clock.Advance(time.Minute)
	must(tr.store.Update(tr.ctx, c, sessions.Patch{Name: new("no activity")}))(tr)
	equalSlices(tr, "swept", tr.sweep(sessions.SweepSuspend, 30*time.Minute, 10), []string{c})
	tr.clock.Advance(time.Hour)
	equalSlices(tr, "swept", tr.sweep(sessions.SweepSuspend, 30*time.Minute, 10), []string{a, b})
}

func sweepExpires(tr *trial) {
	active := tr.direct("api:local:active", "x")
	suspended := tr.suspendedDirect("api:local:suspended")
	tr.attach(suspended, surface)
	tr.clock.Advance(time.Hour)
	equalSlices(tr, "expired", tr.sweep(sessions.SweepExpire, time.Minute, 10), []string{suspended})
	tr.wantState(suspended, sessions.StateExpired, sessions.StatusInactive)
	tr.wantState(active, sessions.StateActive, sessions.StatusIdle)
	tr.wantSurfaces(suspended)
	tr.check(tr.post(tr.heard("anew")).Created, "its surface is not free")
	equal(tr, "expired again", len(tr.sweep(sessions.SweepExpire, time.Minute, 10)), 0)
	_, err := tr.store.Touch(tr.ctx, suspended)
	tr.wantExpired(err, suspended)
}

func sweepDeletes(tr *trial) {
	var want []string
	for i, state := range []sessions.State{sessions.StateCreated, sessions.StateActive, sessions.StateSuspended, sessions.StateExpired} {
		on := fmt.Sprintf("api:local:%d", i)
		id := tr.make(sessions.NewSession{Surface: on, Source: sessions.Source{Type: sessions.Direct}}).ID
		switch state {
		case sessions.StateActive:
			tr.touch(id)
		case sessions.StateSuspended:
			must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: on, Source: sessions.Source{Type: sessions.Group}}}))(tr)
		case sessions.StateExpired:
			tr.ended(id)
		}
		tr.setTimer(id, "mine", time.Minute)
		tr.clock.Advance(time.Second)
		want = append(want, id)
	}
	tr.make(sessions.NewSession{ID: "api:neither"})
	tr.clock.Advance(time.Hour)
	young := tr.direct(surface, "young")
	equalSlices(tr, "first two", tr.sweep(sessions.SweepDelete, time.Minute, 2), want[:2])
	equalSlices(tr, "the rest", tr.sweep(sessions.SweepDelete, time.Minute, 10), want[2:])
	for _, id := range want {
		tr.wantGone(id)
	}
	equal(tr, "timers due", len(tr.due(sessions.WorkTimer)), 0)
	tr.wantState(young, sessions.StateActive, sessions.StatusIdle)
	tr.get("api:neither")
}

func sweepDeletesNotBusy(tr *trial) {
	turn := tr.beginDirect("question")
	tr.clock.Advance(48 * time.Hour)
	equal(tr, "deleted", len(tr.sweep(sessions.SweepDelete, time.Minute, 10)), 0)
	tr.done(turn, "answer")
	tr.wantBranch(turn.Lease.Session, "question", "answer")
	equalSlices(tr, "deleted", tr.sweep(sessions.SweepDelete, time.Minute, 10), []string{turn.Lease.Session})
	tr.wantGone(turn.Lease.Session)
}

func sweepImported(tr *trial) {
	at := tr.clock.Now().Add(-100 * time.Hour).UTC().Truncate(time.Millisecond)
	tr.imported(sessions.Record{ID: "api:old", State: sessions.StateActive, CreatedAt: at, LastActivityAt: at})
	tr.imported(sessions.Record{ID: "api:older", State: sessions.StateCreated, CreatedAt: at, LastActivityAt: at.Add(-time.Millisecond)})
	tr.make(sessions.NewSession{ID: "api:new"})
	equalSlices(tr, "swept", tr.sweep(sessions.SweepSuspend, 72*time.Hour, 10), []string{"api:older", "api:old"})
}

func sweepTogether(tr *trial) {
	for _, rule := range []sessions.SweepRule{sessions.SweepSuspend, sessions.SweepExpire, sessions.SweepDelete} {
		const n, sweepers = 40, 6
		if rule == sessions.SweepSuspend {
			tr.crowdOf(n, func(i int) sessions.NewSession {
				return sessions.NewSession{ID: fmt.Sprintf("api:s%d", i), Source: sessions.Source{Type: sessions.Direct}}
			})
		}
		tr.clock.Advance(time.Hour)
		var mu sync.Mutex
		times := map[string]int{}
		tr.together(sweepers, func(int) error {
			for {
				ids, err := tr.store.Sweep(tr.ctx, sessions.SweepRequest{Rule: rule, Age: time.Minute, Limit: 3})
				if err != nil || len(ids) == 0 {
					return err
				}
				mu.Lock()
				for _, id := range ids {
					times[id]++
				}
				mu.Unlock()
			}
		})
		equal(tr, string(rule), len(times), n)
		for id, k := range times {
			tr.check(k == 1, "%s: %s was returned %d times", rule, id, k)
		}
	}
}

func sweepAgainstPosts(tr *trial) {
	const n = 40
	on := func(i int) string { return fmt.Sprintf("telegram:1:%d", i) }
	for i := range n {
		tr.direct(on(i), "old")
	}
	tr.clock.Advance(time.Hour)
	tr.together(n+4, func(i int) error {
		if i >= n {
			for range 4 {
				if _, err := tr.store.Sweep(tr.ctx, sessions.SweepRequest{Rule: sessions.SweepSuspend, Age: time.Minute, Limit: 7}); err != nil {
					return err
				}
			}
			return nil
		}
		r := sessions.PostRequest{Surface: on(i), Trigger: i%2 == 0, Message: sessions.Message{Role: sessions.RoleUser, Text: "new"}}
		_, err := tr.store.Post(tr.ctx, r)
		return err
	})
	for i := range n {
		id := tr.bound(on(i))
		tr.wantState(id, sessions.StateActive, sessions.StatusIdle)
		equalSlices(tr, "log", tr.texts(tr.log(id)), []string{"old", "new"})
	}
	equal(tr, "active", len(tr.found(sessions.Query{States: []sessions.State{sessions.StateActive}})), n)
	equal(tr, "suspended", len(tr.found(sessions.Query{States: []sessions.State{sessions.StateSuspended}})), 0)
	equal(tr, "due", len(tr.due(sessions.WorkTurn)), n/2)
}

func sweepDeleteAgainstPosts(tr *trial) {
	const n = 30
	on := func(i int) string { return fmt.Sprintf("telegram:1:%d", i) }
	for i := range n {
		tr.direct(on(i), "old")
	}
	tr.clock.Advance(time.Hour)
	posted := make([]sessions.PostResult, n)
	tr.together(n+3, func(i int) (err error) {
		if i >= n {
			_, err = tr.store.Sweep(tr.ctx, sessions.SweepRequest{Rule: sessions.SweepDelete, Age: time.Minute, Limit: n})
			return err
		}
		r := sessions.PostRequest{Surface: on(i), Message: sessions.Message{Role: sessions.RoleUser, Text: "new"}}
		r.New.Source.Type = sessions.Direct
		posted[i], err = tr.store.Post(tr.ctx, r)
		return err
	})
	for i, p := range posted {
		equal(tr, "bound", tr.bound(on(i)), p.Session)
		log := tr.texts(tr.log(p.Session))
		equal(tr, "the newest of "+p.Session, log[len(log)-1], "new")
		equal(tr, "entries", len(log), map[bool]int{true: 1, false: 2}[p.Created])
	}
	equal(tr, "sessions", len(tr.found(sessions.Query{})), n)
}

func sweepRefuses(tr *trial) {
	for _, r := range []sessions.SweepRequest{
		{}, {Rule: "other", Age: time.Hour, Limit: 1}, {Rule: sessions.SweepDelete, Limit: 1}, {Rule: sessions.SweepDelete, Age: -time.Hour, Limit: 1},
		{Rule: sessions.SweepDelete, Age: time.Hour}, {Rule: sessions.SweepDelete, Age: time.Hour, Limit: sessions.ListMax + 1},
	} {
		_, err := tr.store.Sweep(tr.ctx, r)
		tr.wantInvalid(err)
	}
}

func sweepSurvives(tr *trial) {
	a, b := tr.direct("api:local:a", "x"), tr.direct("api:local:b", "x")
	tr.clock.Advance(time.Hour)
	equalSlices(tr, "swept", tr.sweep(sessions.SweepSuspend, time.Minute, 1), []string{a})
	tr.reopen()
	tr.wantState(a, sessions.StateSuspended, sessions.StatusInactive)
	equalSlices(tr, "swept after a restart", tr.sweep(sessions.SweepSuspend, time.Minute, 10), []string{b})
}
