package storetest

import (
	"fmt"
	"time"

	"parley/sessions"
)

func workTests() []test {
	return []test{
		{"nothing is due in an empty store", dueNothing},
		{"the longest due comes first, over all kinds", dueOrder},
		{"due gives at most so many of each kind", dueLimit},
		{"turns that wait hide no other work", dueHidesNothing},
		{"due takes nothing", dueTakesNothing},
		{"what became due wakes", wakes},
		{"a stop wakes the turn's worker", wakesStop},
		{"the store can be pinged", pings},
	}
}

func dueNothing(tr *trial) {
	equal(tr, "due", len(must(tr.store.Due(tr.ctx, 10))(tr)), 0)
}

func dueOrder(tr *trial) {
	tr.setTimer("h", "first", time.Minute)
	tr.clock.Advance(2 * time.Minute)
	id := tr.say(tr.said("q"), sessions.PostQueued).Session
	tr.clock.Advance(time.Minute)
	tr.enqueue(nil, other, "row")
	tr.clock.Advance(time.Minute)
	tr.setTimer("h", "last", 0)
	tr.setTimer("h", "not yet", time.Hour)
	var got []string
	last := time.Time{}
	for _, w := range must(tr.store.Due(tr.ctx, 10))(tr) {
		got = append(got, string(w.Kind))
		tr.check(!w.Due.Before(last) && !w.Due.After(tr.clock.Now()), "item %+v after one due %v", w, last)
		last = w.Due
		switch w.Kind {
		case sessions.WorkTurn:
			equal(tr, "turn", w.ID, id)
		case sessions.WorkLane:
			equal(tr, "lane", rowText(tr.take(w.ID, "w1")), "row")
		}
	}
	equalSlices(tr, "due", got, []string{"timer", "turn", "lane", "timer"})
}

func dueLimit(tr *trial) {
	for i := range 30 {
		r := tr.said("q")
		r.Surface = fmt.Sprintf("telegram:1:%d", i)
		tr.post(r)
		tr.setTimer(fmt.Sprintf("home-%d", i), "t", 0)
		tr.enqueue(nil, fmt.Sprintf("telegram:2:%d", i), "row")
		tr.clock.Advance(time.Second)
	}
	for _, limit := range []int{1, 7, 30} {
		items := must(tr.store.Due(tr.ctx, limit))(tr)
		equal(tr, "items", len(items), 3*limit)
		for i := 1; i < len(items); i++ {
			tr.check(!items[i].Due.Before(items[i-1].Due), "not in order: %v before %v", items[i-1], items[i])
		}
	}
	seven := must(tr.store.Due(tr.ctx, 7))(tr)
	all := must(tr.store.Due(tr.ctx, sessions.ListMax))(tr)
	equal(tr, "all", len(all), 90)
	tr.check(!seven[20].Due.After(all[20].Due), "the first seven of each end at %v, want %v", seven[20].Due, all[20].Due)
}

// Younger lanes and timers are seen behind any number of older turns.
func dueHidesNothing(tr *trial) {
	const turns = 12
	for i := range turns {
		r := tr.said("q")
		r.Surface = fmt.Sprintf("telegram:1:%d", i)
		tr.post(r)
	}
	tr.clock.Advance(time.Minute)
	tr.enqueue(nil, other, "row")
	tr.setTimer("h", "t", 0)
	seen := map[sessions.WorkKind]int{}
	for _, item := range must(tr.store.Due(tr.ctx, turns/3))(tr) {
		seen[item.Kind]++
	}
	tr.check(seen[sessions.WorkTurn] == turns/3 && seen[sessions.WorkLane] == 1 && seen[sessions.WorkTimer] == 1, "due: %v", seen)
}

func dueTakesNothing(tr *trial) {
	id := tr.say(tr.said("q"), sessions.PostQueued).Session
	before := tr.get(id)
	for range 3 {
		equal(tr, "due", len(tr.due(sessions.WorkTurn)), 1)
	}
	equal(tr, "version", tr.get(id).Version, before.Version)
	tr.claim(id, "w1")
}

func wakes(tr *trial) {
	hints := must(tr.store.Wakes(tr.ctx))(tr)
	id := tr.say(tr.said("q"), sessions.PostQueued).Session
	isTurn := func(w sessions.WorkItem) bool { return w.Kind == sessions.WorkTurn && w.ID == id }
	until(tr, hints, "the wake-up of a post", isTurn)
	turn := tr.claim(id, "w1")
	tr.queued("q2", "member", "")
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Deliveries: []sessions.NewDelivery{row(surface, "a")}})
	seen := map[sessions.WorkKind]string{}
	until(tr, hints, "the wake-ups of a commit", func(w sessions.WorkItem) bool {
		seen[w.Kind] = w.ID
		return seen[sessions.WorkTurn] == id && seen[sessions.WorkLane] != ""
	})
	equal(tr, "row", rowText(tr.take(seen[sessions.WorkLane], "w1")), "a")
	turn = tr.claim(id, "w1")
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.HandBack})
	until(tr, hints, "the wake-up of a hand-back", isTurn)
	tr.enqueue(nil, other, "x")
	until(tr, hints, "the wake-up of an enqueue", func(w sessions.WorkItem) bool { return w.Kind == sessions.WorkLane && w.ID != seen[sessions.WorkLane] })
	tr.setTimer("h", "t", 0)
	until(tr, hints, "the wake-up of a timer", func(w sessions.WorkItem) bool { return w.Kind == sessions.WorkTimer && w.ID == "t" && w.Home == "h" })
}

func wakesStop(tr *trial) {
	hints := must(tr.store.Wakes(tr.ctx))(tr)
	turn := tr.begin("q")
	must(tr.store.Stop(tr.ctx, turn.Lease.Session))(tr)
	isStop := func(w sessions.WorkItem) bool { return w.Kind == sessions.WorkStop && w.ID == turn.Lease.Session }
	until(tr, hints, "the wake-up of a stop", isStop)
	must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}}))(tr)
	until(tr, hints, "the wake-up of a rotation", isStop)
}

func pings(tr *trial) { tr.do(tr.store.Ping(tr.ctx)) }
