package redisstore

import (
	"context"
	"errors"
	"slices"

	"parley/sessions"
)

// findBudget is how many sessions one call of the find script looks at, so that
// it never holds the server up for long.
const findBudget = 500

// Find lists sessions: each partition is asked for a few of its newest, in one
// pipeline per node, and again where those do not suffice.
func (s *Store) Find(ctx context.Context, query sessions.Query) (sessions.Page, error) {
	if err := query.Check(); err != nil {
		return sessions.Page{}, err
	}
	from, err := sessions.ParsePosition(query.Cursor)
	if err != nil {
		return sessions.Page{}, err
	}
	if query.Surface != "" {
		return s.findBound(ctx, query, from)
	}
	most := query.Most()
	sources := make([]*source[found], len(s.parts))
	for i, p := range s.parts {
		sources[i] = s.findSource(ctx, p, query, from, share(most+1, len(s.parts)))
	}
	list, err := merged(sources, most+1, func(a, b found) bool { return a.Before(b.Position) })
	if err != nil {
		return sessions.Page{}, err
	}
	return pageOf(list, most)
}

// found is a record as it was read, and where it stands.
type found struct {
	sessions.Position
	record *reply
}

func (s *Store) findSource(ctx context.Context, p partition, query sessions.Query, from sessions.Position, count int) *source[found] {
	states, kind := letters(query)
	var after any = ""
	if !query.ActiveAfter.IsZero() {
		after = query.ActiveAfter.UnixMilli()
	}
	at, last := any(""), ""
	if from.ID != "" {
		at, last = from.At.UnixMilli(), from.ID
	}
	return &source[found]{more: true, read: func() ([]found, bool, error) {
		val, err := s.run(ctx, p, s.scripts.find, states, kind, query.UserID, query.Participant, query.WorkspaceID,
			after, at, last, count, findBudget)
		if err != nil {
			return nil, false, err
		}
		count = min(2*count, findBudget) // whoever is asked again has more of them than others
		r := read(val)
		more := r.flag()
		at, last = r.number(), r.text()
		var list []found
		for r.more() {
			one := r.list()
			f := found{Position: sessions.Position{At: fromMillis(one.number())}, record: one.list()}
			if f.ID = f.record.peek(); one.err != nil {
				return nil, false, one.err
			}
			list = append(list, f)
		}
		return list, more, r.err
	}}
}

// letters are the first letters of the states and the type that a query asks
// for: see lua/lib/record.lua.
func letters(query sessions.Query) (states, kind string) {
	var wanted []byte
	for _, state := range []sessions.State{sessions.StateActive, sessions.StateCreated, sessions.StateSuspended, sessions.StateExpired} {
		if len(query.States) == 0 || slices.Contains(query.States, state) {
			wanted = append(wanted, state[0])
		}
	}
	if query.Type != "" {
		kind = string(query.Type[0])
	}
	return string(wanted), kind
}

func pageOf(list []found, most int) (page sessions.Page, err error) {
	more := len(list) > most
	page.Records = make([]sessions.Record, min(len(list), most))
	for i := range page.Records {
		if page.Records[i], err = list[i].record.record(); err != nil {
			return sessions.Page{}, err
		}
	}
	if more {
		page.Next = list[most-1].Cursor()
	}
	return page, nil
}

// findBound finds the one session that a surface has.
func (s *Store) findBound(ctx context.Context, query sessions.Query, from sessions.Position) (sessions.Page, error) {
	record, err := s.Bound(ctx, query.Surface)
	if errors.Is(err, sessions.ErrNotFound) {
		return sessions.Page{Records: []sessions.Record{}}, nil
	}
	if err != nil {
		return sessions.Page{}, err
	}
	page := sessions.Page{Records: []sessions.Record{}}
	if query.Matches(record) && (from.ID == "" || from.Before(record.Position())) {
		page.Records = append(page.Records, record)
	}
	return page, nil
}
