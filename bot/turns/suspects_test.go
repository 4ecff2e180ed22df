package turns

import (
	"testing"
	"time"
)

func TestSuspectsStandApartForAWhile(t *testing.T) {
	t.Parallel()
	s, now := newSuspects(), time.Unix(1000, 0)
	if !s.enter("one", now) || s.enter("two", now) {
		t.Fatal("two last attempts at once")
	}
	if !s.waits("two", now) || s.waits("two", now.Add(suspectPause)) || s.waits("one", now) {
		t.Error("who was handed back waits, for suspectPause, and nobody else")
	}
	if !s.enter("two", now.Add(keepOutFor)) {
		t.Error("a slow last attempt holds others up")
	}
	s.leave("one")
	if s.enter("three", now.Add(keepOutFor)) {
		t.Error("who was overtaken ended another's attempt")
	}
	s.leave("two")
	if !s.enter("three", now.Add(keepOutFor)) || len(s.later) > 1 {
		t.Error("nobody is at a last attempt, but it may not begin")
	}
}
