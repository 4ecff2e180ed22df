package slack

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"parley/internal/pause"
)

func TestWaiting(t *testing.T) {
	t.Parallel()
	var w waiting
	var told []error
	done := func(err error) { told = append(told, err) }
	if !w.join("a", done) || w.join("a", done) || !w.join("b", done) {
		t.Error("who is first is not seen")
	}
	problem := errors.New("x")
	w.finish("a", problem)
	if len(told) != 2 || !errors.Is(told[0], problem) {
		t.Errorf("told %v", told)
	}
	for range 3 * joinMax {
		w.join("b", done)
	}
	told = nil
	w.finish("b", nil)
	if len(told) != joinMax {
		t.Errorf("%d were told", len(told))
	}
	if !w.join("a", done) {
		t.Error("what is finished is still known")
	}
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	now := time.Unix(0, 0)
	asked := 0
	var failure error
	d := newDirectory(func(_ context.Context, id string) (string, error) {
		asked++
		return fmt.Sprint(id, " ", asked), failure
	}, nil, func() time.Time { return now })
	ask := func(want string, wantAsked int) {
		t.Helper()
		if got := d.users.get(ctx, "U1"); got != want || asked != wantAsked {
			t.Errorf("got %q after %d questions, want %q after %d", got, asked, want, wantAsked)
		}
	}
	ask("U1 1", 1)
	ask("U1 1", 1)
	now = now.Add(nameAge)
	failure = errors.New("away")
	ask("U1 1", 2) // an old name is better than none
	ask("U1 1", 2)
	now = now.Add(failureAge)
	failure = nil
	ask("U1 3", 3)
	for i := range 3 * directoryMax {
		d.users.get(ctx, strconv.Itoa(i))
	}
	if n := len(d.users.entries); n > directoryMax {
		t.Errorf("%d names are remembered", n)
	}
}

func TestSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slots{waits: time.Second}
		if s.claim(1) != 0 {
			t.Error("the first slot has to be waited for")
		}
		if wait := s.claim(0); wait != time.Second {
			t.Errorf("the second one at once: wait %s", wait)
		}
		pause.For(context.Background(), time.Second)
		if s.claim(0) > 0 {
			t.Error("the second one is not had after a while")
		}
		s.leave(1)
		s.leave(0)
		if s.claim(0) != 0 {
			t.Error("what was left is not free")
		}
	})
}
