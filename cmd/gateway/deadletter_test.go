package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"parley/sessions"
	"parley/sqlitestore"
)

// park leaves one dead letter in the machine's store.
func (m *machine) park(reason string) {
	m.t.Helper()
	ctx := m.t.Context()
	store, err := sqlitestore.Open(ctx, sqlitestore.Config{Path: filepath.Join(m.data, "gateway.db")})
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			m.t.Error(err)
		}
	}()
	claimer := sessions.Claimer{Owner: "test", For: sessions.LeaseFor}
	posted, err := store.Post(ctx, sessions.PostRequest{
		Surface: "cli:local:main", Message: sessions.Message{Role: sessions.RoleUser, Text: "hello"}, Trigger: true, Claim: &claimer,
		New: sessions.NewSession{Source: sessions.Source{Kind: "cli", Platform: "cli", Type: sessions.Direct}}, UserID: "cli:owner",
	})
	if err != nil || posted.Turn == nil {
		m.t.Fatalf("%+v, %v", posted, err)
	}
	if _, err := store.Commit(ctx, sessions.CommitRequest{Lease: posted.Turn.Lease, Outcome: sessions.Park, Reason: reason}); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) deadLetters() []sessions.DeadLetter {
	m.t.Helper()
	_, out, errs := m.does("", "deadletter", "list", "--json")
	var letters []sessions.DeadLetter
	if err := json.Unmarshal([]byte(out), &letters); err != nil {
		m.t.Fatalf("%q %q: %v", out, errs, err)
	}
	return letters
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if letters := m.deadLetters(); len(letters) != 0 {
		t.Fatalf("a new store: %v", letters)
	}
	m.park("poisoned \x1b[2J sk-abcdefghijklmnopqrstuv")
	letters := m.deadLetters()
	if len(letters) != 1 || letters[0].Session != "cli:main" {
		t.Fatalf("%v", letters)
	}
	_, out, _ := m.does("", "deadletter", "list")
	if !strings.Contains(out, letters[0].ID) || strings.ContainsAny(out, "\x1b") || strings.Contains(out, "sk-abc") {
		t.Errorf("%q", out)
	}
	if code, out, _ := m.does("", "deadletter", "replay", letters[0].ID); code != exitOK || !strings.Contains(out, "gateway run") {
		t.Errorf("replay: %d, %q", code, out)
	}
	if letters := m.deadLetters(); len(letters) != 0 {
		t.Errorf("after replay: %v", letters)
	}
}

func TestDroppingADeadLetter(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.park("broken")
	id := m.deadLetters()[0].ID
	if code, out, _ := m.does("", "deadletter", "drop", "--json", id); code != exitOK || !strings.Contains(out, id) {
		t.Errorf("drop: %d, %q", code, out)
	}
	code, _, errs := m.does("", "deadletter", "drop", id)
	oneLine(t, code, errs, "there is no dead letter")
}

// While a gateway runs, which has an embedded store to itself, it is asked.
func TestDeadLettersOfARunningGateway(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.park("poisoned")
	m.park("broken")
	m.runs()
	letters := m.deadLetters()
	if len(letters) != 2 {
		t.Fatalf("%v", letters)
	}
	if code, out, errs := m.does("", "deadletter", "replay", letters[0].ID); code != exitOK || !strings.Contains(out, "is being answered") {
		t.Errorf("replay: %d, %q %q", code, out, errs)
	}
	if code, out, errs := m.does("", "deadletter", "drop", letters[1].ID); code != exitOK || !strings.Contains(out, "is forgotten") {
		t.Errorf("drop: %d, %q %q", code, out, errs)
	}
	if left := m.deadLetters(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	code, _, errs := m.does("", "deadletter", "drop", letters[1].ID)
	oneLine(t, code, errs, "there is no dead letter")
}
