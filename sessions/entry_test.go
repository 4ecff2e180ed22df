package sessions

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEntryAsJSON(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 10, 11, 12, 345e6, time.UTC)
	for want, e := range map[string]Entry{
		`{"seq":2,"id":"e2","parent_id":"e1","timestamp":"2026-03-02T10:11:12.345Z","type":"message","payload":{"role":"user","text":"hi"}}`: {
			Seq: 2, Parent: 1, Time: at, Type: EntryMessage, Payload: json.RawMessage(`{"role":"user","text":"hi"}`)},
		`{"seq":3,"id":"e3","parent_id":null,"waiting":true,"timestamp":"2026-03-02T10:11:12.345Z","type":"message","payload":{}}`: {
			Seq: 3, Waiting: true, Time: at, Type: EntryMessage, Payload: json.RawMessage(`{}`)},
		`{"seq":4,"id":"e4","parent_id":null,"timestamp":"2026-03-02T10:11:12.345Z","type":"turn"}`: {Seq: 4, Time: at, Type: EntryTurn},
	} {
		got, err := json.Marshal(e)
		if err != nil || string(got) != want {
			t.Errorf("wrote %s, %v\nwant  %s", got, err, want)
		}
		var back Entry
		if err := json.Unmarshal(got, &back); err != nil || !cmp.Equal(back, e) {
			t.Errorf("read %+v, %v\nwant %+v", back, err, e)
		}
	}
}

func TestEntryFromBadJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"seq":"x"}`, `{"seq":1,"parent_id":"42"}`, `[]`} {
		if err := json.Unmarshal([]byte(text), &Entry{}); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

func TestEntryMessage(t *testing.T) {
	t.Parallel()
	m := Message{
		Role: RoleUser, Text: "hi", Surface: "telegram:1:2", Sender: &Sender{ID: "telegram:5", Name: "Ann", Role: "member"},
		SentAt: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), Sequence: 1 << 60, Triggered: true,
	}
	written, err := NewMessage(m)
	if err != nil || written.Type != EntryMessage {
		t.Fatal(written, err)
	}
	read, err := Entry{Type: EntryMessage, Payload: written.Payload}.Message()
	if err != nil || !cmp.Equal(read, m) {
		t.Errorf("read %+v, %v", read, err)
	}
	_, err = Entry{Type: EntryTurn, Payload: written.Payload}.Message()
	wantInvalid(t, err)
}

func TestWhatStandsInTheTree(t *testing.T) {
	t.Parallel()
	tree := []EntryType{EntryMessage, EntryCompaction, EntryBranchSummary, EntryModelChange, EntryThinking, EntrySessionName, EntryLabel, EntryCustomInfo, EntryCustomMessage}
	beside := []EntryType{EntryLeaf, EntryEdit, EntryDelete, EntryReaction, EntryTurn, EntryApproval, EntryDelivery, EntryCheckpoint, EntryHandoff, EntryError, EntryState}
	for _, kind := range tree {
		if !kind.InTree() || (NewEntry{Type: kind}).Check() != nil {
			t.Errorf("%s does not stand in the tree", kind)
		}
	}
	for _, kind := range beside {
		if kind.InTree() || (NewEntry{Type: kind}).Check() != nil {
			t.Errorf("%s stands in the tree", kind)
		}
	}
	wantInvalid(t, NewEntry{Type: "other"}.Check())
}

func TestNewEntryBody(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]NewEntry{
		`{}`:                 {Type: EntryTurn},
		`{"target_id":"e7"}`: {Type: EntryLeaf, Target: 7},
		`{"target_id":""}`:   {Type: EntryLeaf},
		`{"kept" : "as is"}`: {Type: EntryLeaf, Target: 7, Payload: json.RawMessage(`{"kept" : "as is"}`)},
	} {
		if got, err := e.Body(); err != nil || string(got) != want {
			t.Errorf("body %s, %v, want %s", got, err, want)
		}
	}
}
