package lanes_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/internal/lanes"
	"parley/internal/pause"
)

// Bounds of the lanes under test.
const (
	slots = 64
	tasks = 512
)

// TestLanes: of one key in order and one at a time; of others meanwhile.
func TestLanes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := lanes.New(t.Context(), 1, 0)
		var mu sync.Mutex
		var got []string
		for i := range 3 {
			for _, key := range []string{"a", "b"} {
				l.Add(key, func(ctx context.Context) {
					if key == "a" {
						pause.For(ctx, time.Minute)
					}
					mu.Lock()
					defer mu.Unlock()
					got = append(got, fmt.Sprint(key, i))
				})
			}
		}
		l.Wait()
		if want := []string{"b0", "b1", "b2", "a0", "a1", "a2"}; !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
	})
}

func TestLanesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		l := lanes.New(ctx, slots, tasks)
		var running, most, done atomic.Int32
		release := make(chan struct{})
		task := func(ctx context.Context) {
			l.Within(ctx, func() {
				most.Store(max(most.Load(), running.Add(1)))
				<-release
				running.Add(-1)
				done.Add(1)
			})
		}
		for i := range tasks {
			if !l.Add(strconv.Itoa(i%200), task) {
				t.Fatalf("task %d is not taken", i)
			}
		}
		if l.Add("one more", task) {
			t.Error("there is no bound")
		}
		synctest.Wait()
		if running.Load() != slots {
			t.Errorf("%d run at one time", running.Load())
		}
		close(release)
		synctest.Wait()
		if done.Load() != tasks || most.Load() > slots {
			t.Errorf("%d were done, at most %d at one time", done.Load(), most.Load())
		}
		if !l.Add("again", task) {
			t.Error("nothing is taken after that")
		}
		cancel()
		l.Wait()
		if l.Add("late", task) {
			t.Error("something is taken after the end")
		}
	})
}

// TestLanesSaySo: what did not get its turn before the end is told.
func TestLanesSaySo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		l := lanes.New(ctx, slots, tasks)
		var told []error
		for range 3 {
			l.Add("one", func(ctx context.Context) {
				<-ctx.Done()
				told = append(told, ctx.Err())
			})
		}
		synctest.Wait()
		cancel()
		l.Wait()
		if len(told) != 3 {
			t.Errorf("%d were told", len(told))
		}
	})
}
