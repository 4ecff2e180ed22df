package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"parley/sessions"
)

// The places and times most tests use. A lease is long against a test's run.
const (
	surface = "telegram:1:100"
	other   = "telegram:1:200"
	lease   = 10 * time.Minute
)

// trial is one test's store and the words to talk to it. Its methods fail the
// test on an unexpected error.
type trial struct {
	*testing.T
	ctx    context.Context
	store  sessions.Store
	clock  *Clock
	opened Opened
	open   Open
	posts  int
	posted []sessions.PostRequest // by post
}

func newTrial(t *testing.T, open Open) *trial {
	t.Helper()
	clock := &Clock{}
	opened := open(t, clock)
	return &trial{T: t, ctx: t.Context(), store: opened.Store, clock: clock, opened: opened, open: open}
}

// second is a trial on another, empty store with the same clock.
func (tr *trial) second() *trial {
	tr.Helper()
	return tr.beside(tr.open)
}

// beside is a trial on an empty store of another backend with the same clock.
func (tr *trial) beside(open Open) *trial {
	tr.Helper()
	opened := open(tr.T, tr.clock)
	return &trial{T: tr.T, ctx: tr.ctx, store: opened.Store, clock: tr.clock, opened: opened, open: open}
}

// sub runs a part of a test on the same store under a name of its own.
func (tr *trial) sub(name string, run func(tr *trial)) {
	tr.Helper()
	tr.Run(name, func(t *testing.T) { //nolint:paralleltest // the parts share the store
		part := *tr
		part.T, part.ctx = t, t.Context()
		run(&part)
	})
}

// eventually waits for what the contract lets come a moment later.
func (tr *trial) eventually(what string, ok func() bool) {
	tr.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !ok() {
		select {
		case <-again.C:
			must(tr.store.Due(tr.ctx, 1))(tr) // a reader of what is due helps along what is late
		case <-deadline.C:
			tr.Fatalf("it did not come that %s", what)
		}
	}
}

// make opens a session that is not there yet.
func (tr *trial) make(n sessions.NewSession) sessions.Record {
	tr.Helper()
	record, created, err := tr.store.Open(tr.ctx, n)
	must(record, err)(tr)
	tr.check(created, "session %s was there already", record.ID)
	return record
}

// bound is the id of a surface's current session; empty: it has none.
func (tr *trial) bound(surface string) string {
	tr.Helper()
	record, err := tr.store.Bound(tr.ctx, surface)
	if errors.Is(err, sessions.ErrNotFound) {
		return ""
	}
	return must(record, err)(tr).ID
}

// into is a post of text that is only logged, into a session by its id.
func (tr *trial) into(id, text string) sessions.PostRequest {
	r := tr.heard(text)
	r.Session, r.Surface = id, ""
	return r
}

// reopen restarts the store, or skips the test.
func (tr *trial) reopen() {
	tr.Helper()
	if tr.opened.Reopen == nil {
		tr.Skip("this backend cannot be opened anew")
	}
	tr.store = tr.opened.Reopen(tr.T)
}

// expire makes a session expired, or skips the test.
func (tr *trial) expire(id string) {
	tr.Helper()
	if tr.opened.Expire == nil {
		tr.Skip("this backend cannot expire a session")
	}
	tr.opened.Expire(tr.T, id)
}

func worker(name string) sessions.Claimer { return sessions.Claimer{Owner: name, For: lease} }

func claimer(name string) *sessions.Claimer {
	c := worker(name)
	return &c
}

// said is a triggering post of text on surface, with a key of its own.
func (tr *trial) said(text string) sessions.PostRequest {
	tr.posts++
	return sessions.PostRequest{
		Key:     fmt.Sprintf("event-%d", tr.posts),
		Surface: surface,
		New:     sessions.NewSession{Source: sessions.Source{Kind: "channel", Platform: "telegram", Type: sessions.Group}},
		Message: sessions.Message{Role: sessions.RoleUser, Text: text},
		UserID:  "u-ann",
		Trigger: true,
		Rights:  "member",
	}
}

// heard is a post of text on surface that is only logged.
func (tr *trial) heard(text string) sessions.PostRequest {
	r := tr.said(text)
	r.Trigger = false
	return r
}

func (tr *trial) post(r sessions.PostRequest) sessions.PostResult {
	tr.Helper()
	tr.posted = append(tr.posted, r)
	return must(tr.store.Post(tr.ctx, r))(tr)
}

// say posts and expects the outcome.
func (tr *trial) say(r sessions.PostRequest, want sessions.PostOutcome) sessions.PostResult {
	tr.Helper()
	result := tr.post(r)
	if result.Outcome != want {
		tr.Fatalf("post of %q: outcome %s, want %s", r.Message.Text, result.Outcome, want)
	}
	return result
}

// begin posts text and claims its turn at once.
func (tr *trial) begin(text string) *sessions.Turn {
	tr.Helper()
	r := tr.said(text)
	r.Claim = claimer("w1")
	return tr.say(r, sessions.PostClaimed).Turn
}

func (tr *trial) claim(session, owner string) *sessions.Turn {
	tr.Helper()
	return must(tr.store.Claim(tr.ctx, sessions.ClaimRequest{Session: session, Claimer: worker(owner)}))(tr)
}

// cannotClaim expects a claim to be refused with want.
func (tr *trial) cannotClaim(session string, want error) {
	tr.Helper()
	_, err := tr.store.Claim(tr.ctx, sessions.ClaimRequest{Session: session, Claimer: worker("w-refused")})
	tr.wantErr(err, want)
}

func (tr *trial) commit(r sessions.CommitRequest) sessions.CommitResult {
	tr.Helper()
	return must(tr.store.Commit(tr.ctx, r))(tr)
}

// done commits a turn with an answer.
func (tr *trial) done(turn *sessions.Turn, answer string) sessions.CommitResult {
	tr.Helper()
	return tr.commit(sessions.CommitRequest{Lease: turn.Lease, Outcome: sessions.Done, Entries: tr.answers(answer)})
}

// answers are entries of the assistant, one per text.
func (tr *trial) answers(texts ...string) []sessions.NewEntry {
	tr.Helper()
	var entries []sessions.NewEntry
	for _, text := range texts {
		entries = append(entries, must(sessions.NewMessage(sessions.Message{Role: sessions.RoleAssistant, Text: text}))(tr))
	}
	return entries
}

func (tr *trial) appendTo(turn *sessions.Turn, texts ...string) []sessions.Entry {
	tr.Helper()
	return must(tr.store.Append(tr.ctx, turn.Lease, tr.answers(texts...)))(tr)
}

func (tr *trial) get(id string) sessions.Record {
	tr.Helper()
	return must(tr.store.Get(tr.ctx, id))(tr)
}

func (tr *trial) log(id string) []sessions.Entry {
	tr.Helper()
	return must(tr.store.Range(tr.ctx, id, 1, 1<<40))(tr)
}

// text is a message entry's text; of another entry its type.
func (tr *trial) text(e sessions.Entry) string {
	tr.Helper()
	if e.Type != sessions.EntryMessage {
		return string(e.Type)
	}
	return must(e.Message())(tr).Text
}

func (tr *trial) texts(entries []sessions.Entry) []string {
	tr.Helper()
	out := []string{}
	for _, e := range entries {
		out = append(out, tr.text(e))
	}
	return out
}

// branch is what the model sees: the texts from the root to the leaf.
func (tr *trial) branch(id string) []string {
	tr.Helper()
	bySeq := map[int64]sessions.Entry{}
	for _, e := range tr.log(id) {
		bySeq[e.Seq] = e
	}
	out := []string{}
	for at := tr.get(id).Leaf; at != 0; at = bySeq[at].Parent {
		e, ok := bySeq[at]
		if !ok || e.Waiting || len(out) > len(bySeq) {
			tr.Fatalf("the branch of %s is broken at entry %d", id, at)
		}
		out = append(out, tr.text(e))
	}
	slices.Reverse(out)
	return out
}

func (tr *trial) wantBranch(id string, want ...string) {
	tr.Helper()
	if got := tr.branch(id); !slices.Equal(got, want) {
		tr.Fatalf("branch of %s:\n got %q\nwant %q", id, got, want)
	}
}

func (tr *trial) wantTaken(turn *sessions.Turn, want ...string) {
	tr.Helper()
	if got := tr.texts(turn.Taken); !slices.Equal(got, want) {
		tr.Fatalf("turn took %q, want %q", got, want)
	}
}

func (tr *trial) wantErr(err, want error) {
	tr.Helper()
	if !errors.Is(err, want) {
		tr.Fatalf("error %v, want %v", err, want)
	}
}

func (tr *trial) wantInvalid(err error) {
	tr.Helper()
	if _, ok := errors.AsType[*sessions.InvalidError](err); !ok {
		tr.Fatalf("error %v, want an InvalidError", err)
	}
}

func (tr *trial) wantStateError(err error) {
	tr.Helper()
	state, ok := errors.AsType[*sessions.StateError](err)
	if !ok {
		tr.Fatalf("error %v, want a StateError", err)
	}
	if state.Session == "" || state.State == "" || state.Attempted == "" {
		tr.Fatalf("state error does not say what and where: %+v", state)
	}
}

// row is a delivery of text for a surface.
func row(to, text string) sessions.NewDelivery {
	payload, _ := json.Marshal(map[string]string{"text": text}) //nolint:errchkjson // strings always encode
	return sessions.NewDelivery{Surface: to, Payload: payload, Entry: -1}
}

func rowText(d sessions.Delivery) string {
	var payload struct{ Text string }
	if err := json.Unmarshal(d.Payload, &payload); err != nil {
		return "unreadable: " + err.Error()
	}
	return payload.Text
}

func (tr *trial) enqueue(send *sessions.Claimer, to string, texts ...string) []sessions.Delivery {
	tr.Helper()
	r := sessions.EnqueueRequest{Send: send}
	for _, text := range texts {
		r.Deliveries = append(r.Deliveries, row(to, text))
	}
	return must(tr.store.Enqueue(tr.ctx, r))(tr).Sends
}

// due lists what is due of one kind.
func (tr *trial) due(kind sessions.WorkKind) []sessions.WorkItem {
	tr.Helper()
	all := must(tr.store.Due(tr.ctx, sessions.ListMax))(tr)
	return slices.DeleteFunc(all, func(w sessions.WorkItem) bool { return w.Kind != kind })
}

// lane is the one lane that is due.
func (tr *trial) lane() string {
	tr.Helper()
	lanes := tr.due(sessions.WorkLane)
	if len(lanes) != 1 {
		tr.Fatalf("%d lanes are due, want 1: %v", len(lanes), lanes)
	}
	return lanes[0].ID
}

func (tr *trial) take(lane, owner string) sessions.Delivery {
	tr.Helper()
	return must(tr.store.Take(tr.ctx, lane, worker(owner)))(tr)
}

func (tr *trial) settle(s sessions.Settlement) *sessions.Delivery {
	tr.Helper()
	return must(tr.store.Settle(tr.ctx, s, worker("w1")))(tr)
}

// check fails the test unless ok.
func (tr *trial) check(ok bool, format string, args ...any) {
	tr.Helper()
	if !ok {
		tr.Fatalf(format, args...)
	}
}

// must unwraps a result, failing the test on an error.
func must[T any](value T, err error) func(tr *trial) T {
	return func(tr *trial) T {
		tr.Helper()
		if err != nil {
			tr.Fatalf("unexpected error: %v", err)
		}
		return value
	}
}

func equal[T comparable](tr *trial, what string, got, want T) {
	tr.Helper()
	if got != want {
		tr.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func equalSlices[T comparable](tr *trial, what string, got, want []T) {
	tr.Helper()
	if !slices.Equal(got, want) {
		tr.Fatalf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// wantErrIs is wantErr for other goroutines than the test's own: it marks the
// test failed and goes on.
func (tr *trial) wantErrIs(err, want error) {
	tr.Helper()
	if !errors.Is(err, want) {
		tr.Errorf("error %v, want %v", err, want)
	}
}
