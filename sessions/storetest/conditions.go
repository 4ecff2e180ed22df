package storetest

import (
	"fmt"
	"slices"
	"time"

	"parley/sessions"
)

// condition is one of a query's filters, with values that some sessions of a
// population have, and one that none has.
type condition struct {
	name   string
	values func(p population) []func(q *sessions.Query)
}

func conditions() []condition {
	text := func(set func(q *sessions.Query, value string), values ...string) func(population) []func(*sessions.Query) {
		return func(population) (out []func(*sessions.Query)) {
			for _, v := range values {
				out = append(out, func(q *sessions.Query) { set(q, v) })
			}
			return out
		}
	}
	return []condition{
		{"user", text(func(q *sessions.Query, v string) { q.UserID = v }, "u-0", "u-1", "u-none")},
		{"participant", text(func(q *sessions.Query, v string) { q.Participant = v }, "p-0", "p-1", "u-1", "p-none")},
		{"workspace", text(func(q *sessions.Query, v string) { q.WorkspaceID = v }, "w-0", "w-1", "w-none")},
		{"type", text(func(q *sessions.Query, v string) { q.Type = sessions.Type(v) }, "direct", "group")},
		{"surface", text(func(q *sessions.Query, v string) { q.Surface = v }, "telegram:9:0", "telegram:9:2", "telegram:9:5", "telegram:9:7", "telegram:9:none")},
		{"state", func(population) []func(*sessions.Query) { return stateValues() }},
		{"activity", func(p population) []func(*sessions.Query) {
			return []func(*sessions.Query){
				func(q *sessions.Query) { q.ActiveAfter = p.middle },
				func(q *sessions.Query) { q.ActiveAfter = p.middle.Add(-24 * time.Hour) },
				func(q *sessions.Query) { q.ActiveAfter = p.middle.Add(24 * time.Hour) },
			}
		}},
	}
}

func stateValues() (out []func(*sessions.Query)) {
	for _, states := range [][]sessions.State{
		{sessions.StateCreated}, {sessions.StateActive}, {sessions.StateSuspended}, {sessions.StateExpired},
		{sessions.StateActive, sessions.StateSuspended}, {sessions.StateCreated, sessions.StateActive, sessions.StateSuspended, sessions.StateExpired},
	} {
		out = append(out, func(q *sessions.Query) { q.States = states })
	}
	return out
}

// findByConditions tries each filter and each two of them, on one population.
func findByConditions(tr *trial) {
	p := newPopulation(tr)
	all := conditions()
	for i, one := range all {
		tr.sub("find by "+one.name, func(tr *trial) { findBy(tr, p, one) })
		for _, two := range all[i+1:] {
			tr.sub("find by "+one.name+" and "+two.name, func(tr *trial) { findBy(tr, p, one, two) })
		}
	}
}

func findBy(tr *trial, p population, by ...condition) {
	queries := []sessions.Query{{}}
	for _, c := range by {
		var more []sessions.Query
		for _, q := range queries {
			for _, set := range c.values(p) {
				set(&q)
				more = append(more, q)
			}
		}
		queries = more
	}
	some := false
	for _, q := range queries {
		want := p.matching(q)
		some = some || len(want) > 0 && len(want) < len(p.members)
		tr.wantFound(q, want...)
		q.Limit = 2
		tr.wantFound(q, want...)
	}
	tr.check(some, "no query tells sessions apart")
}

// population is sessions that differ in all that can be asked for, so that of
// any two filters there are sessions which pass both, one, the other and none.
type population struct {
	middle  time.Time
	members []member // newest first
}

// member is a session as it was made.
type member struct {
	id, user, workspace, surface string
	participants                 []string
	kind                         sessions.Type
	state                        sessions.State
	at                           time.Time
}

func newPopulation(tr *trial) population {
	var p population
	for late := range 2 {
		for i := range 8 {
			a, b, c := i&1, i>>1&1, i>>2&1
			if a^b^c == late {
				tr.clock.Advance(time.Minute)
				p.members = append(p.members, tr.populate(i, a, b, c)...)
			}
		}
		tr.clock.Advance(time.Hour)
		if late == 0 {
			p.middle = tr.clock.Now()
		}
	}
	ids := make([]string, len(p.members))
	for i, m := range p.members {
		ids[i] = m.id
	}
	ids = tr.newestFirst(ids)
	slices.SortFunc(p.members, func(a, b member) int { return slices.Index(ids, a.id) - slices.Index(ids, b.id) })
	return p
}

// populate makes the i-th session, and what came of its making. Its state is
// one of four, its surface is in another place than it is.
func (tr *trial) populate(i, a, b, c int) []member {
	tr.Helper()
	m := member{
		id: fmt.Sprintf("api:s%d", i), user: fmt.Sprintf("u-%d", a), workspace: fmt.Sprintf("w-%d", c), kind: []sessions.Type{sessions.Direct, sessions.Group}[b^c],
		participants: []string{fmt.Sprintf("u-%d", a), fmt.Sprintf("p-%d", b)}, state: sessions.StateActive,
	}
	own := fmt.Sprintf("api:local:s%d", i)
	tr.make(sessions.NewSession{Surface: own, UserID: m.user, WorkspaceID: m.workspace, Source: sessions.Source{Type: m.kind}})
	r := tr.into(m.id, "hello")
	r.UserID = m.participants[1]
	tr.post(r)
	made := []member{}
	if a != b {
		rotated := must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: own}}))(tr).Record
		made = append(made, member{id: rotated.ID, state: sessions.StateCreated, at: rotated.LastActivityAt, surface: own})
		m.state = sessions.StateSuspended
	}
	if a == c {
		m.surface = fmt.Sprintf("telegram:9:%d", i)
		tr.attach(m.id, m.surface)
	} else if i%4 == 1 {
		must(tr.store.Expire(tr.ctx, m.id))(tr)
		m.state = sessions.StateExpired
	}
	m.at = tr.get(m.id).LastActivityAt
	return append(made, m)
}

// matching are the ids that a query has to find, in order.
func (p population) matching(q sessions.Query) (ids []string) {
	for _, m := range p.members {
		if (q.UserID == "" || q.UserID == m.user) && (q.WorkspaceID == "" || q.WorkspaceID == m.workspace) &&
			(q.Participant == "" || slices.Contains(m.participants, q.Participant)) && (q.Type == "" || q.Type == m.kind) &&
			(q.Surface == "" || q.Surface == m.surface) && (len(q.States) == 0 || slices.Contains(q.States, m.state)) && m.at.After(q.ActiveAfter) {
			ids = append(ids, m.id)
		}
	}
	return ids
}
