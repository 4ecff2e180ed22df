package fakeanthropic

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Request is a request for a message. Its fields are those the real API knows
// and this fake understands; any other is refused.
type Request struct {
	Model         string          `json:"model"`
	MaxTokens     *int            `json:"max_tokens"`
	System        Blocks          `json:"system"`
	Messages      []Message       `json:"messages"`
	Stream        bool            `json:"stream"`
	StopSequences []string        `json:"stop_sequences"`
	Metadata      json.RawMessage `json:"metadata"`
	Tools         []Tool          `json:"tools"`
	ToolChoice    *ToolChoice     `json:"tool_choice"`
	Thinking      json.RawMessage `json:"thinking"`
}

// Tool is a tool the model may call.
type Tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// ToolChoice says whether and what the model must call.
type ToolChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

// Message is one message of a request.
type Message struct {
	Role    string `json:"role"`
	Content Blocks `json:"content"`
}

// Blocks are the parts of a message. A plain string is one block of text.
type Blocks []Block

// Block is one part of a message.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`          // tool_use
	Name      string          `json:"name"`        // tool_use
	Input     json.RawMessage `json:"input"`       // tool_use
	ToolUseID string          `json:"tool_use_id"` // tool_result
	Content   Blocks          `json:"content"`     // tool_result
	IsError   bool            `json:"is_error"`    // tool_result
}

// UnmarshalJSON reads a string or a list of blocks, which hold nothing unknown.
func (b *Blocks) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*b = Blocks{{Type: "text", Text: text}}
		return nil
	}
	var list []Block
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&list); err != nil {
		return err
	}
	*b = list
	return nil
}

// Text joins the texts of all blocks, those of tool results too, by line
// breaks.
func (b Blocks) Text() string {
	var texts []string
	for _, block := range b {
		if block.Type == "tool_result" {
			texts = append(texts, block.Content.Text())
		} else if block.Text != "" {
			texts = append(texts, block.Text)
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

// Transcript is every block of every message, as "role type: text" lines.
func (r Request) Transcript() []string {
	var lines []string
	for _, message := range r.Messages {
		for _, block := range message.Content {
			lines = append(lines, message.Role+" "+block.Type+": "+block.said())
		}
	}
	return lines
}

func (b Block) said() string {
	switch b.Type {
	case "tool_use":
		return b.ID + " " + b.Name + " " + string(b.Input)
	case "tool_result":
		text := b.ToolUseID + " " + b.Content.Text()
		if b.IsError {
			text += " (error)"
		}
		return text
	}
	return b.Text
}

func (r Request) size() int {
	size := len(r.System.Text())
	for _, message := range r.Messages {
		size += len(message.Content.Text())
	}
	return size
}
