package sqlitestore

import (
	"context"
	"database/sql"
	"math"
	"strings"

	"parley/sessions"
)

// sweepTogether is how many sessions one operation changes, so that nobody
// waits long for the writer.
const sweepTogether = 50

// Sweep does to old sessions what its rule says. It looks for them beside the
// writer, which looks at each once more before it changes it.
func (s *Store) Sweep(ctx context.Context, request sessions.SweepRequest) ([]string, error) {
	if err := request.Check(); err != nil {
		return nil, err
	}
	at := place{at: math.MinInt64}
	var swept []string
	for len(swept) < request.Limit {
		most := min(sweepTogether, request.Limit-len(swept))
		found, err := read(ctx, s, func(t *tx) ([]place, error) { return t.old(request, at, most) })
		if err != nil {
			return swept, err
		}
		done, err := written(ctx, s, func(t *tx) ([]string, error) { return t.sweep(request, found) })
		swept = append(swept, done...)
		if err != nil || len(found) < most {
			return swept, s.swept(request, err)
		}
		at = found[len(found)-1]
	}
	return swept, s.swept(request, nil)
}

// swept lets be erased what a sweep deleted.
func (s *Store) swept(request sessions.SweepRequest, err error) error {
	if request.Rule == sessions.SweepDelete {
		s.chores.wake()
	}
	return err
}

// old finds the longest inactive sessions behind a place that a rule applies
// to and that are not busy, at most limit. It reads those only that are old
// enough: busy ones among them, but no younger ones.
func (t *tx) old(request sessions.SweepRequest, behind place, limit int) (found []place, err error) {
	err = t.each(func(rows *sql.Rows) error {
		var p place
		err := rows.Scan(&p.num, &p.at, &p.id)
		found = append(found, p)
		return err
	}, sweeping(request.Rule), behind.at, behind.id, t.now-request.Age.Milliseconds(), limit)
	return found, err
}

// sweeping reads the ranges of sessions_life that a rule is about, merged, the
// longest inactive first.
func sweeping(rule sessions.SweepRule) string {
	types := []string{"", string(sessions.Direct), string(sessions.Group)}
	states := []sessions.State{sessions.StateCreated, sessions.StateActive}
	switch rule {
	case sessions.SweepSuspend:
	case sessions.SweepExpire:
		states = []sessions.State{sessions.StateSuspended}
	case sessions.SweepDelete:
		types = types[1:2]
		states = append(states, sessions.StateSuspended, sessions.StateExpired)
	}
	var arms []string
	for _, kind := range types {
		for _, state := range states {
			arms = append(arms, "SELECT num, active_at, id FROM sessions INDEXED BY sessions_life WHERE type = '"+kind+"' AND state = '"+string(state)+
				"' AND (active_at, id) > (?1, ?2) AND active_at < ?3 AND "+notBusy)
		}
	}
	return strings.Join(arms, " UNION ALL ") + " ORDER BY 2, 3 LIMIT ?4"
}

// notBusy is what [row.mayRest] says, of a row in the database.
const notBusy = "taken = '' AND queued = 0 AND status NOT IN ('running', 'awaiting_approval')"

// mayRest reports whether nothing happens in a session and nobody is waited for.
func (r *row) mayRest() bool {
	return !r.busy() && r.status != sessions.StatusRunning && r.status != sessions.StatusAwaiting
}

// sweep applies a rule to those of the sessions that it still applies to.
func (t *tx) sweep(request sessions.SweepRequest, found []place) (ids []string, err error) {
	before := t.now - request.Age.Milliseconds()
	for _, p := range found {
		r, err := t.findNum(p.num)
		if err != nil {
			return nil, err
		}
		if r == nil || r.activeAt >= before || !r.mayRest() || !applies(request.Rule, r) {
			continue
		}
		if err := t.apply(request.Rule, r); err != nil {
			return nil, err
		}
		ids = append(ids, r.id)
	}
	return ids, nil
}

func applies(rule sessions.SweepRule, r *row) bool {
	switch rule {
	case sessions.SweepSuspend:
		return r.state == sessions.StateCreated || r.state == sessions.StateActive
	case sessions.SweepExpire:
		return r.state == sessions.StateSuspended
	case sessions.SweepDelete:
		return r.kind == sessions.Direct
	}
	return false
}

func (t *tx) apply(rule sessions.SweepRule, r *row) error {
	switch rule {
	case sessions.SweepExpire:
		return t.expire(r)
	case sessions.SweepDelete:
		return t.delete(r)
	case sessions.SweepSuspend:
	}
	r.setState(sessions.StateSuspended, t.now)
	r.status = sessions.StatusInactive
	return t.save(r)
}
