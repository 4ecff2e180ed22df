package sessions

import "time"

// State is where a session is in its life.
//
//	created → active ⇄ suspended → expired
//
// also created → suspended, and any state → expired, which is terminal.
type State string

// States.
const (
	StateCreated   State = "created"   // opened, no message yet
	StateActive    State = "active"    // has messages, was recently used
	StateSuspended State = "suspended" // unused for long, or replaced by /new; any message revives it
	StateExpired   State = "expired"   // can be read, exported and forked, nothing else
)

// Status is what a session is doing now.
type Status string

// Statuses.
const (
	StatusIdle     Status = "idle"
	StatusRunning  Status = "running"
	StatusAwaiting Status = "awaiting_approval"
	StatusInactive Status = "inactive" // hidden from normal lists
)

// Type tells a conversation of one person from one of many.
type Type string

// Types.
const (
	Direct Type = "direct"
	Group  Type = "group"
)

// Source says where a session came from. It never changes, but for a Type that
// turns out to be wrong: see [Turns.Post].
type Source struct {
	Kind        string `json:"kind"` // cli, web, api, channel, schedule, sub, role or a custom word
	Interactive bool   `json:"interactive"`
	Platform    string `json:"platform,omitempty"`
	TriggerID   string `json:"trigger_id,omitempty"`
	Type        Type   `json:"type,omitempty"`
	// Assumed is true where nobody knew the Type when the session was made: the
	// bot spoke there first, on a platform whose ids do not tell. It is Group
	// then, and Direct as soon as a message from there says so.
	Assumed bool `json:"assumed,omitempty"`
}

// DescriptionSource says who wrote a session's description.
type DescriptionSource string

// Description sources, weakest first: a stronger one replaces a weaker one.
const (
	DescriptionFallback DescriptionSource = "fallback" // the first message
	DescriptionAgent    DescriptionSource = "agent"
	DescriptionUser     DescriptionSource = "user"
)

// Longest preview and description, in runes.
const (
	PreviewMax     = 120
	DescriptionMax = 80
)

// Record is everything about a session but its log. Times come from the
// store's clock, in UTC, with millisecond precision.
type Record struct {
	ID             string    `json:"id"`
	Source         Source    `json:"source"`
	UserID         string    `json:"user_id"` // a group's: its first speaker
	WorkspaceID    string    `json:"workspace_id,omitempty"`
	State          State     `json:"state"`
	Status         Status    `json:"status"`
	CreatedAt      time.Time `json:"created_at"`
	LastActivityAt time.Time `json:"last_activity_at"`          // of the newest Post or Again; at first CreatedAt
	StateChangedAt time.Time `json:"state_changed_at,omitzero"` // zero: never since it was created

	Surfaces     []string       `json:"surfaces,omitempty"`     // keys, in the order they were attached
	Participants []string       `json:"participants,omitempty"` // user ids, in the order they first spoke
	Metadata     map[string]any `json:"metadata,omitempty"`

	MessageCount int64 `json:"message_count"` // messages of people, logged-only ones too
	TurnCount    int64 `json:"turn_count"`    // turns that ended with an answer or in silence

	Name              string            `json:"name,omitempty"`
	Description       string            `json:"description,omitempty"`
	DescriptionSource DescriptionSource `json:"description_source,omitempty"`
	Preview           string            `json:"preview,omitempty"` // of the newest message, as people see it
	WorkingMemory     string            `json:"working_memory,omitempty"`
	Agent             string            `json:"agent,omitempty"`
	ParentSession     string            `json:"parent_session,omitempty"`
	ContextTokens     int64             `json:"context_tokens,omitempty"` // of the last turn

	Checkpoint Checkpoint `json:"checkpoint,omitzero"`

	Seq     int64 `json:"seq"`               // the newest entry's; 0: no entries yet
	Cleared int64 `json:"cleared,omitempty"` // the entries up to this seq were erased
	Leaf    int64 `json:"-"`                 // seq of the entry where the conversation stands; 0: at the root
	Epoch   int64 `json:"epoch"`             // counts claims; half of the fence
	Version int64 `json:"version"`           // grows with every change of record or log
	Queued  int   `json:"queued"`            // messages waiting for a turn, without those of the open turn
}

// Checkpoint is how far checkpoints have looked at a session's log.
type Checkpoint struct {
	// Seq is the newest entry the last one looked at; 0: there was none since
	// the session began or was cleared.
	Seq   int64 `json:"seq"`
	Turns int64 `json:"turns"` // Record.TurnCount then, or when it was cleared
}

// Checked is the seq up to which the log needs no other checkpoint.
func (r Record) Checked() int64 { return max(r.Cleared, r.Checkpoint.Seq) }

// LeafID is the [EntryID] of the leaf.
func (r Record) LeafID() string { return EntryID(r.Leaf) }

// NewSession is what a session begins with.
type NewSession struct {
	// ID is the id to use. Empty: the bare id of Surface where it has one and
	// that is free, else one drawn with IDPrefix in the partition of Surface.
	// With a Surface it must be of the surface's home: Home(ID) is
	// SurfaceHome(Surface).
	ID          string
	Surface     string // attached from the start; empty: none
	Source      Source
	UserID      string // a participant from the start
	WorkspaceID string
	Metadata    map[string]any
	Name        string
	Agent       string
}

// Patch changes a record. Nil fields stay as they are.
type Patch struct {
	Name          *string
	Description   *Description // cut to one line of DescriptionMax
	Preview       *string      // cut to PreviewMax
	WorkingMemory *string
	Agent         *string
	ContextTokens *int64
	Checkpoint    *Checkpoint
	// Metadata is merged key by key; a nil value removes its key.
	Metadata map[string]any
}

// Description is a description and who wrote it. It is ignored when the one
// that is there comes from a stronger source.
type Description struct {
	Text   string
	Source DescriptionSource
}
