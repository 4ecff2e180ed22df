package sessions

import (
	"context"
	"fmt"
	"iter"
	"time"
	"unicode/utf8"
)

// Transcripts are sessions that come from elsewhere.
type Transcripts interface {
	// Import makes a session from a record and its log, whole or not at all:
	// nothing of it can be seen until the last entry was stored, and what an
	// import that failed or died left is removed by the store. It streams: the
	// log may be of any length. Entries come by seq from 1 without gaps, as
	// [Sequel] checks them. An error that entries yields ends the import and
	// is returned.
	//
	// Of the record all is kept but Surfaces (none), Status (inactive when the
	// State is suspended or expired, else idle), Seq, Cleared (0), Epoch,
	// Version and Queued. ErrConflict: the id is taken.
	Import(ctx context.Context, record Record, entries iter.Seq2[Entry, error]) (Record, error)
}

// CheckImport refuses a record that cannot be imported.
func CheckImport(r Record) error {
	if r.ID == "" {
		return &InvalidError{What: "session", Why: "it needs an id"}
	}
	if err := CheckID(r.ID); err != nil {
		return err
	}
	n := NewSession{Source: r.Source, UserID: r.UserID, WorkspaceID: r.WorkspaceID, Metadata: r.Metadata, Name: r.Name, Agent: r.Agent}
	if err := n.checkRest(); err != nil {
		return err
	}
	switch r.Source.Type {
	case "", Direct, Group:
	default:
		return &InvalidError{What: "source type", Why: fmt.Sprintf("%.40q is none; there are direct and group", r.Source.Type)}
	}
	if r.MessageCount < 0 || r.TurnCount < 0 || r.ContextTokens < 0 {
		return &InvalidError{What: "count", Why: "it must not be negative"}
	}
	if !r.State.known() {
		return &InvalidError{What: "state", Why: fmt.Sprintf("%.40q is none", r.State)}
	}
	for what, at := range map[string]time.Time{"created_at": r.CreatedAt, "last_activity_at": r.LastActivityAt} {
		if at.Year() < 1970 || at.Year() > 9999 {
			return &InvalidError{What: what, Why: "it must be a time from 1970 to 9999"}
		}
	}
	for what, text := range map[string]string{"preview": r.Preview, "description": r.Description, "parent session": r.ParentSession} {
		if len(text) > MetadataMax || !utf8.ValidString(text) {
			return &InvalidError{What: what, Why: fmt.Sprintf("it must be UTF-8 of at most %d bytes", MetadataMax)}
		}
	}
	for _, user := range r.Participants {
		if err := CheckKey("participant", user); err != nil {
			return err
		}
	}
	return Patch{WorkingMemory: &r.WorkingMemory, Checkpoint: &r.Checkpoint}.Check()
}

// Sequel checks the entries of an import, one after the other and in the end
// together. It needs 8 bytes for each.
type Sequel struct {
	parents []int64 // of the entry with seq i+1; -1: it is not in the tree
}

// Next refuses an entry that cannot follow those before it.
func (s *Sequel) Next(e Entry) error {
	switch {
	case e.Seq != s.Seq()+1:
		return &InvalidError{What: "entry", Why: fmt.Sprintf("seq %d follows %d", e.Seq, s.Seq())}
	case e.Waiting:
		return &InvalidError{What: "entry", Why: e.ID() + " waits for a turn; only what has its place can be imported"}
	case e.Parent < 0 || e.Parent != 0 && !e.Type.InTree():
		return &InvalidError{What: "entry", Why: e.ID() + " has a parent and cannot have this one"}
	}
	if err := (NewEntry{Type: e.Type, Payload: e.Payload}).Check(); err != nil {
		return err
	}
	parent := e.Parent
	if !e.Type.InTree() {
		parent = -1
	}
	s.parents = append(s.parents, parent)
	return nil
}

// Seq is the newest entry's.
func (s *Sequel) Seq() int64 { return int64(len(s.parents)) }

// Placed is how many entries are in the tree.
func (s *Sequel) Placed() (count int64) {
	for _, parent := range s.parents {
		if parent >= 0 {
			count++
		}
	}
	return count
}

// InTree reports whether seq is an entry of the tree, among those that were given.
func (s *Sequel) InTree(seq int64) bool {
	return seq > 0 && seq <= s.Seq() && s.parents[seq-1] >= 0
}

// End refuses what only the whole log shows: a parent or leaf that is no entry
// of the tree, and a cycle. A parent may be younger by seq than its child:
// that is a message which had to wait.
func (s *Sequel) End(leaf int64) error {
	if leaf != 0 && !s.InTree(leaf) {
		return &InvalidError{What: "leaf", Why: EntryID(leaf) + " is no entry of the tree"}
	}
	for i, parent := range s.parents {
		if parent > 0 && !s.InTree(parent) {
			return &InvalidError{What: "entry", Why: EntryID(int64(i)+1) + ": its parent " + EntryID(parent) + " is no entry of the tree"}
		}
	}
	return s.Acyclic()
}

// Acyclic refuses an entry that is its own ancestor. It walks from every entry
// to the root, or to where an earlier walk went.
func (s *Sequel) Acyclic() error {
	walk := make([]int32, len(s.parents)) // by which walk it was seen, from 1
	for i := range s.parents {
		number := int32(i + 1) //nolint:gosec // an import is bounded by memory long before
		for seq := int64(i) + 1; seq > 0; seq = s.parents[seq-1] {
			if walk[seq-1] == number {
				return &InvalidError{What: "entry", Why: EntryID(seq) + " is its own ancestor"}
			}
			if walk[seq-1] != 0 {
				break
			}
			walk[seq-1] = number
		}
	}
	return nil
}
