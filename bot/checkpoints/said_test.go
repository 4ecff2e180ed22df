package checkpoints

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/sessions"
)

// written is a log of which nothing but a range is read.
type written struct {
	sessions.Log
	entries []sessions.Entry
}

func (w written) Range(_ context.Context, _ string, from, to int64) ([]sessions.Entry, error) {
	return w.entries[from-1 : to], nil
}

func TestWhatACheckpointReads(t *testing.T) {
	t.Parallel()
	var log written
	for i := range 30 {
		entry, err := sessions.NewMessage(sessions.Message{Role: sessions.RoleUser, Text: fmt.Sprintf("%02d ", i) + strings.Repeat("x", 3000)})
		if err != nil {
			t.Fatal(err)
		}
		log.entries = append(log.entries, sessions.Entry{Seq: int64(i + 1), Type: entry.Type, Payload: entry.Payload})
	}
	record := sessions.Record{ID: "s", Seq: 30}
	read, err := readSaid(t.Context(), log, record, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, line := range read.lines {
		size += len([]rune(line.Text))
	}
	newest := read.lines[len(read.lines)-1]
	if size > saidRunes || size < saidRunes-saidLineRunes || !strings.HasPrefix(newest.Text, "29 xxx") || !strings.HasSuffix(newest.Text, "x…") || len([]rune(newest.Text)) != saidLineRunes {
		t.Errorf("read %d runes in %d lines", size, len(read.lines))
	}
	if want := record.Seq - int64(len(read.lines)); read.leftOut != want {
		t.Errorf("left out %d, not %d", read.leftOut, want)
	}
	record.Checkpoint.Seq = record.Seq - 2
	if read, err = readSaid(t.Context(), log, record, time.UTC); err != nil || read.leftOut != 0 || len(read.lines) != 2 {
		t.Errorf("%d lines, %d left out, %v", len(read.lines), read.leftOut, err)
	}
	record.Checkpoint.Seq = record.Seq
	if read, err = readSaid(t.Context(), log, record, time.UTC); err != nil || read.leftOut != 0 || len(read.lines) != 0 {
		t.Errorf("%d lines, %d left out, %v", len(read.lines), read.leftOut, err)
	}
}

func TestWhatWasSaidWithAnEntry(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 5, 9, 7, 0, 0, time.UTC)
	zone := time.FixedZone("x", 2*60*60)
	message := func(m sessions.Message) sessions.Entry {
		entry, err := sessions.NewMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		return sessions.Entry{Type: entry.Type, Payload: entry.Payload, Time: at}
	}
	note := func(kind sessions.EntryType, payload any) sessions.Entry {
		entry, err := sessions.NewNote(kind, payload)
		if err != nil {
			t.Fatal(err)
		}
		return sessions.Entry{Type: kind, Payload: entry.Payload, Time: at}
	}
	ann := &sessions.Sender{ID: "telegram:1", Name: "Ann"}
	for name, c := range map[string]struct {
		entry            sessions.Entry
		role, said, text string
	}{
		"a person":           {message(sessions.Message{Role: sessions.RoleUser, Text: " hi ", Sender: ann}), agent.SaidByPerson, "Ann", "hi"},
		"without a name":     {message(sessions.Message{Role: sessions.RoleUser, Text: "hi", Sender: &sessions.Sender{ID: "telegram:1"}}), agent.SaidByPerson, "telegram:1", "hi"},
		"a photo":            {message(sessions.Message{Role: sessions.RoleUser, Sender: ann, Attachments: []sessions.Attachment{{Kind: "photo"}}}), agent.SaidByPerson, "Ann", "(with photos)"},
		"an answer":          {message(sessions.Message{Role: sessions.RoleAssistant, Text: "yes"}), agent.SaidByAssistant, "", "yes"},
		"silence":            {message(sessions.Message{Role: sessions.RoleAssistant, Text: "<NO_REPLY>", Silent: true}), "", "", ""},
		"a call":             {message(sessions.Message{Role: sessions.RoleAssistant, ToolCalls: []sessions.ToolCall{{ID: "c", Name: "f"}}}), "", "", ""},
		"a result":           {message(sessions.Message{Role: sessions.RoleTool, Text: "r", CallID: "c"}), "", "", ""},
		"a program":          {note(sessions.EntryCustomMessage, sessions.CustomMessage{Name: "ci", Text: "green"}), agent.SaidByProgram, "ci", "green"},
		"a label":            {note(sessions.EntryLabel, sessions.Label{TargetID: "e1", Label: "x"}), "", "", ""},
		"a checkpoint":       {note(sessions.EntryCheckpoint, sessions.CheckpointEntry{Text: "x"}), "", "", ""},
		"what is not read":   {sessions.Entry{Type: sessions.EntryMessage, Payload: []byte(`{"role":7}`)}, "", "", ""},
		"nothing but spaces": {message(sessions.Message{Role: sessions.RoleUser, Text: " \n", Sender: ann}), "", "", ""},
	} {
		line, is := saidLine(c.entry, true, zone)
		if is != (c.text != "") || is && (line != agent.CheckpointLine{Time: "2026-07-05 11:07 +02:00", Role: c.role, Name: c.said, Text: c.text}) {
			t.Errorf("%s: %+v", name, line)
		}
	}
}

func TestIdleWatch(t *testing.T) {
	t.Parallel()
	w, at := newIdleWatch(), time.Unix(1_000_000, 0)
	limits := Rules{Idle: time.Minute, Unprompted: 3}
	for i, step := range []struct {
		at        time.Duration
		answered  bool
		cleared   int64
		arm, full bool
	}{
		{at: 0, answered: true, arm: true},
		{at: 59 * time.Second, answered: true},
		{at: 60 * time.Second, answered: true, arm: true},
		{at: 61 * time.Second, answered: true, cleared: 7, arm: true},
		{at: 62 * time.Second},
		{at: 63 * time.Second},
		{at: 64 * time.Second, full: true},
		{at: 123 * time.Second},
		{at: 124 * time.Second, arm: true},
		{at: 125 * time.Second, full: true},
	} {
		var arm, full bool
		if step.answered {
			arm = w.answered("s", step.cleared, at.Add(step.at), limits.Idle)
		} else {
			arm, full = w.heard("s", at.Add(step.at), limits)
		}
		if arm != step.arm || full != step.full {
			t.Errorf("step %d: arm %t, full %t", i, arm, full)
		}
	}
	w.forget("s")
	if !w.answered("s", 7, at.Add(125*time.Second), limits.Idle) {
		t.Error("what is forgotten is not set")
	}
	for i := range 2 * watchedMax {
		w.answered(fmt.Sprint(i), 0, at, limits.Idle)
	}
	if len(w.known) > watchedMax {
		t.Errorf("%d are watched", len(w.known))
	}
}
