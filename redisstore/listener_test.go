package redisstore

import (
	"context"
	"testing"

	"parley/sessions"
)

// Who watches right after the last watcher has left is heard: the two wishes
// do not cancel each other out.
func TestWatchersThatComeAndGo(t *testing.T) {
	t.Parallel()
	s, _ := hurtStore(t)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	posted, err := s.Post(ctx, benchPost(1, false))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		watching, leave := context.WithCancel(ctx)
		events, err := s.Watch(watching, posted.Session)
		if err != nil {
			t.Fatalf("watcher %d: %v", i, err)
		}
		if i%10 == 0 {
			if _, err := s.Post(ctx, benchPost(1, false)); err != nil {
				t.Fatal(err)
			}
			expect(t, ctx, events, func(e sessions.LiveEvent) bool { return e.Kind == sessions.LiveEntries })
		}
		leave()
		for range events { // until it has left
			continue
		}
	}
}
