package drafts_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/drafts"
	"parley/sessions"
)

// recorder is as much of a store as drafts need.
type recorder struct {
	sessions.Store
	published []sessions.LiveEvent
}

func (r *recorder) Publish(_ context.Context, event sessions.LiveEvent) error {
	r.published = append(r.published, event)
	return nil
}

func (*recorder) Append(context.Context, sessions.Lease, []sessions.NewEntry) ([]sessions.Entry, error) {
	return nil, nil
}

func (*recorder) Commit(context.Context, sessions.CommitRequest) (sessions.CommitResult, error) {
	return sessions.CommitResult{}, nil
}

func piece(session string, epoch int64, offset int, text string) sessions.LiveEvent {
	return sessions.LiveEvent{Session: session, Kind: sessions.LiveDraft, Epoch: epoch, Offset: offset, Text: text}
}

func TestWhatWasWrittenSoFar(t *testing.T) {
	t.Parallel()
	s := drafts.Over(&recorder{}, 0)
	publish := func(event sessions.LiveEvent) { _ = s.Publish(t.Context(), event) }
	sees := func(want string) {
		t.Helper()
		if got, ok := s.SoFar("a"); ok != (want != "") || got.Text != want || got.Offset != 0 {
			t.Errorf("%+v %t, want %q", got, ok, want)
		}
	}
	sees("")
	publish(piece("a", 1, 0, "hello "))
	publish(piece("a", 1, 6, "world"))
	publish(piece("b", 1, 0, "else"))
	sees("hello world")
	publish(piece("a", 1, 0, "again")) // the model was asked once more
	sees("again")
	_, _ = s.Append(t.Context(), sessions.Lease{Session: "a", Epoch: 1}, nil)
	sees("")
	publish(piece("a", 2, 0, "second"))
	publish(piece("a", 1, 0, "late"))
	_, _ = s.Commit(t.Context(), sessions.CommitRequest{Lease: sessions.Lease{Session: "a", Epoch: 1}})
	sees("second")
	_, _ = s.Commit(t.Context(), sessions.CommitRequest{Lease: sessions.Lease{Session: "a", Epoch: 2}})
	sees("")
	publish(piece("a", 3, 7, "without a beginning"))
	sees("")
	publish(piece("a", 4, 0, strings.Repeat("x", drafts.TextMax)))
	publish(piece("a", 4, drafts.TextMax, "too long"))
	sees("")
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	s := drafts.Over(&recorder{}, 0)
	held := 0
	for i := range 1000 {
		_ = s.Publish(t.Context(), piece(fmt.Sprint(i), 1, 0, strings.Repeat("x", drafts.TextMax)))
	}
	for i := range 1000 {
		event, ok := s.SoFar(fmt.Sprint(i))
		held += len(event.Text)
		if i == 999 && !ok {
			t.Error("the newest was forgotten")
		}
	}
	if held > 8<<20 {
		t.Errorf("%d bytes", held)
	}
}

// Readers at another replica have the beginning after a while.
func TestAGrowingAnswerIsPublishedWholeNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &recorder{}
		s := drafts.Over(store, time.Second)
		for i := range 25 {
			_ = s.Publish(t.Context(), piece("a", 1, i, "x"))
			<-time.After(100 * time.Millisecond)
		}
		whole := 0
		for _, event := range store.published {
			if event.Offset == 0 && len(event.Text) > 1 {
				whole++
			}
		}
		if len(store.published) != 25 || whole != 2 {
			t.Errorf("%d pieces, of them %d whole", len(store.published), whole)
		}
	})
}
