package storetest

import (
	"fmt"
	"slices"

	"parley/sessions"
)

// compareEvery is after how many steps everything that can be read is held
// against the model; the record that the step was about is, at each.
const compareEvery = 6

// compare holds what can be read against the model.
func (r *random) compare() {
	if r.step%compareEvery != 0 {
		return
	}
	turns, lanes := []string{}, []string{}
	for _, s := range r.model.all {
		record := r.tr.get(s.id)
		r.same("record of "+s.id, recordText(record), s.record())
		r.sameLog(s, r.tr.log(s.id), s.cleared)
		if r.model.due(s) {
			turns = append(turns, s.id)
		}
		if r.bare {
			continue
		}
		r.same("people of "+s.id, []any{record.UserID, record.Participants, record.Surfaces, record.Cleared}, []any{s.user, s.participants, s.surfaces, s.cleared})
	}
	for surface, rows := range r.model.lanes {
		if len(rows) > 0 && r.model.held[surface].until <= r.model.now {
			lanes = append(lanes, surface)
		}
	}
	for i := range 2 {
		surface, want := fmt.Sprintf("telegram:%d:%d", r.run, i), ""
		if s := r.model.bound[surface]; s != nil {
			want = s.id
		}
		r.same("bound to "+surface, r.tr.bound(surface), want)
	}
	r.sameDue(turns, lanes)
}

// sameDue compares what is due of this run.
func (r *random) sameDue(turns, lanes []string) {
	due, sending := []string{}, 0
	for _, w := range must(r.tr.store.Due(r.tr.ctx, sessions.ListMax))(r.tr) {
		switch w.Kind {
		case sessions.WorkTurn:
			due = append(due, w.ID)
		case sessions.WorkLane:
			sending++
		}
	}
	slices.Sort(due)
	slices.Sort(turns)
	r.same("turns due", due, turns)
	r.same("lanes due", sending, len(lanes))
}
