package redisstore

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"parley/sessions"
)

// findBudget is how many sessions one call of the find script looks at, so that
// it never holds the server up for long.
const findBudget = 500

// findRead is how many records one call reads at most.
const findRead = 100

// Find lists sessions: each partition is asked where a few of its newest stand,
// in one pipeline per node, and again where those do not suffice; then the
// records of the page are read, each partition's at one time. What a record
// says by then counts: one that does not match any more is passed over, and
// others are looked for in its place; one that has moved to the front stands
// there.
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
	sources := make([]*source[found], len(s.parts))
	for i, p := range s.parts {
		sources[i] = s.findSource(ctx, p, query, from, ample(query.Most(), len(s.parts)))
	}
	page := sessions.Page{Records: []sessions.Record{}}
	// One more than the page holds says whether another page follows.
	for len(page.Records) <= query.Most() {
		list, err := merged(sources, query.Most()+1-len(page.Records), found.before)
		if err != nil {
			return sessions.Page{}, err
		}
		if len(list) == 0 {
			return inOrder(page), nil
		}
		records, err := s.readAll(ctx, list)
		if err != nil {
			return sessions.Page{}, err
		}
		for i, record := range records {
			if record.ID == "" || !query.Matches(record) {
				continue
			}
			if page.Records = append(page.Records, record); len(page.Records) == query.Most() {
				from = list[i].Position
			}
		}
	}
	page.Records, page.Next = page.Records[:query.Most()], from.Cursor()
	return inOrder(page), nil
}

// inOrder puts those to the front that have moved there since they were found.
func inOrder(page sessions.Page) sessions.Page {
	slices.SortFunc(page.Records, byPosition)
	return page
}

func byPosition(a, b sessions.Record) int {
	return cmp.Or(b.LastActivityAt.Compare(a.LastActivityAt), cmp.Compare(b.ID, a.ID))
}

// found is where a session stood when it was found.
type found struct {
	sessions.Position
	in partition
}

func (f found) before(g found) bool { return f.Before(g.Position) }

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
		list := make([]found, 0, len(r.parts)/2)
		for r.more() {
			list = append(list, found{Position: sessions.Position{At: fromMillis(r.number()), ID: r.text()}, in: p})
		}
		return list, more, r.err
	}}
}

// readAll reads records, in this order. One that is gone by now has no id.
func (s *Store) readAll(ctx context.Context, list []found) ([]sessions.Record, error) {
	places := map[int][]int{} // in list, by partition
	for i, f := range list {
		places[f.in.index] = append(places[f.in.index], i)
	}
	records := make([]sessions.Record, len(list))
	var steps []func() error
	for index, all := range places {
		for some := range slices.Chunk(all, findRead) {
			steps = append(steps, func() error { return s.readSome(ctx, s.parts[index], list, some, records) })
		}
	}
	return records, together(steps)
}

// readSome reads the records of those places in list that are a partition's.
func (s *Store) readSome(ctx context.Context, p partition, list []found, places []int, records []sessions.Record) error {
	args := make([]any, len(places))
	for i, place := range places {
		args[i] = list[place].ID
	}
	val, err := s.run(ctx, p, s.scripts.records, args...)
	if err != nil {
		return err
	}
	r := read(val)
	for _, place := range places {
		one := r.optional()
		if one == nil {
			continue
		}
		if records[place], err = one.record(); err != nil {
			return err
		}
	}
	return r.err
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
