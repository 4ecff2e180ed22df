package storetest

import "parley/sessions"

func chatTests() []test {
	return []test{
		{"a chat is allowed until that is taken back", chatListed},
		{"a chat that moves takes its right and its session along", chatMoves},
		{"what the new key has stays", chatMovesOnto},
		{"moving happens once", chatMovesTwice},
		{"moving nothing is nothing", chatMovesNothing},
		{"lists and moves survive a restart", chatSurvives},
	}
}

func (tr *trial) listed(chat string) bool {
	tr.Helper()
	return must(tr.store.ChatListed(tr.ctx, chat))(tr)
}

func (tr *trial) do(err error) {
	tr.Helper()
	if err != nil {
		tr.Fatalf("unexpected error: %v", err)
	}
}

func chatListed(tr *trial) {
	tr.check(!tr.listed(surface), "listed from the start")
	tr.do(tr.store.ListChat(tr.ctx, surface, "u-ann"))
	tr.do(tr.store.ListChat(tr.ctx, surface, "u-bob"))
	tr.check(tr.listed(surface) && !tr.listed(other), "listed wrongly")
	tr.do(tr.store.UnlistChat(tr.ctx, surface))
	tr.do(tr.store.UnlistChat(tr.ctx, surface))
	tr.check(!tr.listed(surface), "still listed")
}

func chatMoves(tr *trial) {
	tr.do(tr.store.ListChat(tr.ctx, surface, "u-ann"))
	id := tr.post(tr.heard("before")).Session
	tr.enqueue(nil, surface, "on its way")
	tr.do(tr.store.MoveChat(tr.ctx, surface, other))
	tr.check(tr.listed(other) && !tr.listed(surface), "listed: new %v, old %v", tr.listed(other), tr.listed(surface))
	equal(tr, "bound", must(tr.store.Bound(tr.ctx, other))(tr).ID, id)
	_, err := tr.store.Bound(tr.ctx, surface)
	tr.wantErr(err, sessions.ErrNotFound)
	equalSlices(tr, "surfaces", tr.get(id).Surfaces, []string{other})
	equal(tr, "row keeps its surface", tr.take(tr.lane(), "w1").Surface, surface)
	r := tr.said("after")
	r.Surface, r.Claim = other, claimer("w1")
	result := tr.say(r, sessions.PostClaimed)
	equal(tr, "session", result.Session, id)
	tr.done(result.Turn, "answer")
	tr.wantBranch(id, "before", "after", "answer")
	tr.check(tr.post(tr.heard("stray")).Session != id, "the old key leads to the session")
}

func chatMovesOnto(tr *trial) {
	from := tr.post(tr.heard("old")).Session
	r := tr.heard("new")
	r.Surface = other
	to := tr.post(r).Session
	tr.do(tr.store.ListChat(tr.ctx, surface, "u-ann"))
	tr.do(tr.store.MoveChat(tr.ctx, surface, other))
	equal(tr, "new key", must(tr.store.Bound(tr.ctx, other))(tr).ID, to)
	equal(tr, "old key", must(tr.store.Bound(tr.ctx, surface))(tr).ID, from)
	tr.check(tr.listed(other), "the right did not move")
}

func chatMovesTwice(tr *trial) {
	id := tr.post(tr.heard("before")).Session
	tr.do(tr.store.ListChat(tr.ctx, surface, "u-ann"))
	for range 3 {
		tr.do(tr.store.MoveChat(tr.ctx, surface, other))
	}
	equal(tr, "bound", must(tr.store.Bound(tr.ctx, other))(tr).ID, id)
	equalSlices(tr, "surfaces", tr.get(id).Surfaces, []string{other})
	tr.check(tr.listed(other), "not listed")
}

func chatMovesNothing(tr *trial) {
	tr.do(tr.store.MoveChat(tr.ctx, surface, other))
	_, err := tr.store.Bound(tr.ctx, other)
	tr.wantErr(err, sessions.ErrNotFound)
	tr.check(!tr.listed(other), "listed")
	id := tr.post(tr.heard("x")).Session
	tr.do(tr.store.MoveChat(tr.ctx, surface, surface))
	equal(tr, "bound", must(tr.store.Bound(tr.ctx, surface))(tr).ID, id)
}

func chatSurvives(tr *trial) {
	id := tr.post(tr.heard("before")).Session
	tr.do(tr.store.ListChat(tr.ctx, surface, "u-ann"))
	tr.do(tr.store.MoveChat(tr.ctx, surface, other))
	tr.reopen()
	tr.check(tr.listed(other), "not listed")
	equal(tr, "bound", must(tr.store.Bound(tr.ctx, other))(tr).ID, id)
	r := tr.heard("after")
	r.Surface = other
	equal(tr, "session", tr.post(r).Session, id)
}
