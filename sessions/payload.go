package sessions

import (
	"encoding/json"
)

// The payloads of entries that are no messages. Ids are entry ids ("e12");
// empty or null: none.
type (
	// Label is the payload of an EntryLabel: what people call an entry. Of
	// several of one entry the one with the highest seq counts.
	Label struct {
		TargetID string `json:"target_id"`
		Label    string `json:"label,omitempty"` // empty: the entry has none any more
	}
	// SessionName is the payload of an EntrySessionName.
	SessionName struct {
		Name string `json:"name"`
	}
	// ModelChange is the payload of an EntryModelChange. It counts for its
	// branch, until the next one there.
	ModelChange struct {
		ModelID string `json:"model_id"` // empty: the configured one again
	}
	// ThinkingLevelChange is the payload of an EntryThinking. It counts as a
	// ModelChange does.
	ThinkingLevelChange struct {
		ThinkingLevel string `json:"thinking_level"` // empty: the configured one again
	}
	// BranchSummary is the payload of an EntryBranchSummary: what was said on
	// the branch that was left, for who goes on without it.
	BranchSummary struct {
		Summary string `json:"summary"`
		FromID  string `json:"from_id,omitempty"` // the leaf that was left
	}
	// CheckpointEntry is the payload of an EntryCheckpoint: what a checkpoint
	// looked at, and what came of it.
	CheckpointEntry struct {
		Reason  string `json:"reason"`
		FromSeq int64  `json:"from_seq"` // the first entry of its range
		ToSeq   int64  `json:"to_seq"`   // the last one
		Turns   int64  `json:"turns"`    // that ended in it
		// LeftOut is how many of the range's oldest entries were not looked at,
		// because the range was too long.
		LeftOut int64  `json:"left_out,omitempty"`
		Text    string `json:"text,omitempty"` // the description it wrote
	}
	// CustomInfo is the payload of an EntryCustomInfo: what an outside program
	// keeps in the log. Nobody is shown it.
	CustomInfo struct {
		Name string          `json:"name,omitempty"` // whose it is
		Data json.RawMessage `json:"data,omitempty"`
	}
	// CustomMessage is the payload of an EntryCustomMessage: what an outside
	// program tells people, and with ForModel the model as well.
	CustomMessage struct {
		Name     string          `json:"name,omitempty"` // whose it is
		Text     string          `json:"text"`
		ForModel bool            `json:"for_model,omitempty"`
		Data     json.RawMessage `json:"data,omitempty"`
	}
)

// Compaction is the payload of an EntryCompaction: what stands for the entries
// before FirstKeptID. Nothing before that need be read again for a model, so
// it carries the settings of its branch along.
type Compaction struct {
	Summary string `json:"summary"`
	// FirstKeptID is the first entry of the branch that a model still reads;
	// empty: none before the compaction.
	FirstKeptID    string `json:"first_kept_entry_id,omitempty"`
	Trigger        string `json:"trigger,omitempty"`         // manual or auto
	TokensBefore   int64  `json:"tokens_before,omitempty"`   //
	TokensAfter    int64  `json:"tokens_after,omitempty"`    //
	CompactedTurns int64  `json:"compacted_turns,omitempty"` // how many turns the summary stands for
	ModelID        string `json:"model_id,omitempty"`        // as the newest ModelChange before it
	ThinkingLevel  string `json:"thinking_level,omitempty"`  // as the newest ThinkingLevelChange before it
}

// NewNote encodes an entry that is no message.
func NewNote(kind EntryType, payload any) (NewEntry, error) {
	encoded, err := json.Marshal(payload)
	return NewEntry{Type: kind, Payload: encoded}, err
}

// PayloadAs decodes an entry's payload. What cannot be read is the zero value
// and false.
func PayloadAs[T any](e Entry) (value T, ok bool) {
	if json.Unmarshal(e.Payload, &value) != nil {
		var none T
		return none, false
	}
	return value, true
}

// Edit is the payload of an EntryEdit: what a message reads instead, from
// where the edit stands in the log.
type Edit struct {
	TargetID string `json:"target_id"`
	// Attachments are the message's from now on; empty: they stay.
	Attachments []Attachment `json:"attachments,omitempty"`
}
