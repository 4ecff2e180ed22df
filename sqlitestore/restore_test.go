package sqlitestore

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"parley/sessions"
	"parley/sessions/archive"
)

// TestIDsOfAnotherStoreAreKept restores rows and dead letters whose ids are no
// numbers, or numbers that this store would give too.
func TestIDsOfAnotherStoreAreKept(t *testing.T) {
	t.Parallel()
	store := open(t, Config{Path: Memory})
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	record := sessions.Record{ID: "api:s", State: sessions.StateActive, Status: sessions.StatusIdle, CreatedAt: at, LastActivityAt: at, Seq: 1, Version: 3}
	turn := archive.TurnItem{Tip: 1, Messages: []archive.QueuedMessage{{Seq: 1}}}
	var items []sessions.Item
	for _, item := range []struct {
		kind sessions.ItemKind
		body any
	}{
		{archive.ItemSession, archive.SessionItem{Record: record, Leaf: 1, Placed: 1}},
		{archive.ItemEntry, archive.EntryItem{Session: "api:s", Entry: sessions.Entry{Seq: 1, Time: at, Type: sessions.EntryMessage, Payload: json.RawMessage(`{"role":"user"}`)}}},
		{archive.ItemDead, archive.DeadItem{Letter: sessions.DeadLetter{ID: "3-17", Session: "api:s", At: at}, Turn: turn, Placed: 1}},
		{archive.ItemDead, archive.DeadItem{Letter: sessions.DeadLetter{ID: "1", Session: "api:s", At: at}, Turn: turn, Placed: 1}},
		{archive.ItemRow, archive.RowItem{ID: "3-18", Surface: "telegram:1:1", Payload: json.RawMessage(`{"n":1}`)}},
		{archive.ItemRow, archive.RowItem{ID: "1", Surface: "telegram:1:1", Payload: json.RawMessage(`{"n":2}`)}},
		{archive.ItemRow, archive.RowItem{ID: "4", Surface: "telegram:1:1", Payload: json.RawMessage(`{"n":3}`)}},
	} {
		encoded, err := archive.NewItem(item.kind, item.body)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, encoded)
	}
	for range 2 {
		if err := store.Restore(t.Context(), items); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Enqueue(t.Context(), sessions.EnqueueRequest{Deliveries: []sessions.NewDelivery{{Surface: "telegram:1:1", Payload: json.RawMessage(`{"n":4}`)}}}); err != nil {
		t.Fatal(err)
	}
	worker := sessions.Claimer{Owner: "w", For: time.Minute}
	next, err := store.Take(t.Context(), "telegram:1:1", worker)
	if err != nil {
		t.Fatal(err)
	}
	given := []string{"3-18", "1", "4"}
	for i := range 4 {
		if i < 3 && next.ID != given[i] || i == 3 && slices.Contains(given, next.ID) || string(next.Payload) != `{"n":`+string(rune('1'+i))+`}` {
			t.Fatalf("row %d is %s %s", i, next.ID, next.Payload)
		}
		if next, err = nextRow(t, store, next, worker); err != nil {
			t.Fatal(err)
		}
	}
	letters, err := store.DeadLetters(t.Context(), 10)
	if err != nil || len(letters) != 2 || letters[0].ID != "1" || letters[1].ID != "3-17" {
		t.Fatalf("dead letters %+v, %v", letters, err)
	}
	if err := store.DropDead(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	if letters, err = store.DeadLetters(t.Context(), 10); err != nil || len(letters) != 1 || letters[0].ID != "3-17" {
		t.Fatalf("dead letters %+v, %v", letters, err)
	}
}

// nextRow tries a row once more, then ends it.
func nextRow(t *testing.T, store *Store, d sessions.Delivery, worker sessions.Claimer) (sessions.Delivery, error) {
	t.Helper()
	again, err := store.Settle(t.Context(), sessions.Settlement{Delivery: d, State: sessions.DeliveryPending, Next: true}, worker)
	if err != nil {
		return d, err
	}
	if again.ID != d.ID || again.Attempt != d.Attempt+1 {
		t.Fatalf("tried again: %+v, was %+v", again, d)
	}
	next, err := store.Settle(t.Context(), sessions.Settlement{Delivery: *again, State: sessions.DeliverySent, Next: true}, worker)
	if next == nil {
		return sessions.Delivery{}, err
	}
	return *next, err
}
