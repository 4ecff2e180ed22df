package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"parley/sessions"
)

// Version is the version of the transcripts that are written, and the
// newest that is read. A transcript is a session as JSON Lines: a header, then one line for each
// entry, by seq.
//
//	{"type":"session_header","version":1,"id":"cli:main","timestamp":"2026-03-02T10:00:00Z",…}
//	{"type":"message","id":"e1","parent_id":null,"timestamp":"2026-03-02T10:00:01Z","message":{"role":"user","text":"hi"}}
//	{"type":"label","id":"e2","parent_id":"e1","timestamp":"2026-03-02T10:00:02Z","target_id":"e1","label":"start"}
//
// Besides these names, a line has those of its entry's payload. Where a
// payload has names that a line has itself, or too many, it stands whole
// under the name payload.
const Version = 1

// Types of a transcript's first line.
const (
	headerType     = "session_header"
	turnHeaderType = "header" // of files that are a list of turns
)

// Limits of a transcript that is read.
const (
	LineMax = 4 << 20 // bytes of a line
	// ForeignMax bounds a transcript that another program wrote, in bytes:
	// such a one is read whole before its session begins.
	ForeignMax = 64 << 20

	inlineMax = 32 // names of a payload that stand in a line
	fieldsMax = 64 // names of a line
)

// header is the first line. What is missing there was written by
// another program, and is found out from the entries.
type header struct {
	Type              string                     `json:"type"`
	Version           int                        `json:"version"`
	ID                string                     `json:"id"`
	Timestamp         instant                    `json:"timestamp,omitzero"` // CreatedAt
	CWD               string                     `json:"cwd,omitempty"`      // WorkspaceID of a terminal's session
	ParentSession     string                     `json:"parent_session,omitempty"`
	Source            *sessions.Source           `json:"source,omitempty"`
	UserID            string                     `json:"user_id,omitempty"`
	WorkspaceID       string                     `json:"workspace_id,omitempty"`
	State             sessions.State             `json:"state,omitempty"`
	LastActivityAt    instant                    `json:"last_activity_at,omitzero"`
	StateChangedAt    instant                    `json:"state_changed_at,omitzero"`
	Participants      []string                   `json:"participants,omitempty"`
	Metadata          map[string]any             `json:"metadata,omitempty"`
	MessageCount      int64                      `json:"message_count"`
	TurnCount         int64                      `json:"turn_count"`
	Name              string                     `json:"name,omitempty"`
	Description       string                     `json:"description,omitempty"`
	DescriptionSource sessions.DescriptionSource `json:"description_source,omitempty"`
	Preview           string                     `json:"preview,omitempty"`
	WorkingMemory     string                     `json:"working_memory,omitempty"`
	Agent             string                     `json:"agent,omitempty"`
	ContextTokens     int64                      `json:"context_tokens,omitempty"`
	LeafID            *string                    `json:"leaf_id"` // null: before the first entry
}

const kindCLI = "cli"

func headerOf(r sessions.Record) header {
	leaf := r.LeafID()
	h := header{Type: headerType, Version: Version, ID: r.ID, Timestamp: instant{r.CreatedAt}, ParentSession: r.ParentSession,
		Source: &r.Source, UserID: r.UserID, WorkspaceID: r.WorkspaceID, State: r.State, LastActivityAt: instant{r.LastActivityAt},
		StateChangedAt: instant{r.StateChangedAt}, Participants: r.Participants, Metadata: r.Metadata, MessageCount: r.MessageCount,
		TurnCount: r.TurnCount, Name: r.Name, Description: r.Description, DescriptionSource: r.DescriptionSource, Preview: r.Preview,
		WorkingMemory: r.WorkingMemory, Agent: r.Agent, ContextTokens: r.ContextTokens}
	if leaf != "" {
		h.LeafID = &leaf
	}
	if r.Source.Kind == kindCLI {
		h.CWD = r.WorkspaceID
	}
	return h
}

// record is the header as a record, but for Leaf.
func (h header) record() sessions.Record {
	r := sessions.Record{ID: h.ID, UserID: h.UserID, WorkspaceID: cmp.Or(h.WorkspaceID, h.CWD), State: h.State, CreatedAt: h.Timestamp.Time,
		LastActivityAt: h.LastActivityAt.Time, StateChangedAt: h.StateChangedAt.Time, Participants: h.Participants, Metadata: h.Metadata,
		MessageCount: h.MessageCount, TurnCount: h.TurnCount, Name: h.Name, Description: h.Description, DescriptionSource: h.DescriptionSource,
		Preview: h.Preview, WorkingMemory: h.WorkingMemory, Agent: h.Agent, ParentSession: h.ParentSession, ContextTokens: h.ContextTokens}
	if h.Source != nil {
		r.Source = *h.Source
	}
	return r
}

// instant is a time in a transcript. It is written as RFC 3339; it may be read
// as seconds or milliseconds since 1970 too.
type instant struct{ time.Time }

// MarshalJSON writes UTC.
func (i instant) MarshalJSON() ([]byte, error) { return json.Marshal(i.UTC()) }

// UnmarshalJSON reads milliseconds; null is the zero time.
func (i *instant) UnmarshalJSON(text []byte) (err error) {
	i.Time, err = timeOf(text)
	return err
}

// timeOf reads a time.
func timeOf(value json.RawMessage) (time.Time, error) {
	var t time.Time
	if err := json.Unmarshal(value, &t); err != nil {
		var number float64
		if json.Unmarshal(value, &number) != nil {
			return t, errors.New("must be a time as in 2026-03-02T10:00:00Z")
		}
		if number < 1e11 { // seconds, until the year 5138
			number *= 1000
		}
		if number < 0 || number > math.MaxInt64/2 {
			return t, errYear
		}
		t = time.UnixMilli(int64(number))
	}
	if t = milli(t); !t.IsZero() && (t.Year() < 1970 || t.Year() > 9999) {
		return t, errYear
	}
	return t, nil
}

var errYear = errors.New("must be a time from 1970 to 9999")

func milli(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// Error is a line of a transcript that cannot be imported. It is an
// *InvalidError.
type Error struct {
	Line int // from 1
	Why  string
	Torn bool // the file ends in the middle of this line
}

// Error says which line and why.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }

// Unwrap makes it an InvalidError.
func (e *Error) Unwrap() error {
	return &sessions.InvalidError{What: "transcript", Why: e.Error()}
}

// envelope are the names that a line has itself.
func envelope(name string) bool {
	switch name {
	case "type", "id", "parent_id", "timestamp", "seq", "message", "payload":
		return true
	}
	return false
}

// reference reports whether a name in the payload of an entry holds an entry's
// id. Programs keep what they like in entries of their own.
func reference(t sessions.EntryType, name string) bool {
	if t == sessions.EntryCustomInfo || t == sessions.EntryCustomMessage || t == sessions.EntryMessage {
		return false
	}
	switch name {
	case "target_id", "first_kept_entry_id", "from_id", "entry_id":
		return true
	}
	return false
}
