package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"parley/sessions"
)

// Find lists sessions, newest activity first.
func (s *Store) Find(ctx context.Context, query sessions.Query) (sessions.Page, error) {
	if err := query.Check(); err != nil {
		return sessions.Page{}, err
	}
	cursor, err := sessions.ParsePosition(query.Cursor)
	if err != nil {
		return sessions.Page{}, err
	}
	return read(ctx, s, func(t *tx) (sessions.Page, error) {
		if query.Surface != "" {
			return t.pageOfSurface(query, cursor)
		}
		most := query.Most()
		places, err := t.search(newSearch(query, cursor), most+1)
		if err != nil {
			return sessions.Page{}, err
		}
		return t.page(places, most)
	})
}

// pageOfSurface is the surface's current session, if it meets the other
// conditions too.
func (t *tx) pageOfSurface(query sessions.Query, cursor sessions.Position) (page sessions.Page, err error) {
	r, err := t.findBound(query.Surface)
	if err != nil || r == nil {
		return page, err
	}
	record, err := t.record(r)
	if err == nil && query.Matches(record) && (query.Cursor == "" || cursor.Before(record.Position())) {
		page.Records = []sessions.Record{record}
	}
	return page, err
}

// page reads the records of the first places.
func (t *tx) page(places []place, most int) (page sessions.Page, err error) {
	more := len(places) > most
	if more {
		places = places[:most]
	}
	if page.Records, err = t.recordsOf(places); err != nil || !more {
		return page, err
	}
	page.Next = page.Records[most-1].Position().Cursor()
	return page, nil
}

// recordsOf reads many records in few statements, in the order of the places.
func (t *tx) recordsOf(places []place) ([]sessions.Record, error) {
	if len(places) == 0 {
		return nil, nil
	}
	nums := make([]int64, len(places))
	for i, p := range places {
		nums[i] = p.num
	}
	list, err := json.Marshal(nums)
	if err != nil {
		return nil, err
	}
	participants, err := t.participantsOf(string(list))
	if err != nil {
		return nil, err
	}
	records := make([]sessions.Record, 0, len(nums))
	err = t.each(func(rows *sql.Rows) error {
		var r row
		var body string
		if err := rows.Scan(append(r.columns(), &body)...); err != nil {
			return err
		}
		if err := r.setDetails(body); err != nil {
			return err
		}
		records = append(records, r.record(participants[r.num]))
		return nil
	}, "SELECT "+rowColumns+", d.body FROM json_each(?) j CROSS JOIN sessions s ON s.num = j.value JOIN details d ON d.session = s.num ORDER BY j.key", string(list))
	return records, err
}

// participantsOf reads the participants of the sessions in a JSON list of numbers.
func (t *tx) participantsOf(list string) (map[int64][]string, error) {
	participants := map[int64][]string{}
	err := t.each(func(rows *sql.Rows) error {
		var session int64
		var user string
		err := rows.Scan(&session, &user)
		participants[session] = append(participants[session], user)
		return err
	}, "SELECT p.session, p.user_id FROM json_each(?) j CROSS JOIN participants p ON p.session = j.value ORDER BY p.session, p.place", list)
	return participants, err
}

// place is where a session stands in the order of activity.
type place struct {
	num, at int64
	id      string
}

func newestFirst(a, b place) int { return cmp.Or(cmp.Compare(b.at, a.at), strings.Compare(b.id, a.id)) }

func sortPlaces(places []place) []place {
	slices.SortFunc(places, newestFirst)
	return places
}
