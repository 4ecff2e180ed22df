package sessions

import (
	"encoding/json"
	"time"
)

// EntryType is what a line of the log is.
type EntryType string

// Entry types. The first block stands in the tree, each below its parent; what
// is in the second block happened beside it and is read by seq only.
const (
	EntryMessage       EntryType = "message"
	EntryCompaction    EntryType = "compaction"
	EntryBranchSummary EntryType = "branch_summary"
	EntryModelChange   EntryType = "model_change"
	EntryThinking      EntryType = "thinking_level_change"
	EntrySessionName   EntryType = "session_name"
	EntryLabel         EntryType = "label"
	EntryCustomInfo    EntryType = "custom_info"
	EntryCustomMessage EntryType = "custom_message"

	EntryLeaf       EntryType = "leaf" // moves the leaf to its target
	EntryEdit       EntryType = "edit"
	EntryDelete     EntryType = "delete"
	EntryReaction   EntryType = "reaction"
	EntryTurn       EntryType = "turn"
	EntryApproval   EntryType = "approval"
	EntryDelivery   EntryType = "delivery"
	EntryCheckpoint EntryType = "checkpoint"
	EntryHandoff    EntryType = "handoff"
	EntryError      EntryType = "error"
	EntryState      EntryType = "state"
)

// InTree reports whether entries of this type have a place in the tree: a
// parent, and children.
func (t EntryType) InTree() bool {
	switch t {
	case EntryMessage, EntryCompaction, EntryBranchSummary, EntryModelChange, EntryThinking,
		EntrySessionName, EntryLabel, EntryCustomInfo, EntryCustomMessage:
		return true
	}
	return false
}

// Known reports whether a store accepts entries of this type.
func (t EntryType) Known() bool {
	switch t {
	case EntryLeaf, EntryEdit, EntryDelete, EntryReaction, EntryTurn, EntryApproval, EntryDelivery,
		EntryCheckpoint, EntryHandoff, EntryError, EntryState:
		return true
	}
	return t.InTree()
}

// Entry is one line of the log. It is written once and never changed, but for
// one thing: a message that is posted while a turn runs has a seq at once
// (its place for people) and gets its parent (its place for the model) once,
// when a turn takes it up or, if it is only logged, when the running turn
// commits. Until then Waiting is true.
type Entry struct {
	Seq     int64           // order in the session, from 1, without gaps until the log is cleared
	Parent  int64           // seq of the entry before it on its branch; 0: the root, or not in the tree
	Waiting bool            // in the log, not in the tree yet
	Time    time.Time       // the store's clock, UTC, milliseconds
	Type    EntryType       // says what Payload is
	Payload json.RawMessage // a JSON object; for EntryMessage a Message
}

// ID is the entry's id.
func (e Entry) ID() string { return EntryID(e.Seq) }

// Message decodes the payload of an EntryMessage.
func (e Entry) Message() (Message, error) {
	var m Message
	if e.Type != EntryMessage {
		return m, &InvalidError{What: "entry", Why: string(e.Type) + " is not a message"}
	}
	err := json.Unmarshal(e.Payload, &m)
	return m, err
}

type entryJSON struct {
	Seq       int64           `json:"seq"`
	ID        string          `json:"id"`
	ParentID  *string         `json:"parent_id"`
	Waiting   bool            `json:"waiting,omitempty"`
	Timestamp time.Time       `json:"timestamp"`
	Type      EntryType       `json:"type"`
	Payload   json.RawMessage `json:"payload,omitempty"`
}

// MarshalJSON writes {seq, id, parent_id, timestamp, type, payload}.
func (e Entry) MarshalJSON() ([]byte, error) {
	out := entryJSON{Seq: e.Seq, ID: e.ID(), Waiting: e.Waiting, Timestamp: e.Time, Type: e.Type, Payload: e.Payload}
	if e.Parent != 0 {
		parent := EntryID(e.Parent)
		out.ParentID = &parent
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Entry) UnmarshalJSON(data []byte) error {
	var in entryJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*e = Entry{Seq: in.Seq, Waiting: in.Waiting, Time: in.Timestamp, Type: in.Type, Payload: in.Payload}
	if in.ParentID == nil {
		return nil
	}
	parent, err := ParseEntryID(*in.ParentID)
	e.Parent = parent
	return err
}

// NewEntry is an entry to be written. One whose type is InTree becomes the
// child of the leaf and then is the leaf; an EntryLeaf moves the leaf to
// Target; every other leaves the leaf where it is.
type NewEntry struct {
	Type EntryType
	// Payload is a JSON object. Nil: {}, or for an EntryLeaf the LeafEntry of Target.
	Payload json.RawMessage
	Target  int64 // EntryLeaf: the seq the leaf moves to, in the tree; 0: before the first entry
}

// NewMessage encodes a message as an entry to be written.
func NewMessage(m Message) (NewEntry, error) {
	payload, err := json.Marshal(m)
	return NewEntry{Type: EntryMessage, Payload: payload}, err
}
