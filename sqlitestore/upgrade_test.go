package sqlitestore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

// oldStore opens a copy of a database that schema 1 wrote, at a time when all
// that was held then would have been held still.
func oldStore(t *testing.T) *Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gateway.db")
	dump, err := os.ReadFile(filepath.Join("testdata", "schema1.sql"))
	if err != nil {
		t.Fatal(err)
	}
	script(t, path, string(dump))
	return open(t, Config{Path: path, Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 10, 0, time.UTC) }})
}

func TestADatabaseOfTheFirstSchemaIsRead(t *testing.T) {
	t.Parallel()
	store := oldStore(t)
	answered, err := store.Bound(t.Context(), "telegram:1:100")
	if err != nil || answered.Seq != 2 || answered.TurnCount != 1 || answered.Description != "hello" || answered.Source.Type != sessions.Direct {
		t.Fatalf("the answered chat: %+v, %v", answered, err)
	}
	if entries, err := store.Range(t.Context(), answered.ID, 1, 10); err != nil || len(entries) != 2 || entries[1].Parent != 1 {
		t.Errorf("its log: %+v, %v", entries, err)
	}
	again, err := store.Post(t.Context(), sessions.PostRequest{Key: "event-1", Surface: "telegram:1:100", Message: sessions.Message{Role: sessions.RoleUser, Text: "hello"}})
	if err != nil || again.Outcome != sessions.PostDuplicate || again.Session != answered.ID || again.Seq != 1 {
		t.Errorf("its message once more: %+v, %v", again, err)
	}
	created, isNew, err := store.Open(t.Context(), sessions.NewSession{ID: "api:new"})
	if err != nil || !isNew || created.Seq != 0 {
		t.Errorf("a new session: %+v, %v", created, err)
	}
	if listed, err := store.ChatListed(t.Context(), "telegram:1:-9"); err != nil || !listed {
		t.Errorf("the chat is not listed any more: %v", err)
	}
}

// What a chat remembered of its commands had been kept for ever.
func TestLocksOfTheThirdSchemaRunOut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gateway.db")
	steps, err := steps()
	if err != nil {
		t.Fatal(err)
	}
	script(t, path, strings.Join(steps[:3], ";\n")+fmt.Sprintf(`; PRAGMA user_version = 3; PRAGMA application_id = %d;
		INSERT INTO locks (name, owner, fence, until, data) VALUES
			('commands:1', '', 3, 0, 'said'), ('keys:api:s', '', 3, 0, 'said'), ('empty', 'w1', 3, 0, ''), ('telegram:1', '', 3, 0, 'offset 17')`, applicationID))
	now := time.Now()
	store := open(t, Config{Path: path, Now: func() time.Time { return now }})
	for i, want := range [][]string{{"said", "said", "", "offset 17"}, {"", "", "", "offset 17"}} {
		for n, name := range []string{"commands:1", "keys:api:s", "empty", "telegram:1"} {
			lock, err := store.Lock(t.Context(), name, sessions.Claimer{Owner: strconv.Itoa(i), For: time.Second})
			if err != nil || lock.Data != want[n] || lock.Fence < 4 {
				t.Errorf("%s: %+v, %v", name, lock, err)
			}
		}
		now = now.Add(sessions.DedupeFor + time.Hour)
	}
}

func TestADeadLetterOfTheFirstSchemaIsReplayedInPlace(t *testing.T) {
	t.Parallel()
	store := oldStore(t)
	letters, err := store.DeadLetters(t.Context(), 10)
	if err != nil || len(letters) != 1 {
		t.Fatalf("dead letters %+v, %v", letters, err)
	}
	if err := store.Replay(t.Context(), letters[0].ID); err != nil {
		t.Fatal(err)
	}
	turn, err := store.Claim(t.Context(), sessions.ClaimRequest{Session: letters[0].Session, Claimer: sessions.Claimer{Owner: "w", For: time.Minute}})
	if err != nil || turn.Attempt != 1 || len(turn.Taken) != 1 || turn.Taken[0].Seq != 1 {
		t.Fatalf("turn %+v, %v", turn, err)
	}
}

// TestNobodyWaitsForAProcessThatIsGone opens a file in which a turn ran, a row
// was being sent, a timer had fired and a lock was held.
func TestNobodyWaitsForAProcessThatIsGone(t *testing.T) {
	t.Parallel()
	store := oldStore(t)
	worker := sessions.Claimer{Owner: "w2", For: time.Minute}
	due, err := store.Due(t.Context(), 100)
	kinds := map[sessions.WorkKind]int{}
	for _, item := range due {
		kinds[item.Kind]++
	}
	if err != nil || kinds[sessions.WorkTurn] != 1 || kinds[sessions.WorkLane] != 2 || kinds[sessions.WorkTimer] != 1 {
		t.Fatalf("due %+v, %v", due, err)
	}
	running, err := store.Bound(t.Context(), "telegram:1:300")
	if err != nil || running.Status != sessions.StatusIdle {
		t.Fatalf("the interrupted session: %+v, %v", running, err)
	}
	turn, err := store.Claim(t.Context(), sessions.ClaimRequest{Session: running.ID, Claimer: worker})
	if err != nil || turn.Attempt != 2 || len(turn.Taken) != 1 {
		t.Fatalf("the interrupted turn: %+v, %v", turn, err)
	}
	sent, err := store.Take(t.Context(), "telegram:1:100", worker)
	if err != nil || !sent.MaybeSent || sent.Attempt != 2 {
		t.Errorf("the row that was being sent: %+v, %v", sent, err)
	}
	unsent, err := store.Take(t.Context(), "telegram:1:400", worker)
	if err != nil || unsent.MaybeSent || unsent.Attempt != 1 {
		t.Errorf("the row that waited: %+v, %v", unsent, err)
	}
	answered, err := store.Bound(t.Context(), "telegram:1:100")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Fire(t.Context(), answered.ID, "fired", worker); err != nil {
		t.Errorf("the fired timer: %v", err)
	}
	if _, err := store.Fire(t.Context(), answered.ID, "idle", worker); !errors.Is(err, sessions.ErrNothing) {
		t.Errorf("the timer at rest: %v", err)
	}
	lock, err := store.Lock(t.Context(), "telegram:1", worker)
	if err != nil || lock.Data != "offset 17" || lock.Fence != 2 {
		t.Errorf("the lock: %+v, %v", lock, err)
	}
}
