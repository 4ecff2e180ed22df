package redisstore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"parley/sessions"
)

// movedChat is a chat whose session lives in another partition: it was moved
// there from old.
func movedChat(t *testing.T, s *Store) (session, moved string) {
	t.Helper()
	old := "telegram:1:1"
	posted, err := s.Post(t.Context(), benchPost(1, false))
	if err != nil {
		t.Fatal(err)
	}
	for i := 2; ; i++ {
		moved = fmt.Sprintf("telegram:1:%d", i)
		if s.ofSurface(moved) != s.of(posted.Session) {
			break
		}
	}
	if err := s.MoveChat(t.Context(), old, moved); err != nil {
		t.Fatal(err)
	}
	return posted.Session, moved
}

func on(surface string, trigger bool) sessions.PostRequest {
	r := benchPost(0, trigger)
	r.Surface = surface
	return r
}

// Posts, answers and receipts of a chat find their session in another
// partition; a redelivery is a duplicate there too.
func TestSessionInAnotherPartition(t *testing.T) {
	t.Parallel()
	s := openStore(t, testConfig(t))
	ctx := t.Context()
	session, moved := movedChat(t, s)
	request := on(moved, true)
	posted, err := s.Post(ctx, request)
	if err != nil || posted.Session != session || posted.Seq != 2 || posted.Turn == nil {
		t.Fatalf("%+v, %v", posted, err)
	}
	if again, err := s.Post(ctx, request); err != nil || again.Outcome != sessions.PostDuplicate || again.Seq != 2 {
		t.Fatalf("again: %+v, %v", again, err)
	}
	claimer := sessions.Claimer{Owner: "w", For: time.Minute}
	done, err := s.Commit(ctx, quickCommit(posted.Turn, &claimer))
	if err != nil || len(done.Sends) != 1 || done.Sends[0].Surface != moved || done.Sends[0].Entry != 3 {
		t.Fatalf("%+v, %v", done, err)
	}
	if _, err := s.Take(ctx, moved, claimer); err == nil {
		t.Fatal("the lane is taken twice")
	}
	if _, err := s.Settle(ctx, sessions.Settlement{Delivery: done.Sends[0], State: sessions.DeliverySent, MessageIDs: []string{"9"}}, claimer); err != nil {
		t.Fatal(err)
	}
	log, err := s.Range(ctx, session, 1, 100)
	if err != nil || len(log) != 4 || log[3].Type != sessions.EntryDelivery {
		t.Fatalf("%+v, %v", log, err)
	}
	rotated, err := s.Rotate(ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: moved}})
	if err != nil || rotated.Old != session || s.of(rotated.Record.ID) != s.ofSurface(moved) {
		t.Fatalf("%+v, %v", rotated, err)
	}
	old, err := s.Get(ctx, session)
	if err != nil || old.State != sessions.StateSuspended || len(old.Surfaces) != 0 {
		t.Fatalf("%+v, %v", old, err)
	}
}

// A session that is gone from its partition is replaced at the surface's home.
func TestForwardToAnExpiredSessionIsReplaced(t *testing.T) {
	t.Parallel()
	s := openStore(t, testConfig(t))
	session, moved := movedChat(t, s)
	expire(t, s, session)
	request := on(moved, false)
	posted, err := s.Post(t.Context(), request)
	if err != nil || !posted.Created || posted.Session == session {
		t.Fatalf("%+v, %v", posted, err)
	}
	if again, err := s.Post(t.Context(), request); err != nil || again.Outcome != sessions.PostDuplicate || again.Session != posted.Session {
		t.Fatalf("again: %+v, %v", again, err)
	}
	if old, err := s.Get(t.Context(), session); err != nil || len(old.Surfaces) != 0 {
		t.Fatalf("%+v, %v", old, err)
	}
}

// A step that its writer did not bring to the other partition is brought there
// by whoever reads Due, once, in order, and is then forgotten.
func TestForwardsAreFinishedByDue(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	s, clock := movingStore(t)
	session, moved := movedChat(t, s)
	posted, err := s.Post(ctx, on(moved, true))
	if err != nil {
		t.Fatal(err)
	}
	p := s.of(session)
	request := quickCommit(posted.Turn, nil)
	request.Deliveries = append(request.Deliveries, sessions.NewDelivery{Surface: moved, Payload: []byte(`{"text":"two"}`)})
	args, _, err := s.commitArgs(ctx, p, request, "")
	if err != nil {
		t.Fatal(err)
	}
	if code, _, err := s.answer(ctx, p, s.scripts.commit, args...); err != nil || code != "ok" { // and dies
		t.Fatal(code, err)
	}
	clock.Advance(2 * time.Second)
	var lanes []sessions.WorkItem
	for len(lanes) == 0 && ctx.Err() == nil {
		if lanes, err = s.Due(ctx, 10); err != nil {
			t.Fatal(err)
		}
	}
	claimer := sessions.Claimer{Owner: "w", For: time.Minute}
	first, err := s.Take(ctx, lanes[0].ID, claimer)
	if err != nil || string(first.Payload) != `{"text":"yes"}` {
		t.Fatalf("%+v, %v", first, err)
	}
	second, err := s.Settle(ctx, sessions.Settlement{Delivery: first, State: sessions.DeliverySent, Next: true}, claimer)
	if err != nil || second == nil || string(second.Payload) != `{"text":"two"}` {
		t.Fatalf("%+v, %v", second, err)
	}
	last, err := s.Settle(ctx, sessions.Settlement{Delivery: *second, State: sessions.DeliverySent, Next: true}, claimer)
	if err != nil || last != nil {
		t.Fatalf("%+v, %v", last, err)
	}
	for waiting := true; waiting && ctx.Err() == nil; {
		val, err := s.command(ctx, p, "exists", p.key("f", "o:"+moved))
		if err != nil {
			t.Fatal(err)
		}
		waiting = val != int64(0)
	}
	if err := ctx.Err(); err != nil {
		t.Fatal("the step is never forgotten")
	}
}
