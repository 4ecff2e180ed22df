package storetest

import (
	"context"
	"fmt"
	"time"

	"parley/sessions"
)

// patience is how long a test waits for a hint that has to come. It is no
// measure: a hint that comes ends the wait.
const patience = time.Minute

func liveTests() []test {
	return []test{
		{"what is written is hinted", liveEntries},
		{"status and state are hinted", liveStatus},
		{"a draft reaches who watches", liveDraft},
		{"only drafts are published", liveOnlyDrafts},
		{"one session's hints are not another's", liveApart},
		{"a slow reader gets a gap and slows nobody", liveGap},
		{"a watch ends with its context", liveEnds},
		{"all watchers see", liveMany},
	}
}

func (tr *trial) watch(id string) <-chan sessions.LiveEvent {
	tr.Helper()
	return must(tr.store.Watch(tr.ctx, id))(tr)
}

// until reads hints until one fits, and returns it.
func until[T any](tr *trial, events <-chan T, what string, fits func(T) bool) T {
	tr.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		select {
		case e, open := <-events:
			if !open {
				tr.Fatalf("the channel ended before %s", what)
			}
			if fits(e) {
				return e
			}
		case <-deadline.C:
			tr.Fatalf("%s did not come", what)
		}
	}
}

func liveEntries(tr *trial) {
	id := tr.post(tr.heard("a")).Session
	events := tr.watch(id)
	reached := func(seq int64) func(sessions.LiveEvent) bool {
		return func(e sessions.LiveEvent) bool {
			return e.Session == id && e.Kind == sessions.LiveEntries && e.Seq >= seq
		}
	}
	tr.post(tr.heard("b"))
	until(tr, events, "the hint of a post", reached(2))
	turn := tr.begin("q")
	until(tr, events, "the hint of a claimed post", reached(3))
	tr.appendTo(turn, "x")
	until(tr, events, "the hint of an append", reached(4))
	d := row(surface, "a")
	result := tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("a"), Deliveries: []sessions.NewDelivery{d}, Send: claimer("w1")})
	until(tr, events, "the hint of a commit", reached(5))
	tr.settle(sessions.Settlement{Delivery: result.Sends[0], State: sessions.DeliverySent})
	until(tr, events, "the hint of a receipt", reached(6))
}

func liveStatus(tr *trial) {
	id := tr.post(tr.heard("a")).Session
	events := tr.watch(id)
	status := func(e sessions.LiveEvent) bool { return e.Session == id && e.Kind == sessions.LiveStatus }
	turn := tr.begin("q")
	until(tr, events, "the hint of running", status)
	tr.done(turn, "a")
	until(tr, events, "the hint of idle", status)
	must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}}))(tr)
	until(tr, events, "the hint of inactive", status)
}

func liveDraft(tr *trial) {
	turn := tr.begin("q")
	events := tr.watch(turn.Lease.Session)
	sent := sessions.LiveEvent{Session: turn.Lease.Session, Kind: sessions.LiveDraft, Epoch: turn.Lease.Epoch, Offset: 6, Text: "wörld\n\"{}"}
	tr.do(tr.store.Publish(tr.ctx, sent))
	got := until(tr, events, "the draft", func(e sessions.LiveEvent) bool { return e.Kind == sessions.LiveDraft })
	equal(tr, "draft", got, sent)
	tr.do(tr.store.Publish(tr.ctx, sessions.LiveEvent{Session: "telegram:nobody-watches", Kind: sessions.LiveDraft, Text: "x"}))
}

func liveOnlyDrafts(tr *trial) {
	for _, kind := range []sessions.LiveKind{sessions.LiveEntries, sessions.LiveStatus, sessions.LiveGap, "", "other"} {
		tr.wantInvalid(tr.store.Publish(tr.ctx, sessions.LiveEvent{Session: "telegram:x", Kind: kind}))
	}
}

func liveApart(tr *trial) {
	id := tr.post(tr.heard("a")).Session
	events := tr.watch(id)
	r := tr.heard("b")
	r.Surface = other
	tr.post(r)
	tr.post(tr.heard("c"))
	until(tr, events, "its own hint", func(e sessions.LiveEvent) bool {
		tr.check(e.Session == id, "a hint of %s", e.Session)
		return e.Kind == sessions.LiveEntries && e.Seq == 2
	})
}

func liveGap(tr *trial) {
	turn := tr.begin("q")
	events := tr.watch(turn.Lease.Session)
	const n = 5000
	for i := range n {
		tr.do(tr.store.Publish(tr.ctx, sessions.LiveEvent{Session: turn.Lease.Session, Kind: sessions.LiveDraft, Offset: i, Text: "x"}))
	}
	tr.done(turn, "a")
	drafts := 0
	until(tr, events, "a gap", func(e sessions.LiveEvent) bool {
		if e.Kind == sessions.LiveDraft {
			drafts++
		}
		return e.Kind == sessions.LiveGap
	})
	tr.check(drafts < n, "a reader's %d hints were all held for it", drafts)
	seq := tr.get(turn.Lease.Session).Seq
	tr.post(tr.heard("after the gap"))
	until(tr, events, "what comes after the gap", func(e sessions.LiveEvent) bool { return e.Kind == sessions.LiveEntries && e.Seq > seq })
}

func liveEnds(tr *trial) {
	ctx, cancel := context.WithCancel(tr.ctx)
	events := must(tr.store.Watch(ctx, "telegram:x"))(tr)
	wakes := must(tr.store.Wakes(ctx))(tr)
	cancel()
	wantEnd(tr, events)
	wantEnd(tr, wakes)
	_, err := tr.store.Watch(tr.ctx, "not an id")
	tr.wantInvalid(err)
}

// wantEnd waits until a channel is closed.
func wantEnd[T any](tr *trial, events <-chan T) {
	tr.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		select {
		case _, open := <-events:
			if !open {
				return
			}
		case <-deadline.C:
			tr.Fatal("the channel does not end")
		}
	}
}

func liveMany(tr *trial) {
	id := tr.post(tr.heard("a")).Session
	var watches []<-chan sessions.LiveEvent
	for range 20 {
		watches = append(watches, tr.watch(id))
	}
	tr.post(tr.heard("b"))
	for i, events := range watches {
		until(tr, events, fmt.Sprintf("the hint for watcher %d", i), func(e sessions.LiveEvent) bool { return e.Kind == sessions.LiveEntries && e.Seq == 2 })
	}
}
