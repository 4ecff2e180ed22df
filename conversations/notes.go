package conversations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"parley/sessions"
)

// Name gives a session a name, and says so in its log. The empty name takes it
// away. Result: Record, Before, Entries.
func (r *Room) Name(ctx context.Context, by Caller, id, name, key string) (Result, error) {
	if err := CheckName(name); err != nil {
		return Result{}, err
	}
	before, err := r.change(ctx, by, id)
	if err != nil {
		return Result{}, err
	}
	return r.name(ctx, by, before, sessions.Patch{Name: &name}, key)
}

// Patch changes what is said about a session. Another name is an entry of the
// log as well. Result: Record, Before, Entries (of a name).
func (r *Room) Patch(ctx context.Context, by Caller, id string, patch sessions.Patch, key string) (Result, error) {
	if patch.Name != nil {
		if err := CheckName(*patch.Name); err != nil {
			return Result{}, err
		}
	}
	before, err := r.change(ctx, by, id)
	if err != nil {
		return Result{}, err
	}
	if patch.Name != nil && *patch.Name != before.Name {
		return r.name(ctx, by, before, patch, key)
	}
	record, err := r.Store.Update(ctx, before.ID, patch)
	return Result{Record: record, Before: before}, err
}

func (r *Room) name(ctx context.Context, by Caller, before sessions.Record, patch sessions.Patch, key string) (Result, error) {
	entry, err := sessions.NewNote(sessions.EntrySessionName, sessions.SessionName{Name: *patch.Name})
	if err != nil {
		return Result{}, err
	}
	return r.note(ctx, before, sessions.NoteRequest{Key: by.Digest("name", before.ID, key), Entries: []sessions.NewEntry{entry}, Patch: patch}, patch)
}

// note writes into a session's log, once per key. The store knows the key as
// well, so that who dies in between leaves nothing to be written twice.
//
// arguments are the caller's own: what was made of them may be another the
// next time, such as the newest message.
func (r *Room) note(ctx context.Context, before sessions.Record, request sessions.NoteRequest, arguments any) (Result, error) {
	what := done{Key: request.Key, Sum: SumOf(arguments)}
	request.Session = before.ID
	if request.Key != "" {
		request.Key = "note:" + request.Key
	}
	result := Result{Record: before, Before: before}
	_, duplicate, err := r.once(ctx, before.ID, what, func() (done, error) {
		note, err := r.Store.Note(ctx, request)
		result.Record, result.Entries, result.Duplicate = note.Record, note.Entries, note.Duplicate
		return done{}, err
	})
	result.Duplicate = result.Duplicate || duplicate
	return result, err
}

// Label puts a label on an entry of the tree; entry 0 is the newest message of
// the branch. The empty label takes the entry's away. Result: Record, Before,
// Entries, whose payload names the entry.
func (r *Room) Label(ctx context.Context, by Caller, id string, entry int64, label, key string) (Result, error) {
	if err := CheckLabel(label); err != nil {
		return Result{}, err
	}
	before, err := r.change(ctx, by, id)
	if err != nil {
		return Result{}, err
	}
	if err := ended(before, "label"); err != nil {
		return Result{}, err
	}
	asked := []any{entry, label}
	if entry == 0 {
		if entry, err = r.newest(ctx, before); err != nil {
			return Result{}, err
		}
	}
	if err := r.entry(ctx, before, entry); err != nil {
		return Result{}, err
	}
	note, err := sessions.NewNote(sessions.EntryLabel, sessions.Label{TargetID: sessions.EntryID(entry), Label: label})
	if err != nil {
		return Result{}, err
	}
	return r.note(ctx, before, sessions.NoteRequest{Key: by.Digest("labels", id, key), Entries: []sessions.NewEntry{note}}, asked)
}

// Branch moves the leaf to another entry of the tree, 0 before the first, so
// that the conversation goes on from there. What was left stays in the log;
// summary, which may be empty, is written of it. Running: a turn is open, or
// messages wait. Result: Record, Before (with the leaf that was left), Entries.
func (r *Room) Branch(ctx context.Context, by Caller, id string, entry int64, summary, key string) (Result, error) {
	if len(summary) > TextMax {
		return Result{}, tooLong("A summary", TextMax)
	}
	before, err := r.change(ctx, by, id)
	if err != nil {
		return Result{}, err
	}
	request := sessions.NoteRequest{Key: by.Digest("branch", id, key), Entries: []sessions.NewEntry{{Type: sessions.EntryLeaf, Target: entry}}}
	if summary != "" {
		note, err := sessions.NewNote(sessions.EntryBranchSummary, sessions.BranchSummary{FromID: before.LeafID(), Summary: summary})
		if err != nil {
			return Result{}, err
		}
		request.Entries = append(request.Entries, note)
		request.IfLeaf = &before.Leaf // what is summarised is what is left
	}
	result, err := r.note(ctx, before, request, []any{entry, summary})
	if errors.Is(err, sessions.ErrNotFound) && entry > 0 {
		return Result{}, noEntry(entry)
	}
	return result, err
}

// Custom is an entry of an outside program. See [Room.Write].
type Custom struct {
	Type     sessions.EntryType // EntryCustomInfo or EntryCustomMessage
	Name     string             // whose it is: a word of the program's own, at most LabelMax bytes
	Text     string             // of a message: what people see, at most TextMax bytes
	ForModel bool               // of a message: the model reads it too
	Data     json.RawMessage    // a JSON value; nil: none
	// IfLeaf writes only while this entry is the leaf, 0 the root; nil:
	// whatever is. LeafMoved: it is another one.
	IfLeaf *int64
}

// Write puts an entry of an outside program behind the leaf. Result: Record,
// Before, Entries.
func (r *Room) Write(ctx context.Context, by Caller, id string, custom Custom, key string) (Result, error) {
	entry, err := custom.entry()
	if err != nil {
		return Result{}, err
	}
	before, err := r.change(ctx, by, id)
	if err != nil {
		return Result{}, err
	}
	result, err := r.note(ctx, before, sessions.NoteRequest{Key: by.Digest("custom", id, key), Entries: []sessions.NewEntry{entry}, IfLeaf: custom.IfLeaf}, custom)
	switch {
	case errors.Is(err, sessions.ErrConflict):
		return Result{}, refuse(LeafMoved, "The conversation does not stand at that entry any more. Read the session's leaf, and write behind that.", err)
	case errors.Is(err, sessions.ErrNotFound) && custom.IfLeaf != nil && *custom.IfLeaf > 0:
		return Result{}, noEntry(*custom.IfLeaf)
	}
	return result, err
}

func (c Custom) entry() (sessions.NewEntry, error) {
	switch {
	case c.Type != sessions.EntryCustomInfo && c.Type != sessions.EntryCustomMessage:
		return sessions.NewEntry{}, refuse(Invalid, "type must be custom_info or custom_message.", nil)
	case c.Type == sessions.EntryCustomMessage && c.Text == "":
		return sessions.NewEntry{}, refuse(Invalid, "A custom_message needs a text.", nil)
	case c.Type == sessions.EntryCustomInfo && (c.Text != "" || c.ForModel):
		return sessions.NewEntry{}, refuse(Invalid, "A custom_info has data, which nobody is shown. For text, and for_model, write a custom_message.", nil)
	case len(c.Text) > TextMax:
		return sessions.NewEntry{}, tooLong("A text", TextMax)
	case len(c.Name) > LabelMax:
		return sessions.NewEntry{}, refuse(Invalid, fmt.Sprintf("name may have at most %d bytes.", LabelMax), nil)
	}
	if c.Type == sessions.EntryCustomInfo {
		return sessions.NewNote(c.Type, sessions.CustomInfo{Name: c.Name, Data: c.Data})
	}
	return sessions.NewNote(c.Type, sessions.CustomMessage{Name: c.Name, Text: c.Text, ForModel: c.ForModel, Data: c.Data})
}

func tooLong(what string, limit int) error {
	return refuse(TooLong, fmt.Sprintf("%s has at most %d bytes. Send it in parts.", what, limit), nil)
}
