package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"parley/sessions"
)

func noteTests() []test {
	return []test{
		{"an entry of each type is written and read", noteTypes},
		{"branch: the leaf moves back and the conversation goes on from there", noteBranch},
		{"branch: the move survives a restart", noteBranchSurvives},
		{"branch: to before the first entry", noteBranchRoot},
		{"branch_with_summary stands behind the entry that was gone back to", noteBranchSummary},
		{"a label stands in the tree and changes no branch before it", noteLabel},
		{"a name is noted and patched in one step", noteName},
		{"a compaction at rest stands behind the leaf", noteCompaction},
		{"notes enter the tree behind the leaf, in order", noteOrder},
		{"notes beside the tree leave the leaf alone", noteBeside},
		{"a note is no activity and no message", noteNoActivity},
		{"a note in a session that sleeps leaves it asleep", noteAsleep},
		{"notes wait while a turn is open, and enter behind it as logged messages do", noteWaits},
		{"notes wait through lapsed leases, retries and hand-backs", noteWaitsOn},
		{"notes wait while a message waits", noteBehindQueue},
		{"notes beside the tree do not wait", noteBesideRunning},
		{"what a turn's holder lacks of notes is in its next tail", noteTails},
		{"what steers is refused while a turn is open or messages wait", noteSteersRefused},
		{"a note is written whole or not at all", noteWhole},
		{"a note to an entry that is not in the tree is not found", noteNowhere},
		{"a leaf that has moved on is a conflict", noteIfLeaf},
		{"of writers at one leaf one wins", noteIfLeafTogether},
		{"a version that is past is a conflict", noteIfVersion},
		{"of writers at one version one wins", noteIfVersionTogether},
		{"a note happens once per key", noteOnce},
		{"of the same note at the same time one is written", noteOnceTogether},
		{"a refused note does not use up its key", noteKeyRefused},
		{"notes of nothing, or of what is over", noteRefused},
		{"entries that are not written by hand are refused", noteByHand},
		{"notes refuse ids and sizes that cannot be", noteLimits},
		{"again after a note goes back before it", noteAgain},
		{"a replay after a note in the tree is written anew", noteReplayAnew},
		{"a replay after a note beside the tree runs in place", noteReplayInPlace},
		{"a note is hinted and asks for no work", noteHints},
		{"notes against turns and posts keep the tree whole", noteMany},
		{"notes survive a restart, waiting ones too", noteSurvives},
	}
}

// entry is a note's entry of a type that tells its name.
func entry(kind sessions.EntryType, name string) sessions.NewEntry {
	payload, _ := json.Marshal(map[string]string{"name": name}) //nolint:errchkjson // strings always encode
	return sessions.NewEntry{Type: kind, Payload: payload}
}

func leafTo(seq int64) sessions.NewEntry {
	return sessions.NewEntry{Type: sessions.EntryLeaf, Target: seq}
}

func (tr *trial) note(id string, entries ...sessions.NewEntry) sessions.NoteResult {
	tr.Helper()
	result := must(tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: entries}))(tr)
	tr.check(!result.Duplicate && len(result.Entries) == len(entries), "noted %+v", result)
	for _, e := range result.Entries {
		tr.sameEntry(e, tr.entryAt(id, e.Seq))
	}
	tr.sameRecord("noted", result.Record, tr.get(id))
	return result
}

func (tr *trial) entryAt(id string, seq int64) sessions.Entry {
	tr.Helper()
	entries := must(tr.store.Range(tr.ctx, id, seq, seq))(tr)
	tr.check(len(entries) == 1 && entries[0].Seq == seq, "entry %d of %s: %+v", seq, id, entries)
	return entries[0]
}

func (tr *trial) sameEntry(got, want sessions.Entry) {
	tr.Helper()
	tr.check(got.Seq == want.Seq && got.Parent == want.Parent && got.Waiting == want.Waiting && got.Type == want.Type && got.Time.Equal(want.Time) && string(got.Payload) == string(want.Payload),
		"entry %+v %s, want %+v %s", got, got.Payload, want, want.Payload)
}

// noteSteerRefused expects a note to be refused with a state error and to
// leave nothing.
func (tr *trial) noteSteerRefused(id string, entries ...sessions.NewEntry) {
	tr.Helper()
	before := tr.get(id)
	_, err := tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: entries, Patch: sessions.Patch{Name: new("half")}})
	tr.wantStateError(err)
	tr.sameRecord("refused", tr.get(id), before)
}

// talked is a session with a branch q1 a1 q2 a2.
func (tr *trial) talked() string {
	tr.Helper()
	turn := tr.begin("q1")
	tr.done(turn, "a1")
	tr.done(tr.begin("q2"), "a2")
	tr.wantBranch(turn.Lease.Session, "q1", "a1", "q2", "a2")
	return turn.Lease.Session
}

func noteBranch(tr *trial) {
	id := tr.talked()
	result := tr.note(id, leafTo(2))
	moved := result.Entries[0]
	var payload sessions.LeafEntry
	tr.do(json.Unmarshal(moved.Payload, &payload))
	tr.check(payload.TargetID == "e2" && moved.Parent == 0 && moved.Seq == 5 && result.Record.Leaf == 2, "moved %+v: %s", moved, moved.Payload)
	tr.wantBranch(id, "q1", "a1")
	tr.done(tr.begin("q3"), "a3")
	tr.wantBranch(id, "q1", "a1", "q3", "a3")
	tr.note(id, leafTo(4))
	tr.wantBranch(id, "q1", "a1", "q2", "a2")
	equalSlices(tr, "the log", tr.texts(tr.log(id)), []string{"q1", "a1", "q2", "a2", "leaf", "q3", "a3", "leaf"})
}

func noteBranchSurvives(tr *trial) {
	id := tr.talked()
	tr.note(id, leafTo(3))
	tr.reopen()
	tr.wantBranch(id, "q1", "a1", "q2")
	tr.post(tr.heard("more"))
	tr.wantBranch(id, "q1", "a1", "q2", "more")
	equal(tr, "parent", tr.entryAt(id, 6).Parent, 3)
}

func noteBranchRoot(tr *trial) {
	id := tr.talked()
	tr.note(id, leafTo(0))
	tr.wantBranch(id)
	equal(tr, "leaf", tr.get(id).LeafID(), "")
	tr.done(tr.begin("anew"), "a")
	tr.wantBranch(id, "anew", "a")
	tr.note(id, leafTo(4), entry(sessions.EntryLabel, "back"))
	tr.wantBranch(id, "q1", "a1", "q2", "a2", "label")
}

func noteBranchSummary(tr *trial) {
	id := tr.talked()
	result := tr.note(id, leafTo(2), entry(sessions.EntryBranchSummary, "they spoke of q2"))
	summary := result.Entries[1]
	tr.check(summary.Parent == 2 && summary.Seq == 6 && result.Record.Leaf == 6, "summary %+v", summary)
	tr.wantBranch(id, "q1", "a1", "branch_summary")
	tr.done(tr.begin("q3"), "a3")
	tr.wantBranch(id, "q1", "a1", "branch_summary", "q3", "a3")
}

func noteLabel(tr *trial) {
	id := tr.talked()
	label := tr.note(id, entry(sessions.EntryLabel, "here")).Entries[0]
	tr.check(label.Parent == 4 && label.Seq == 5, "label %+v", label)
	tr.wantBranch(id, "q1", "a1", "q2", "a2", "label")
	equal(tr, "payload", string(tr.entryAt(id, 5).Payload), `{"name":"here"}`)
}

func noteName(tr *trial) {
	id := tr.talked()
	before := tr.get(id)
	result := must(tr.store.Note(tr.ctx, sessions.NoteRequest{
		Session: id, Entries: []sessions.NewEntry{entry(sessions.EntrySessionName, "plans")},
		Patch: sessions.Patch{Name: new("plans"), Metadata: map[string]any{"k": "v"}},
	}))(tr)
	after := tr.get(id)
	tr.sameRecord("noted", result.Record, after)
	tr.check(after.Name == "plans" && after.Metadata["k"] == "v" && after.Seq == before.Seq+1 && after.Version > before.Version, "record %+v", after)
	tr.wantBranch(id, "q1", "a1", "q2", "a2", "session_name")
}

func noteCompaction(tr *trial) {
	id := tr.talked()
	tr.note(id, sessions.NewEntry{Type: sessions.EntryCompaction, Payload: json.RawMessage(`{"summary":"s","first_kept_entry_id":"e3"}`)})
	tr.done(tr.begin("q3"), "a3")
	tr.wantBranch(id, "q1", "a1", "q2", "a2", "compaction", "q3", "a3")
}

func noteOrder(tr *trial) {
	id := tr.make(sessions.NewSession{Surface: surface}).ID
	tr.note(id, entry(sessions.EntryLabel, "1"), entry(sessions.EntryCustomInfo, "2"), entry(sessions.EntryCustomMessage, "3"))
	for i, e := range tr.log(id) {
		tr.check(e.Seq == int64(i+1) && e.Parent == int64(i) && !e.Waiting && e.Time.Location() == time.UTC, "entry %+v", e)
	}
	tr.post(tr.heard("said"))
	tr.note(id, entry(sessions.EntryThinking, "4"))
	tr.wantBranch(id, "label", "custom_info", "custom_message", "said", "thinking_level_change")
}

func noteBeside(tr *trial) {
	id := tr.talked()
	entries := tr.note(id, entry(sessions.EntryEdit, "x"), entry(sessions.EntryLabel, "y"), entry(sessions.EntryReaction, "z")).Entries
	tr.check(entries[0].Parent == 0 && entries[1].Parent == 4 && entries[2].Parent == 0, "entries %+v", entries)
	equal(tr, "leaf", tr.get(id).Leaf, 6)
	tr.wantBranch(id, "q1", "a1", "q2", "a2", "label")
}

// noteTypes writes an entry of each type that is written by hand.
func noteTypes(tr *trial) {
	id := tr.talked()
	for _, kind := range []sessions.EntryType{
		sessions.EntryCompaction, sessions.EntryBranchSummary, sessions.EntryModelChange, sessions.EntryThinking, sessions.EntrySessionName,
		sessions.EntryLabel, sessions.EntryCustomInfo, sessions.EntryCustomMessage, sessions.EntryEdit, sessions.EntryDelete, sessions.EntryReaction,
		sessions.EntryApproval, sessions.EntryCheckpoint, sessions.EntryHandoff, sessions.EntryError, sessions.EntryState,
	} {
		tr.sub("a "+string(kind), func(tr *trial) { noteType(tr, id, kind) })
	}
}

func noteType(tr *trial, id string, kind sessions.EntryType) {
	before := tr.get(id)
	payload := `{"text":"äöü 🙂\u0000","big":9007199254740993, "list":[1.50,null,{}]}`
	e := tr.note(id, sessions.NewEntry{Type: kind, Payload: json.RawMessage(payload)}).Entries[0]
	equal(tr, "payload", string(e.Payload), payload)
	equal(tr, "parent", e.Parent, map[bool]int64{true: before.Leaf, false: 0}[kind.InTree()])
	equal(tr, "leaf", tr.get(id).Leaf, map[bool]int64{true: e.Seq, false: before.Leaf}[kind.InTree()])
	equal(tr, "empty payload", string(tr.note(id, sessions.NewEntry{Type: kind}).Entries[0].Payload), "{}")
}

func noteNoActivity(tr *trial) {
	id := tr.talked()
	before := tr.get(id)
	tr.clock.Advance(time.Hour)
	after := tr.note(id, entry(sessions.EntryCustomMessage, "shown to people")).Record
	tr.check(after.LastActivityAt.Equal(before.LastActivityAt) && after.MessageCount == before.MessageCount && after.TurnCount == before.TurnCount &&
		after.Preview == before.Preview && after.State == before.State && after.Status == before.Status && after.Queued == 0, "noted %+v", after)
	tr.check(after.Seq == before.Seq+1 && after.Version > before.Version, "noted %+v", after)
	equal(tr, "entry's time", tr.entryAt(id, 5).Time.Sub(tr.entryAt(id, 4).Time) >= time.Hour, true)
}

func noteAsleep(tr *trial) {
	created := tr.make(sessions.NewSession{ID: "api:created"}).ID
	tr.note(created, entry(sessions.EntryLabel, "x"))
	tr.wantState(created, sessions.StateCreated, sessions.StatusIdle)
	suspended := tr.suspended("hello")
	tr.note(suspended, entry(sessions.EntryLabel, "x"))
	tr.wantState(suspended, sessions.StateSuspended, sessions.StatusInactive)
	tr.note(suspended, leafTo(1))
	tr.wantBranch(suspended, "hello")
}

func noteWaits(tr *trial) {
	turn := tr.begin("q1")
	id := turn.Lease.Session
	tr.appendTo(turn, "call")
	tr.say(tr.heard("l1"), sessions.PostLogged)
	waiting := tr.note(id, entry(sessions.EntryLabel, "n1"), entry(sessions.EntryCustomMessage, "n2"))
	for _, e := range waiting.Entries {
		tr.check(e.Waiting && e.Parent == 0, "noted during a turn: %+v", e)
	}
	equal(tr, "leaf", waiting.Record.Leaf, 2)
	tr.queued("q2", "member", "")
	tr.say(tr.heard("l2"), sessions.PostLogged)
	tr.appendTo(turn, "result")
	tr.wantBranch(id, "q1", "call", "result")
	tr.done(turn, "a1")
	tr.wantBranch(id, "q1", "call", "result", "a1", "l1", "label", "custom_message", "l2")
	for _, e := range waiting.Entries {
		placed := tr.entryAt(id, e.Seq)
		tr.check(!placed.Waiting && placed.Parent != 0 && string(placed.Payload) == string(e.Payload) && placed.Time.Equal(e.Time), "placed %+v", placed)
	}
	tr.done(tr.claim(id, "w1"), "a2")
	tr.wantBranch(id, "q1", "call", "result", "a1", "l1", "label", "custom_message", "l2", "q2", "a2")
}

func noteWaitsOn(tr *trial) {
	turn := tr.begin("q")
	id := turn.Lease.Session
	tr.clock.Advance(2 * lease)
	tr.note(id, entry(sessions.EntryLabel, "lapsed"))
	turn = tr.claim(id, "w2")
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Again, Entries: tr.answers("call")})
	tr.note(id, entry(sessions.EntryCustomInfo, "to be tried again"))
	turn = tr.claim(id, "w1")
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.HandBack})
	tr.note(id, entry(sessions.EntrySessionName, "handed back"))
	tr.wantBranch(id, "q", "call")
	turn = tr.claim(id, "w1")
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Park, Entries: tr.answers("result")})
	tr.wantBranch(id, "q", "call", "result", "label", "custom_info", "session_name")
}

func noteBehindQueue(tr *trial) {
	id := tr.say(tr.said("q1"), sessions.PostQueued).Session
	tr.check(tr.note(id, entry(sessions.EntryLabel, "n")).Entries[0].Waiting, "it does not wait")
	tr.wantBranch(id)
	turn := tr.claim(id, "w1")
	tr.wantBranch(id, "q1")
	tr.done(turn, "a1")
	tr.wantBranch(id, "q1", "a1", "label")
	tr.check(!tr.note(id, entry(sessions.EntryLabel, "n")).Entries[0].Waiting, "it waits at rest")
}

func noteBesideRunning(tr *trial) {
	turn := tr.begin("q1")
	e := tr.note(turn.Lease.Session, entry(sessions.EntryApproval, "x")).Entries[0]
	tr.check(!e.Waiting && e.Parent == 0, "noted %+v", e)
	tr.done(turn, "a1")
	tr.wantBranch(turn.Lease.Session, "q1", "a1")
	tr.sameEntry(tr.entryAt(turn.Lease.Session, e.Seq), e)
}

func noteTails(tr *trial) {
	turn := tr.begin("q1")
	id := turn.Lease.Session
	tr.note(id, entry(sessions.EntryLabel, "n1"))
	tr.queued("q2", "member", "")
	next := tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers("a1"), Next: claimer("w1")}).Next
	tr.wantTail(next, 1, "label", "q2", "a1")
	tr.done(next, "a2")
	known := sessions.Known{Session: id, Seq: tr.get(id).Seq}
	tr.note(id, entry(sessions.EntryCustomMessage, "n2"), entry(sessions.EntryReaction, "n3"))
	r := tr.said("q3")
	r.Claim, r.Known = claimer("w1"), known
	third := tr.say(r, sessions.PostClaimed).Turn
	tr.wantTail(third, known.Seq, "custom_message", "reaction", "q3")
	tr.done(third, "a3")
	tr.wantBranch(id, "q1", "a1", "label", "q2", "a2", "custom_message", "q3", "a3")
}

func noteSteersRefused(tr *trial) {
	for i, steer := range [][]sessions.NewEntry{
		{leafTo(0)}, {entry(sessions.EntryBranchSummary, "s")}, {entry(sessions.EntryCompaction, "c")}, {entry(sessions.EntryLabel, "l"), leafTo(0)}, {entry(sessions.EntryError, "beside"), leafTo(0)},
	} {
		on := fmt.Sprintf("telegram:1:%d", i)
		r := tr.said("q1")
		r.Surface = on
		id := tr.say(r, sessions.PostQueued).Session
		tr.noteSteerRefused(id, steer...)
		turn := tr.claim(id, "w1")
		tr.noteSteerRefused(id, steer...)
		tr.clock.Advance(2 * lease)
		tr.noteSteerRefused(id, steer...)
		tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Again})
		tr.noteSteerRefused(id, steer...)
		tr.done(tr.claim(id, "w1"), "a1")
		tr.note(id, steer...)
	}
}

func noteWhole(tr *trial) {
	id := tr.talked()
	must(tr.store.Update(tr.ctx, id, sessions.Patch{Metadata: map[string]any{"a": strings.Repeat("m", sessions.MetadataMax*2/3)}}))(tr)
	before := tr.get(id)
	entries := []sessions.NewEntry{entry(sessions.EntryLabel, "x"), entry(sessions.EntryError, "y")}
	_, err := tr.store.Note(tr.ctx, sessions.NoteRequest{Key: "k", Session: id, Entries: entries, Patch: sessions.Patch{Name: new("n"), Metadata: map[string]any{"b": strings.Repeat("m", sessions.MetadataMax*2/3)}}})
	tr.wantInvalid(err)
	_, err = tr.store.Note(tr.ctx, sessions.NoteRequest{Key: "k", Session: id, Entries: append(slices.Clone(entries), leafTo(99)), Patch: sessions.Patch{Name: new("n")}})
	tr.wantErr(err, sessions.ErrNotFound)
	_, err = tr.store.Note(tr.ctx, sessions.NoteRequest{Key: "k", Session: id, Entries: append(slices.Clone(entries), sessions.NewEntry{Type: "other"})})
	tr.wantInvalid(err)
	tr.sameRecord("refused", tr.get(id), before)
	equal(tr, "entries", len(tr.log(id)), 4)
	result := must(tr.store.Note(tr.ctx, sessions.NoteRequest{Key: "k", Session: id, Entries: entries}))(tr)
	tr.check(!result.Duplicate, "a refused note used up its key")
}

func noteNowhere(tr *trial) {
	id := tr.talked()
	tr.note(id, entry(sessions.EntryError, "beside the tree, at 5"))
	for _, target := range []int64{5, 6, 99, 1 << 40} {
		_, err := tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: []sessions.NewEntry{leafTo(target)}})
		tr.wantErr(err, sessions.ErrNotFound)
	}
	for _, leaf := range []int64{6, 99, 1 << 40} {
		_, err := tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: []sessions.NewEntry{entry(sessions.EntryLabel, "x")}, IfLeaf: &leaf})
		tr.wantErr(err, sessions.ErrNotFound)
	}
	tr.wantBranch(id, "q1", "a1", "q2", "a2")
	equal(tr, "entries", len(tr.log(id)), 5)
}

func noteIfLeaf(tr *trial) {
	id := tr.talked()
	for _, leaf := range []int64{0, 1, 3} {
		_, err := tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: []sessions.NewEntry{leafTo(1)}, IfLeaf: &leaf, Patch: sessions.Patch{Name: new("half")}})
		tr.wantErr(err, sessions.ErrConflict)
	}
	equal(tr, "name", tr.get(id).Name, "")
	equal(tr, "entries", len(tr.log(id)), 4)
	result := must(tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: []sessions.NewEntry{leafTo(1)}, IfLeaf: new(int64(4))}))(tr)
	equal(tr, "leaf", result.Record.Leaf, 1)
	empty := tr.make(sessions.NewSession{ID: "api:empty"}).ID
	must(tr.store.Note(tr.ctx, sessions.NoteRequest{Session: empty, Entries: []sessions.NewEntry{entry(sessions.EntryLabel, "x")}, IfLeaf: new(int64(0))}))(tr)
	turn := tr.begin("q3")
	must(tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: []sessions.NewEntry{entry(sessions.EntryLabel, "x")}, IfLeaf: &turn.Record.Leaf}))(tr)
	_, err := tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: []sessions.NewEntry{entry(sessions.EntryLabel, "x")}, IfLeaf: new(int64(1))})
	tr.wantErr(err, sessions.ErrConflict)
	tr.done(turn, "a3")
	tr.wantBranch(id, "q1", "q3", "a3", "label")
}

func noteIfVersion(tr *trial) {
	id := tr.talked()
	read := tr.get(id)
	at := func(version int64) (sessions.NoteResult, error) {
		return tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, IfVersion: &version, Entries: []sessions.NewEntry{entry(sessions.EntryCheckpoint, "c")},
			Patch: sessions.Patch{Checkpoint: &sessions.Checkpoint{Seq: read.Seq, Turns: read.TurnCount}, WorkingMemory: new("notes")}})
	}
	tr.post(tr.heard("meanwhile"))
	before := tr.get(id)
	for _, version := range []int64{0, read.Version, before.Version + 1} {
		_, err := at(version)
		tr.wantErr(err, sessions.ErrConflict)
	}
	tr.sameRecord("refused", tr.get(id), before)
	result := must(at(before.Version))(tr)
	tr.check(result.Record.Checkpoint == sessions.Checkpoint{Seq: 4, Turns: 2} && result.Record.Checked() == 4 && result.Record.WorkingMemory == "notes" &&
		result.Record.Seq == 6 && result.Record.Leaf == 5, "noted %+v", result.Record)
	tr.sameRecord("noted", result.Record, tr.get(id))
	tr.clear(id)
	_, err := at(result.Record.Version)
	tr.wantErr(err, sessions.ErrConflict)
	equal(tr, "memory", tr.get(id).WorkingMemory, "")
}

func noteIfVersionTogether(tr *trial) {
	id := tr.talked()
	version := tr.get(id).Version
	var won atomic.Int64
	tr.together(10, func(i int) error {
		_, err := tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: []sessions.NewEntry{entry(sessions.EntryCheckpoint, fmt.Sprintf("n%d", i))}, IfVersion: &version})
		if errors.Is(err, sessions.ErrConflict) {
			return nil
		}
		won.Add(1)
		return err
	})
	equal(tr, "writers that won", won.Load(), 1)
	equal(tr, "entries", len(tr.log(id)), 5)
}

func noteIfLeafTogether(tr *trial) {
	id := tr.talked()
	for range 3 {
		leaf := tr.get(id).Leaf
		before := len(tr.log(id))
		var won atomic.Int64
		tr.together(10, func(i int) error {
			entries := []sessions.NewEntry{entry(sessions.EntryLabel, fmt.Sprintf("n%d", i))}
			if i%2 == 0 {
				entries = []sessions.NewEntry{leafTo(2), entry(sessions.EntryBranchSummary, fmt.Sprintf("n%d", i))}
			}
			_, err := tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: entries, IfLeaf: &leaf})
			if errors.Is(err, sessions.ErrConflict) {
				return nil
			}
			won.Add(1)
			return err
		})
		equal(tr, "winners", won.Load(), 1)
		tr.check(len(tr.log(id)) <= before+2, "%d entries, then %d", before, len(tr.log(id)))
	}
}

func noteOnce(tr *trial) {
	id := tr.talked()
	r := sessions.NoteRequest{Key: "note-1", Session: id, Entries: []sessions.NewEntry{entry(sessions.EntryLabel, "x")}, Patch: sessions.Patch{Name: new("once")}}
	first := must(tr.store.Note(tr.ctx, r))(tr)
	tr.check(!first.Duplicate && len(first.Entries) == 1, "first %+v", first)
	must(tr.store.Update(tr.ctx, id, sessions.Patch{Name: new("changed since")}))(tr)
	second := must(tr.store.Note(tr.ctx, r))(tr)
	tr.check(second.Duplicate && second.Entries == nil, "second %+v", second)
	tr.sameRecord("of a duplicate", second.Record, tr.get(id))
	equal(tr, "name", second.Record.Name, "changed since")
	equal(tr, "entries", len(tr.log(id)), 5)
	posted := tr.into(id, "the same happening")
	posted.Key = "note-1"
	tr.say(posted, sessions.PostDuplicate)
	posted = tr.into(id, "another")
	tr.say(posted, sessions.PostLogged)
	r.Key = posted.Key
	tr.check(must(tr.store.Note(tr.ctx, r))(tr).Duplicate, "a post's key is free for a note")
	tr.clock.Advance(sessions.DedupeFor + time.Minute)
	tr.check(!must(tr.store.Note(tr.ctx, r))(tr).Duplicate, "the key counts longer than it should")
}

func noteOnceTogether(tr *trial) {
	id := tr.talked()
	r := sessions.NoteRequest{Key: "note-1", Session: id, Entries: []sessions.NewEntry{entry(sessions.EntryLabel, "x")}}
	var first atomic.Int64
	tr.together(12, func(int) error {
		result, err := tr.store.Note(tr.ctx, r)
		if !result.Duplicate {
			first.Add(1)
		}
		return err
	})
	equal(tr, "written", first.Load(), 1)
	equal(tr, "entries", len(tr.log(id)), 5)
}

func noteKeyRefused(tr *trial) {
	id := tr.talked()
	r := sessions.NoteRequest{Key: "k", Session: id, Entries: []sessions.NewEntry{leafTo(2)}, IfLeaf: new(int64(1))}
	_, err := tr.store.Note(tr.ctx, r)
	tr.wantErr(err, sessions.ErrConflict)
	r.IfLeaf = nil
	turn := tr.begin("q3")
	_, err = tr.store.Note(tr.ctx, r)
	tr.wantStateError(err)
	tr.done(turn, "a3")
	tr.check(!must(tr.store.Note(tr.ctx, r))(tr).Duplicate, "a refused note used up its key")
	tr.wantBranch(id, "q1", "a1")
}

func noteRefused(tr *trial) {
	label := []sessions.NewEntry{entry(sessions.EntryLabel, "x")}
	_, err := tr.store.Note(tr.ctx, sessions.NoteRequest{Session: "api:nobody", Entries: label})
	tr.wantErr(err, sessions.ErrNotFound)
	id := tr.talked()
	before := tr.ended(id)
	for _, entries := range [][]sessions.NewEntry{label, {leafTo(1)}, {entry(sessions.EntryError, "x")}} {
		_, err = tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: entries, Patch: sessions.Patch{Name: new("late")}})
		tr.wantExpired(err, id)
	}
	tr.sameRecord("refused", tr.get(id), before)
	equal(tr, "entries", len(tr.log(id)), 4)
}

func noteByHand(tr *trial) {
	id := tr.talked()
	for _, e := range []sessions.NewEntry{tr.answers("x")[0], {Type: sessions.EntryTurn}, {Type: sessions.EntryDelivery}, {Type: "other"}, {}} {
		_, err := tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Entries: []sessions.NewEntry{entry(sessions.EntryLabel, "x"), e}})
		tr.wantInvalid(err)
	}
	equal(tr, "entries", len(tr.log(id)), 4)
}

func noteLimits(tr *trial) {
	id := tr.talked()
	label := []sessions.NewEntry{entry(sessions.EntryLabel, "x")}
	for _, bad := range badIDs() {
		_, err := tr.store.Note(tr.ctx, sessions.NoteRequest{Session: bad, Entries: label})
		tr.wantInvalid(err)
		_, err = tr.store.Clear(tr.ctx, bad)
		tr.wantInvalid(err)
	}
	long := json.RawMessage(`{"x":"` + strings.Repeat("y", sessions.PayloadMax) + `"}`)
	for _, r := range []sessions.NoteRequest{
		{}, {Entries: make([]sessions.NewEntry, sessions.EntriesPerCall+1)}, {Entries: label, Key: strings.Repeat("k", 10<<10)}, {Entries: label, IfLeaf: new(int64(-1))},
		{Entries: []sessions.NewEntry{{Type: sessions.EntryLabel, Payload: long}}}, {Entries: []sessions.NewEntry{{Type: sessions.EntryLabel, Payload: json.RawMessage(`[]`)}}},
		{Entries: []sessions.NewEntry{{Type: sessions.EntryLabel, Target: 1}}}, {Entries: []sessions.NewEntry{leafTo(-1)}},
		{Entries: label, Patch: sessions.Patch{Metadata: map[string]any{"m": strings.Repeat("m", 1<<20)}}}, {Entries: label, Patch: sessions.Patch{Name: new(strings.Repeat("n", 10<<10))}},
	} {
		r.Session = id
		_, err := tr.store.Note(tr.ctx, r)
		tr.wantInvalid(err)
	}
	equal(tr, "entries", len(tr.log(id)), 4)
	largest := `{"x":"` + strings.Repeat("y", sessions.PayloadMax-8) + `"}`
	equal(tr, "the largest", string(tr.note(id, sessions.NewEntry{Type: sessions.EntryCustomInfo, Payload: json.RawMessage(largest)}).Entries[0].Payload), largest)
}

func noteAgain(tr *trial) {
	id := tr.talked()
	tr.note(id, entry(sessions.EntryLabel, "x"))
	again, _ := tr.again(sessions.AgainRequest{Session: id, Claim: claimer("w1")})
	tr.wantTaken(again, "q2")
	tr.wantBranch(id, "q1", "a1", "q2")
	tr.done(again, "a2 better")
	tr.wantBranch(id, "q1", "a1", "q2", "a2 better")
}

func noteReplayAnew(tr *trial) {
	id, letter := tr.parked("q")
	tr.note(id, entry(sessions.EntryLabel, "x"))
	tr.do(tr.store.Replay(tr.ctx, letter))
	turn := tr.claim(id, "w1")
	tr.wantTaken(turn, "q")
	tr.done(turn, "a")
	tr.wantBranch(id, "q", "broken", "label", "q", "a")
}

func noteReplayInPlace(tr *trial) {
	id, letter := tr.parked("q")
	tr.note(id, entry(sessions.EntryReaction, "x"))
	tr.do(tr.store.Replay(tr.ctx, letter))
	tr.done(tr.claim(id, "w1"), "a")
	tr.wantBranch(id, "q", "a")
}

func noteHints(tr *trial) {
	id := tr.talked()
	events := tr.watch(id)
	tr.note(id, entry(sessions.EntryReaction, "x"))
	until(tr, events, "the hint of a note", func(e sessions.LiveEvent) bool {
		return e.Session == id && e.Kind == sessions.LiveEntries && e.Seq == 5
	})
	equal(tr, "due", len(must(tr.store.Due(tr.ctx, 10))(tr)), 0)
	tr.cannotClaim(id, sessions.ErrNothing)
}

// noteMany has posters, a worker and writers of notes in one session.
func noteMany(tr *trial) {
	turn := tr.begin("p-first")
	id := turn.Lease.Session
	const posters, noters, each = 3, 3, 20
	tr.together(posters+noters+1, func(n int) error {
		switch {
		case n == 0:
			return tr.answering(turn, each)
		case n <= posters:
			return tr.postMany(n, each)
		}
		return tr.noteMany(id, n, each)
	})
	for tr.get(id).Queued > 0 {
		tr.done(tr.claim(id, "w1"), "answer")
	}
	equal(tr, "messages", tr.whole(id), posters*each+1)
	onBranch := 0
	for _, text := range tr.branch(id) {
		if text == string(sessions.EntryLabel) {
			onBranch++
		}
	}
	equal(tr, "notes on the branch", onBranch, noters*each)
}

func (tr *trial) postMany(n, posts int) error {
	for i := range posts {
		r := sessions.PostRequest{Surface: surface, Trigger: i%4 == 0, Rights: "member", Message: sessions.Message{Role: sessions.RoleUser, Text: fmt.Sprintf("p%d.%d", n, i)}}
		if _, err := tr.store.Post(tr.ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// noteMany writes notes, some that steer and are to be refused or to stay
// where they are.
func (tr *trial) noteMany(id string, n, notes int) error {
	for i := range notes {
		_, err := tr.store.Note(tr.ctx, sessions.NoteRequest{Session: id, Key: fmt.Sprintf("n%d.%d", n, i), Entries: []sessions.NewEntry{entry(sessions.EntryLabel, "x"), entry(sessions.EntryReaction, "y")}})
		if err != nil {
			return err
		}
	}
	return nil
}

func noteSurvives(tr *trial) {
	turn := tr.begin("q")
	id := turn.Lease.Session
	r := sessions.NoteRequest{Key: "k", Session: id, Entries: []sessions.NewEntry{entry(sessions.EntryLabel, "x")}, Patch: sessions.Patch{Name: new("n")}}
	must(tr.store.Note(tr.ctx, r))(tr)
	tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.HandBack})
	before := tr.get(id)
	tr.reopen()
	tr.sameRecord("after a restart", tr.get(id), before)
	tr.check(tr.log(id)[1].Waiting, "it does not wait any more")
	tr.check(must(tr.store.Note(tr.ctx, r))(tr).Duplicate, "the key was forgotten")
	tr.done(tr.claim(id, "w2"), "a")
	tr.wantBranch(id, "q", "a", "label")
}
