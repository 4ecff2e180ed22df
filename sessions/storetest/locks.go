package storetest

import (
	"strconv"
	"time"

	"parley/sessions"
	"parley/sessions/archive"
)

func lockTests() []test {
	return []test{
		{"one holder at a time", lockOne},
		{"of locks at the same time one wins", lockTogether},
		{"a lock runs out by the store's clock", lockRunsOut},
		{"locking again renews", lockRenews},
		{"an unlocked lock is free at once", lockUnlocked},
		{"the text outlives its holder", lockText},
		{"a replaced holder is refused", lockFenced},
		{"locks survive a restart", lockSurvives},
		{"a lock is forgotten when its time is over", lockForgotten},
		{"a text that is kept for ever is kept", lockForEver},
		{"a lock without a text is forgotten", lockWithoutText},
		{"a lock that is held is not forgotten", lockHeld},
	}
}

func (tr *trial) lock(name, owner string) sessions.Lock {
	tr.Helper()
	return must(tr.store.Lock(tr.ctx, name, worker(owner)))(tr)
}

func (tr *trial) cannotLock(name, owner string) {
	tr.Helper()
	_, err := tr.store.Lock(tr.ctx, name, worker(owner))
	tr.wantErr(err, sessions.ErrBusy)
}

func lockOne(tr *trial) {
	l := tr.lock("poll", "w1")
	tr.check(l.Name == "poll" && l.Owner == "w1" && l.Fence > 0 && l.Data == "", "lock %+v", l)
	tr.cannotLock("poll", "w2")
	tr.lock("other", "w2")
}

func lockTogether(tr *trial) {
	won := make([]bool, 12)
	tr.together(len(won), func(i int) error {
		_, err := tr.store.Lock(tr.ctx, "poll", worker(strconv.Itoa(i)))
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

func lockRunsOut(tr *trial) {
	first := tr.lock("poll", "w1")
	tr.clock.Advance(2 * lease)
	second := tr.lock("poll", "w2")
	tr.check(second.Fence > first.Fence && second.Owner == "w2", "first %+v, second %+v", first, second)
	tr.cannotLock("poll", "w1")
}

func lockRenews(tr *trial) {
	first := tr.lock("poll", "w1")
	for range 3 {
		tr.clock.Advance(lease / 2)
		equal(tr, "fence", tr.lock("poll", "w1").Fence, first.Fence)
	}
	tr.cannotLock("poll", "w2")
}

func lockUnlocked(tr *trial) {
	first := tr.lock("poll", "w1")
	if err := tr.store.Unlock(tr.ctx, first); err != nil {
		tr.Fatal(err)
	}
	tr.wantErr(tr.store.Unlock(tr.ctx, first), sessions.ErrFenced)
	second := tr.lock("poll", "w2")
	tr.check(second.Fence > first.Fence, "fence %d after %d", second.Fence, first.Fence)
	if err := tr.store.Unlock(tr.ctx, second); err != nil {
		tr.Fatal(err)
	}
	third := tr.lock("poll", "w2")
	tr.check(third.Fence > second.Fence, "fence %d after %d", third.Fence, second.Fence)
	tr.wantErr(tr.store.SaveLock(tr.ctx, second, "late", 0), sessions.ErrFenced)
}

func lockText(tr *trial) {
	first := tr.lock("poll", "w1")
	for _, text := range []string{"offset 1", "offset 2 ü"} {
		if err := tr.store.SaveLock(tr.ctx, first, text, 0); err != nil {
			tr.Fatal(err)
		}
	}
	equal(tr, "renewed", tr.lock("poll", "w1").Data, "offset 2 ü")
	if err := tr.store.Unlock(tr.ctx, first); err != nil {
		tr.Fatal(err)
	}
	equal(tr, "next holder's", tr.lock("poll", "w2").Data, "offset 2 ü")
}

func lockFenced(tr *trial) {
	first := tr.lock("poll", "w1")
	tr.clock.Advance(2 * lease)
	if err := tr.store.SaveLock(tr.ctx, first, "late but not replaced", 0); err != nil {
		tr.Fatal(err)
	}
	second := tr.lock("poll", "w2")
	equal(tr, "text", second.Data, "late but not replaced")
	tr.wantErr(tr.store.SaveLock(tr.ctx, first, "stale", 0), sessions.ErrFenced)
	tr.wantErr(tr.store.Unlock(tr.ctx, first), sessions.ErrFenced)
	tr.cannotLock("poll", "w1")
	equal(tr, "text", tr.lock("poll", "w2").Data, "late but not replaced")
	tr.wantErr(tr.store.Unlock(tr.ctx, sessions.Lock{Name: "unknown", Owner: "w1"}), sessions.ErrFenced)
}

func lockForgotten(tr *trial) {
	first := tr.lock("poll", "w1")
	tr.do(tr.store.SaveLock(tr.ctx, first, "short", time.Minute))
	tr.do(tr.store.SaveLock(tr.ctx, first, "said", time.Hour))
	tr.clock.Advance(time.Hour - time.Second)
	equal(tr, "text until then", tr.lock("poll", "w1").Data, "said")
	tr.do(tr.store.Unlock(tr.ctx, first))
	tr.clock.Advance(time.Hour)
	tr.wantErr(tr.store.SaveLock(tr.ctx, first, "stale", 0), sessions.ErrFenced)
	equal(tr, "dumped", len(bodies[archive.LockItem](tr, tr.dump(10), archive.ItemLock)), 0)
	second := tr.lock("poll", "w1")
	tr.check(second.Data == "" && second.Fence > first.Fence, "after %+v: %+v", first, second)
	tr.wantErr(tr.store.SaveLock(tr.ctx, first, "stale", 0), sessions.ErrFenced)
	tr.wantErr(tr.store.Unlock(tr.ctx, first), sessions.ErrFenced)
}

func lockForEver(tr *trial) {
	l := tr.lock("poll", "w1")
	tr.do(tr.store.SaveLock(tr.ctx, l, "short", time.Minute))
	tr.do(tr.store.SaveLock(tr.ctx, l, "offset 7", 0))
	tr.clock.Advance(2 * sessions.DedupeFor)
	equal(tr, "text", tr.lock("poll", "w2").Data, "offset 7")
	tr.clock.Advance(2 * sessions.DedupeFor)
	equal(tr, "dumped", len(bodies[archive.LockItem](tr, tr.dump(10), archive.ItemLock)), 1)
}

func lockWithoutText(tr *trial) {
	first := tr.lock("poll", "w1")
	tr.do(tr.store.Unlock(tr.ctx, first))
	tr.clock.Advance(sessions.DedupeFor - time.Second)
	second := tr.lock("poll", "w2")
	equal(tr, "fence", second.Fence, first.Fence+1)
	tr.clock.Advance(sessions.DedupeFor + time.Second)
	tr.wantErr(tr.store.Unlock(tr.ctx, second), sessions.ErrFenced)
	tr.check(tr.lock("poll", "w1").Fence > second.Fence, "a fence comes again")
}

func lockHeld(tr *trial) {
	held := tr.lock("poll", "w1")
	tr.do(tr.store.SaveLock(tr.ctx, held, "text", time.Minute))
	tr.clock.Advance(lease / 2)
	tr.cannotLock("poll", "w2")
	tr.do(tr.store.SaveLock(tr.ctx, held, "text", lease))
	tr.clock.Advance(lease / 4)
	equal(tr, "renewed", tr.lock("poll", "w1").Data, "text")
	tr.clock.Advance(lease * 9 / 10)
	tr.cannotLock("poll", "w2")
	equal(tr, "text", tr.lock("poll", "w1").Data, "text")
}

func lockSurvives(tr *trial) {
	l := tr.lock("poll", "w1")
	if err := tr.store.SaveLock(tr.ctx, l, "kept", 0); err != nil {
		tr.Fatal(err)
	}
	tr.reopen()
	if !tr.opened.FreesHeld {
		tr.cannotLock("poll", "w2")
		equal(tr, "text", tr.lock("poll", "w1").Data, "kept")
		if err := tr.store.Unlock(tr.ctx, l); err != nil {
			tr.Fatal(err)
		}
		tr.reopen()
	}
	second := tr.lock("poll", "w2")
	tr.check(second.Data == "kept" && second.Fence > l.Fence, "lock %+v", second)
}
