package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"parley/sessions"
	"parley/sessions/archive"
)

func importTests() []test {
	return []test{
		{"import keeps record and log as they were", importKeeps},
		{"import sets what is the store's own", importOwn},
		{"import of a session in each state", importStates},
		{"import of a session without entries", importEmpty},
		{"an imported session goes on at its leaf", importGoesOn},
		{"create_branched_session: a path becomes a session with a link back", importFork},
		{"an imported tree keeps its branches, also after a restart", importTree},
		{"a message that had to wait may be younger than its child", importYoungParent},
		{"import of 2500 entries streams", importLong},
		{"import of a compacted log", importCompacted},
		{"an imported session is found by all that it has", importFound},
		{"nothing is seen of an import before its end", importUnseen},
		{"a slow import holds up nobody", importSlow},
		{"an id that is taken is a conflict and leaves what is there", importTaken},
		{"an id that is taken meanwhile is a conflict", importTakenMeanwhile},
		{"of imports of one id at the same time one wins", importTogether},
		{"an import with a bad entry leaves nothing", importBadEntry},
		{"an import with a bad record leaves nothing", importBadRecord},
		{"an import whose source fails leaves nothing", importSourceFails},
		{"an import that is cancelled leaves nothing", importCancelled},
		{"an import that the store's end breaks off is whole or nothing", importStoreEnds},
		{"an imported session can be cleared and deleted", importRemoved},
	}
}

// each yields entries that are all there.
func each(entries []sessions.Entry) iter.Seq2[sessions.Entry, error] {
	return func(yield func(sessions.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// imported makes a session from a record and entries.
func (tr *trial) imported(record sessions.Record, entries ...sessions.Entry) sessions.Record {
	tr.Helper()
	if record.CreatedAt.IsZero() {
		record.CreatedAt = time.Date(2026, 1, 2, 3, 4, 5, int(6*time.Millisecond), time.UTC)
		record.LastActivityAt = record.CreatedAt.Add(time.Hour)
	}
	if record.State == "" {
		record.State = sessions.StateActive
	}
	return must(tr.store.Import(tr.ctx, record, each(entries)))(tr)
}

// line is an entry of an import.
func line(seq, parent int64, role sessions.Role, text string) sessions.Entry {
	payload, _ := json.Marshal(sessions.Message{Role: role, Text: text}) //nolint:errchkjson // it encodes
	return sessions.Entry{Seq: seq, Parent: parent, Time: time.Date(2026, 1, 2, 3, 4, int(seq%60), 0, time.UTC), Type: sessions.EntryMessage, Payload: payload}
}

func lineOf(seq, parent int64, kind sessions.EntryType, payload string) sessions.Entry {
	e := line(seq, parent, sessions.RoleUser, "")
	e.Type, e.Payload = kind, json.RawMessage(payload)
	return e
}

// chat is a log of two exchanges, with entries beside the tree.
func chat() []sessions.Entry {
	return []sessions.Entry{
		line(1, 0, sessions.RoleUser, "q1"), lineOf(2, 0, sessions.EntryTurn, `{"n" : 1}`), line(3, 1, sessions.RoleAssistant, "a1"), lineOf(4, 3, sessions.EntryLabel, `{"label":"äöü 🙂"}`),
		line(5, 4, sessions.RoleUser, "q2"), lineOf(6, 0, sessions.EntryReaction, `{"big":9007199254740993,"list":[1.50,null]}`), line(7, 5, sessions.RoleAssistant, "a2"),
	}
}

func chatRecord(id string) sessions.Record {
	at := time.Date(2026, 1, 2, 3, 4, 5, int(6*time.Millisecond), time.UTC)
	return sessions.Record{
		ID: id, Source: sessions.Source{Kind: "channel", Interactive: true, Platform: "telegram", TriggerID: "t1", Type: sessions.Direct},
		UserID: "u-ann", WorkspaceID: "team", State: sessions.StateActive, CreatedAt: at, LastActivityAt: at.Add(time.Hour), StateChangedAt: at.Add(time.Minute),
		Participants: []string{"u-ann", "u-bob"}, Metadata: map[string]any{"k": map[string]any{"l": "v"}}, MessageCount: 2, TurnCount: 2,
		Name: "name", Description: "described", DescriptionSource: sessions.DescriptionAgent, Preview: "a2", WorkingMemory: "memory", Agent: "guide",
		ParentSession: "telegram:elsewhere", ContextTokens: 1234, Checkpoint: sessions.Checkpoint{Seq: 5, Turns: 1}, Leaf: 7,
	}
}

func importKeeps(tr *trial) {
	want := chatRecord("api:s")
	got := tr.imported(want, chat()...)
	tr.sameRecord("imported", got, tr.get("api:s"))
	tr.check(got.Version > 0, "version %d", got.Version)
	want.Status, want.Seq, want.Epoch, want.Version = sessions.StatusIdle, 7, got.Epoch, got.Version
	tr.sameRecord("imported", got, want)
	log := tr.log("api:s")
	equal(tr, "entries", len(log), len(chat()))
	for i, e := range chat() {
		tr.sameEntry(log[i], e)
	}
	tr.wantBranch("api:s", "q1", "a1", "label", "q2", "a2")
}

func importOwn(tr *trial) {
	r := chatRecord("api:s")
	r.Surfaces, r.Status, r.Seq, r.Cleared, r.Epoch, r.Version, r.Queued = []string{surface, other}, sessions.StatusRunning, 99, 5, 77, 88, 9
	got := tr.imported(r, chat()...)
	tr.check(len(got.Surfaces) == 0 && got.Status == sessions.StatusIdle && got.Seq == 7 && got.Cleared == 0 && got.Queued == 0, "imported %+v", got)
	equal(tr, "bound", tr.bound(surface), "")
	equal(tr, "entries", len(tr.log("api:s")), 7)
	tr.cannotClaim("api:s", sessions.ErrNothing)
	_, _, err := tr.store.Again(tr.ctx, sessions.AgainRequest{Session: "api:s", Claim: claimer("w1")})
	tr.wantErr(err, sessions.ErrNothing)
	equal(tr, "due", len(must(tr.store.Due(tr.ctx, 10))(tr)), 0)
}

func importStates(tr *trial) {
	for state, status := range map[sessions.State]sessions.Status{
		sessions.StateCreated: sessions.StatusIdle, sessions.StateActive: sessions.StatusIdle, sessions.StateSuspended: sessions.StatusInactive, sessions.StateExpired: sessions.StatusInactive,
	} {
		id := "api:" + string(state)
		r := chatRecord(id)
		r.State, r.Status = state, sessions.StatusAwaiting
		tr.imported(r, chat()...)
		tr.wantState(id, state, status)
		tr.wantFound(sessions.Query{States: []sessions.State{state}}, id)
	}
	_, err := tr.store.Touch(tr.ctx, "api:expired")
	tr.wantExpired(err, "api:expired")
	tr.touch("api:suspended")
	tr.wantState("api:suspended", sessions.StateActive, sessions.StatusIdle)
}

func importEmpty(tr *trial) {
	got := tr.imported(sessions.Record{ID: "api:s", State: sessions.StateCreated})
	tr.check(got.Seq == 0 && got.Leaf == 0 && got.State == sessions.StateCreated, "imported %+v", got)
	equal(tr, "entries", len(tr.log("api:s")), 0)
	tr.post(tr.into("api:s", "hello"))
	tr.wantBranch("api:s", "hello")
}

func importGoesOn(tr *trial) {
	tr.imported(chatRecord("api:s"), chat()...)
	tr.attach("api:s", surface)
	tr.clock.Advance(time.Second)
	r := tr.said("q3")
	r.Claim, r.Known = claimer("w1"), sessions.Known{Session: "api:s", Seq: 5}
	turn := tr.say(r, sessions.PostClaimed).Turn
	equal(tr, "session", turn.Lease.Session, "api:s")
	tr.wantTail(turn, 5, "reaction", "a2", "q3")
	tr.done(turn, "a3")
	tr.wantBranch("api:s", "q1", "a1", "label", "q2", "a2", "q3", "a3")
	tr.note("api:s", leafTo(3))
	tr.wantBranch("api:s", "q1", "a1")
	record := tr.get("api:s")
	tr.check(record.MessageCount == 3 && record.TurnCount == 3 && record.Seq == 10, "record %+v", record)
	again, _ := tr.again(sessions.AgainRequest{Session: "api:s", Claim: claimer("w1")})
	tr.wantTaken(again, "q3")
}

func importFork(tr *trial) {
	source := tr.talked()
	tr.note(source, leafTo(2))
	tr.done(tr.begin("q3"), "a3")
	tr.note(source, entry(sessions.EntryLabel, "here"))
	record := tr.get(source)
	bySeq := map[int64]sessions.Entry{}
	for _, e := range tr.log(source) {
		bySeq[e.Seq] = e
	}
	var path []sessions.Entry
	for at := record.Leaf; at != 0; at = bySeq[at].Parent {
		path = append(path, bySeq[at])
	}
	slices.Reverse(path)
	for i := range path {
		path[i].Seq, path[i].Parent = int64(i+1), int64(i)
	}
	record.ID, record.ParentSession, record.Leaf = "api:fork", source, int64(len(path))
	fork := tr.imported(record, path...)
	equal(tr, "link back", fork.ParentSession, source)
	tr.wantBranch("api:fork", "q1", "a1", "q3", "a3", "label")
	equal(tr, "bound", tr.bound(surface), source)
	tr.post(tr.into("api:fork", "only here"))
	tr.wantBranch("api:fork", "q1", "a1", "q3", "a3", "label", "only here")
	tr.wantBranch(source, "q1", "a1", "q3", "a3", "label")
}

func importTree(tr *trial) {
	// 1 ─ 2 ─ 3 ─ 4, 2 ─ 5 ─ 6, 1 ─ 7, 0 ─ 8; leaf entries between
	lines := []sessions.Entry{
		line(1, 0, sessions.RoleUser, "1"), line(2, 1, sessions.RoleAssistant, "2"), line(3, 2, sessions.RoleUser, "3"), line(4, 3, sessions.RoleAssistant, "4"),
		line(5, 2, sessions.RoleUser, "5"), line(6, 5, sessions.RoleAssistant, "6"), line(7, 1, sessions.RoleUser, "7"), line(8, 0, sessions.RoleUser, "8"), lineOf(9, 0, sessions.EntryLeaf, `{"target_id":"e6"}`),
	}
	tr.imported(sessions.Record{ID: "api:s", Leaf: 6}, lines...)
	tr.wantBranch("api:s", "1", "2", "5", "6")
	if tr.opened.Reopen != nil {
		tr.reopen()
	}
	for _, c := range []struct {
		leaf int64
		want []string
	}{{4, []string{"1", "2", "3", "4"}}, {7, []string{"1", "7"}}, {8, []string{"8"}}, {6, []string{"1", "2", "5", "6"}}} {
		tr.note("api:s", leafTo(c.leaf))
		tr.wantBranch("api:s", c.want...)
	}
	tr.post(tr.into("api:s", "new"))
	tr.wantBranch("api:s", "1", "2", "5", "6", "new")
	equal(tr, "parent", tr.entryAt("api:s", 14).Parent, 6)
}

func importYoungParent(tr *trial) {
	tr.imported(sessions.Record{ID: "api:s", Leaf: 4},
		line(1, 0, sessions.RoleUser, "q1"), line(2, 3, sessions.RoleUser, "waited"), line(3, 1, sessions.RoleAssistant, "a1"), line(4, 2, sessions.RoleAssistant, "a2"))
	tr.wantBranch("api:s", "q1", "a1", "waited", "a2")
	tr.post(tr.into("api:s", "more"))
	tr.wantBranch("api:s", "q1", "a1", "waited", "a2", "more")
}

func importLong(tr *trial) {
	const n = 2500
	pulled := 0
	record := chatRecord("api:s")
	record.Leaf = n
	got, err := tr.store.Import(tr.ctx, record, func(yield func(sessions.Entry, error) bool) {
		for seq := int64(1); seq <= n; seq++ {
			pulled++
			if !yield(line(seq, seq-1, sessions.RoleUser, fmt.Sprintf("m%d", seq)), nil) {
				return
			}
		}
	})
	equal(tr, "seq", must(got, err)(tr).Seq, n)
	equal(tr, "entries pulled", pulled, n)
	log := tr.pages("api:s")
	equal(tr, "entries", len(log), n)
	for i, e := range log {
		tr.check(e.Seq == int64(i+1) && e.Parent == int64(i) && tr.text(e) == fmt.Sprintf("m%d", i+1), "entry %+v", e)
	}
	r := tr.into("api:s", "q")
	r.Trigger, r.Claim = true, claimer("w1")
	turn := tr.say(r, sessions.PostClaimed).Turn
	equal(tr, "tail", len(turn.Tail), sessions.TailMax)
	tr.done(turn, "a")
}

func importCompacted(tr *trial) {
	tr.imported(sessions.Record{ID: "api:s", Leaf: 5},
		line(1, 0, sessions.RoleUser, "q1"), line(2, 1, sessions.RoleAssistant, "a1"), line(3, 2, sessions.RoleUser, "q2"),
		lineOf(4, 3, sessions.EntryCompaction, `{"summary":"s","first_kept_entry_id":"e3"}`), line(5, 4, sessions.RoleAssistant, "a2"))
	tr.wantBranch("api:s", "q1", "a1", "q2", "compaction", "a2")
	tr.post(tr.into("api:s", "more"))
	tr.wantBranch("api:s", "q1", "a1", "q2", "compaction", "a2", "more")
}

func importFound(tr *trial) {
	tr.make(sessions.NewSession{ID: "api:new", UserID: "u-ann"})
	r := tr.imported(chatRecord("api:s"), chat()...)
	for _, q := range []sessions.Query{
		{WorkspaceID: "team"}, {Participant: "u-bob"}, {Type: sessions.Direct}, {States: []sessions.State{sessions.StateActive}}, {UserID: "u-ann", WorkspaceID: "team"},
	} {
		tr.wantFound(q, r.ID)
	}
	tr.wantFound(sessions.Query{UserID: "u-ann"}, "api:new", r.ID)
	tr.wantFound(sessions.Query{ActiveAfter: r.LastActivityAt}, "api:new")
	tr.wantFound(sessions.Query{ActiveAfter: r.LastActivityAt.Add(-time.Millisecond)}, "api:new", r.ID)
}

// wantUnseen expects that there is no session of this id for anybody.
func (tr *trial) wantUnseen(id string) {
	tr.Helper()
	_, err := tr.store.Get(tr.ctx, id)
	tr.wantErr(err, sessions.ErrNotFound)
	_, err = tr.store.Range(tr.ctx, id, 1, 1<<40)
	tr.wantErr(err, sessions.ErrNotFound)
	for _, q := range []sessions.Query{{}, {UserID: "u-ann"}, {Participant: "u-bob"}, {WorkspaceID: "team"}} {
		tr.check(!slices.Contains(tr.found(q), id), "%s is found by %+v", id, q)
	}
	equal(tr, "swept", len(tr.sweep(sessions.SweepDelete, time.Hour, 10)), 0)
}

func importUnseen(tr *trial) {
	looked := 0
	got, err := tr.store.Import(tr.ctx, sessions.Record{ID: "api:s", UserID: "u-ann", Participants: []string{"u-bob"}, WorkspaceID: "team", Source: sessions.Source{Type: sessions.Direct}, State: sessions.StateActive, CreatedAt: chatRecord("").CreatedAt, LastActivityAt: chatRecord("").CreatedAt, Leaf: 1200},
		func(yield func(sessions.Entry, error) bool) {
			for seq := int64(1); seq <= 1200; seq++ {
				if seq%300 == 0 {
					looked++
					tr.wantUnseen("api:s")
				}
				if !yield(line(seq, seq-1, sessions.RoleUser, "x"), nil) {
					return
				}
			}
		})
	must(got, err)(tr)
	equal(tr, "looked", looked, 4)
	equal(tr, "seq", tr.get("api:s").Seq, 1200)
}

func importSlow(tr *trial) {
	ctx, cancel := context.WithTimeout(tr.ctx, patience)
	defer cancel()
	posted := 0
	entries := chat()
	_, err := tr.store.Import(tr.ctx, chatRecord("api:s"), func(yield func(sessions.Entry, error) bool) {
		for _, e := range entries {
			for _, on := range []string{surface, other, "api:local:x"} {
				r := sessions.PostRequest{Surface: on, Message: sessions.Message{Role: sessions.RoleUser, Text: "meanwhile"}}
				if _, err := tr.store.Post(ctx, r); err != nil {
					yield(sessions.Entry{}, err)
					return
				}
				posted++
			}
			if !yield(e, nil) {
				return
			}
		}
	})
	tr.do(err)
	equal(tr, "posted meanwhile", posted, 3*len(entries))
	tr.wantBranch("api:s", "q1", "a1", "label", "q2", "a2")
}

func importTaken(tr *trial) {
	tr.make(sessions.NewSession{ID: "api:s", Name: "here first"})
	tr.post(tr.into("api:s", "hello"))
	before := tr.get("api:s")
	_, err := tr.store.Import(tr.ctx, chatRecord("api:s"), each(chat()))
	tr.wantErr(err, sessions.ErrConflict)
	tr.sameRecord("here first", tr.get("api:s"), before)
	tr.wantBranch("api:s", "hello")
	tr.imported(chatRecord("api:t"), chat()...)
	_, err = tr.store.Import(tr.ctx, chatRecord("api:t"), each(nil))
	if err == nil || !errors.Is(err, sessions.ErrConflict) {
		tr.wantInvalid(err) // the leaf is no entry: either error is right
	}
	tr.wantBranch("api:t", "q1", "a1", "label", "q2", "a2")
}

func importTakenMeanwhile(tr *trial) {
	_, err := tr.store.Import(tr.ctx, chatRecord("api:s"), func(yield func(sessions.Entry, error) bool) {
		for _, e := range chat() {
			if e.Seq == 5 {
				tr.make(sessions.NewSession{ID: "api:s", Name: "opened meanwhile"})
				tr.post(tr.into("api:s", "hello"))
			}
			if !yield(e, nil) {
				return
			}
		}
	})
	tr.wantErr(err, sessions.ErrConflict)
	equal(tr, "name", tr.get("api:s").Name, "opened meanwhile")
	equalSlices(tr, "log", tr.texts(tr.log("api:s")), []string{"hello"})
	tr.wantFound(sessions.Query{WorkspaceID: "team"})
}

func importTogether(tr *trial) {
	var won atomic.Int64
	tr.together(6, func(i int) error {
		r := chatRecord("api:s")
		r.Name = fmt.Sprintf("import %d", i)
		_, err := tr.store.Import(tr.ctx, r, each(chat()))
		if errors.Is(err, sessions.ErrConflict) {
			return nil
		}
		won.Add(1)
		return err
	})
	equal(tr, "imports that won", won.Load(), 1)
	equal(tr, "entries", len(tr.log("api:s")), 7)
	tr.wantBranch("api:s", "q1", "a1", "label", "q2", "a2")
}

// refusedImport expects an import to be invalid and to leave nothing; then
// the id is free.
func (tr *trial) refusedImport(what string, record sessions.Record, entries []sessions.Entry) {
	tr.Helper()
	tr.Log(what)
	_, err := tr.store.Import(tr.ctx, record, each(entries))
	tr.wantInvalid(err)
	equal(tr, "sessions", len(tr.found(sessions.Query{})), 0)
}

func importBadEntry(tr *trial) {
	change := func(at int, do func(e *sessions.Entry)) []sessions.Entry {
		entries := chat()
		do(&entries[at])
		return entries
	}
	for what, entries := range map[string][]sessions.Entry{
		"a gap":                       append(chat()[:3], chat()[4:]...),
		"a seq twice":                 append(chat()[:4], chat()[3:]...),
		"a beginning that is not one": chat()[1:],
		"a dangling parent":           change(4, func(e *sessions.Entry) { e.Parent = 99 }),
		"a parent beside the tree":    change(4, func(e *sessions.Entry) { e.Parent = 2 }),
		"a parent of one that cannot": change(1, func(e *sessions.Entry) { e.Parent = 1 }),
		"a negative parent":           change(4, func(e *sessions.Entry) { e.Parent = -1 }),
		"its own parent":              change(4, func(e *sessions.Entry) { e.Parent = 5 }),
		"a cycle":                     change(0, func(e *sessions.Entry) { e.Parent = 7 }),
		"a small cycle":               change(2, func(e *sessions.Entry) { e.Parent = 4 }),
		"one that waits":              change(6, func(e *sessions.Entry) { e.Waiting = true }),
		"an unknown type":             change(6, func(e *sessions.Entry) { e.Type = "other" }),
		"no JSON":                     change(6, func(e *sessions.Entry) { e.Payload = json.RawMessage(`{`) }),
		"no object":                   change(6, func(e *sessions.Entry) { e.Payload = json.RawMessage(`[]`) }),
		"a payload of 2 MB":           change(6, func(e *sessions.Entry) { e.Payload = json.RawMessage(`{"x":"` + strings.Repeat("x", 2<<20) + `"}`) }),
		"a leaf that is not there":    chat()[:6],
	} {
		tr.refusedImport(what, chatRecord("api:s"), entries)
	}
	long := make([]sessions.Entry, 2100)
	for i := range long {
		long[i] = line(int64(i+1), int64(i), sessions.RoleUser, "x")
	}
	long[2050].Parent = 3000
	record := chatRecord("api:s")
	record.Leaf = 2100
	tr.refusedImport("a dangling parent far behind", record, long)
	tr.imported(chatRecord("api:s"), chat()...)
	tr.wantBranch("api:s", "q1", "a1", "label", "q2", "a2")
}

func importBadRecord(tr *trial) {
	for what, change := range map[string]func(*sessions.Record){
		"no state":                func(r *sessions.Record) { r.State = "" },
		"an unknown state":        func(r *sessions.Record) { r.State = "asleep" },
		"metadata of 1 MB":        func(r *sessions.Record) { r.Metadata = map[string]any{"m": strings.Repeat("m", 1<<20)} },
		"a long participant":      func(r *sessions.Record) { r.Participants = []string{strings.Repeat("u", 10<<10)} },
		"an empty participant":    func(r *sessions.Record) { r.Participants = []string{"u", ""} },
		"a long user":             func(r *sessions.Record) { r.UserID = strings.Repeat("u", 10<<10) },
		"a long memory":           func(r *sessions.Record) { r.WorkingMemory = strings.Repeat("m", 1<<20) },
		"a checkpoint before all": func(r *sessions.Record) { r.Checkpoint.Seq = -1 },
		"no time":                 func(r *sessions.Record) { r.CreatedAt = time.Time{} },
		"a time before all":       func(r *sessions.Record) { r.LastActivityAt = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC) },
		"a leaf beside the tree":  func(r *sessions.Record) { r.Leaf = 6 },
		"a negative leaf":         func(r *sessions.Record) { r.Leaf = -1 },
	} {
		r := chatRecord("api:s")
		change(&r)
		tr.refusedImport(what, r, chat())
	}
	for _, id := range badIDs() {
		tr.refusedImport("a bad id", chatRecord(id), chat())
	}
}

func importSourceFails(tr *trial) {
	broken := errors.New("line 4 is torn")
	for _, n := range []int64{0, 3, 1500} {
		record := chatRecord("api:s")
		record.Leaf = n
		_, err := tr.store.Import(tr.ctx, record, func(yield func(sessions.Entry, error) bool) {
			for seq := int64(1); seq <= n; seq++ {
				if !yield(line(seq, seq-1, sessions.RoleUser, "x"), nil) {
					return
				}
			}
			tr.check(!yield(sessions.Entry{}, broken), "the import went on behind an error")
		})
		tr.wantErr(err, broken)
		tr.wantUnseen("api:s")
		tr.wantNoTrace("api:s")
	}
	tr.imported(chatRecord("api:s"), chat()...)
	equal(tr, "entries", len(tr.log("api:s")), 7)
}

func importCancelled(tr *trial) {
	ctx, cancel := context.WithCancel(tr.ctx)
	defer cancel()
	record := chatRecord("api:s")
	record.Leaf = 3000
	_, err := tr.store.Import(ctx, record, func(yield func(sessions.Entry, error) bool) {
		for seq := int64(1); seq <= 3000; seq++ {
			if seq == 1700 {
				cancel()
			}
			if !yield(line(seq, seq-1, sessions.RoleUser, "x"), nil) {
				return
			}
		}
	})
	tr.wantErr(err, context.Canceled)
	tr.wantUnseen("api:s")
	tr.wantNoTrace("api:s")
	tr.imported(chatRecord("api:s"), chat()...)
	equal(tr, "entries", len(tr.log("api:s")), 7)
}

func importStoreEnds(tr *trial) {
	record := chatRecord("api:s")
	record.Leaf = 3000
	closed := make(chan error, 1)
	store := tr.store
	_, err := store.Import(tr.ctx, record, func(yield func(sessions.Entry, error) bool) {
		for seq := int64(1); seq <= 3000; seq++ {
			if seq == 1700 {
				go func() { closed <- store.Close() }()
			}
			if !yield(line(seq, seq-1, sessions.RoleUser, "x"), nil) {
				return
			}
		}
	})
	tr.do(<-closed)
	tr.reopen()
	if err == nil {
		equal(tr, "entries", len(tr.pages("api:s")), 3000)
		return
	}
	tr.wantErr(err, sessions.ErrClosed)
	tr.wantUnseen("api:s")
	tr.wantNoTrace("api:s")
	tr.imported(chatRecord("api:s"), chat()...)
	tr.wantBranch("api:s", "q1", "a1", "label", "q2", "a2")
	equal(tr, "entries", len(tr.log("api:s")), 7)
}

// wantNoTrace expects that an archive says nothing of a session, but which
// happenings it has seen.
func (tr *trial) wantNoTrace(id string) {
	tr.Helper()
	name, err := json.Marshal(id)
	tr.do(err)
	for _, item := range tr.dump(100) {
		if item.Kind != archive.ItemKey && item.Kind != archive.ItemRow {
			tr.check(!strings.Contains(string(item.Body), string(name)), "left of %s: a %s %s", id, item.Kind, item.Body)
		}
	}
}

func importRemoved(tr *trial) {
	tr.imported(chatRecord("api:s"), chat()...)
	tr.clear("api:s")
	tr.post(tr.into("api:s", "x"))
	tr.wantBranch("api:s", "x")
	tr.gone("api:s")
	tr.imported(chatRecord("api:s"), chat()...)
	tr.wantBranch("api:s", "q1", "a1", "label", "q2", "a2")
}
