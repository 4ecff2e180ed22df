package fakeanthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// problem is an error in the API's own form.
type problem struct {
	status        int
	kind, message string
}

func invalid(format string, args ...any) *problem {
	return &problem{http.StatusBadRequest, "invalid_request_error", fmt.Sprintf(format, args...)}
}

var (
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	callID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
)

// validate refuses what the real API refuses.
func (s *Server) validate(r Request) *problem {
	switch {
	case r.Model == "":
		return invalid("model: Field required")
	case !slices.Contains(s.config.Models, r.Model):
		return &problem{http.StatusNotFound, "not_found_error", "model: " + r.Model}
	case r.MaxTokens == nil:
		return invalid("max_tokens: Field required")
	case *r.MaxTokens < 1:
		return invalid("max_tokens: Input should be greater than or equal to 1")
	case s.config.TokensMax > 0 && *r.MaxTokens > s.config.TokensMax:
		return invalid("max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s", *r.MaxTokens, s.config.TokensMax, r.Model)
	case len(r.Messages) == 0:
		return invalid("messages: at least one message is required")
	}
	if p := validateTools(r); p != nil {
		return p
	}
	if p := validateBlocks("system", "system", r.System); p != nil {
		return p
	}
	if p := validateMessages(r); p != nil {
		return p
	}
	if limit := s.config.ContextMax; limit > 0 && r.size() > limit {
		return invalid("prompt is too long: %d tokens > %d maximum", r.size(), limit)
	}
	return nil
}

func validateTools(r Request) *problem {
	seen := map[string]bool{}
	for i, tool := range r.Tools {
		var schema struct {
			Type string `json:"type"`
		}
		switch {
		case !toolName.MatchString(tool.Name):
			return invalid("tools.%d.custom.name: String should match pattern '%s'", i, toolName)
		case seen[tool.Name]:
			return invalid("tools: Tool names must be unique.")
		case json.Unmarshal(tool.InputSchema, &schema) != nil || schema.Type != "object":
			return invalid("tools.%d.custom.input_schema.type: Input should be 'object'", i)
		}
		seen[tool.Name] = true
	}
	if r.ToolChoice != nil && len(r.Tools) == 0 {
		return invalid("tool_choice: may only be specified while providing tools")
	}
	if r.ToolChoice != nil && !slices.Contains([]string{"auto", "any", "tool", "none"}, r.ToolChoice.Type) {
		return invalid("tool_choice.type: %q", r.ToolChoice.Type)
	}
	return nil
}

// validateMessages checks the order of roles, every block, and that results
// follow their calls: all of them, in the next message, before anything else.
// The real API joins messages of one role and takes an answer it is to go on
// with; both depend on the model or hide mistakes, so they are refused here.
func validateMessages(r Request) *problem {
	var open []string // calls of the message before
	for i, message := range r.Messages {
		want := "user"
		if i%2 == 1 {
			want = "assistant"
		}
		if message.Role != want {
			return invalid("messages.%d.role: roles must alternate, beginning with \"user\": found %q", i, message.Role)
		}
		if len(message.Content) == 0 {
			return invalid("messages.%d: all messages must have non-empty content", i)
		}
		if p := validateBlocks(fmt.Sprintf("messages.%d", i), message.Role, message.Content); p != nil {
			return p
		}
		if p := validateResults(i, open, message.Content); p != nil {
			return p
		}
		var p *problem
		if open, p = callsOf(i, r, message.Content); p != nil {
			return p
		}
	}
	if r.Last().Role == "assistant" {
		return invalid("This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	return nil
}

func validateBlocks(where, role string, blocks Blocks) *problem {
	for i, block := range blocks {
		switch {
		case block.Type == "text" && block.Text == "":
			return invalid("%s.content.%d.text: text content blocks must be non-empty", where, i)
		case block.Type == "text" && strings.TrimSpace(block.Text) == "":
			return invalid("%s.content.%d.text: text content blocks must contain non-whitespace text", where, i)
		case block.Type == "text":
		case block.Type == "tool_use" && role == "assistant":
		case block.Type == "tool_result" && role == "user":
		default:
			return invalid("%s.content.%d: a %s message holds no block of type %q", where, i, role, block.Type)
		}
	}
	return nil
}

// validateResults checks that the message answers exactly the open calls, first.
func validateResults(i int, open []string, blocks Blocks) *problem {
	var other bool
	left := slices.Clone(open)
	for _, block := range blocks {
		if block.Type != "tool_result" {
			other = true
			continue
		}
		at := slices.Index(left, block.ToolUseID)
		if at < 0 {
			return invalid("messages.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, block.ToolUseID)
		}
		if other {
			return invalid("messages.%d: `tool_result` blocks must come before any other content", i)
		}
		left = slices.Delete(left, at, at+1)
	}
	if len(left) > 0 {
		return invalid("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s", i-1, strings.Join(left, ", "))
	}
	return nil
}

func callsOf(i int, r Request, blocks Blocks) ([]string, *problem) {
	var out []string
	for _, block := range blocks {
		if block.Type != "tool_use" {
			continue
		}
		var input map[string]json.RawMessage
		switch {
		case !callID.MatchString(block.ID):
			return nil, invalid("messages.%d: tool_use.id: String should match pattern '%s'", i, callID)
		case slices.Contains(out, block.ID):
			return nil, invalid("messages.%d: `tool_use` ids must be unique", i)
		case json.Unmarshal(block.Input, &input) != nil || input == nil:
			return nil, invalid("messages.%d: tool_use.input: Input should be a valid dictionary", i)
		case !slices.ContainsFunc(r.Tools, func(tool Tool) bool { return tool.Name == block.Name }):
			return nil, invalid("Requests which include `tool_use` or `tool_result` blocks must define tools")
		}
		out = append(out, block.ID)
	}
	return out, nil
}
