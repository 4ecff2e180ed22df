package sessions

import "time"

// Role says whose message it is.
type Role string

// Roles of a message.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is the payload of an EntryMessage. Text is raw: as the person wrote
// it, or as the model answered it, silence markers included.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`

	// Of people.
	Sender      *Sender      `json:"sender,omitempty"`
	Surface     string       `json:"surface,omitempty"`
	MessageID   string       `json:"message_id,omitempty"` // the platform's
	ReplyTo     string       `json:"reply_to,omitempty"`   // the platform's id of the message this answers
	Attachments []Attachment `json:"attachments,omitempty"`
	Forwarded   *Forward     `json:"forwarded,omitempty"` // the sender only passed the text on
	Via         string       `json:"via,omitempty"`       // the bot that wrote the text for its sender
	Group       bool         `json:"group,omitempty"`
	Directed    bool         `json:"directed,omitempty"`  // known to be meant for the bot
	Triggered   bool         `json:"triggered,omitempty"` // asked for a turn; false: only logged
	Decision    string       `json:"decision,omitempty"`  // routing's reason code
	SentAt      time.Time    `json:"sent_at,omitzero"`    // the platform's time
	Sequence    int64        `json:"sequence,omitempty"`  // the platform's own order within the surface, where it has one

	// Of the agent.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	Model     string     `json:"model,omitempty"`
	Tokens    *Tokens    `json:"tokens,omitempty"`
	Silent    bool       `json:"silent,omitempty"`  // nothing was shown to people
	Partial   bool       `json:"partial,omitempty"` // the answer broke off; people may have read this much of it
	Stopped   bool       `json:"stopped,omitempty"` // a person broke it off

	// Of a tool.
	CallID   string `json:"call_id,omitempty"`
	ToolName string `json:"tool_name,omitempty"`
	IsError  bool   `json:"is_error,omitempty"`
}

// EndsTurn reports whether a turn is over with this message: an answer that asks
// for no tool. Behind one that broke off by itself an error ends the turn.
func (m Message) EndsTurn() bool {
	return m.Role == RoleAssistant && len(m.ToolCalls) == 0 && (!m.Partial || m.Stopped)
}

// Sender is who wrote a message, as it was when the message was routed.
type Sender struct {
	ID   string `json:"id"`   // platform identity, as in telegram:12345
	Name string `json:"name"` // raw display name
	Role string `json:"role"` // owner, member, guest
}

// Forward is where the words of a message come from that its sender passed on.
type Forward struct {
	From string    `json:"from,omitempty"` // raw display name; empty: not known
	Time time.Time `json:"time,omitzero"`  // when it was said there
}

// Attachment is a file that came with a message.
type Attachment struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
	MIME string `json:"mime,omitempty"`
	Size int64  `json:"size,omitempty"`
	Ref  string `json:"ref,omitempty"`
}

// ToolCall is a model's wish to run a tool.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON, as the model wrote it
}

// Tokens is what a model call cost.
type Tokens struct {
	Prompt     int64 `json:"prompt"`
	Completion int64 `json:"completion"`
}
