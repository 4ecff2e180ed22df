package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"parley/internal/secret"
	"parley/sessions"
	"parley/sessions/storetest"
	"parley/test/redistest"
)

// movingStore is a store whose clock the test moves.
func movingStore(t *testing.T) (*Store, *storetest.Clock) {
	t.Helper()
	config, clock := testConfig(t), &storetest.Clock{}
	config.Offset = clock.Offset
	return openStore(t, config), clock
}

// dueUntil reads Due until something holds.
func dueUntil(t *testing.T, s *Store, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for !holds() {
		if _, err := s.Due(ctx, 10); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// farSurface is a surface at home in another partition than a session.
func farSurface(s *Store, session string) string {
	for i := 0; ; i++ {
		if on := fmt.Sprintf("slack:1:%d", i); s.ofSurface(on) != s.of(session) {
			return on
		}
	}
}

// Whoever attaches dies when the surface's home has the binding: posts follow
// it already, and a reader of Due brings the session its surface.
func TestAttachIsFinishedByDue(t *testing.T) {
	t.Parallel()
	s, clock := movingStore(t)
	ctx := t.Context()
	if _, _, err := s.Open(ctx, sessions.NewSession{ID: "api:s"}); err != nil {
		t.Fatal(err)
	}
	far := farSurface(s, "api:s")
	if code, _, err := s.answer(ctx, s.ofSurface(far), s.scripts.attach, far, "api:s", 0, 0, 1, newToken()); err != nil || code != "ok" {
		t.Fatal(code, err)
	}
	posted, err := s.Post(ctx, on(far, false))
	if err != nil || posted.Session != "api:s" {
		t.Fatalf("%+v, %v", posted, err)
	}
	clock.Advance(2 * time.Second)
	dueUntil(t, s, "the session has its surface", func() bool {
		r, err := s.Get(ctx, "api:s")
		return err == nil && slices.Equal(r.Surfaces, []string{far})
	})
}

// A session is deleted while a surface is on its way to it: the surface is free.
func TestAttachToWhatIsDeletedMeanwhileFreesTheSurface(t *testing.T) {
	t.Parallel()
	s, clock := movingStore(t)
	ctx := t.Context()
	if _, _, err := s.Open(ctx, sessions.NewSession{ID: "api:s"}); err != nil {
		t.Fatal(err)
	}
	far := farSurface(s, "api:s")
	if _, _, err := s.answer(ctx, s.ofSurface(far), s.scripts.attach, far, "api:s", 0, 0, 0, newToken()); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(ctx, "api:s"); err != nil {
		t.Fatal(err)
	}
	clock.Advance(2 * time.Second)
	key := s.ofSurface(far).key("b", far)
	dueUntil(t, s, "the binding is gone", func() bool {
		there, err := s.command(ctx, s.ofSurface(far), "exists", key)
		return err == nil && there == int64(0)
	})
	opened, created, err := s.Open(ctx, sessions.NewSession{Surface: far})
	if err != nil || !created || opened.ID == "api:s" {
		t.Fatalf("%+v, %v", opened, err)
	}
}

// Whoever links dies when the joining user has yielded: he belongs to the other
// one at once, and Due does the rest.
func TestLinkIsFinishedByDue(t *testing.T) {
	t.Parallel()
	s, clock := movingStore(t)
	ctx := t.Context()
	request := benchPost(1, false)
	request.UserID, request.New.UserID = "slack:U1", "slack:U1"
	posted, err := s.Post(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	code, err := s.OfferLink(ctx, "telegram:1")
	if err != nil {
		t.Fatal(err)
	}
	p, _ := s.ofID(code)
	if _, _, err := s.answer(ctx, p, s.scripts.userReserve, code, "slack:U1", 1); err != nil {
		t.Fatal(err)
	}
	if answer, _, err := s.answer(ctx, s.of("slack:U1"), s.scripts.userYield, "slack:U1", "telegram:1", newToken(), len(s.parts)); err != nil || answer != "ok" {
		t.Fatal(answer, err)
	}
	if user, err := s.Who(ctx, "slack:U1"); err != nil || user.ID != "telegram:1" || !user.Is("slack:U1") {
		t.Fatalf("%+v, %v", user, err)
	}
	for range 2 { // rounds of steps
		clock.Advance(2 * time.Second)
		dueUntil(t, s, "he is adopted", func() bool {
			user, err := s.Who(ctx, "telegram:1")
			return err == nil && len(user.Identities) == 2
		})
	}
	dueUntil(t, s, "the session is hers", func() bool {
		r, err := s.Get(ctx, posted.Session)
		return err == nil && r.UserID == "telegram:1" && slices.Equal(r.Participants, []string{"telegram:1"})
	})
}

// Of erased entries the payloads under keys of their own go too, however many:
// some at once, the rest when Due is read.
func TestLongPayloadsOfErasedEntriesGo(t *testing.T) {
	t.Parallel()
	s := openStore(t, testConfig(t))
	ctx := t.Context()
	posted, err := s.Post(ctx, benchPost(1, true))
	if err != nil {
		t.Fatal(err)
	}
	long := []byte(`{"role":"assistant","text":"` + strings.Repeat("x", blobMin) + `"}`)
	for range 25 {
		if _, err := s.Append(ctx, posted.Turn.Lease, slices.Repeat([]sessions.NewEntry{{Type: sessions.EntryMessage, Payload: long}}, 10)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Commit(ctx, sessions.CommitRequest{Lease: posted.Turn.Lease, Outcome: sessions.Done}); err != nil {
		t.Fatal(err)
	}
	client := shared.Client()
	defer client.Close()
	count := func(kind string) (n int) {
		eachKey(t, s, client, kind, func(partition, string, string) { n++ })
		return n
	}
	if count("e") != 250 {
		t.Fatalf("%d payloads", count("e"))
	}
	if _, err := s.Clear(ctx, posted.Session); err != nil {
		t.Fatal(err)
	}
	dueUntil(t, s, "all are gone", func() bool { return count("e")+count("eb")+count("jb") == 0 })
}

// What an import that died has staged lapses by itself.
func TestStagedEntriesLapse(t *testing.T) {
	t.Parallel()
	s := openStore(t, testConfig(t))
	ctx := t.Context()
	st := stage{store: s, partition: s.of("api:s"), name: "half"}
	if err := st.add(ctx, sessions.Entry{Seq: 1, Type: sessions.EntryMessage, Payload: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	if err := st.flush(ctx); err != nil {
		t.Fatal(err)
	}
	left, err := s.command(ctx, st.partition, "pttl", st.partition.key("il", "half"))
	if err != nil || left.(int64) <= 0 || left.(int64) > stageFor.Milliseconds() {
		t.Fatalf("it lapses in %v ms, %v", left, err)
	}
}

// While one of three nodes is away, what is due on the others is listed.
// Leases are renewed one by one: a node that is away takes its own turns only.
func TestRenewWhileANodeIsAway(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3, "--cluster-require-full-coverage", "no")
	s := openStore(t, Config{URL: secret.New(c.URL()), Prefix: freshPrefix()})
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var leases []sessions.Lease
	for chat := range 30 {
		posted, err := s.Post(ctx, benchPost(chat, true))
		if err != nil {
			t.Fatal(err)
		}
		leases = append(leases, posted.Turn.Lease)
	}
	renew := func() (held, unknown int, err error) {
		call, end := context.WithTimeout(ctx, sessions.RenewEvery)
		defer end()
		results, err := s.Renew(call, leases, sessions.LeaseFor)
		for _, r := range results {
			if r.Held {
				held++
			}
			if r.Unknown {
				unknown++
			}
		}
		return held, unknown, err
	}
	c.Masters[0].Pause()
	defer c.Masters[0].Resume()
	held, unknown, err := renew()
	if err != nil || held == 0 || unknown == 0 || held+unknown != len(leases) {
		t.Fatalf("%d held, %d unknown, %v", held, unknown, err)
	}
	for _, master := range c.Masters[1:] {
		master.Pause()
		defer master.Resume()
	}
	if _, _, err := renew(); !errors.Is(err, sessions.ErrUnavailable) {
		t.Fatalf("no node answers: %v", err)
	}
}

func TestDueWhileANodeIsAway(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3, "--cluster-require-full-coverage", "no")
	s := openStore(t, Config{URL: secret.New(c.URL()), Prefix: freshPrefix()})
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	const chats = 30
	for chat := range chats {
		request := benchPost(chat, true)
		request.Claim = nil
		if _, err := s.Post(ctx, request); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Due(ctx, 100)
	if err != nil || len(all) != chats {
		t.Fatalf("%d items, %v", len(all), err)
	}
	c.Masters[0].Pause()
	defer c.Masters[0].Resume()
	some, err := s.Due(ctx, 100)
	if err != nil || len(some) == 0 || len(some) >= chats {
		t.Fatalf("while a node is away: %d items, %v", len(some), err)
	}
	c.Masters[1].Pause()
	defer c.Masters[1].Resume()
	c.Masters[2].Pause()
	defer c.Masters[2].Resume()
	if _, err := s.Due(ctx, 100); err == nil {
		t.Fatal("no node answers, and that is no error")
	}
}

// What a newer version beside this one put into the due set is left to it, and
// hides nothing.
func TestWorkOfAnUnknownKindIsLeftAlone(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := openStore(t, Config{URL: secret.New(server.URL()), Prefix: freshPrefix()})
	request := benchPost(1, true)
	request.Claim = nil
	if _, err := s.Post(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	client := server.Client()
	defer client.Close()
	due := s.parts[s.of(request.Surface).index].base + ":due"
	if err := client.ZAdd(t.Context(), due, redis.Z{Score: 1, Member: "flow:of-a-newer-version"}).Err(); err != nil {
		t.Fatal(err)
	}
	items, err := s.Due(t.Context(), 10)
	if err != nil || len(items) != 1 || items[0].Kind != sessions.WorkTurn {
		t.Fatalf("%+v, %v", items, err)
	}
	if score, err := client.ZScore(t.Context(), due, "flow:of-a-newer-version").Result(); err != nil || score != 1 {
		t.Fatalf("what is not known was moved to %v: %v", score, err)
	}
}
