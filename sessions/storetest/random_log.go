package storetest

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"parley/sessions"
)

// into posts into a session by its id.
func (r *random) into(t *rapid.T) {
	r.step++
	s, surface, identity := r.session(t), r.surface(t), r.identity(t)
	text := fmt.Sprintf("m%d", r.step)
	request := sessions.PostRequest{
		Session: s.id, Surface: surface, Trigger: rapid.Bool().Draw(t, "trigger"), Rights: "member", UserID: r.model.who(identity).identities[0],
		Message: sessions.Message{Role: sessions.RoleUser, Text: text, SentAt: time.UnixMilli(1)},
	}
	result, err := r.tr.store.Post(r.tr.ctx, request)
	if r.refused("post", err, when(s.expired, errState)...) {
		return
	}
	want := r.model.post(s, modelEntry{text: text, rights: "member", surface: surface, sent: request.Message.SentAt}, request.Trigger, false, 0)
	s.heard(request.UserID)
	r.same("posted", []any{result.Outcome, result.Session, result.Seq, result.Created}, []any{want, s.id, len(s.log), false})
}

func (r *random) note(t *rapid.T) {
	r.step++
	s := r.session(t)
	texts := rapid.SliceOfN(rapid.SampledFrom([]string{"label", "custom_message", "reaction"}), 1, 3).Draw(t, "entries")
	steer, target := rapid.IntRange(0, 2).Draw(t, "steer") == 0, int64(0)
	request := sessions.NoteRequest{Session: s.id}
	var why []error
	if steer {
		target = int64(rapid.IntRange(0, len(s.log)+2).Draw(t, "target"))
		request.Entries = append(request.Entries, leafTo(target))
		why = append(why, when(s.busy(), errState)...)
		why = append(why, when(target != 0 && !s.inTree(target), sessions.ErrNotFound)...)
	}
	if rapid.IntRange(0, 3).Draw(t, "if leaf") == 0 {
		leaf := rapid.SampledFrom([]int64{s.leaf, s.leaf, max(0, s.leaf-1), int64(len(s.log)) + 7}).Draw(t, "leaf")
		request.IfLeaf = &leaf
		why = append(why, when(leaf != s.leaf, sessions.ErrConflict)...)
		why = append(why, when(leaf != 0 && !s.inTree(leaf), sessions.ErrNotFound)...)
	}
	for _, text := range texts {
		request.Entries = append(request.Entries, entry(sessions.EntryType(text), text))
	}
	result, err := r.tr.store.Note(r.tr.ctx, request)
	if r.refused("note", err, append(why, when(s.expired, errState)...)...) {
		return
	}
	before := int64(len(s.log))
	s.note(texts, steer, target)
	r.same("noted", recordText(result.Record), s.record())
	r.sameLog(s, result.Entries, before)
}

func (r *random) clear(t *rapid.T) {
	r.step++
	s := r.session(t)
	record, err := r.tr.store.Clear(r.tr.ctx, s.id)
	if r.refused("clear", err, when(s.expired || s.taken != nil, errState)...) {
		return
	}
	r.model.clear(s)
	r.same("cleared", []any{recordText(record), record.Cleared}, []any{s.record(), s.cleared})
}

// bring imports a session of some age, with a small tree.
func (r *random) bring(t *rapid.T) {
	r.step++
	s := &modelSession{id: fmt.Sprintf("api:r%d.%d", r.run, r.step)}
	identity := r.model.who(r.identity(t)).identities[0]
	s.kind, s.workspace, s.user, s.participants = sessions.Direct, r.workspace(), identity, []string{identity}
	age := time.Duration(rapid.SampledFrom([]int{0, 10, 40}).Draw(t, "age")) * time.Minute
	s.at = r.model.now - age
	state := rapid.SampledFrom([]sessions.State{sessions.StateActive, sessions.StateSuspended, sessions.StateExpired, sessions.StateCreated}).Draw(t, "state")
	s.fresh, s.suspended, s.expired = state == sessions.StateCreated, state == sessions.StateSuspended, state == sessions.StateExpired
	s.hidden = s.suspended || s.expired
	at := r.tr.clock.Now().Add(-age).UTC().Truncate(time.Millisecond)
	record := sessions.Record{
		ID: s.id, State: state, UserID: s.user, WorkspaceID: s.workspace, Participants: s.participants, Source: sessions.Source{Type: s.kind}, CreatedAt: at, LastActivityAt: at,
	}
	entries := []sessions.Entry{}
	for seq := range int64(rapid.IntRange(0, 4).Draw(t, "entries")) {
		s.add(modelEntry{text: fmt.Sprintf("i%d", seq)})
		if seq > 0 {
			s.log[seq].parent = int64(rapid.IntRange(0, int(seq)).Draw(t, "parent"))
		}
		entries = append(entries, line(seq+1, s.log[seq].parent, sessions.RoleUser, s.log[seq].text))
	}
	s.leaf = int64(rapid.IntRange(0, len(s.log)).Draw(t, "leaf"))
	record.Leaf = s.leaf
	got, err := r.tr.store.Import(r.tr.ctx, record, each(entries))
	r.ok(err)
	r.model.all[s.id] = s
	r.same("imported", recordText(got), s.record())
}

func (r *random) role(t *rapid.T) {
	r.step++
	identity := r.identity(t)
	user := r.model.who(identity)
	user.role = rapid.SampledFrom([]string{"", "member", "owner"}).Draw(t, "role")
	got, err := r.tr.store.SetRole(r.tr.ctx, identity, user.role)
	r.ok(err)
	r.sameUser(got, user)
}

func (r *random) sameUser(got sessions.User, want *modelUser) {
	r.same("user", []any{got.ID, got.Identities, got.Role}, []any{want.identities[0], want.identities, want.role})
}

// link makes two of the run's people one and waits until their sessions say so.
func (r *random) link(t *rapid.T) {
	r.step++
	to, from := r.identity(t), r.identity(t)
	hers, his := r.model.who(to), r.model.who(from)
	code, err := r.tr.store.OfferLink(r.tr.ctx, to)
	r.ok(err)
	user, merged, err := r.tr.store.TakeLink(r.tr.ctx, code, from)
	if r.refused("link", err, when(hers == his, sessions.ErrConflict)...) {
		return
	}
	r.same("merged", merged, his.identities[0])
	r.model.link(hers, his)
	r.sameUser(user, hers)
	for _, s := range r.model.all {
		r.tr.eventually(s.id+" names the one they are now", func() bool { return fmt.Sprint(r.tr.get(s.id).Participants) == fmt.Sprint(s.participants) })
	}
}
