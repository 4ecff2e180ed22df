package fakeopenai

import (
	"encoding/json"
	"strings"
)

// Request is a chat completion request. Its fields are those the real endpoint
// knows; any other is refused.
type Request struct {
	Model               string          `json:"model"`
	Messages            []Message       `json:"messages"`
	Stream              bool            `json:"stream"`
	StreamOptions       *StreamOptions  `json:"stream_options"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	Temperature         *float64        `json:"temperature"`
	TopP                *float64        `json:"top_p"`
	N                   *int            `json:"n"`
	Stop                json.RawMessage `json:"stop"`
	Seed                *int            `json:"seed"`
	User                string          `json:"user"`
	PresencePenalty     *float64        `json:"presence_penalty"`
	FrequencyPenalty    *float64        `json:"frequency_penalty"`
	Tools               []Tool          `json:"tools"`
	ToolChoice          json.RawMessage `json:"tool_choice"`
	ParallelToolCalls   *bool           `json:"parallel_tool_calls"`
	ResponseFormat      json.RawMessage `json:"response_format"`
	ReasoningEffort     string          `json:"reasoning_effort"`
}

// StreamOptions are the options of a stream.
type StreamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// Tool is a tool the model may call.
type Tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      *bool           `json:"strict"`
	} `json:"function"`
}

// Message is one message of a request.
type Message struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
	Name       string     `json:"name"`
	Refusal    string     `json:"refusal"`
	ToolCalls  []ToolCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

// Text is the content, empty where there is none.
func (m Message) Text() string {
	if m.Content == nil {
		return ""
	}
	return *m.Content
}

// ToolCall is a call of a tool.
type ToolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function ToolFunction `json:"function"`
}

// ToolFunction is what a ToolCall calls; Arguments is JSON in a string.
type ToolFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// System is the text of all system messages.
func (r Request) System() string {
	var texts []string
	for _, message := range r.Messages {
		if message.Role == "system" || message.Role == "developer" {
			texts = append(texts, message.Text())
		}
	}
	return strings.Join(texts, "\n")
}

// Last is the last message, which every logged request has.
func (r Request) Last() Message {
	if len(r.Messages) == 0 {
		return Message{}
	}
	return r.Messages[len(r.Messages)-1]
}

// Transcript is every message but the system's, as "role: text" lines.
func (r Request) Transcript() []string {
	var lines []string
	for _, message := range r.Messages {
		if message.Role != "system" && message.Role != "developer" {
			lines = append(lines, message.Role+": "+message.Text())
		}
	}
	return lines
}

func (r Request) size() int {
	size := 0
	for _, message := range r.Messages {
		size += len(message.Text())
	}
	return size
}
