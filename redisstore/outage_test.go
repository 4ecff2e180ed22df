package redisstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"parley/internal/secret"
	"parley/sessions"
	"parley/test/redistest"
)

// privateConfig is a store on a server of its own, for tests that hurt it.
func privateConfig(t *testing.T, settings ...string) Config {
	t.Helper()
	server := redistest.Start(t, settings...)
	return Config{URL: secret.New(server.URL()), Prefix: freshPrefix()}
}

func hurtStore(t *testing.T) (*Store, *redistest.Server) {
	t.Helper()
	server := redistest.Start(t, "--appendfsync", "always")
	return openStore(t, Config{URL: secret.New(server.URL()), Prefix: freshPrefix()}), server
}

// A server that was killed and comes back: calls fail while it is away, and
// everything goes on by itself, subscriptions with a gap.
func TestOutageHealsByItself(t *testing.T) {
	t.Parallel()
	s, server := hurtStore(t)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	posted, err := s.Post(ctx, benchPost(1, false))
	if err != nil {
		t.Fatal(err)
	}
	events, err := s.Watch(ctx, posted.Session)
	if err != nil {
		t.Fatal(err)
	}
	wakes, err := s.Wakes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if _, err := s.Post(ctx, benchPost(1, false)); !errors.Is(err, sessions.ErrUnavailable) {
		t.Fatalf("while it is away: %v", err)
	}
	if err := s.Ping(ctx); !errors.Is(err, sessions.ErrUnavailable) {
		t.Fatalf("ping while it is away: %v", err)
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	expect(t, ctx, events, func(e sessions.LiveEvent) bool { return e.Kind == sessions.LiveGap })
	again, err := s.Post(ctx, benchPost(1, false))
	if err != nil || again.Seq != posted.Seq+1 {
		t.Fatalf("after it: %+v, %v", again, err)
	}
	expect(t, ctx, events, func(e sessions.LiveEvent) bool { return e.Kind == sessions.LiveEntries && e.Seq == again.Seq })
	// The wake-ups of the partitions come back, each at its own moment.
	for chat := 2; ; chat++ {
		request := benchPost(chat, true)
		request.Claim = nil
		if _, err := s.Post(ctx, request); err != nil {
			t.Fatal(err)
		}
		select {
		case w := <-wakes:
			if w.Kind != sessions.WorkTurn {
				t.Fatalf("woken by %+v", w)
			}
			return
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("no wake-up after the outage")
		}
	}
}

func expect[T any](t *testing.T, ctx context.Context, events <-chan T, want func(T) bool) { //nolint:revive // t first
	t.Helper()
	for {
		select {
		case e := <-events:
			if want(e) {
				return
			}
		case <-ctx.Done():
			t.Error("the event did not come")
			return
		}
	}
}

// A server that keeps its connections and answers nothing: calls end within
// their bound, and work again when it goes on.
func TestFrozenServer(t *testing.T) {
	t.Parallel()
	s, server := hurtStore(t)
	if _, err := s.Post(t.Context(), benchPost(1, false)); err != nil {
		t.Fatal(err)
	}
	server.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if _, err := s.Post(ctx, benchPost(1, false)); !errors.Is(err, sessions.ErrUnavailable) || ctx.Err() != nil {
		t.Fatalf("error %v, of the caller %v", err, ctx.Err())
	}
	server.Resume()
	if _, err := s.Post(t.Context(), benchPost(1, false)); err != nil {
		t.Fatal(err)
	}
}

// A caller that gives up neither waits nor takes the others' answers along.
func TestOneCallersCancelHurtsNobody(t *testing.T) {
	t.Parallel()
	s, server := hurtStore(t)
	if _, err := s.Post(t.Context(), benchPost(1, false)); err != nil {
		t.Fatal(err)
	}
	server.Pause()
	others := make(chan error, 20)
	for range cap(others) {
		go func() {
			_, err := s.Post(t.Context(), benchPost(1, false))
			others <- err
		}()
	}
	ctx, cancel := context.WithCancel(t.Context())
	given := make(chan error, 1)
	go func() {
		_, err := s.Post(ctx, benchPost(1, false))
		given <- err
	}()
	cancel()
	if err := <-given; !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	server.Resume()
	for range cap(others) {
		if err := <-others; err != nil {
			t.Fatal(err)
		}
	}
}

func TestOpenRefusesAnotherLayout(t *testing.T) {
	t.Parallel()
	config := testConfig(t)
	openStore(t, config)
	config.Partitions = 32
	if s, err := Open(t.Context(), config); err == nil {
		s.Close()
		t.Fatal("another number of partitions is accepted")
	}
	config.Partitions = PartitionsMax + 1
	if _, err := Open(t.Context(), config); err == nil {
		t.Fatal("too many partitions are accepted")
	}
	config.Partitions, config.Prefix = 0, "a{b}"
	if _, err := Open(t.Context(), config); err == nil {
		t.Fatal("a prefix with braces is accepted")
	}
}

func TestDiagnoseNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	levels := func(settings ...string) map[string]int {
		s := openStore(t, privateConfig(t, settings...))
		counts := map[string]int{}
		for _, f := range s.Diagnose(t.Context()) {
			counts[f.Level]++
			if f.Level != LevelOK && f.Remedy == "" {
				t.Errorf("no remedy for %q", f.What)
			}
		}
		return counts
	}
	if got := levels("--appendfsync", "always"); got[LevelOK] != 6 || len(got) != 1 {
		t.Errorf("a good server: %v", got)
	}
	if got := levels("--appendfsync", "everysec", "--maxmemory-policy", "allkeys-lru", "--appendonly", "no"); got[LevelError] != 2 || got[LevelWarning] != 1 {
		t.Errorf("a bad server: %v", got)
	}
}
