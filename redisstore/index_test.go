package redisstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"parley/sessions"
)

// Whatever is done to sessions, each stands in exactly the indexes that its
// record asks for, with its activity, and nothing else stands in any.
func TestIndexesFollowTheRecords(t *testing.T) {
	t.Parallel()
	config := testConfig(t)
	var ahead atomic.Int64 // read by the store's own goroutines too
	config.Offset = func() time.Duration { return time.Duration(ahead.Load()) }
	s := openStore(t, config)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test
	for range 400 {
		ahead.Add(int64(random.IntN(1000)) * int64(time.Millisecond))
		disturb(t, s, random)
	}
	for _, p := range s.parts { // what a merge leaves to be done is done
		if err := s.work(t.Context(), p, "merge/telegram:1"); err != nil {
			t.Fatal(err)
		}
	}
	client := shared.Client()
	defer client.Close()
	want, got := indexesOfRecords(t, s, client), storedIndexes(t, s, client)
	for member, activity := range want {
		if at, ok := got[member]; !ok || at != activity {
			t.Errorf("%s stands at %v (%v), want %v", member, at, ok, activity)
		}
		delete(got, member)
	}
	for member := range got {
		t.Errorf("%s stands in an index and should not", member)
	}
}

// disturb does something to some session. What is refused does not matter.
func disturb(t *testing.T, s *Store, random *rand.Rand) {
	t.Helper()
	ctx := t.Context()
	surface := fmt.Sprintf("telegram:1:%d", random.IntN(12))
	user := fmt.Sprintf("telegram:%d", random.IntN(4))
	kinds := []sessions.Type{sessions.Direct, sessions.Direct, sessions.Group, ""}
	fresh := sessions.NewSession{Surface: surface, UserID: user, Source: sessions.Source{Type: kinds[random.IntN(4)]}}
	if random.IntN(2) == 0 {
		fresh.WorkspaceID = fmt.Sprintf("T%d", random.IntN(2))
	}
	if random.IntN(4) == 0 {
		fresh.UserID = ""
	}
	id := fmt.Sprintf("api:%d", random.IntN(6))
	if record, err := s.Bound(ctx, surface); err == nil && random.IntN(2) == 0 {
		id = record.ID
	}
	var err error
	switch random.IntN(12) {
	case 0, 1, 2:
		_, err = s.Post(ctx, sessions.PostRequest{Surface: surface, UserID: user, New: fresh, Message: sessions.Message{Role: sessions.RoleUser, Text: "x"}})
	case 3:
		fresh.ID, fresh.Surface = id, ""
		_, _, err = s.Open(ctx, fresh)
	case 4:
		_, err = s.Rotate(ctx, sessions.RotateRequest{New: fresh})
	case 5:
		_, err = s.Touch(ctx, id)
	case 6:
		_, err = s.Expire(ctx, id)
	case 7:
		err = s.Delete(ctx, id)
	case 8:
		_, _, err = s.Attach(ctx, sessions.AttachRequest{Session: id, Surface: surface, Revive: random.IntN(2) == 0})
	case 9:
		rules := []sessions.SweepRule{sessions.SweepSuspend, sessions.SweepExpire, sessions.SweepDelete}
		_, err = s.Sweep(ctx, sessions.SweepRequest{Rule: rules[random.IntN(3)], Age: 20 * time.Second, Limit: 3})
	case 10:
		at := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
		record := sessions.Record{ID: id, State: sessions.StateActive, UserID: user, Participants: []string{"telegram:9", "telegram:1"}[:random.IntN(3)], CreatedAt: at, LastActivityAt: at}
		_, err = s.Import(ctx, record, func(func(sessions.Entry, error) bool) {})
	default:
		if code, offerErr := s.OfferLink(ctx, "telegram:2"); offerErr == nil && random.IntN(8) == 0 {
			_, _, err = s.TakeLink(ctx, code, "telegram:1")
		}
	}
	if err != nil && ctx.Err() != nil {
		t.Fatal(err)
	}
}

func indexesOfRecords(t *testing.T, s *Store, client *redis.Client) map[string]float64 {
	t.Helper()
	want := map[string]float64{}
	eachKey(t, s, client, "s", func(p partition, id, _ string) {
		r, err := s.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		state, kind, at := string(r.State[0]), "d", float64(r.LastActivityAt.UnixMilli())
		if r.Source.Type == sessions.Group {
			kind = "g"
		}
		want[p.base+":i:"+state+kind+" "+id] = at
		if r.UserID != "" {
			want[p.base+":iu:"+state+":"+r.UserID+" "+id] = at
		}
		if r.WorkspaceID != "" {
			want[p.base+":iw:"+state+kind+":"+r.WorkspaceID+" "+id] = at
		}
		for _, user := range r.Participants {
			if user != r.UserID {
				want[p.key("ip", user)+" "+id] = 0
			}
		}
	})
	return want
}

func storedIndexes(t *testing.T, s *Store, client *redis.Client) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	for _, kind := range []string{"i", "iu", "iw"} {
		eachKey(t, s, client, kind, func(_ partition, _, key string) {
			for _, z := range client.ZRangeWithScores(t.Context(), key, 0, -1).Val() {
				got[key+" "+z.Member.(string)] = z.Score
			}
		})
	}
	eachKey(t, s, client, "ip", func(_ partition, _, key string) {
		for _, member := range client.SMembers(t.Context(), key).Val() {
			got[key+" "+member] = 0
		}
	})
	return got
}

// eachKey calls do with each key of a kind and its name.
func eachKey(t *testing.T, s *Store, client *redis.Client, kind string, do func(p partition, name, key string)) {
	t.Helper()
	for _, p := range s.parts {
		keys := client.Scan(context.Background(), 0, p.base+":"+kind+":*", 10000).Iterator()
		for keys.Next(context.Background()) {
			do(p, strings.TrimPrefix(keys.Val(), p.base+":"+kind+":"), keys.Val())
		}
		if err := keys.Err(); err != nil {
			t.Fatal(err)
		}
	}
}
