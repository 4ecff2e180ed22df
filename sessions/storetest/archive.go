package storetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/sessions"
	"parley/sessions/archive"
)

func archiveTests() []test {
	return []test{
		{"an empty store has nothing to dump", archiveEmpty},
		{"dump gives every item once, in pages of any size", archivePages},
		{"items come in their order, entries right behind their session", archiveOrder},
		{"dumping changes nothing", archiveReads},
		{"restored into an empty store, everything is the same and goes on", func(tr *trial) { migrates(tr, tr.second()) }},
		{"restored and dumped twice, everything is the same", archiveTwice},
		{"a restore that is broken off and begun anew ends the same", archiveResumed},
		{"dead letters that come in another order are listed newest first", archiveDead},
		{"what has run out is left out", archiveRunOut},
		{"what is only known for a moment is left out", archiveMoment},
		{"dump and restore refuse what is none", archiveRefuses},
		{"a restored store survives a restart", archiveSurvives},
	}
}

// Migrate fills a store, dumps it, restores it into an empty one, and expects
// that one to hold the same and to go on where the first one stood.
func Migrate(t *testing.T, from, to Open) {
	t.Helper()
	a := newTrial(t, from)
	migrates(a, a.beside(to))
}

// MigrateBack is Migrate to another backend and back again.
func MigrateBack(t *testing.T, from, over Open) {
	t.Helper()
	a := newTrial(t, from)
	a.fill()
	b, c := a.beside(over), a.second()
	b.restore(a.dump(100), 100)
	c.restore(b.dump(7), 3)
	a.sameItems("there and back", c.dump(sessions.ListMax), a.dump(sessions.ListMax))
}

// dump reads all items, in pages of at most limit.
func (tr *trial) dump(limit int) (all []sessions.Item) {
	tr.Helper()
	cursor := ""
	for range 10000 {
		items, next, err := tr.store.Dump(tr.ctx, cursor, limit)
		must(items, err)(tr)
		tr.check(len(items) <= limit && (len(items) > 0 || next == ""), "a page of %d items, limit %d, next %q", len(items), limit, next)
		all = append(all, items...)
		if next == "" {
			return all
		}
		tr.check(next != cursor, "the cursor %q leads to itself", cursor)
		cursor = next
	}
	tr.Fatal("the dump has no end")
	return nil
}

// restore writes items, so many at once.
func (tr *trial) restore(items []sessions.Item, together int) {
	tr.Helper()
	for part := range slices.Chunk(items, together) {
		tr.do(tr.store.Restore(tr.ctx, part))
	}
}

// sameItems compares two dumps as multisets per kind, byte for byte.
func (tr *trial) sameItems(what string, got, want []sessions.Item) {
	tr.Helper()
	a, b := byKind(got), byKind(want)
	for _, kind := range itemKinds() {
		for i := range max(len(a[kind]), len(b[kind])) {
			tr.check(i < len(a[kind]) && i < len(b[kind]) && a[kind][i] == b[kind][i], "%s: of %d and %d items of kind %s, number %d is\n %s, want\n %s",
				what, len(a[kind]), len(b[kind]), kind, i, nth(a[kind], i), nth(b[kind], i))
		}
	}
	equal(tr, what, len(got), len(want))
}

func nth(texts []string, i int) string {
	if i < len(texts) {
		return texts[i]
	}
	return "missing"
}

func byKind(items []sessions.Item) map[sessions.ItemKind][]string {
	kinds := map[sessions.ItemKind][]string{}
	for _, item := range items {
		kinds[item.Kind] = append(kinds[item.Kind], string(item.Body))
	}
	for _, bodies := range kinds {
		slices.Sort(bodies)
	}
	return kinds
}

func itemKinds() []sessions.ItemKind {
	return []sessions.ItemKind{
		archive.ItemChat, archive.ItemLock, archive.ItemUser, archive.ItemSession, archive.ItemEntry, archive.ItemBinding,
		archive.ItemTimer, archive.ItemDead, archive.ItemRow, archive.ItemSchedule, archive.ItemRun, archive.ItemKey,
	}
}

// body decodes an item.
func body[T any](tr *trial, item sessions.Item) (v T) {
	tr.Helper()
	if err := json.Unmarshal(item.Body, &v); err != nil {
		tr.Fatalf("item %s %s: %v", item.Kind, item.Body, err)
	}
	return v
}

// bodies decodes all items of a kind.
func bodies[T any](tr *trial, items []sessions.Item, kind sessions.ItemKind) (out []T) {
	tr.Helper()
	for _, item := range items {
		if item.Kind == kind {
			out = append(out, body[T](tr, item))
		}
	}
	return out
}

func archiveEmpty(tr *trial) {
	items, next, err := tr.store.Dump(tr.ctx, "", 10)
	must(items, err)(tr)
	tr.check(len(items) == 0 && next == "", "%d items, next %q", len(items), next)
	tr.do(tr.store.Restore(tr.ctx, nil))
}

func archivePages(tr *trial) {
	tr.fill()
	want := tr.dump(sessions.ListMax)
	tr.check(len(want) > 80, "only %d items", len(want))
	for _, limit := range []int{1, 2, 7, 50} {
		got := tr.dump(limit)
		equal(tr, "items", len(got), len(want))
		for i := range got {
			tr.check(got[i].Kind == want[i].Kind && bytes.Equal(got[i].Body, want[i].Body), "by %d: item %d is %s %s, was %s %s", limit, i, got[i].Kind, got[i].Body, want[i].Kind, want[i].Body)
		}
	}
}

func archiveOrder(tr *trial) {
	tr.fill()
	rank := 0
	var session string
	var seq int64
	for _, item := range tr.dump(20) {
		kind := item.Kind
		if kind == archive.ItemEntry {
			kind = archive.ItemSession
		}
		now := slices.Index(itemKinds(), kind)
		tr.check(now >= rank, "a %s comes behind a %s", item.Kind, itemKinds()[max(rank, 0)])
		rank = now
		switch item.Kind {
		case archive.ItemSession:
			s := body[archive.SessionItem](tr, item)
			session, seq = s.Record.ID, s.Record.Cleared
		case archive.ItemEntry:
			e := body[archive.EntryItem](tr, item)
			tr.check(e.Session == session && e.Entry.Seq == seq+1, "entry %d of %s comes behind %d of %s", e.Entry.Seq, e.Session, seq, session)
			seq = e.Entry.Seq
		}
	}
	tr.rowsInOrder()
}

// rowsInOrder expects the rows of fill in their order.
func (tr *trial) rowsInOrder() {
	tr.Helper()
	var texts []string
	for _, r := range bodies[archive.RowItem](tr, tr.dump(3), archive.ItemRow) {
		if r.Surface == "telegram:1:rows" {
			texts = append(texts, rowText(sessions.Delivery{Payload: r.Payload}))
		}
	}
	equalSlices(tr, "rows", texts, []string{"row 0", "row 1", "row 2", "row 3", "row 4"})
}

func archiveReads(tr *trial) {
	ids := tr.fill()
	before := tr.dump(50)
	for _, id := range ids {
		tr.get(id)
		tr.log(id)
	}
	tr.sameItems("dumped once more", tr.dump(50), before)
}

func archiveTwice(tr *trial) {
	tr.fill()
	b, c := tr.second(), tr.second()
	items := tr.dump(50)
	b.restore(items, 10)
	b.restore(items, 1)
	b.restore(items, sessions.ListMax)
	b.sameItems("restored three times", b.dump(50), items)
	c.restore(b.dump(9), 4)
	c.sameItems("restored from what was restored", c.dump(50), items)
	c.rowsInOrder()
}

func archiveResumed(tr *trial) {
	tr.fill()
	items := tr.dump(50)
	for _, broken := range []int{1, len(items) / 3, len(items) / 2, len(items) - 1} {
		b := tr.second()
		b.restore(items[:broken], 5)
		b.restore(items, 7)
		b.sameItems(fmt.Sprintf("begun anew after %d", broken), b.dump(50), items)
		b.rowsInOrder()
	}
}

func archiveDead(tr *trial) {
	for i := range 4 {
		tr.parked(fmt.Sprintf("poison %d", i))
		tr.clock.Advance(time.Second)
	}
	want := tr.dead()
	items := tr.dump(50)
	first := slices.IndexFunc(items, func(i sessions.Item) bool { return i.Kind == archive.ItemDead })
	letters := items[first : first+len(want)]
	for range 2 {
		slices.Reverse(letters)
		b := tr.second()
		b.restore(items, 10)
		got := b.dead()
		equal(tr, "dead letters", len(got), len(want))
		for i := range got {
			equal(tr, "dead letter", got[i].ID, want[i].ID)
		}
	}
}

func archiveRunOut(tr *trial) {
	tr.post(tr.said("with a key"))
	tr.enqueue(nil, surface, "x")
	must(tr.store.Enqueue(tr.ctx, sessions.EnqueueRequest{Key: "short", KeyFor: time.Minute, Deliveries: []sessions.NewDelivery{row(surface, "y")}}))(tr)
	equal(tr, "keys", len(bodies[archive.KeyItem](tr, tr.dump(10), archive.ItemKey)), 2)
	tr.clock.Advance(time.Hour)
	equal(tr, "keys", len(bodies[archive.KeyItem](tr, tr.dump(10), archive.ItemKey)), 1)
	tr.clock.Advance(sessions.DedupeFor)
	equal(tr, "keys", len(bodies[archive.KeyItem](tr, tr.dump(10), archive.ItemKey)), 0)
}

func archiveMoment(tr *trial) {
	turn := tr.begin("question")
	tr.enqueue(claimer("w1"), other, "sending")
	tr.do(tr.store.SaveLock(tr.ctx, tr.lock("poll", "w1"), "offset 7", 0))
	tr.lock("empty", "w1")
	code := tr.offer("telegram:1")
	b := tr.second()
	items := tr.dump(10)
	for _, item := range items {
		for _, secret := range []string{turn.Lease.Nonce, code} {
			tr.check(!strings.Contains(string(item.Body), secret), "%s %s tells %s", item.Kind, item.Body, secret)
		}
	}
	s := bodies[archive.SessionItem](tr, items, archive.ItemSession)[0]
	tr.check(s.Record.Status == sessions.StatusIdle && s.Open != nil && s.Open.Attempts == 1 && len(s.Open.Messages) == 1, "session %+v, turn %+v", s, s.Open)
	b.restore(items, 10)
	equal(tr, "status", b.get(turn.Lease.Session).Status, sessions.StatusIdle)
	again := b.claim(turn.Lease.Session, "w2")
	b.wantTaken(again, "question")
	equal(tr, "attempt", again.Attempt, 2)
	b.done(again, "answer")
	sending := b.take(b.lane(), "w2")
	tr.check(rowText(sending) == "sending" && sending.Attempt == 2 && sending.MaybeSent, "sending %+v", sending)
	l := b.lock("poll", "w2")
	tr.check(l.Data == "offset 7" && l.Owner == "w2", "lock %+v", l)
	b.cannotLink(code, "slack:U1", sessions.ErrNotFound)
}

func archiveRefuses(tr *trial) {
	for _, limit := range []int{0, -1, sessions.ListMax + 1} {
		_, _, err := tr.store.Dump(tr.ctx, "", limit)
		tr.wantInvalid(err)
	}
	for _, cursor := range []string{"?", "x", strings.Repeat("c", 10<<10)} {
		_, _, err := tr.store.Dump(tr.ctx, cursor, 10)
		tr.wantInvalid(err)
	}
	good := sessions.Item{Kind: archive.ItemChat, Body: json.RawMessage(`{"chat":"telegram:1","by":"u","at":"2026-01-02T03:04:05Z"}`)}
	for _, bad := range []sessions.Item{
		{}, {Kind: "other", Body: json.RawMessage(`{}`)}, {Kind: archive.ItemSession, Body: json.RawMessage(`[]`)}, {Kind: archive.ItemChat, Body: json.RawMessage(`{`)},
		{Kind: archive.ItemSession, Body: json.RawMessage(`{"record":{"id":"a b"}}`)}, {Kind: archive.ItemEntry, Body: json.RawMessage(`{"session":"","entry":{"seq":1,"type":"message"}}`)},
	} {
		tr.wantInvalid(tr.store.Restore(tr.ctx, []sessions.Item{good, bad}))
	}
	tr.check(!tr.listed("telegram:1"), "half restored")
	tr.wantInvalid(tr.store.Restore(tr.ctx, slices.Repeat([]sessions.Item{good}, sessions.ListMax+1)))
}

func archiveSurvives(tr *trial) {
	tr.fill()
	items := tr.dump(50)
	b := tr.second()
	b.restore(items, 50)
	b.reopen()
	b.sameItems("after a restart", b.dump(50), items)
}
