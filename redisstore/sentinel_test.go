package redisstore

import (
	"context"
	"errors"
	"testing"

	"parley/internal/secret"
	"parley/sessions"
	"parley/test/redistest"
)

// The master behind a Sentinel dies and its replica takes over: work resumes by
// itself on the same store. In safe mode that is when the new master has a
// replica as well; what was tried meanwhile is there once.
func TestSentinelFailover(t *testing.T) {
	t.Parallel()
	behind := redistest.StartSentinel(t, "--appendfsync", "no")
	s := openStore(t, Config{URL: secret.New(behind.URL() + "?replicas=1"), Prefix: freshPrefix()})
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	first, err := s.Post(ctx, benchPost(1, false))
	if err != nil {
		t.Fatal(err)
	}
	events, err := s.Watch(ctx, first.Session)
	if err != nil {
		t.Fatal(err)
	}
	if err := behind.FailOver(ctx); err != nil {
		t.Fatal(err)
	}
	request := benchPost(1, false)
	posted := func(enough func(error) bool) (result sessions.PostResult) {
		t.Helper()
		for {
			result, err := s.Post(ctx, request)
			if enough(err) {
				return result
			}
			if !errors.Is(err, sessions.ErrUnavailable) {
				t.Fatalf("not temporary: %v", err)
			}
		}
	}
	posted(func(err error) bool { // by the new master, which has no replica
		var short *ReplicasError
		return errors.As(err, &short) && short.Cause == nil
	})
	if err := behind.ComeBack(ctx); err != nil {
		t.Fatal(err)
	}
	again := posted(func(err error) bool { return err == nil })
	if again.Session != first.Session || again.Seq != first.Seq+1 {
		t.Fatalf("%+v after %+v", again, first)
	}
	log, err := s.Range(ctx, first.Session, 1, 100)
	if err != nil || len(log) != 2 {
		t.Fatalf("%d entries, %v", len(log), err)
	}
	expect(t, ctx, events, func(e sessions.LiveEvent) bool { return e.Kind == sessions.LiveGap })
}
