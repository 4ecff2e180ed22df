package discord

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"parley/adapters"
	"parley/internal/pause"
	"parley/internal/secret"
)

// TestWatermark: whatever the order in which events are taken, the position is
// the last one before which nothing is missing.
func TestWatermark(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		moves := 0
		w := newWatermark(10, func() { moves++ })
		var received []int64
		taken := map[int64]bool{}
		last := int64(10)
		t.Repeat(map[string]func(*rapid.T){
			"receive": func(t *rapid.T) {
				last += rapid.Int64Range(1, 3).Draw(t, "step")
				if !w.receive(last) || w.receive(last) {
					t.Fatal("a number is new once")
				}
				received = append(received, last)
			},
			"take": func(t *rapid.T) {
				if len(received) == 0 {
					t.Skip()
				}
				seq := rapid.SampledFrom(received).Draw(t, "seq")
				w.taken(seq)
				taken[seq] = true
			},
			"": func(t *rapid.T) {
				want, open := int64(10), 0
				for i, seq := range received {
					if !taken[seq] {
						open = len(received) - i
						break
					}
					want = seq
				}
				got, durable := w.position()
				waiting, _ := w.waiting()
				if durable != want || got != last || waiting != open {
					t.Fatalf("durable %d, want %d; received %d; %d wait, want %d", durable, want, got, waiting, open)
				}
			},
		})
	})
}

// recording is a lock that counts what is saved.
type recording struct {
	*soleLock
	mu    sync.Mutex
	saves []string
	fail  bool
}

func (r *recording) failing(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = on
}

func (r *recording) Save(ctx context.Context, data string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail {
		return errors.New("the store is away")
	}
	r.saves = append(r.saves, data)
	return r.soleLock.Save(ctx, data)
}

// TestKeeper: a session is stored at once, its position at most every 250 ms
// or after 100 moves, again after a failure, and a last time at the end; only
// what is stored is confirmed.
func TestKeeper(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		lock := &recording{soleLock: newSoleLock(t.Context())}
		defer lock.Unlock()
		k := newKeeper(lock, newTestAdapter(t).log, defaultTiming(), 1)
		s := &session{ID: "ses", ResumeURL: "wss://gateway.example", marks: newWatermark(1, k.moved)}
		var done sync.WaitGroup
		done.Go(func() { k.run(ctx) })
		k.keep(s)
		move := func(n int) {
			for range n {
				seq, _ := s.marks.position()
				s.marks.receive(seq + 1)
				s.marks.taken(seq + 1)
			}
			synctest.Wait()
		}
		expect := func(saves int, position string) {
			t.Helper()
			lock.mu.Lock()
			defer lock.mu.Unlock()
			if len(lock.saves) != saves || !strings.Contains(lock.saves[saves-1], `"sequence":`+position+`,`) || strconv.FormatInt(k.position(), 10) != position {
				t.Fatalf("saved %v, want %d with %s; %d is confirmed", lock.saves, saves, position, k.position())
			}
		}
		synctest.Wait()
		expect(1, "1")
		move(5)
		expect(1, "1")
		pause.For(t.Context(), 250*time.Millisecond)
		synctest.Wait()
		expect(2, "6")
		move(flushMoves)
		expect(3, "106")
		lock.failing(true)
		move(1)
		pause.For(t.Context(), time.Second)
		expect(3, "106")
		lock.failing(false)
		pause.For(t.Context(), 250*time.Millisecond)
		synctest.Wait()
		expect(4, "107")
		move(1)
		cancel()
		done.Wait()
		expect(5, "108")
		if again := loadSession(lock.Data(), 1, nil); again == nil || again.ID != "ses" {
			t.Errorf("what was stored reads as %+v", again)
		}
	})
}

func TestLoadSession(t *testing.T) {
	t.Parallel()
	const good = `{"session_id":"s","resume_gateway_url":"wss://x.example","sequence":4,"shards":2}`
	if s := loadSession(good, 2, nil); s == nil {
		t.Error("a good one is refused")
	}
	for _, bad := range []string{
		"", "{", "null", strings.Replace(good, `"s"`, `""`, 1), strings.Replace(good, ":4", ":0", 1), strings.Replace(good, "wss", "https", 1), strings.Replace(good, ":2", ":1", 1),
	} {
		if loadSession(bad, 2, nil) != nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func newTestAdapter(t *testing.T) *Adapter {
	t.Helper()
	a, err := New(Config{Token: secret.New("token"), APIURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestSeal(t *testing.T) {
	t.Parallel()
	ours, other := newSealer(secret.New("one")), newSealer(secret.New("two"))
	reference := ours.seal("123", "the token of the interaction")
	if strings.Contains(reference, "the token") || reference != ours.seal("123", "the token of the interaction") {
		t.Errorf("%q", reference)
	}
	if id, token, ok := ours.open(reference); !ok || id != "123" || token != "the token of the interaction" {
		t.Errorf("%q, %q, %v", id, token, ok)
	}
	if len(ours.seal("1234567890123456789", strings.Repeat("x", 250))) > 512 {
		t.Error("longer than a message id may be")
	}
	for _, bad := range []string{"", "i:", "i:123", "123", strings.Replace(reference, "i:123", "i:124", 1), reference + "A", other.seal("123", "x"), "i:1:" + strings.Repeat("A", 5000)} {
		if _, _, ok := ours.open(bad); ok {
			t.Errorf("%q is opened", bad)
		}
	}
}

func TestAnswerable(t *testing.T) {
	t.Parallel()
	const id = "1573538255092056064"
	began := timeOf(id)
	if !answerable(id, began.Add(14*time.Minute)) || answerable(id, began.Add(15*time.Minute)) || answerable("x", began) {
		t.Error("an interaction can be answered for 15 minutes")
	}
}

// TestGate: shards of one group identify one after the other.
func TestGate(t *testing.T) {
	t.Parallel()
	var g gate
	now := time.Unix(1000, 0)
	for i, want := range []time.Duration{0, 0, 5 * time.Second, 5 * time.Second, 10 * time.Second} {
		if got := g.reserve(i, 2, 5*time.Second, now); got != want {
			t.Errorf("shard %d waits %s, want %s", i, got, want)
		}
	}
}

func TestHealthIsTheWorst(t *testing.T) {
	t.Parallel()
	var h health
	h.set(adapterPart, adapters.Connecting, "")
	h.set(0, adapters.Hearing, "")
	h.set(1, adapters.Waiting, "")
	if got := h.overall(); got.State != adapters.Hearing || !got.OK() {
		t.Errorf("%+v", got)
	}
	h.set(2, adapters.Deaf, "why")
	if got := h.overall(); got.State != adapters.Deaf || got.Problem != "why" {
		t.Errorf("%+v", got)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]Config{
		"no token":    {},
		"white space": {Token: secret.New("Bot abc")},
		"bad address": {Token: secret.New("abc"), APIURL: "discord.com"},
	} {
		if _, err := New(config); err == nil || strings.Contains(err.Error(), "abc") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
