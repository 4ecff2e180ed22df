package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"parley/sessions"
)

// kindOf is whether a run's surface is a group.
func kindOf(surface string) sessions.Type {
	if strings.HasSuffix(surface, ":0") {
		return sessions.Group
	}
	return sessions.Direct
}

func (r *random) workspace() string { return fmt.Sprintf("w-%d", r.run) }

// fresh is what a surface's new session begins with.
func (r *random) fresh(surface string) sessions.NewSession {
	return sessions.NewSession{WorkspaceID: r.workspace(), Source: sessions.Source{Kind: "channel", Type: kindOf(surface)}}
}

// identity draws one of a run's people.
func (r *random) identity(t *rapid.T) string {
	return fmt.Sprintf("telegram:%d.%d", r.run, rapid.IntRange(0, 3).Draw(t, "identity"))
}

// refused expects one of the errors if there is any to expect, and tells
// whether there was.
func (r *random) refused(what string, err error, why ...error) bool {
	if len(why) == 0 {
		r.ok(err)
		return false
	}
	for _, want := range why {
		if _, state := errors.AsType[*sessions.StateError](err); state && errors.Is(want, errState) || errors.Is(err, want) {
			return true
		}
	}
	r.fail("%s: error %v, want one of %v", what, err, why)
	return true
}

// errState stands for a StateError.
var errState = errors.New("a state error")

func (r *random) touch(t *rapid.T) {
	r.step++
	s := r.session(t)
	record, err := r.tr.store.Touch(r.tr.ctx, s.id)
	if r.refused("touch", err, when(s.expired, errState)...) {
		return
	}
	r.model.touch(s)
	r.same("touched", recordText(record), s.record())
}

// when is an error that is to be expected if something holds.
func when(holds bool, err error) []error {
	if holds {
		return []error{err}
	}
	return nil
}

func (r *random) attach(t *rapid.T) {
	r.step++
	s, surface := r.session(t), r.surface(t)
	request := sessions.AttachRequest{Session: s.id, Surface: surface, Group: kindOf(surface) == sessions.Group, Revive: rapid.Bool().Draw(t, "revive")}
	record, previous, err := r.tr.store.Attach(r.tr.ctx, request)
	why := append(when(s.kind == sessions.Direct && request.Group, sessions.ErrGroup), when(s.expired, errState)...)
	if r.refused("attach", err, why...) {
		return
	}
	want := ""
	if old := r.model.bind(surface, s); old != nil {
		want = old.id
	}
	if request.Revive {
		r.model.touch(s)
	}
	r.same("previous", previous, want)
	r.same("attached", recordText(record), s.record())
	r.same("surfaces", record.Surfaces, s.surfaces)
}

func (r *random) detach(t *rapid.T) {
	r.step++
	s, surface := r.session(t), r.surface(t)
	record, err := r.tr.store.Detach(r.tr.ctx, s.id, surface)
	if r.refused("detach", err, when(s.expired, errState)...) {
		return
	}
	if r.model.bound[surface] == s {
		r.model.bind(surface, nil)
	}
	r.same("surfaces", record.Surfaces, s.surfaces)
}

func (r *random) leave(t *rapid.T) {
	r.step++
	s, user := r.session(t), r.model.who(r.identity(t)).identities[0]
	record, err := r.tr.store.Leave(r.tr.ctx, s.id, user)
	r.ok(err)
	s.participants = slices.DeleteFunc(s.participants, func(p string) bool { return p == user })
	r.same("left", []any{record.UserID, len(record.Participants)}, []any{s.user, len(s.participants)})
}

func (r *random) expire(t *rapid.T) {
	r.step++
	s := r.session(t)
	record, err := r.tr.store.Expire(r.tr.ctx, s.id)
	r.ok(err)
	r.model.expire(s)
	r.same("expired", recordText(record), s.record())
}

func (r *random) remove(t *rapid.T) {
	r.step++
	s := r.session(t)
	var why []error
	why = append(why, when(s.kind == sessions.Group, sessions.ErrGroup)...)
	why = append(why, when(s.busy(), errState)...)
	if !r.refused("delete", r.tr.store.Delete(r.tr.ctx, s.id), why...) {
		r.model.remove(s)
	}
}

func (r *random) discard(t *rapid.T) {
	r.step++
	s := r.session(t)
	discarded, err := r.tr.store.Discard(r.tr.ctx, s.id)
	r.ok(err)
	r.same("discarded", discarded, s.turns == 0 && !r.model.remove(s))
}

// An age lies between the sums of the steps in which a run's time passes.
const sweepAge = 20*time.Minute + 30*time.Second

func (r *random) sweep(t *rapid.T) {
	r.step++
	request := sessions.SweepRequest{
		Rule: rapid.SampledFrom([]sessions.SweepRule{sessions.SweepSuspend, sessions.SweepSuspend, sessions.SweepExpire, sessions.SweepDelete}).Draw(t, "rule"),
		Age:  sweepAge, Limit: rapid.IntRange(1, 3).Draw(t, "limit"),
	}
	stale := r.model.stale(request.Rule, request.Age)
	at := map[string]time.Time{}
	for _, s := range stale {
		at[s.id] = r.tr.get(s.id).LastActivityAt
	}
	ids, err := r.tr.store.Sweep(r.tr.ctx, request)
	r.ok(err)
	r.same("swept", len(ids), min(len(stale), request.Limit))
	newest := time.Time{}
	for _, id := range ids {
		s := r.model.all[id]
		if s == nil || !slices.Contains(stale, s) || at[id].Before(newest) {
			r.fail("%s swept %q of %v", request.Rule, ids, at)
		}
		newest = at[id]
		r.model.sweep(request.Rule, s)
	}
	for _, s := range stale {
		if !slices.Contains(ids, s.id) && at[s.id].Before(newest) {
			r.fail("%s swept %q, the longest inactive was %s", request.Rule, ids, s.id)
		}
	}
}

// find asks for something of this run and follows the pages.
func (r *random) find(t *rapid.T) {
	r.step++
	q := sessions.Query{WorkspaceID: r.workspace(), Limit: rapid.IntRange(1, 4).Draw(t, "limit")}
	switch rapid.IntRange(0, 3).Draw(t, "by") {
	case 0:
		q.UserID = r.model.who(r.identity(t)).identities[0]
	case 1:
		q.Participant, q.WorkspaceID = r.model.who(r.identity(t)).identities[0], ""
	case 2:
		q.Surface, q.WorkspaceID = r.surface(t), ""
	}
	q.States = rapid.SampledFrom([][]sessions.State{nil, nil, {sessions.StateActive}, {sessions.StateSuspended, sessions.StateCreated}, {sessions.StateExpired}}).Draw(t, "states")
	q.Type = rapid.SampledFrom([]sessions.Type{"", "", sessions.Direct, sessions.Group}).Draw(t, "type")
	within := time.Duration(rapid.SampledFrom([]int{0, 0, 5, 20}).Draw(t, "within"))*time.Minute + 30*time.Second
	if within > time.Minute {
		q.ActiveAfter = r.tr.clock.Now().Add(-within)
	}
	want := []string{}
	for _, s := range r.model.all {
		if s.finds(q, r.model.now, within) && (q.Surface == "" || r.model.bound[q.Surface] == s) {
			want = append(want, s.id)
		}
	}
	r.same("found", r.tr.found(q), r.tr.newestFirst(want))
}
