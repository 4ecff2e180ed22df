package sqlitestore

import (
	"database/sql"
	"math"
	"slices"
	"strings"
	"time"

	"parley/sessions"
)

const (
	// countMax is how far the matches of a condition are counted to compare
	// it with the others; those that are beyond it alike are counted once
	// more, up to countMore.
	countMax  = 1_000
	countMore = 16_000
	// hourMax is how many of one participant's sessions of one hour are
	// sorted. Where there are more, they are in so many of that hour's sessions
	// that the sessions are read by activity and asked for them.
	hourMax = 2_000
)

// search is a query as the statements have it.
type search struct {
	user, participant, workspace string
	kind                         sessions.Type
	states                       []sessions.State // never empty
	after                        int64            // active later than this
	at                           int64            // and before this in the order
	id                           string
}

func newSearch(query sessions.Query, cursor sessions.Position) search {
	q := search{
		user: query.UserID, participant: query.Participant, workspace: query.WorkspaceID, kind: query.Type,
		states: []sessions.State{sessions.StateCreated, sessions.StateActive, sessions.StateSuspended, sessions.StateExpired},
		after:  math.MinInt64, at: math.MaxInt64,
	}
	if len(query.States) > 0 {
		q.states = slices.Compact(slices.Sorted(slices.Values(query.States)))
	}
	if !query.ActiveAfter.IsZero() {
		q.after = query.ActiveAfter.UnixMilli()
	}
	if query.Cursor != "" {
		q.at, q.id = cursor.At.UnixMilli(), cursor.ID
	}
	return q
}

// args are the arguments of all statements of a search, ?1 to ?8.
func (q search) args(limit int) []any {
	return []any{q.after, q.at, q.id, q.user, q.participant, q.workspace, q.kind, limit}
}

// condition is one of a search's conditions that has an index in the order of
// activity within each state.
type condition struct {
	index string
	where string // that it holds of session s
	each  []string
}

// Conditions of a search, by their index.
const (
	byUser        = "sessions_user"
	byWorkspace   = "sessions_workspace"
	byLife        = "sessions_life" // by type; there are few, so all of them are as good as one
	byParticipant = "participants_user"
)

// conditions are those that the search has; byLife it always has.
func (q search) conditions() []condition {
	var out []condition
	if q.participant != "" {
		out = append(out, condition{index: byParticipant, where: "EXISTS (SELECT 1 FROM participants p WHERE p.session = s.num AND p.user_id = ?5)"})
	}
	if q.user != "" {
		out = append(out, condition{index: byUser, where: "s.user_id = ?4"})
	}
	if q.workspace != "" {
		out = append(out, condition{index: byWorkspace, where: "s.workspace_id = ?6 AND s.workspace_id <> ''"})
	}
	life := condition{index: byLife, where: "s.type = ?7"}
	if q.kind == "" {
		life.where, life.each = "", []string{"s.type = ''", "s.type = 'direct'", "s.type = 'group'"}
	}
	return append(out, life)
}

// search finds the first places, at most limit.
func (t *tx) search(q search, limit int) ([]place, error) {
	all := q.conditions()
	chosen, err := t.mostSelective(q, all)
	if err != nil {
		return nil, err
	}
	if all[chosen].index == byParticipant {
		return t.byHours(q, all, chosen, limit)
	}
	return t.walk(q, all, chosen, limit)
}

// mostSelective chooses the condition that the fewest sessions meet.
func (t *tx) mostSelective(q search, all []condition) (chosen int, err error) {
	for _, most := range []int{countMax, countMore} {
		if len(all) == 1 || len(all) == 2 && q.kind == "" && len(q.states) > 1 {
			return 0, nil // what stands beside it, nearly all sessions meet
		}
		least := most
		for i, c := range all {
			n := 0
			if _, err := t.one(counting(q, c), q.args(least), []any{&n}); err != nil {
				return 0, err
			}
			if n < least {
				chosen, least = i, n
			}
		}
		if least < most {
			return chosen, nil
		}
	}
	return 0, nil
}

// counting is how many sessions meet a condition, at most ?8.
func counting(q search, c condition) string {
	query := "SELECT 1 FROM participants WHERE user_id = ?5 AND hour BETWEEN ?1 / 3600000 AND ?2 / 3600000"
	if c.index != byParticipant {
		arms := c.arms(q, "1", "s.active_at > ?1 AND s.active_at <= ?2")
		query = strings.Join(arms, " UNION ALL ")
	}
	return "SELECT count(*) FROM (" + query + " LIMIT ?8)"
}

// arms are selects of one range of the condition's index each.
func (c condition) arms(q search, columns, where string) (arms []string) {
	each := c.each
	if each == nil {
		each = []string{c.where}
	}
	for _, state := range q.states {
		for _, one := range each {
			arms = append(arms, "SELECT "+columns+" FROM sessions s INDEXED BY "+c.index+" WHERE "+one+" AND s.state = '"+string(state)+"' AND "+where)
		}
	}
	return arms
}

// walking reads the ranges of one condition's index, merged by activity, and
// asks each session for the others.
func walking(q search, all []condition, chosen int) string {
	where := "s.active_at > ?1 AND (s.active_at, s.id) < (?2, ?3)" + others(all, chosen)
	arms := all[chosen].arms(q, "s.num, s.active_at, s.id", where)
	return strings.Join(arms, " UNION ALL ") + " ORDER BY 2 DESC, 3 DESC LIMIT ?8"
}

func (t *tx) walk(q search, all []condition, chosen, limit int) ([]place, error) {
	var places []place
	err := t.each(func(rows *sql.Rows) error {
		var p place
		err := rows.Scan(&p.num, &p.at, &p.id)
		places = append(places, p)
		return err
	}, walking(q, all, chosen), q.args(limit)...)
	return places, err
}

// others is that the conditions beside the chosen one hold.
func others(all []condition, chosen int) string {
	var out strings.Builder
	for i, c := range all {
		if i != chosen && c.where != "" {
			out.WriteString(" AND " + c.where)
		}
	}
	return out.String()
}

// byHours reads a participant's sessions hour by hour, and sorts each hour's.
func (t *tx) byHours(q search, all []condition, chosen, limit int) (places []place, err error) {
	for full := true; full && len(places) < limit; {
		var hour int64
		var found []place
		if found, hour, full, err = t.hours(q, all, chosen, limit-len(places)); err != nil {
			return nil, err
		}
		places = append(places, sortPlaces(found)...)
		if !full || len(places) >= limit {
			break
		}
		if found, err = t.walk(q.within(hour), all, len(all)-1, limit-len(places)); err != nil {
			return nil, err
		}
		places = append(places, found...)
		q.at, q.id = hour*time.Hour.Milliseconds(), ""
	}
	return places[:min(len(places), limit)], nil
}

// within is the search of one hour.
func (q search) within(hour int64) search {
	begin := hour * time.Hour.Milliseconds()
	end := begin + time.Hour.Milliseconds()
	q.after = max(q.after, begin-1)
	if q.at >= end {
		q.at, q.id = end, ""
	}
	return q
}

// byHour reads a participant's sessions, ordered by hour only.
func byHour(q search, all []condition, chosen int) string {
	var states []string
	for _, state := range q.states {
		states = append(states, "'"+string(state)+"'")
	}
	return `SELECT p.hour, s.num, s.active_at, s.id FROM participants p INDEXED BY participants_user CROSS JOIN sessions s ON s.num = p.session
		WHERE p.user_id = ?5 AND p.hour BETWEEN ?1 / 3600000 AND ?2 / 3600000 AND s.active_at > ?1 AND (s.active_at, s.id) < (?2, ?3)
		AND s.state IN (` + strings.Join(states, ", ") + ")" + others(all, chosen) + " ORDER BY p.hour DESC LIMIT ?8"
}

// hours reads a participant's sessions of whole hours, newest first, until
// there are enough. full: it stopped before an hour that has more than hourMax.
func (t *tx) hours(q search, all []condition, chosen, enough int) (places []place, hour int64, full bool, err error) {
	hour = math.MaxInt64
	whole := 0 // places of whole hours
	err = t.each(func(rows *sql.Rows) error {
		var p place
		var of int64
		if err := rows.Scan(&of, &p.num, &p.at, &p.id); err != nil {
			return err
		}
		if of != hour {
			if len(places) >= enough {
				return errEnough
			}
			hour, whole = of, len(places)
		}
		places = append(places, p)
		if full = len(places)-whole > hourMax; full {
			places = places[:whole]
			return errEnough
		}
		return nil
	}, byHour(q, all, chosen), q.args(-1)...)
	return places, hour, full, err
}
