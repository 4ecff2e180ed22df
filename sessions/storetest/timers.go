package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"parley/sessions"
)

func timerTests() []test {
	return []test{
		{"a timer fires when it is due and not before", timerFires},
		{"a timer is due at a time given", timerAt},
		{"of firings at the same time one wins", timerTogether},
		{"a timer that is not finished is due once more", timerDueAgain},
		{"a finished timer is gone", timerFinished},
		{"a timer set anew is another one", timerReplaced},
		{"a fence is never given twice to other settings", timerFences},
		{"timers are named by home and name", timerNames},
		{"timers are due in order", timerOrder},
		{"timers survive a restart", timerSurvives},
	}
}

func (tr *trial) setTimer(home, name string, after time.Duration) {
	tr.Helper()
	if err := tr.store.SetTimer(tr.ctx, sessions.Timer{Home: home, Name: name, Purpose: "test", Payload: json.RawMessage(`{"n":1}`)}, after); err != nil {
		tr.Fatal(err)
	}
}

func (tr *trial) fire(home, name string) sessions.Timer {
	tr.Helper()
	return must(tr.store.Fire(tr.ctx, home, name, worker("w1")))(tr)
}

func (tr *trial) cannotFire(home, name string) {
	tr.Helper()
	_, err := tr.store.Fire(tr.ctx, home, name, worker("w2"))
	tr.wantErr(err, sessions.ErrNothing)
}

func timerFires(tr *trial) {
	start := tr.clock.Now()
	tr.setTimer("h", "t", time.Hour)
	tr.cannotFire("h", "t")
	equal(tr, "due", len(tr.due(sessions.WorkTimer)), 0)
	tr.clock.Advance(59 * time.Minute)
	tr.cannotFire("h", "t")
	tr.clock.Advance(2 * time.Minute)
	due := tr.due(sessions.WorkTimer)
	tr.check(len(due) == 1 && due[0].Home == "h" && due[0].ID == "t", "due %v", due)
	got := tr.fire("h", "t")
	tr.check(got.Home == "h" && got.Name == "t" && got.Purpose == "test" && string(got.Payload) == `{"n":1}` && got.Fence != 0, "fired %+v", got)
	late := got.Due.Sub(start) - time.Hour
	tr.check(late > -time.Second && late < time.Minute, "it was due %v", got.Due)
	tr.cannotFire("h", "t")
	equal(tr, "due while taken", len(tr.due(sessions.WorkTimer)), 0)
}

func timerAt(tr *trial) {
	at := tr.clock.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	for name, due := range map[string]time.Time{"later": at, "past": at.Add(-48 * time.Hour), "now": {}} {
		if err := tr.store.SetTimer(tr.ctx, sessions.Timer{Home: "h", Name: name, Due: due}, 0); err != nil {
			tr.Fatal(err)
		}
	}
	tr.cannotFire("h", "later")
	tr.check(tr.fire("h", "past").Due.Equal(at.Add(-48*time.Hour)), "past is due at another time")
	tr.check(!tr.fire("h", "now").Due.After(tr.clock.Now()), "now is due in the future")
	tr.clock.Advance(61 * time.Minute)
	got := tr.fire("h", "later")
	tr.check(got.Due.Equal(at) && len(got.Payload) == 0, "later %+v", got)
}

func timerTogether(tr *trial) {
	tr.setTimer("h", "t", 0)
	won := make([]bool, 12)
	tr.together(len(won), func(i int) error {
		_, err := tr.store.Fire(tr.ctx, "h", "t", worker(strconv.Itoa(i)))
		won[i] = err == nil
		if err != nil {
			tr.wantErrIs(err, sessions.ErrNothing)
		}
		return nil
	})
	equal(tr, "winners", len(slices.DeleteFunc(won, func(w bool) bool { return !w })), 1)
}

func timerDueAgain(tr *trial) {
	tr.setTimer("h", "t", 0)
	first := tr.fire("h", "t")
	tr.clock.Advance(2 * lease)
	equal(tr, "due", len(tr.due(sessions.WorkTimer)), 1)
	second := tr.fire("h", "t")
	tr.check(second.Fence == first.Fence && second.Due.Equal(first.Due), "the same setting fires as %+v, then %+v", first, second)
	if err := tr.store.FinishTimer(tr.ctx, first); err != nil {
		tr.Fatalf("the first of two handlers of one setting cannot finish it: %v", err)
	}
	tr.wantErr(tr.store.FinishTimer(tr.ctx, second), sessions.ErrFenced)
}

func timerFinished(tr *trial) {
	tr.setTimer("h", "t", 0)
	got := tr.fire("h", "t")
	if err := tr.store.FinishTimer(tr.ctx, got); err != nil {
		tr.Fatal(err)
	}
	tr.clock.Advance(2 * lease)
	tr.cannotFire("h", "t")
	equal(tr, "due", len(tr.due(sessions.WorkTimer)), 0)
	tr.wantErr(tr.store.FinishTimer(tr.ctx, got), sessions.ErrFenced)
}

func timerReplaced(tr *trial) {
	tr.setTimer("h", "t", time.Hour)
	tr.setTimer("h", "t", 0)
	first := tr.fire("h", "t")
	tr.setTimer("h", "t", time.Hour)
	tr.wantErr(tr.store.FinishTimer(tr.ctx, first), sessions.ErrFenced)
	tr.cannotFire("h", "t")
	tr.clock.Advance(61 * time.Minute)
	second := tr.fire("h", "t")
	tr.check(second.Fence != first.Fence, "both settings have fence %d", first.Fence)
	tr.wantErr(tr.store.FinishTimer(tr.ctx, first), sessions.ErrFenced)
	if err := tr.store.FinishTimer(tr.ctx, second); err != nil {
		tr.Fatal(err)
	}
}

func timerFences(tr *trial) {
	seen := map[int64]bool{}
	for range 4 {
		tr.setTimer("h", "t", 0)
		got := tr.fire("h", "t")
		tr.check(!seen[got.Fence], "fence %d comes again", got.Fence)
		seen[got.Fence] = true
		if err := tr.store.FinishTimer(tr.ctx, got); err != nil {
			tr.Fatal(err)
		}
	}
}

func timerNames(tr *trial) {
	for _, name := range [][2]string{{"a", "bc"}, {"ab", "c"}, {"a:b", "c"}, {"a", "b:c"}, {"telegram:2026-01-01-abc", "x y/ü"}} {
		tr.setTimer(name[0], name[1], 0)
	}
	due := tr.due(sessions.WorkTimer)
	equal(tr, "due", len(due), 5)
	for _, w := range due {
		got := tr.fire(w.Home, w.ID)
		tr.check(got.Home == w.Home && got.Name == w.ID, "fired %+v for %+v", got, w)
	}
}

func timerOrder(tr *trial) {
	for i, minutes := range []int{3, 1, 2, 5, 4} {
		tr.setTimer(fmt.Sprintf("home-%d", i), strconv.Itoa(minutes), time.Duration(minutes)*time.Minute)
	}
	tr.clock.Advance(time.Hour)
	var names []string
	for _, w := range tr.due(sessions.WorkTimer) {
		names = append(names, w.ID)
	}
	equalSlices(tr, "order", names, []string{"1", "2", "3", "4", "5"})
}

func timerSurvives(tr *trial) {
	tr.setTimer("h", "t", time.Hour)
	tr.setTimer("h", "u", 0)
	fired := tr.fire("h", "u")
	tr.reopen()
	tr.cannotFire("h", "t")
	equal(tr, "fired and due again", len(tr.due(sessions.WorkTimer)) > 0, tr.opened.FreesHeld)
	if err := tr.store.FinishTimer(tr.ctx, fired); err != nil {
		tr.Fatal(err)
	}
	tr.clock.Advance(61 * time.Minute)
	equal(tr, "purpose", tr.fire("h", "t").Purpose, "test")
}
