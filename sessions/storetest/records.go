package storetest

import (
	"errors"
	"slices"
	"time"

	"parley/sessions"
)

func recordTests() []test {
	return []test{
		{"an unknown id is not found", func(tr *trial) {
			_, err := tr.store.Get(tr.ctx, "telegram:2026-01-01-nobody")
			tr.wantErr(err, sessions.ErrNotFound)
			_, err = tr.store.Bound(tr.ctx, surface)
			tr.wantErr(err, sessions.ErrNotFound)
			_, err = tr.store.Update(tr.ctx, "telegram:2026-01-01-nobody", sessions.Patch{})
			tr.wantErr(err, sessions.ErrNotFound)
			_, err = tr.store.Range(tr.ctx, "telegram:2026-01-01-nobody", 1, 10)
			tr.wantErr(err, sessions.ErrNotFound)
		}},
		{"open creates with all that was asked for", openCreates},
		{"open by surface reopens its session", openBySurface},
		{"open by id reopens and attaches a free surface", openByID},
		{"open by id and a surface of another session conflicts", openConflict},
		{"open gives a name its bare id, then drawn ones", openBareID},
		{"open draws an id of the platform and day", openDrawsID},
		{"an expired session is not opened or updated", openExpired},
		{"update changes what the patch names", updatePatches},
		{"update merges metadata and removes nil keys", updateMetadata},
		{"a weaker description does not replace a stronger", updateDescription},
		{"updates at the same time all land", updateConcurrent},
		{"rotate replaces the surface's session", rotateReplaces},
		{"rotate hides a suspended session whose turn runs again", rotateHidesSuspended},
		{"rotate without an old session", rotateFresh},
		{"rotate happens once per key", rotateOnce},
		{"rotate puts its deliveries into the outbox", rotateDelivers},
		{"rotate asks the old turn to stop, and what waits there is answered", rotateRunning},
		{"rotate of an expired session leaves it expired", rotateExpired},
		{"rotate to an id that is taken conflicts", rotateConflict},
		{"a post into a rotated session revives it", rotateRevive},
		{"a post that revives a session whose turn runs leaves it running", rotateReviveRunning},
		{"records and bindings survive a restart", recordsSurvive},
	}
}

func openCreates(tr *trial) {
	before := tr.clock.Now().Add(-time.Second)
	record, created, err := tr.store.Open(tr.ctx, sessions.NewSession{
		Surface: surface,
		Source:  sessions.Source{Kind: "channel", Interactive: true, Platform: "telegram", TriggerID: "t1", Type: sessions.Direct},
		UserID:  "u-ann", WorkspaceID: "team-1", Name: "first", Agent: "guide",
		Metadata: map[string]any{"telegram_chat_id": "100"},
	})
	must(record, err)(tr)
	tr.check(created, "not created")
	again := tr.get(record.ID)
	for _, r := range []sessions.Record{record, again} {
		equal(tr, "source", r.Source, sessions.Source{Kind: "channel", Interactive: true, Platform: "telegram", TriggerID: "t1", Type: sessions.Direct})
		equal(tr, "user", r.UserID, "u-ann")
		equal(tr, "workspace", r.WorkspaceID, "team-1")
		equal(tr, "name", r.Name, "first")
		equal(tr, "agent", r.Agent, "guide")
		equal(tr, "state", r.State, sessions.StateCreated)
		equal(tr, "status", r.Status, sessions.StatusIdle)
		equal(tr, "chat id", r.Metadata["telegram_chat_id"], any("100"))
		equalSlices(tr, "surfaces", r.Surfaces, []string{surface})
		equalSlices(tr, "participants", r.Participants, []string{"u-ann"})
		equal(tr, "seq", r.Seq, 0)
		tr.check(r.CreatedAt.After(before) && r.CreatedAt.Equal(r.LastActivityAt), "times: created %v, active %v", r.CreatedAt, r.LastActivityAt)
		tr.check(r.CreatedAt.Location() == time.UTC && r.CreatedAt.Equal(r.CreatedAt.Truncate(time.Millisecond)), "time is not UTC milliseconds: %v", r.CreatedAt)
		tr.check(r.StateChangedAt.IsZero(), "state changed at %v before any change", r.StateChangedAt)
	}
	equal(tr, "bound", must(tr.store.Bound(tr.ctx, surface))(tr).ID, record.ID)
}

func openBySurface(tr *trial) {
	first, _, err := tr.store.Open(tr.ctx, sessions.NewSession{
		Surface: surface, Source: sessions.Source{Kind: "channel"}, Metadata: map[string]any{"a": "1", "b": "1"},
	})
	must(first, err)(tr)
	tr.clock.Advance(time.Hour)
	second, created, err := tr.store.Open(tr.ctx, sessions.NewSession{
		Surface: surface, Source: sessions.Source{Kind: "web"}, Metadata: map[string]any{"b": "2"},
	})
	must(second, err)(tr)
	tr.check(!created, "created anew")
	equal(tr, "id", second.ID, first.ID)
	equal(tr, "source stays", second.Source.Kind, "channel")
	equal(tr, "kept metadata", second.Metadata["a"], any("1"))
	equal(tr, "merged metadata", second.Metadata["b"], any("2"))
	tr.check(second.LastActivityAt.Equal(first.LastActivityAt), "opening is no activity")
	equal(tr, "state", second.State, sessions.StateCreated)
}

func openByID(tr *trial) {
	first, _, err := tr.store.Open(tr.ctx, sessions.NewSession{ID: "cli:work", Source: sessions.Source{Kind: "cli"}})
	must(first, err)(tr)
	equal(tr, "surfaces", len(first.Surfaces), 0)
	second, created, err := tr.store.Open(tr.ctx, sessions.NewSession{ID: "cli:work", Surface: "cli:local:work"})
	must(second, err)(tr)
	tr.check(!created, "created anew")
	equalSlices(tr, "surfaces", second.Surfaces, []string{"cli:local:work"})
	equal(tr, "bound", must(tr.store.Bound(tr.ctx, "cli:local:work"))(tr).ID, "cli:work")
	third, created, err := tr.store.Open(tr.ctx, sessions.NewSession{ID: "cli:work", Surface: "cli:local:work"})
	must(third, err)(tr)
	tr.check(!created && len(third.Surfaces) == 1, "attaching is idempotent: %v", third.Surfaces)
}

func openConflict(tr *trial) {
	first, _, err := tr.store.Open(tr.ctx, sessions.NewSession{Surface: "cli:local:work"})
	must(first, err)(tr)
	rotated := must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: "cli:local:work"}}))(tr)
	_, _, err = tr.store.Open(tr.ctx, sessions.NewSession{ID: first.ID, Surface: "cli:local:work"})
	tr.wantErr(err, sessions.ErrConflict)
	equal(tr, "bound", must(tr.store.Bound(tr.ctx, "cli:local:work"))(tr).ID, rotated.Record.ID)
}

func openBareID(tr *trial) {
	first, _, err := tr.store.Open(tr.ctx, sessions.NewSession{Surface: "web:local:phone"})
	must(first, err)(tr)
	equal(tr, "first id", first.ID, "web:phone")
	second := must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: "web:local:phone"}}))(tr)
	prefix := sessions.IDPrefix("web:local:phone", tr.clock.Now())
	tr.check(len(second.Record.ID) > len(prefix) && second.Record.ID[:len(prefix)] == prefix, "second id %s, want %s…", second.Record.ID, prefix)
	posted := tr.said("hello")
	posted.Surface = "api:local:robot"
	equal(tr, "posted id", tr.post(posted).Session, "api:robot")
}

func openDrawsID(tr *trial) {
	before := sessions.IDPrefix(surface, tr.clock.Now())
	first := tr.post(tr.heard("hello"))
	after := sessions.IDPrefix(surface, tr.clock.Now())
	matches := func(prefix string) bool {
		return len(first.Session) > len(prefix) && first.Session[:len(prefix)] == prefix
	}
	tr.check(matches(before) || matches(after), "id %s does not begin with %s", first.Session, after)
}

func openExpired(tr *trial) {
	first := tr.post(tr.heard("hello"))
	tr.expire(first.Session)
	_, _, err := tr.store.Open(tr.ctx, sessions.NewSession{Surface: surface})
	tr.wantStateError(err)
	_, _, err = tr.store.Open(tr.ctx, sessions.NewSession{ID: first.Session})
	tr.wantStateError(err)
	_, err = tr.store.Update(tr.ctx, first.Session, sessions.Patch{Name: new("late")})
	tr.wantStateError(err)
	equal(tr, "readable", tr.get(first.Session).State, sessions.StateExpired)
	equal(tr, "log", len(tr.log(first.Session)), 1)
}

func updatePatches(tr *trial) {
	id := tr.post(tr.heard("hello")).Session
	before := tr.get(id)
	got := must(tr.store.Update(tr.ctx, id, sessions.Patch{
		Name: new("plan"), Preview: new("shown"), WorkingMemory: new("remember"), Agent: new("guide"), ContextTokens: new(int64(77)),
		Checkpoint:  &sessions.Checkpoint{Seq: 1 << 40, Turns: 3},
		Description: &sessions.Description{Text: "about plans", Source: sessions.DescriptionAgent},
	}))(tr)
	for _, r := range []sessions.Record{got, tr.get(id)} {
		equal(tr, "name", r.Name, "plan")
		equal(tr, "preview", r.Preview, "shown")
		equal(tr, "memory", r.WorkingMemory, "remember")
		equal(tr, "agent", r.Agent, "guide")
		equal(tr, "tokens", r.ContextTokens, 77)
		equal(tr, "checkpoint", r.Checkpoint, sessions.Checkpoint{Seq: 1 << 40, Turns: 3})
		equal(tr, "description", r.Description, "about plans")
		tr.check(r.Version > before.Version, "version %d did not grow from %d", r.Version, before.Version)
		tr.check(r.LastActivityAt.Equal(before.LastActivityAt), "an update is no activity")
	}
	second := must(tr.store.Update(tr.ctx, id, sessions.Patch{Name: new("")}))(tr)
	equal(tr, "emptied name", second.Name, "")
	equal(tr, "memory stays", second.WorkingMemory, "remember")
	equal(tr, "checkpoint stays", second.Checkpoint, got.Checkpoint)
}

func updateMetadata(tr *trial) {
	id := tr.post(tr.heard("hello")).Session
	must(tr.store.Update(tr.ctx, id, sessions.Patch{Metadata: map[string]any{"a": "1", "b": "1"}}))(tr)
	must(tr.store.Update(tr.ctx, id, sessions.Patch{Metadata: map[string]any{"a": nil, "c": map[string]any{"d": true}}}))(tr)
	got := tr.get(id).Metadata
	_, hasA := got["a"]
	c, _ := got["c"].(map[string]any)
	tr.check(!hasA && got["b"] == "1" && c["d"] == true && len(got) == 2, "metadata is %v", got)
}

func updateDescription(tr *trial) {
	id := tr.post(tr.heard("the  first\nmessage")).Session
	first := tr.get(id)
	equal(tr, "fallback", first.Description, "the first message")
	equal(tr, "source", first.DescriptionSource, sessions.DescriptionFallback)
	describe := func(text string, source sessions.DescriptionSource) string {
		return must(tr.store.Update(tr.ctx, id, sessions.Patch{Description: &sessions.Description{Text: text, Source: source}}))(tr).Description
	}
	equal(tr, "by a person", describe("mine", sessions.DescriptionUser), "mine")
	equal(tr, "then by the agent", describe("its", sessions.DescriptionAgent), "mine")
	equal(tr, "then by a person", describe("mine again", sessions.DescriptionUser), "mine again")
	equal(tr, "emptied by the agent", describe("", sessions.DescriptionAgent), "mine again")
	equal(tr, "emptied by a person", describe(" ", sessions.DescriptionUser), "")
	equal(tr, "source", tr.get(id).DescriptionSource, "")
	tr.post(tr.heard("the second message"))
	equal(tr, "from the next message", tr.get(id).Description, "the second message")
	describe("", sessions.DescriptionUser)
	equal(tr, "then by the agent", describe("its", sessions.DescriptionAgent), "its")
}

func updateConcurrent(tr *trial) {
	id := tr.post(tr.heard("hello")).Session
	keys := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	tr.together(len(keys), func(i int) error {
		_, err := tr.store.Update(tr.ctx, id, sessions.Patch{Metadata: map[string]any{keys[i]: "set"}})
		return err
	})
	equal(tr, "keys", len(tr.get(id).Metadata), len(keys))
}

func rotateReplaces(tr *trial) {
	old := tr.post(tr.heard("hello")).Session
	tr.clock.Advance(time.Minute)
	result := must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{
		Surface: surface, Source: sessions.Source{Kind: "channel"}, UserID: "u-bob",
	}}))(tr)
	equal(tr, "old", result.Old, old)
	tr.check(result.Record.ID != old && !result.Duplicate, "the new session is %s", result.Record.ID)
	was := tr.get(old)
	equal(tr, "old state", was.State, sessions.StateSuspended)
	equal(tr, "old status", was.Status, sessions.StatusInactive)
	equal(tr, "old surfaces", len(was.Surfaces), 0)
	tr.check(was.StateChangedAt.After(was.LastActivityAt), "state changed at %v", was.StateChangedAt)
	is := must(tr.store.Bound(tr.ctx, surface))(tr)
	equal(tr, "bound", is.ID, result.Record.ID)
	equal(tr, "new state", is.State, sessions.StateCreated)
	equal(tr, "new user", is.UserID, "u-bob")
	equal(tr, "next post", tr.post(tr.heard("anew")).Session, is.ID)
	tr.wantBranch(old, "hello")
	tr.wantBranch(is.ID, "anew")
}

func rotateHidesSuspended(tr *trial) {
	turn := tr.begin("hello")
	id := turn.Record.ID
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Park})
	tr.clock.Advance(time.Hour)
	equalSlices(tr, "swept", tr.sweep(sessions.SweepSuspend, time.Minute, 10), []string{id})
	letters := must(tr.store.DeadLetters(tr.ctx, 1))(tr)
	tr.check(len(letters) == 1 && tr.store.Replay(tr.ctx, letters[0].ID) == nil, "the turn was not replayed: %v", letters)
	tr.claim(id, "a")
	equal(tr, "state while it runs", tr.get(id).State, sessions.StateSuspended)
	_ = must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}}))(tr)
	equal(tr, "status", tr.get(id).Status, sessions.StatusInactive)
}

func rotateFresh(tr *trial) {
	result := must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}}))(tr)
	equal(tr, "old", result.Old, "")
	equal(tr, "bound", must(tr.store.Bound(tr.ctx, surface))(tr).ID, result.Record.ID)
}

func rotateOnce(tr *trial) {
	request := sessions.RotateRequest{Key: "new-1", New: sessions.NewSession{Surface: surface}, Deliveries: []sessions.NewDelivery{row(surface, "new")}}
	first := must(tr.store.Rotate(tr.ctx, request))(tr)
	second := must(tr.store.Rotate(tr.ctx, request))(tr)
	tr.check(second.Duplicate && second.Record.ID == "" && len(second.Sends) == 0, "a duplicate did something: %+v", second)
	equal(tr, "bound", must(tr.store.Bound(tr.ctx, surface))(tr).ID, first.Record.ID)
	r := tr.said("the same happening")
	r.Key = "new-1"
	tr.say(r, sessions.PostDuplicate)
	tr.clock.Advance(sessions.DedupeFor + time.Minute)
	third := must(tr.store.Rotate(tr.ctx, request))(tr)
	tr.check(!third.Duplicate && third.Old == first.Record.ID, "after the key's time: %+v", third)
}

func rotateDelivers(tr *trial) {
	result := must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{
		New: sessions.NewSession{Surface: surface}, Deliveries: []sessions.NewDelivery{row(surface, "one"), row(surface, "two")}, Send: claimer("w1"),
	}))(tr)
	equal(tr, "sends", len(result.Sends), 1)
	equal(tr, "first", rowText(result.Sends[0]), "one")
	equal(tr, "session", result.Sends[0].Session, result.Record.ID)
	next := tr.settle(sessions.Settlement{Delivery: result.Sends[0], State: sessions.DeliverySent, MessageIDs: []string{"1"}, Next: true})
	tr.check(next != nil && rowText(*next) == "two", "next is %v", next)
	equalSlices(tr, "log", tr.texts(tr.log(result.Record.ID)), []string{"delivery"})
}

func rotateRunning(tr *trial) {
	turn := tr.begin("question")
	old := turn.Lease.Session
	tr.say(tr.said("follow-up"), sessions.PostQueued)
	must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}}))(tr)
	renewed := must(tr.store.Renew(tr.ctx, []sessions.Lease{turn.Lease}, lease))(tr)
	tr.check(renewed[0].Held && renewed[0].Stop, "renewal after a rotation: %+v", renewed[0])
	tr.done(turn, "answer")
	equal(tr, "status", tr.get(old).Status, sessions.StatusInactive)
	next := tr.claim(old, "w2")
	tr.wantTaken(next, "follow-up")
	tr.check(!next.Stop, "the next turn was not asked to stop")
	equal(tr, "running", tr.get(old).Status, sessions.StatusRunning)
	tr.done(next, "answer 2")
	record := tr.get(old)
	tr.check(record.State == sessions.StateSuspended && record.Status == sessions.StatusInactive, "old is %s/%s", record.State, record.Status)
}

func rotateExpired(tr *trial) {
	old := tr.post(tr.heard("hello")).Session
	tr.expire(old)
	result := must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}}))(tr)
	equal(tr, "old", result.Old, old)
	equal(tr, "old state", tr.get(old).State, sessions.StateExpired)
}

func rotateConflict(tr *trial) {
	first, _, err := tr.store.Open(tr.ctx, sessions.NewSession{Surface: "cli:local:work"})
	must(first, err)(tr)
	_, err = tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{ID: first.ID, Surface: "cli:local:work"}})
	tr.wantErr(err, sessions.ErrConflict)
	equal(tr, "state", tr.get(first.ID).State, sessions.StateCreated)
	equal(tr, "bound", must(tr.store.Bound(tr.ctx, "cli:local:work"))(tr).ID, first.ID)
}

func rotateRevive(tr *trial) {
	old := tr.post(tr.heard("hello")).Session
	must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}}))(tr)
	r := tr.heard("back again")
	r.Session = old
	equal(tr, "session", tr.post(r).Session, old)
	record := tr.get(old)
	tr.check(record.State == sessions.StateActive && record.Status == sessions.StatusIdle, "revived is %s/%s", record.State, record.Status)
	tr.check(must(tr.store.Bound(tr.ctx, surface))(tr).ID != old, "posting by id moved the binding")
	tr.check(!slices.Contains(record.Surfaces, surface), "posting by id attached the surface")
}

func rotateReviveRunning(tr *trial) {
	turn := tr.begin("question")
	must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: surface}}))(tr)
	equal(tr, "replaced", tr.get(turn.Lease.Session).Status, sessions.StatusInactive)
	r := tr.heard("back again")
	r.Session = turn.Lease.Session
	tr.say(r, sessions.PostLogged)
	equal(tr, "revived", tr.get(turn.Lease.Session).Status, sessions.StatusRunning)
	tr.done(turn, "answer")
	record := tr.get(turn.Lease.Session)
	tr.check(record.State == sessions.StateActive && record.Status == sessions.StatusIdle, "record is %s/%s", record.State, record.Status)
}

func recordsSurvive(tr *trial) {
	posted := tr.said("hello")
	id := tr.say(posted, sessions.PostQueued).Session
	must(tr.store.Update(tr.ctx, id, sessions.Patch{Name: new("kept"), Metadata: map[string]any{"k": "v"}}))(tr)
	before := tr.get(id)
	tr.reopen()
	after := tr.get(id)
	tr.check(after.Name == "kept" && after.Version == before.Version && after.Metadata["k"] == "v", "after a restart: %+v", after)
	equal(tr, "bound", must(tr.store.Bound(tr.ctx, surface))(tr).ID, id)
	tr.say(posted, sessions.PostDuplicate)
	turn := tr.claim(id, "w1")
	tr.wantTaken(turn, "hello")
	_, err := tr.store.Get(tr.ctx, "telegram:none")
	tr.check(errors.Is(err, sessions.ErrNotFound), "error %v", err)
}
