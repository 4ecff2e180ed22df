package redisstore

import (
	"errors"
	"sync"
	"testing"

	"parley/internal/secret"
	"parley/sessions"
	"parley/sessions/storetest"
)

func proxied(t *testing.T) (*Store, *proxy) {
	t.Helper()
	config := testConfig(t)
	p := newProxy(t, shared.Addr())
	config.URL = secret.New(p.url())
	return openStore(t, config), p
}

// The quick way is three round trips, counted at the connection.
func TestRoundTripsOfTheQuickWay(t *testing.T) {
	t.Parallel()
	s, p := proxied(t)
	ctx := t.Context()
	count := func(what string, want int64, call func() error) {
		t.Helper()
		before := p.rounds.Load()
		if err := call(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := p.rounds.Load() - before; got != want {
			t.Errorf("%s: %d round trips, want %d", what, got, want)
		}
	}
	var turn *sessions.Turn
	var done sessions.CommitResult
	claimer := &sessions.Claimer{Owner: "w", For: sessions.LeaseFor}
	for range 2 { // the second time the scripts are there and the session is
		p.rounds.Store(0)
		_, err := s.Post(ctx, benchPost(1, false))
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Post(ctx, benchPost(1, true))
		if err != nil {
			t.Fatal(err)
		}
		turn = r.Turn
		if done, err = s.Commit(ctx, quickCommit(turn, claimer)); err != nil {
			t.Fatal(err)
		}
		if _, err = s.Settle(ctx, sessions.Settlement{Delivery: done.Sends[0], State: sessions.DeliverySent, Next: true}, *claimer); err != nil {
			t.Fatal(err)
		}
	}
	count("a message that does not trigger", 1, func() error { _, err := s.Post(ctx, benchPost(1, false)); return err })
	count("post and claim", 1, func() error {
		r, err := s.Post(ctx, benchPost(1, true))
		turn = r.Turn
		return err
	})
	count("commit and take the lane", 1, func() (err error) { done, err = s.Commit(ctx, quickCommit(turn, claimer)); return err })
	count("settle", 1, func() error {
		_, err := s.Settle(ctx, sessions.Settlement{Delivery: done.Sends[0], State: sessions.DeliverySent, Next: true}, *claimer)
		return err
	})
	count("the first message of a chat", 1, func() error { _, err := s.Post(ctx, benchPost(2, true)); return err })
}

func quickCommit(turn *sessions.Turn, send *sessions.Claimer) sessions.CommitRequest {
	return sessions.CommitRequest{
		Lease: turn.Lease, Outcome: sessions.Done, Send: send,
		Entries:    []sessions.NewEntry{{Type: sessions.EntryMessage, Payload: []byte(`{"role":"assistant","text":"yes"}`)}},
		Deliveries: []sessions.NewDelivery{{Surface: storetest.SurfaceOf(turn), Payload: []byte(`{"text":"yes"}`)}},
	}
}

// A write whose answer is lost has an unknown outcome: it is reported, never sent
// again, and a repetition with the same key is a duplicate.
func TestALostAnswerIsNotSentTwice(t *testing.T) {
	t.Parallel()
	s, p := proxied(t)
	first, err := s.Post(t.Context(), benchPost(1, false))
	if err != nil {
		t.Fatal(err)
	}
	request := benchPost(1, false)
	p.dropping.Store(1)
	if _, err := s.Post(t.Context(), request); !errors.Is(err, sessions.ErrUnavailable) {
		t.Fatalf("error %v", err)
	}
	again, err := s.Post(t.Context(), request)
	if err != nil || again.Outcome != sessions.PostDuplicate || again.Seq != first.Seq+1 {
		t.Fatalf("%+v, %v", again, err)
	}
	log, err := s.Range(t.Context(), first.Session, 1, 100)
	if err != nil || len(log) != 2 {
		t.Fatalf("%d entries, %v", len(log), err)
	}
}

// Scripts that a server has lost are loaded again, each call runs once.
func TestLostScriptsAreLoadedAgain(t *testing.T) {
	t.Parallel()
	s := openStore(t, privateConfig(t))
	const posts = 300
	var wg sync.WaitGroup
	for i := range posts {
		wg.Go(func() {
			if i%50 == 0 {
				if err := s.router.node(s.parts[0]).client.ScriptFlush(t.Context()).Err(); err != nil {
					t.Error(err)
				}
			}
			if _, err := s.Post(t.Context(), benchPost(1, false)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	record, err := s.Bound(t.Context(), "telegram:1:1")
	if err != nil || record.Seq != posts {
		t.Fatalf("%d entries, %v", record.Seq, err)
	}
}
