package archive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"parley/sessions"
	"parley/sessions/archive"
	"parley/sessions/logtest"
)

// crate is an archive in memory. It takes each item once.
type crate struct {
	items []sessions.Item
	left  int // Restore fails when this many steps were taken; 0: never
}

func (c *crate) Dump(_ context.Context, cursor string, limit int) ([]sessions.Item, string, error) {
	from, _ := strconv.Atoi(cursor)
	to := min(from+limit, len(c.items))
	next := ""
	if to < len(c.items) {
		next = strconv.Itoa(to)
	}
	return slices.Clone(c.items[from:to]), next, nil
}

func (c *crate) Restore(_ context.Context, items []sessions.Item) error {
	if c.left--; c.left == 0 {
		return errKilled
	}
	for _, item := range items {
		if !slices.ContainsFunc(c.items, func(i sessions.Item) bool { return i.Kind == item.Kind && string(i.Body) == string(item.Body) }) {
			c.items = append(c.items, item)
		}
	}
	return nil
}

var errKilled = errors.New("killed")

func filled(n int) *crate {
	c := &crate{}
	for i := range n {
		kind := []sessions.ItemKind{archive.ItemChat, archive.ItemLock, archive.ItemEntry}[i%3]
		c.items = append(c.items, sessions.Item{Kind: kind, Body: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))})
	}
	return c
}

func measured(t *testing.T, from sessions.Archive, options archive.CopyOptions) archive.Tally {
	t.Helper()
	tally, err := archive.Measure(t.Context(), from, logtest.Day(), options)
	if err != nil {
		t.Fatal(err)
	}
	return tally
}

func TestCopyGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	from, to, cursor := filled(1000), &crate{left: 6}, ""
	options := archive.CopyOptions{Batch: 100, Step: func(_ int64, next string) error { cursor = next; return nil }}
	if err := archive.Copy(t.Context(), from, to, options); !errors.Is(err, errKilled) || cursor != "500" {
		t.Fatalf("%v at %s", err, cursor)
	}
	if err := measured(t, from, options).Same(measured(t, to, archive.CopyOptions{})); err == nil {
		t.Error("half a copy is said to be the same")
	}
	options.Cursor = "400" // further back than it got
	if err := archive.Copy(t.Context(), from, to, options); err != nil || cursor != "" {
		t.Fatalf("%v at %s", err, cursor)
	}
	slices.Reverse(to.items) // the checksum does not mind
	tally := measured(t, to, archive.CopyOptions{})
	if err := measured(t, from, archive.CopyOptions{}).Same(tally); err != nil || tally.Items() != 1000 || tally[archive.ItemChat].Items != 334 {
		t.Errorf("%v, %v", err, tally)
	}
}

func TestMeasureFindsEveryDifference(t *testing.T) {
	t.Parallel()
	whole := measured(t, filled(100), archive.CopyOptions{})
	other, less, more := filled(100), filled(99), filled(101)
	other.items[7].Body = json.RawMessage(`{"n":8}`)
	moved := filled(100)
	moved.items[7].Kind = archive.ItemChat
	for name, c := range map[string]*crate{"another": other, "less": less, "more": more, "of another kind": moved, "empty": {}} {
		difference, ok := errors.AsType[*archive.DifferenceError](whole.Same(measured(t, c, archive.CopyOptions{})))
		if !ok || difference.Error() == "" {
			t.Errorf("%s: %v", name, difference)
		}
	}
	// Two that are swapped for each other's double would cancel out in an
	// exclusive or.
	twice := &crate{items: []sessions.Item{whole0(), whole0()}}
	if err := measured(t, twice, archive.CopyOptions{}).Same(measured(t, &crate{}, archive.CopyOptions{})); err == nil {
		t.Error("the same item twice is nothing")
	}
}

func whole0() sessions.Item { return filled(1).items[0] }

func TestCopyLeavesOutWhatItIsToldTo(t *testing.T) {
	t.Parallel()
	from, to := filled(90), &crate{}
	leave := func(item sessions.Item) bool { return item.Kind == archive.ItemLock }
	if err := archive.Copy(t.Context(), from, to, archive.CopyOptions{Leave: leave}); err != nil || len(to.items) != 60 {
		t.Errorf("%d, %v", len(to.items), err)
	}
	if err := measured(t, from, archive.CopyOptions{Leave: leave}).Same(measured(t, to, archive.CopyOptions{})); err != nil {
		t.Error(err)
	}
}

func TestMeasureLeavesOutKeysThatRunOut(t *testing.T) {
	t.Parallel()
	key := func(until time.Time) sessions.Item {
		body, err := json.Marshal(archive.KeyItem{Home: "h", Key: "k", Until: until})
		if err != nil {
			t.Fatal(err)
		}
		return sessions.Item{Kind: archive.ItemKey, Body: body}
	}
	c := &crate{items: []sessions.Item{key(logtest.Day()), key(logtest.Day().Add(time.Second))}}
	if tally := measured(t, c, archive.CopyOptions{}); tally.Items() != 1 {
		t.Errorf("%v", tally)
	}
}

func TestMeasureLeavesOutLocksThatRunOut(t *testing.T) {
	t.Parallel()
	lock := func(expires time.Time) sessions.Item {
		body, err := json.Marshal(archive.LockItem{Name: "l", Data: "text", Expires: expires})
		if err != nil {
			t.Fatal(err)
		}
		return sessions.Item{Kind: archive.ItemLock, Body: body}
	}
	c := &crate{items: []sessions.Item{lock(logtest.Day()), lock(logtest.Day().Add(time.Second)), lock(time.Time{})}}
	if tally := measured(t, c, archive.CopyOptions{}); tally.Items() != 2 {
		t.Errorf("%v", tally)
	}
}

func TestCopyEndsWhenItIsTold(t *testing.T) {
	t.Parallel()
	err := archive.Copy(t.Context(), filled(10), &crate{}, archive.CopyOptions{Batch: 3, Step: func(int64, string) error { return errKilled }})
	if !errors.Is(err, errKilled) {
		t.Errorf("%v", err)
	}
}
