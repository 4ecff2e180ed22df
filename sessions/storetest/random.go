package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"parley/sessions"
)

func modelTests() []test {
	return []test{
		{"random operations answer as the model does", func(tr *trial) { modelAgrees(tr, (*random).turnsMostly) }},
		{"random lives of sessions are as the model's", func(tr *trial) { modelAgrees(tr, (*random).livesMostly) }},
	}
}

// random runs random operations on the store and the model. Runs share the
// trial's store, each with surfaces of its own.
type random struct {
	*rapid.T
	tr    *trial
	model *model
	run   int
	step  int
	turns []*sessions.Turn    // every turn ever given, also those that are over
	sends []sessions.Delivery // likewise
	bare  bool                // the store knows nothing but turns and deliveries
}

func modelAgrees(tr *trial, actions func(r *random) map[string]func(*rapid.T)) {
	run, whole := 0, true
	rapid.Check(tr.T, func(t *rapid.T) {
		run++
		r := &random{T: t, tr: tr, model: newModel(), run: run}
		all := actions(r)
		if !whole { // the run before failed
			r.finish()
		}
		whole = false
		all[""] = func(*rapid.T) { r.compare() }
		t.Repeat(all)
		r.finish()
		whole = true
	})
}

// turnsOnly is what happens to turns and deliveries.
func (r *random) turnsOnly() map[string]func(*rapid.T) {
	r.bare = true
	return map[string]func(*rapid.T){
		"post": r.post, "post 2": r.post, "claim": r.claim, "append": r.append, "commit": r.commit, "commit 2": r.commit, "park": r.park,
		"rotate": r.rotate, "again": r.again, "replay": r.replay, "stop": r.stop, "take": r.take, "settle": r.settle, "time": r.time,
	}
}

// turnsMostly is that and some of the rest.
func (r *random) turnsMostly() map[string]func(*rapid.T) {
	all := r.turnsOnly()
	r.bare = false
	all["into"], all["find"], all["life"], all["notes"], all["people"] = r.into, r.find, r.life, r.notes, r.people
	return all
}

// livesMostly is what happens to sessions, with turns as short as they can be.
func (r *random) livesMostly() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"post": r.post, "into": r.into, "turn": r.turn, "park": r.park, "rotate": r.rotate, "replay": r.replay, "time": r.time, "time 2": r.time,
		"touch": r.touch, "attach": r.attach, "detach": r.detach, "leave": r.leave, "expire": r.expire, "remove": r.remove, "discard": r.discard, "sweep": r.sweep, "sweep 2": r.sweep,
		"note": r.note, "clear": r.clear, "bring": r.bring, "find": r.find, "people": r.people,
	}
}

// turn claims what waits in a session and ends it.
func (r *random) turn(t *rapid.T) {
	r.oneTurn(t, sessions.Done, sessions.Done, sessions.Again, sessions.HandBack)
}

// park claims what waits in a session and gives it up.
func (r *random) park(t *rapid.T) { r.oneTurn(t, sessions.Park) }

func (r *random) oneTurn(t *rapid.T, outcomes ...sessions.Outcome) {
	given := len(r.turns)
	r.claim(t)
	if len(r.turns) > given {
		r.end(t, outcomes...)
	}
}

// life does one of what is done to sessions besides their messages.
func (r *random) life(t *rapid.T) {
	rapid.SampledFrom([]func(*rapid.T){r.touch, r.attach, r.attach, r.detach, r.leave, r.expire, r.remove, r.discard, r.sweep, r.sweep}).Draw(t, "life")(t)
}

func (r *random) notes(t *rapid.T) {
	rapid.SampledFrom([]func(*rapid.T){r.note, r.note, r.note, r.clear, r.bring}).Draw(t, "notes")(t)
}

func (r *random) people(t *rapid.T) {
	rapid.SampledFrom([]func(*rapid.T){r.role, r.link}).Draw(t, "people")(t)
}

// finish does what the run left to do, so that the next has a short list of
// what is due, and leaves nothing to sweep.
func (r *random) finish() {
	for range 3 {
		r.tr.clock.Advance(2 * lease)
		for _, w := range must(r.tr.store.Due(r.tr.ctx, sessions.ListMax))(r.tr) {
			switch w.Kind {
			case sessions.WorkTurn:
				r.finishTurns(w.ID)
			case sessions.WorkLane:
				d := r.tr.take(w.ID, "end")
				for next := &d; next != nil; {
					next = r.tr.settle(sessions.Settlement{Delivery: *next, State: sessions.DeliverySent, Next: true})
				}
			}
		}
	}
	if r.bare {
		return
	}
	for _, id := range r.tr.found(sessions.Query{Type: sessions.Direct}) {
		r.tr.do(r.tr.store.Delete(r.tr.ctx, id))
	}
	for _, id := range r.tr.found(sessions.Query{States: []sessions.State{sessions.StateCreated, sessions.StateActive, sessions.StateSuspended}}) {
		r.tr.ended(id)
	}
}

func (r *random) finishTurns(id string) {
	for turn := r.tr.claim(id, "end"); turn != nil; {
		turn = r.tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Next: claimer("end")}).Next
	}
}

func (r *random) surface(t *rapid.T) string {
	return fmt.Sprintf("telegram:%d:%d", r.run, rapid.IntRange(0, 1).Draw(t, "surface"))
}

// session draws a session that is there, or skips.
func (r *random) session(t *rapid.T) *modelSession {
	ids := make([]string, 0, len(r.model.all))
	for id := range r.model.all {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		t.Skip("no session")
	}
	slices.Sort(ids)
	slices.SortStableFunc(ids, func(a, b string) int { return len(r.model.all[a].log) - len(r.model.all[b].log) })
	return r.model.all[rapid.SampledFrom(ids).Draw(t, "session")]
}

func (r *random) fail(format string, args ...any) {
	r.Fatalf("step %d: "+format, append([]any{r.step}, args...)...)
}

func (r *random) ok(err error) {
	if err != nil {
		r.fail("unexpected error: %v", err)
	}
}

func (r *random) same(what string, got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		r.fail("%s:\n got %v\nwant %v", what, got, want)
	}
}

// adopt takes a new session of a surface into the model.
func (r *random) adopt(id, surface string) *modelSession {
	s := &modelSession{id: id, fresh: true}
	s.kind, s.workspace, s.at = kindOf(surface), r.workspace(), r.model.now
	r.model.all[id] = s
	r.model.bind(surface, s)
	return s
}

func (r *random) post(t *rapid.T) {
	r.step++
	surface := r.surface(t)
	text := fmt.Sprintf("m%d", r.step)
	request := sessions.PostRequest{
		Key: fmt.Sprintf("r%d.%d", r.run, r.step), Surface: surface, Trigger: rapid.IntRange(0, 3).Draw(t, "trigger") > 0,
		Rights: rapid.SampledFrom([]string{"member", "member", "owner"}).Draw(t, "rights"), Alone: rapid.IntRange(0, 7).Draw(t, "alone") == 0,
		Message: sessions.Message{Role: sessions.RoleUser, Text: text, SentAt: time.UnixMilli(int64(rapid.IntRange(1, 4).Draw(t, "sent")))},
		Known:   r.known(t, surface), UserID: r.model.who(r.identity(t)).identities[0], New: r.fresh(surface),
	}
	if rapid.IntRange(0, 5).Draw(t, "debounced") == 0 {
		request.Debounce = 3 * time.Minute
	}
	if rapid.Bool().Draw(t, "claim") {
		request.Claim = claimer("w")
	}
	result, err := r.tr.store.Post(r.tr.ctx, request)
	r.ok(err)
	s := r.model.bound[surface]
	if s != nil && s.kind == sessions.Group && kindOf(surface) == sessions.Direct && !slices.Contains(s.participants, request.UserID) {
		r.model.bind(surface, nil)
		s, request.Known = nil, sessions.Known{} // of the session that was left
	}
	r.same("created", result.Created, s == nil)
	if s == nil {
		s = r.adopt(result.Session, surface)
	}
	e := modelEntry{text: text, rights: request.Rights, surface: surface, alone: request.Alone, sent: request.Message.SentAt}
	want := r.model.post(s, e, request.Trigger, request.Claim != nil, request.Debounce)
	s.heard(request.UserID)
	r.same("outcome", result.Outcome, want)
	r.same("seq", result.Seq, len(s.log))
	r.same("session", result.Session, s.id)
	r.began(s, result.Turn, want == sessions.PostClaimed, request.Known.Seq)
	if rapid.IntRange(0, 4).Draw(t, "twice") == 0 {
		again, err := r.tr.store.Post(r.tr.ctx, request)
		r.ok(err)
		r.same("repeated", []any{again.Outcome, again.Session, again.Seq, again.Turn == nil}, []any{sessions.PostDuplicate, s.id, result.Seq, true})
	}
}

// known is what a caller may say it holds: up to before the first that waits.
func (r *random) known(t *rapid.T, surface string) sessions.Known {
	s := r.model.bound[surface]
	if s == nil {
		return sessions.Known{}
	}
	return r.knownOf(t, s)
}

func (r *random) knownOf(t *rapid.T, s *modelSession) sessions.Known {
	return sessions.Known{Session: s.id, Seq: int64(rapid.IntRange(0, int(s.settled())).Draw(t, "known"))}
}

// settled is up to which seq all entries have their place.
func (s *modelSession) settled() int64 {
	i := slices.IndexFunc(s.log, func(e modelEntry) bool { return e.waiting })
	if i < 0 {
		i = len(s.log)
	}
	return int64(i)
}

// began compares a turn that was given, or was not, with the model's.
func (r *random) began(s *modelSession, turn *sessions.Turn, want bool, known int64) {
	if (turn != nil) != want {
		r.fail("turn %v, want one: %v", turn, want)
	}
	if turn == nil {
		return
	}
	r.model.begin(s, turn.Lease)
	r.turns = append(r.turns, turn)
	taken := []int64{}
	for _, e := range turn.Taken {
		taken = append(taken, e.Seq)
	}
	r.same("taken", taken, s.taken)
	r.same("attempt and stop", []any{turn.Attempt, turn.Stop}, []any{s.attempts, s.stop})
	r.same("turn's record", recordText(turn.Record), s.record())
	if known <= s.cleared || len(s.log)-int(known) > sessions.TailMax {
		known = 0
	}
	r.same("tail from", turn.TailFrom, known)
	r.sameLog(s, turn.Tail, max(known, s.cleared, int64(len(s.log)-sessions.TailMax)))
}

// sameLog compares entries with the model's log after a seq.
func (r *random) sameLog(s *modelSession, got []sessions.Entry, after int64) {
	r.same("entries", len(got), len(s.log)-int(after))
	for i, e := range got {
		want := s.log[after+int64(i)]
		r.same("entry", []any{e.Seq, e.Parent, e.Waiting, r.tr.text(e)}, []any{after + int64(i) + 1, want.parent, want.waiting, want.text})
	}
}

func (r *random) claim(t *rapid.T) {
	r.step++
	s := r.session(t)
	known := r.knownOf(t, s)
	turn, err := r.tr.store.Claim(r.tr.ctx, sessions.ClaimRequest{Session: s.id, Claimer: worker("w"), Known: known})
	if want := r.model.claim(s); want != nil {
		r.same("claim refused", errors.Is(err, want), true)
		return
	}
	r.ok(err)
	r.began(s, turn, true, known.Seq)
}

// holder draws a turn that was given once, and whether it is the present one.
func (r *random) holder(t *rapid.T) (*sessions.Turn, *modelSession, bool) {
	if len(r.turns) == 0 {
		t.Skip("no turn")
	}
	turn := r.turns[len(r.turns)-1-rapid.IntRange(0, min(3, len(r.turns)-1)).Draw(t, "turn")]
	s := r.model.all[turn.Lease.Session]
	return turn, s, s != nil && s.lease != nil && *s.lease == turn.Lease
}

// fenced expects a late writer to be refused.
func (r *random) fenced(s *modelSession, err error) {
	r.same("fenced", errors.Is(err, sessions.ErrFenced) || s == nil && errors.Is(err, sessions.ErrNotFound), true)
}

func (r *random) append(t *rapid.T) {
	r.step++
	turn, s, present := r.holder(t)
	_, err := r.tr.store.Append(r.tr.ctx, turn.Lease, r.tr.answers("tool", "result"))
	if !present {
		r.fenced(s, err)
		return
	}
	r.ok(err)
	s.add(modelEntry{text: "tool"})
	s.add(modelEntry{text: "result"})
}

func (r *random) commit(t *rapid.T) {
	r.end(t, sessions.Done, sessions.Done, sessions.Done, sessions.Unanswered, sessions.Again, sessions.Park, sessions.HandBack)
}

// end commits with one of the outcomes.
func (r *random) end(t *rapid.T, outcomes ...sessions.Outcome) {
	r.step++
	turn, s, present := r.holder(t)
	request := sessions.CommitRequest{
		Lease: turn.Lease, Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome"),
		After: 3 * time.Minute, Entries: append(r.tr.answers("answer"), sessions.NewEntry{Type: sessions.EntryTurn}),
		Deliveries: []sessions.NewDelivery{row(SurfaceOf(turn), fmt.Sprintf("row%d", r.step))},
	}
	if rapid.Bool().Draw(t, "next") {
		request.Next = claimer("w")
	}
	if rapid.Bool().Draw(t, "send") {
		request.Send = claimer("w")
	}
	known := settledOf(turn)
	result, err := r.tr.store.Commit(r.tr.ctx, request)
	if !present {
		r.fenced(s, err)
		return
	}
	r.ok(err)
	s.add(modelEntry{text: "answer"})
	s.add(modelEntry{text: "turn", beside: true})
	r.model.enqueue(s, SurfaceOf(turn), rowText(sessions.Delivery{Payload: request.Deliveries[0].Payload}))
	ended := r.model.end(s, request.Outcome, request.After)
	r.sent(SurfaceOf(turn), result.Sends, request.Send != nil)
	next := ended && request.Next != nil && len(s.queue) > 0 && s.readyAt <= r.model.now
	if next {
		s.takeUp()
	}
	r.began(s, result.Next, next, known)
}

// settledOf is what a turn's holder was left with: up to before the first
// entry of its tail that waited.
func settledOf(turn *sessions.Turn) int64 {
	for _, e := range turn.Tail {
		if e.Waiting {
			return e.Seq - 1
		}
	}
	return turn.Record.Seq
}

// sent compares the rows that an operation took with the model's.
func (r *random) sent(surface string, sends []sessions.Delivery, wanted bool) {
	if !wanted {
		r.same("sends", len(sends), 0)
		return
	}
	first, refused := r.model.takeLane(surface)
	if refused != nil {
		r.same("sends", len(sends), 0)
		return
	}
	r.same("sends", len(sends), 1)
	r.sameRow(surface, sends[0], first)
}

func (r *random) sameRow(surface string, got sessions.Delivery, want *modelRow) {
	r.same("row", []any{rowText(got), got.Attempt, got.MaybeSent, got.Surface}, []any{want.text, want.attempt, want.maybeSent, surface})
	if r.model.all[want.session.id] != nil {
		r.same("session", got.Session, want.session.id)
	}
	r.model.hold(surface, got.Lane)
	r.sends = append(r.sends, got)
}

func (r *random) rotate(t *rapid.T) {
	r.step++
	surface := r.surface(t)
	request := sessions.RotateRequest{New: r.fresh(surface)}
	request.New.Surface = surface
	result, err := r.tr.store.Rotate(r.tr.ctx, request)
	r.ok(err)
	old := r.model.bound[surface]
	want := ""
	if old != nil {
		want = old.id
		old.suspended, old.hidden = true, true
		old.stop = old.taken != nil
	}
	r.same("old", result.Old, want)
	r.same("new record", recordText(result.Record), r.adopt(result.Record.ID, surface).record())
}

func (r *random) again(t *rapid.T) {
	r.step++
	s := r.session(t)
	known := r.knownOf(t, s)
	turn, _, err := r.tr.store.Again(r.tr.ctx, sessions.AgainRequest{Session: s.id, Claim: claimer("w"), Known: known})
	if !r.model.again(s) {
		_, state := errors.AsType[*sessions.StateError](err)
		r.same("again refused", state || errors.Is(err, sessions.ErrNothing), true)
		return
	}
	r.ok(err)
	r.began(s, turn, true, known.Seq)
}

func (r *random) replay(t *rapid.T) {
	r.step++
	if len(r.model.dead) == 0 {
		t.Skip("nothing is dead")
	}
	want := r.model.dead[len(r.model.dead)-1]
	for _, l := range r.tr.dead() {
		if l.Session == want.session.id && slices.Equal(l.Messages, want.taken) {
			if !r.refused("replay", r.tr.store.Replay(r.tr.ctx, l.ID), when(want.session.expired, errState)...) {
				r.model.replay(want)
			}
			return
		}
	}
	r.fail("the dead letter of %s is not listed", want.session.id)
}

func (r *random) stop(t *rapid.T) {
	r.step++
	s := r.session(t)
	running, err := r.tr.store.Stop(r.tr.ctx, s.id)
	r.ok(err)
	r.same("running", running, s.taken != nil)
	s.stop = s.taken != nil
}

func (r *random) take(t *rapid.T) {
	r.step++
	if len(r.sends) == 0 {
		t.Skip("no lane")
	}
	known := rapid.SampledFrom(r.sends).Draw(t, "lane")
	d, err := r.tr.store.Take(r.tr.ctx, known.Lane.ID, worker("w"))
	first, refused := r.model.takeLane(known.Surface)
	if refused != nil {
		r.same("take refused", errors.Is(err, refused), true)
		return
	}
	r.ok(err)
	r.sameRow(known.Surface, d, first)
}

func (r *random) settle(t *rapid.T) {
	r.step++
	if len(r.sends) == 0 {
		t.Skip("nothing is taken")
	}
	d := r.sends[len(r.sends)-1-rapid.IntRange(0, min(3, len(r.sends)-1)).Draw(t, "row")]
	s := sessions.Settlement{
		Delivery: d, State: rapid.SampledFrom([]sessions.DeliveryState{sessions.DeliverySent, sessions.DeliverySent, sessions.DeliveryFailed, sessions.DeliveryUnknown, sessions.DeliveryPending}).Draw(t, "state"),
		Next: rapid.Bool().Draw(t, "next"),
	}
	if s.State == sessions.DeliveryPending {
		s.MaybeSent, s.Uncounted = rapid.Bool().Draw(t, "maybe sent"), rapid.Bool().Draw(t, "uncounted")
		s.After = time.Duration(rapid.IntRange(0, 1).Draw(t, "after")) * 3 * time.Minute
	}
	next, err := r.tr.store.Settle(r.tr.ctx, s, worker("w"))
	hold := r.model.held[d.Surface]
	if hold.lane == nil || *hold.lane != d.Lane {
		r.same("fenced", errors.Is(err, sessions.ErrFenced), true)
		return
	}
	r.ok(err)
	r.settled(s, next)
}

// settled brings the model up to a settlement and compares the next row.
func (r *random) settled(s sessions.Settlement, next *sessions.Delivery) {
	surface := s.Delivery.Surface
	first := r.model.lanes[surface][0]
	r.model.held[surface] = &modelHold{until: r.model.now + s.After}
	if s.State == sessions.DeliveryPending {
		first.maybeSent = first.maybeSent || s.MaybeSent
		if s.Uncounted {
			first.attempt--
		}
	} else {
		r.model.lanes[surface] = r.model.lanes[surface][1:]
		if r.model.all[first.session.id] != nil {
			first.session.add(modelEntry{text: "delivery", beside: true})
		}
	}
	row, refused := r.model.takeLaneIf(s.Next, surface)
	if refused != nil {
		r.same("next", next == nil, true)
		return
	}
	r.same("next", next != nil, true)
	r.sameRow(surface, *next, row)
}

func (m *model) takeLaneIf(wanted bool, surface string) (*modelRow, error) {
	if !wanted {
		return nil, sessions.ErrNothing
	}
	return m.takeLane(surface)
}

func (r *random) time(t *rapid.T) {
	r.step++
	d := time.Duration(rapid.SampledFrom([]int{1, 4, 7, 15, 25}).Draw(t, "minutes")) * time.Minute
	r.tr.clock.Advance(d)
	r.model.now += d
}
