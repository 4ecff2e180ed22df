package agent

import (
	"context"

	"parley/sessions"
)

// Role says whose message it is.
type Role = sessions.Role

// SilenceMarker is what a model answers when it chooses to say nothing.
// UndirectedPrefix stands before a group message that is known not to be meant
// for the bot. Both are words of the prompt: whoever labels messages and strips
// markers has to use the same.
const (
	SilenceMarker    = "<NO_REPLY>"
	UndirectedPrefix = "[not directed at you]"
	// ForwardedPrefix begins the mark of words that a speaker only passed on.
	ForwardedPrefix = "[forwarded"
)

// Message is one message as a model reads it. Which fields count depends on
// Role: ToolCalls belong to the assistant; CallID, ToolName and IsError to the
// result of a tool.
type Message struct {
	Role      Role
	Text      string
	ToolCalls []sessions.ToolCall
	CallID    string
	ToolName  string
	IsError   bool
}

// Request is everything a model is given to read. A tool result stands behind
// the assistant message that called for it. The model keeps no part of it.
type Request struct {
	System    string // empty: none
	Messages  []Message
	MaxTokens int // longest answer; 0: the model's default
}

// Answer is what a model said. Text is raw, silence markers included.
type Answer struct {
	Text         string
	Model        string           // the model that answered, by its own word; else Model.Name
	Tokens       *sessions.Tokens // nil where the model does not say
	FinishReason string           // the model's own word: stop, length, tool_calls, …; empty where it gave none
	ToolCalls    []sessions.ToolCall
}

// Model is one language model. It is safe for use by many goroutines.
type Model interface {
	// Name is the configured name. It does no I/O.
	Name() string

	// Complete answers request in one attempt. onText, which may be nil, is
	// called with each piece of text in order, never with an empty one, from
	// one goroutine at a time, and not after Complete has returned; all pieces
	// joined are Answer.Text. An error is a *ModelError, or the context's own
	// error when ctx ended; Answer then holds what had arrived.
	Complete(ctx context.Context, request Request, onText func(piece string)) (Answer, error)
}

// Prober is a model that can find out cheaply whether its endpoint, key and
// name are accepted. The error is as Complete's.
type Prober interface {
	Probe(ctx context.Context) error
}
