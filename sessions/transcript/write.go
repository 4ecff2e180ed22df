package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"parley/sessions"
)

// exportPage is how many entries are held at a time.
const exportPage = 100

// errCleared ends an export whose entries were erased under its hands.
var errCleared = errors.New("the session was cleared while it was exported; export it again")

// Write writes a session as a transcript: the record as given, and
// its entries up to Record.Seq, in constant memory. A message that waits is
// written where it would enter the tree now: behind the leaf, which it then is.
// What refers to entries that were cleared refers to none.
func Write(ctx context.Context, w io.Writer, log sessions.Log, record sessions.Record) error {
	t := writer{log: log, record: record, leaf: record.Leaf}
	if err := t.place(ctx); err != nil {
		return err
	}
	record.Leaf = t.leaf
	if err := t.header(record); err != nil {
		return err
	}
	for next := record.Cleared + 1; next <= record.Seq; {
		entries, err := log.Range(ctx, record.ID, next, min(next+exportPage-1, record.Seq))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Seq != next {
				return errCleared
			}
			next++
			if err := t.entry(e); err != nil {
				return err
			}
		}
		if len(entries) == 0 {
			return errCleared
		}
		if err := t.flush(w); err != nil {
			return err
		}
	}
	return t.flush(w)
}

type writer struct {
	log     sessions.Log
	record  sessions.Record
	leaf    int64   // behind what waits
	waiting []int64 // seqs, ascending: each stands below the one before it
	out     bytes.Buffer
}

// place finds what waits, at the end of the log.
func (t *writer) place(ctx context.Context) error {
	for to := t.record.Seq; to > t.record.Cleared; to -= sessions.TailMax {
		entries, err := t.log.Range(ctx, t.record.ID, max(to-sessions.TailMax, t.record.Cleared)+1, to)
		if err != nil {
			return err
		}
		found := len(t.waiting)
		for _, e := range slices.Backward(entries) {
			if t.unplaced(e) {
				t.waiting = append(t.waiting, e.Seq)
			}
		}
		if len(t.waiting) == found {
			break
		}
	}
	slices.Reverse(t.waiting)
	if len(t.waiting) > 0 {
		t.leaf = t.waiting[len(t.waiting)-1]
	}
	return nil
}

// unplaced: an entry that waits, or that was placed since the record was read
// behind an entry which the transcript does not have.
func (t *writer) unplaced(e sessions.Entry) bool {
	return e.Waiting || e.Parent > t.record.Seq
}

func (t *writer) parent(e sessions.Entry) int64 {
	at, found := slices.BinarySearch(t.waiting, e.Seq)
	switch {
	case found && at > 0:
		return t.waiting[at-1]
	case found, t.unplaced(e):
		return t.record.Leaf
	}
	return e.Parent
}

func (t *writer) header(record sessions.Record) error {
	encoder := json.NewEncoder(&t.out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(headerOf(record))
}

func (t *writer) entry(e sessions.Entry) error {
	fmt.Fprintf(&t.out, `{"type":%q,"id":%q,"parent_id":`, e.Type, e.ID())
	if parent := t.parent(e); parent > t.record.Cleared {
		fmt.Fprintf(&t.out, "%q", sessions.EntryID(parent))
	} else {
		t.out.WriteString("null")
	}
	fmt.Fprintf(&t.out, `,"timestamp":%q`, e.Time.UTC().Format(time.RFC3339Nano))
	if err := t.payload(e); err != nil {
		return fmt.Errorf("%s: %w", e.ID(), err)
	}
	t.out.WriteString("}\n")
	return nil
}

func (t *writer) payload(e sessions.Entry) error {
	if e.Type == sessions.EntryMessage {
		return t.value("message", e.Payload)
	}
	if len(e.Payload) == 0 {
		return nil
	}
	fields, err := fieldsOf(e.Payload, inlineMax)
	if err != nil {
		return t.value("payload", e.Payload)
	}
	for i, f := range fields {
		if reference(e.Type, f.name) {
			fields[i].value = t.refer(f.value)
		}
	}
	if slices.ContainsFunc(fields, func(f field) bool { return envelope(f.name) }) {
		return t.value("payload", objectOf(fields))
	}
	for _, f := range fields {
		if err := t.value(f.name, f.value); err != nil {
			return err
		}
	}
	return nil
}

// refer is a reference as it is written: null, if its entry is not.
func (t *writer) refer(value json.RawMessage) json.RawMessage {
	var id string
	seq := int64(0)
	if json.Unmarshal(value, &id) == nil {
		seq, _ = sessions.ParseEntryID(id)
	}
	if seq <= t.record.Cleared || seq > t.record.Seq {
		return json.RawMessage("null")
	}
	return value
}

func (t *writer) value(name string, value json.RawMessage) error {
	t.out.WriteByte(',')
	writeName(&t.out, name)
	return json.Compact(&t.out, value)
}

func (t *writer) flush(w io.Writer) error {
	_, err := w.Write(bytes.ToValidUTF8(t.out.Bytes(), []byte("\uFFFD")))
	t.out.Reset()
	return err
}
