package storetest

import (
	"time"

	"parley/sessions"
)

// repeatTests are of writes that landed and whose caller saw an error and
// makes them once more.
func repeatTests() []test {
	return []test{
		{"touch", repeatTouch},
		{"attach", repeatAttach},
		{"attach that was not heard, and the surface moved on meanwhile", repeatAttachMoved},
		{"detach", repeatDetach},
		{"expire", repeatExpire},
		{"delete", repeatDelete},
		{"discard", repeatDiscard},
		{"sweep", repeatSweep},
		{"note with its key", repeatNote},
		{"note with its leaf", repeatNoteIfLeaf},
		{"note with its version", repeatNoteIfVersion},
		{"clear", repeatClear},
		{"set a role", repeatRole},
		{"offer a link", repeatOffer},
		{"take a link", repeatTake},
		{"import", repeatImport},
		{"restore", repeatRestore},
	}
}

// twice makes a call whose answer is lost, then once more, and returns what
// the second one answered.
func twice[T any](tr *trial, op string, call func(s sessions.Store) (T, error)) (T, error) {
	tr.Helper()
	f := NewFaulty(tr.store)
	f.Fail(Fault{Op: op, When: After})
	_, err := call(f)
	tr.wantErr(err, sessions.ErrUnavailable)
	return call(f)
}

func twiceErr(tr *trial, op string, call func(s sessions.Store) error) error {
	tr.Helper()
	_, err := twice(tr, op, func(s sessions.Store) (struct{}, error) { return struct{}{}, call(s) })
	return err
}

func repeatTouch(tr *trial) {
	id := tr.suspended("hello")
	must(twice(tr, "Touch", func(s sessions.Store) (sessions.Record, error) { return s.Touch(tr.ctx, id) }))(tr)
	tr.wantState(id, sessions.StateActive, sessions.StatusIdle)
}

func repeatAttach(tr *trial) {
	old := tr.post(tr.heard("old")).Session
	far := tr.make(sessions.NewSession{ID: "api:far"}).ID
	previous := must(twice(tr, "Attach", func(s sessions.Store) (string, error) {
		_, previous, err := s.Attach(tr.ctx, sessions.AttachRequest{Session: far, Surface: surface})
		return previous, err
	}))(tr)
	equal(tr, "previous", previous, "")
	tr.wantSurfaces(far, surface)
	tr.wantSurfaces(old)
	equal(tr, "next message", tr.post(tr.heard("x")).Session, far)
}

func repeatAttachMoved(tr *trial) {
	near := tr.post(tr.heard("near")).Session
	far, next := tr.make(sessions.NewSession{ID: "api:far"}).ID, tr.make(sessions.NewSession{ID: "api:next"}).ID
	f := NewFaulty(tr.store)
	f.Fail(Fault{Op: "Attach", When: After})
	_, _, err := f.Attach(tr.ctx, sessions.AttachRequest{Session: far, Surface: surface})
	tr.wantErr(err, sessions.ErrUnavailable)
	equal(tr, "previous", tr.attach(next, surface), far)
	equal(tr, "previous", tr.attach(far, surface), next)
	tr.oneBinding(surface, []string{near, far, next})
}

func repeatDetach(tr *trial) {
	for _, id := range []string{tr.post(tr.heard("near")).Session, tr.make(sessions.NewSession{ID: "api:far"}).ID} {
		tr.attach(id, surface)
		must(twice(tr, "Detach", func(s sessions.Store) (sessions.Record, error) { return s.Detach(tr.ctx, id, surface) }))(tr)
		equal(tr, "bound", tr.bound(surface), "")
		tr.wantSurfaces(id)
	}
}

func repeatExpire(tr *trial) {
	id := tr.post(tr.heard("hello")).Session
	got := must(twice(tr, "Expire", func(s sessions.Store) (sessions.Record, error) { return s.Expire(tr.ctx, id) }))(tr)
	tr.sameRecord("expired", tr.wantState(id, sessions.StateExpired, sessions.StatusInactive), got)
}

func repeatDelete(tr *trial) {
	id := tr.direct(surface, "hello")
	tr.wantErr(twiceErr(tr, "Delete", func(s sessions.Store) error { return s.Delete(tr.ctx, id) }), sessions.ErrNotFound)
	tr.wantGone(id)
	tr.check(tr.post(tr.heard("anew")).Created, "the surface is not free")
}

func repeatDiscard(tr *trial) {
	id := tr.make(sessions.NewSession{ID: "cli:s"}).ID
	again := must(twice(tr, "Discard", func(s sessions.Store) (bool, error) { return s.Discard(tr.ctx, id) }))(tr)
	tr.check(!again, "discarded twice")
	tr.wantGone(id)
}

func repeatSweep(tr *trial) {
	first, second := tr.direct("api:local:a", "x"), tr.direct("api:local:b", "x")
	tr.clock.Advance(time.Hour)
	ids := must(twice(tr, "Sweep", func(s sessions.Store) ([]string, error) {
		return s.Sweep(tr.ctx, sessions.SweepRequest{Rule: sessions.SweepSuspend, Age: time.Minute, Limit: 1})
	}))(tr)
	equalSlices(tr, "the next batch", ids, []string{second})
	tr.wantState(first, sessions.StateSuspended, sessions.StatusInactive)
}

func repeatNote(tr *trial) {
	id := tr.talked()
	result := must(twice(tr, "Note", func(s sessions.Store) (sessions.NoteResult, error) {
		return s.Note(tr.ctx, sessions.NoteRequest{Key: "k", Session: id, Entries: []sessions.NewEntry{leafTo(2), entry(sessions.EntryBranchSummary, "s")}, Patch: sessions.Patch{Name: new("n")}})
	}))(tr)
	tr.check(result.Duplicate && result.Record.Seq == 6 && result.Record.Name == "n", "noted %+v", result)
	tr.wantBranch(id, "q1", "a1", "branch_summary")
}

func repeatNoteIfLeaf(tr *trial) {
	id := tr.talked()
	_, err := twice(tr, "Note", func(s sessions.Store) (sessions.NoteResult, error) {
		return s.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: []sessions.NewEntry{entry(sessions.EntryLabel, "x")}, IfLeaf: new(int64(4))})
	})
	tr.wantErr(err, sessions.ErrConflict)
	tr.wantBranch(id, "q1", "a1", "q2", "a2", "label")
}

func repeatNoteIfVersion(tr *trial) {
	id := tr.talked()
	version := tr.get(id).Version
	_, err := twice(tr, "Note", func(s sessions.Store) (sessions.NoteResult, error) {
		return s.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: []sessions.NewEntry{entry(sessions.EntryCheckpoint, "c")}, IfVersion: &version})
	})
	tr.wantErr(err, sessions.ErrConflict)
	equal(tr, "entries", len(tr.log(id)), 5)
}

func repeatClear(tr *trial) {
	id := tr.talked()
	got := must(twice(tr, "Clear", func(s sessions.Store) (sessions.Record, error) { return s.Clear(tr.ctx, id) }))(tr)
	tr.check(got.Seq == 4 && got.Cleared == 4 && got.Leaf == 0, "cleared %+v", got)
	equal(tr, "next seq", tr.post(tr.heard("x")).Seq, 5)
}

func repeatRole(tr *trial) {
	must(twice(tr, "SetRole", func(s sessions.Store) (sessions.User, error) { return s.SetRole(tr.ctx, "telegram:1", "member") }))(tr)
	tr.wantUser("member", "telegram:1")
	equal(tr, "users", len(tr.users(10)), 1)
}

func repeatOffer(tr *trial) {
	code := must(twice(tr, "OfferLink", func(s sessions.Store) (string, error) { return s.OfferLink(tr.ctx, "telegram:1") }))(tr)
	tr.takeLink(code, "slack:U1")
}

func repeatTake(tr *trial) {
	id := tr.spoke(surface, "slack:U1")
	code := tr.offer("telegram:1")
	tr.wantErr(twiceErr(tr, "TakeLink", func(s sessions.Store) error {
		_, _, err := s.TakeLink(tr.ctx, code, "slack:U1")
		return err
	}), sessions.ErrNotFound)
	tr.wantUser("", "telegram:1", "slack:U1")
	tr.wantParticipants(id, "telegram:1", "telegram:1")
}

func repeatImport(tr *trial) {
	tr.wantErr(twiceErr(tr, "Import", func(s sessions.Store) error {
		_, err := s.Import(tr.ctx, chatRecord("api:s"), each(chat()))
		return err
	}), sessions.ErrConflict)
	tr.wantBranch("api:s", "q1", "a1", "label", "q2", "a2")
	equal(tr, "entries", len(tr.log("api:s")), 7)
}

func repeatRestore(tr *trial) {
	tr.fill()
	items := tr.dump(50)
	b := tr.second()
	for i := 0; i < len(items); i += 40 {
		part := items[i:min(i+40, len(items))]
		tr.do(twiceErr(b, "Restore", func(s sessions.Store) error { return s.Restore(tr.ctx, part) }))
	}
	b.sameItems("each part restored twice", b.dump(50), items)
}
