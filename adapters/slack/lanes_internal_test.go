package slack

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestLanesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		l := newLanes(ctx)
		var running, most, done atomic.Int32
		release := make(chan struct{})
		task := func(ctx context.Context) {
			l.within(ctx, func() {
				most.Store(max(most.Load(), running.Add(1)))
				<-release
				running.Add(-1)
				done.Add(1)
			})
		}
		for i := range waitingMax {
			if !l.add(strconv.Itoa(i%200), task) {
				t.Fatalf("task %d is not taken", i)
			}
		}
		if l.add("one more", task) {
			t.Error("there is no bound")
		}
		synctest.Wait()
		if running.Load() != sinksMax {
			t.Errorf("%d run at one time", running.Load())
		}
		close(release)
		synctest.Wait()
		if done.Load() != waitingMax || most.Load() > sinksMax {
			t.Errorf("%d were done, at most %d at one time", done.Load(), most.Load())
		}
		if !l.add("again", task) {
			t.Error("nothing is taken after that")
		}
		cancel()
		l.wait()
		if l.add("late", task) {
			t.Error("something is taken after the end")
		}
	})
}

// TestLanesSaySo: what did not get its turn before the end is told.
func TestLanesSaySo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		l := newLanes(ctx)
		var told []error
		for range 3 {
			l.add("one", func(ctx context.Context) {
				<-ctx.Done()
				told = append(told, ctx.Err())
			})
		}
		synctest.Wait()
		cancel()
		l.wait()
		if len(told) != 3 {
			t.Errorf("%d were told", len(told))
		}
	})
}

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
		pause(context.Background(), time.Second)
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
