package sessions

import (
	"context"
	"fmt"
)

// Notes are what is written into a log outside of turns: labels, names, custom
// entries, moves of the leaf.
type Notes interface {
	// Note writes entries, all or none, and changes the record in the same
	// step. Those that stand in the tree enter it at once, behind the leaf, if
	// no turn is open and no message waits; otherwise they wait and enter
	// behind the running turn's entries, as logged messages do. An EntryLeaf,
	// EntryBranchSummary or EntryCompaction does not wait: then it is a
	// StateError. It is no activity.
	//
	// ErrNotFound: the session, IfLeaf, or an EntryLeaf's Target is not
	// there (a Target in the tree); ErrConflict: the leaf is another one than
	// IfLeaf, or the version than IfVersion; StateError, also of an expired
	// session.
	Note(ctx context.Context, request NoteRequest) (NoteResult, error)

	// Clear erases a session's entries for good and keeps its record and its
	// Seq: Record.Cleared is Seq then, and the leaf is at the root. What waits
	// for a turn, its dead letters, and its timers (those whose Home is its
	// id) are gone, and so is what the record quotes of the entries: Preview,
	// a fallback description, ContextTokens, and where there was a Checkpoint, a
	// description from the agent and WorkingMemory. Checkpoint begins anew. Rows in the outbox
	// still go out.
	// ErrNotFound; StateError: a turn is open, or the session is expired.
	Clear(ctx context.Context, id string) (Record, error)
}

// NoteRequest is what to write. See [Notes.Note].
type NoteRequest struct {
	// Key makes the same note, made again within DedupeFor, a duplicate. It
	// shares the keys of PostRequest, per session. Empty: never a duplicate.
	Key     string
	Session string
	Entries []NewEntry // at least one
	// IfLeaf writes only while this entry is the leaf; nil: whatever is.
	IfLeaf *int64
	// IfVersion writes only while this is Record.Version; nil: whatever is.
	IfVersion *int64
	Patch     Patch
}

// NoteResult is what a note left.
type NoteResult struct {
	Duplicate bool
	Entries   []Entry // as written; nil for a duplicate
	Record    Record
}

// Check refuses no entries, too many, or a bad one.
func (r NoteRequest) Check() error {
	if err := CheckID(r.Session); err != nil {
		return err
	}
	if err := checkOptional("key", r.Key); err != nil {
		return err
	}
	if len(r.Entries) == 0 {
		return &InvalidError{What: "entries", Why: "there are none"}
	}
	if err := CheckEntries(r.Entries); err != nil {
		return err
	}
	for _, e := range r.Entries {
		if e.Type == EntryMessage || e.Type == EntryTurn || e.Type == EntryDelivery {
			return &InvalidError{What: "entry type", Why: fmt.Sprintf("a %s is not written by hand", e.Type)}
		}
	}
	if r.IfLeaf != nil && *r.IfLeaf < 0 {
		return &InvalidError{What: "leaf", Why: "it must not be negative"}
	}
	return r.Patch.Check()
}

// Steers reports whether a note has an entry that may not wait for a turn's end.
func (r NoteRequest) Steers() bool {
	for _, e := range r.Entries {
		switch e.Type {
		case EntryLeaf, EntryBranchSummary, EntryCompaction:
			return true
		}
	}
	return false
}
