package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"parley/sessions"
)

// looseMessage is a message as many programs write one.
type looseMessage struct {
	Role      string          `json:"role"`
	Text      string          `json:"text"`
	Content   json.RawMessage `json:"content"` // a text, or parts
	Calls     []looseCall     `json:"calls"`
	ToolCalls []looseCall     `json:"tool_calls"`
	CallID    string          `json:"call_id"`
	CallID2   string          `json:"callId"`
	CallID3   string          `json:"tool_call_id"`
	CallID4   string          `json:"toolCallId"`
	ToolName  string          `json:"tool_name"`
	ToolName2 string          `json:"toolName"`
	Name      string          `json:"name"`
	IsError   bool            `json:"is_error"`
	IsError2  bool            `json:"isError"`
}

// looseCall is a call of a tool, or a part of a message.
type looseCall struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	CallID    string          `json:"callId"`
	CallID2   string          `json:"toolCallId"`
	UseID     string          `json:"tool_use_id"`
	Name      string          `json:"name"`
	ToolName  string          `json:"toolName"`
	Arguments json.RawMessage `json:"arguments"`
	Args      json.RawMessage `json:"args"`
	Input     json.RawMessage `json:"input"`
	Result    json.RawMessage `json:"result"`
	Output    json.RawMessage `json:"output"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	IsError2  bool            `json:"isError"`
	Function  *looseCall      `json:"function"`
}

func (c looseCall) id() string { return cmp.Or(c.ID, c.CallID, c.CallID2, c.UseID) }

// call is it as one of ours. Arguments are JSON, or a text that is.
func (c looseCall) call() sessions.ToolCall {
	if c.Function != nil {
		c.Name, c.Arguments = c.Function.Name, c.Function.Arguments
	}
	return sessions.ToolCall{ID: c.id(), Name: cmp.Or(c.Name, c.ToolName), Arguments: textOf(firstOf(c.Arguments, c.Args, c.Input))}
}

func (c looseCall) result() sessions.Message {
	return sessions.Message{Role: sessions.RoleTool, CallID: cmp.Or(c.CallID2, c.CallID, c.UseID, c.ID), ToolName: cmp.Or(c.ToolName, c.Name),
		Text: textOf(firstOf(c.Result, c.Output, c.Content)), IsError: c.IsError || c.IsError2}
}

// messagesFrom is a message as payloads of ours: itself, if it is of our form,
// else what it says in our form; results of several tools are several.
func messagesFrom(value json.RawMessage) ([]json.RawMessage, error) {
	var loose looseMessage
	var own sessions.Message
	ours := json.Unmarshal(value, &own) == nil
	if err := json.Unmarshal(value, &loose); err != nil && !ours {
		return nil, fmt.Errorf("cannot be read: %w", err)
	} else if ours && loose.Content == nil && (own.Role == sessions.RoleUser || own.Role == sessions.RoleAssistant || own.Role == sessions.RoleTool && own.CallID != "") && !foreignCalls(loose.ToolCalls) {
		return []json.RawMessage{value}, nil
	}
	messages, err := loose.messages()
	if err != nil {
		return nil, err
	}
	bodies := make([]json.RawMessage, len(messages))
	for i, m := range messages {
		if bodies[i], err = json.Marshal(m); err != nil {
			return nil, err
		}
	}
	return bodies, nil
}

func foreignCalls(calls []looseCall) bool {
	for _, c := range calls {
		if c.Function != nil {
			return true
		}
	}
	return false
}

func (l looseMessage) messages() ([]sessions.Message, error) {
	parts, err := l.parts()
	if err != nil {
		return nil, err
	}
	m := sessions.Message{Text: l.Text}
	var results []sessions.Message
	for _, part := range parts {
		switch part.Type {
		case "", "text", "input_text", "output_text":
			m.Text = strings.TrimPrefix(m.Text+"\n"+part.Text, "\n")
		case "tool-call", "tool_call", "toolCall", "tool_use":
			m.ToolCalls = append(m.ToolCalls, part.call())
		case "tool-result", "tool_result", "toolResult":
			results = append(results, part.result())
		case "thinking", "reasoning", "redacted_thinking", "redacted-reasoning": // is never said again
		default:
			m.Attachments = append(m.Attachments, sessions.Attachment{Kind: part.Type, Name: part.Name})
		}
	}
	for _, c := range append(l.Calls, l.ToolCalls...) {
		m.ToolCalls = append(m.ToolCalls, c.call())
	}
	switch l.Role {
	case "user":
		m.Role, m.Triggered = sessions.RoleUser, true
		if len(results) > 0 && m.Text == "" && len(m.Attachments) == 0 {
			return results, nil
		}
		return append(results, m), nil
	case "assistant", "assistant_tool_calls":
		m.Role = sessions.RoleAssistant
		return append([]sessions.Message{m}, results...), nil
	case "tool", "tool_result", "toolResult":
		if len(results) > 0 {
			return results, nil
		}
		return []sessions.Message{l.result(m.Text)}, nil
	}
	return nil, fmt.Errorf("has the role %.40q; there are user, assistant and tool", l.Role)
}

func (l looseMessage) result(text string) sessions.Message {
	return sessions.Message{Role: sessions.RoleTool, CallID: cmp.Or(l.CallID, l.CallID2, l.CallID3, l.CallID4), ToolName: cmp.Or(l.ToolName, l.ToolName2, l.Name),
		Text: text, IsError: l.IsError || l.IsError2}
}

// parts are those of the content; a text is one.
func (l looseMessage) parts() ([]looseCall, error) {
	var parts []looseCall
	var text string
	switch {
	case l.Content == nil || string(l.Content) == "null":
		return nil, nil
	case json.Unmarshal(l.Content, &text) == nil:
		return []looseCall{{Text: text}}, nil
	case json.Unmarshal(l.Content, &parts) == nil:
		return parts, nil
	}
	return nil, errors.New("has a content that is neither a text nor a list of parts")
}

// textOf is a JSON text's content, and of other JSON the JSON.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

func firstOf(values ...json.RawMessage) json.RawMessage {
	for _, value := range values {
		if value != nil {
			return value
		}
	}
	return nil
}
