package fakeopenai

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
)

// problem is an error in the endpoint's own form.
type problem struct {
	status              int
	message, kind, code string
}

func invalid(format string, args ...any) *problem {
	return &problem{status: http.StatusBadRequest, message: fmt.Sprintf(format, args...), kind: "invalid_request_error"}
}

var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// validate refuses what the real endpoint would refuse, and empty messages,
// which some real ones refuse.
func (s *Server) validate(r Request) *problem {
	if r.Model == "" {
		return invalid("you must provide a model parameter")
	}
	if !slices.Contains(s.config.Models, r.Model) {
		return &problem{http.StatusNotFound, fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", r.Model),
			"invalid_request_error", "model_not_found"}
	}
	if r.StreamOptions != nil && s.config.RefuseStreamOptions {
		return invalid("Unrecognized request argument supplied: stream_options")
	}
	if r.StreamOptions != nil && !r.Stream {
		return invalid("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	if p := validateNumbers(r); p != nil {
		return p
	}
	if len(r.Messages) == 0 {
		return invalid("Invalid 'messages': empty array. Expected an array with minimum length 1.")
	}
	if p := validateMessages(r.Messages); p != nil {
		return p
	}
	if limit := s.config.ContextMax; limit > 0 && r.size() > limit {
		return &problem{http.StatusBadRequest, fmt.Sprintf("This model's maximum context length is %d characters. However, your messages resulted in %d.", limit, r.size()),
			"invalid_request_error", "context_length_exceeded"}
	}
	return nil
}

func validateNumbers(r Request) *problem {
	if r.MaxTokens != nil && r.MaxCompletionTokens != nil {
		return invalid("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	}
	for name, value := range map[string]*int{"max_tokens": r.MaxTokens, "max_completion_tokens": r.MaxCompletionTokens, "n": r.N} {
		if value != nil && *value < 1 {
			return invalid("Invalid '%s': integer below minimum value. Expected a value >= 1, but got %d instead.", name, *value)
		}
	}
	if t := r.Temperature; t != nil && (*t < 0 || *t > 2) {
		return invalid("Invalid 'temperature': %v is not between 0 and 2.", *t)
	}
	return nil
}

// validateMessages checks each message, and that results follow their calls:
// all of them, directly, and nothing else between.
func validateMessages(messages []Message) *problem {
	var open []string // calls without a result so far
	for i, message := range messages {
		if message.Role == "tool" {
			at := slices.Index(open, message.ToolCallID)
			if at < 0 {
				return invalid("messages[%d]: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.", i)
			}
			open = slices.Delete(open, at, at+1)
		} else if len(open) > 0 {
			return invalid("messages[%d]: an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': %q", i, open)
		}
		if p := validateMessage(i, message); p != nil {
			return p
		}
		for _, call := range message.ToolCalls {
			open = append(open, call.ID)
		}
	}
	if len(open) > 0 {
		return invalid("an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': %q", open)
	}
	return nil
}

func validateMessage(i int, m Message) *problem {
	switch m.Role {
	case "system", "developer", "user", "tool":
		if m.Text() == "" {
			return invalid("messages[%d].content: a %s message must not be empty", i, m.Role)
		}
		if len(m.ToolCalls) > 0 {
			return invalid("messages[%d].tool_calls: only an assistant calls tools", i)
		}
	case "assistant":
		if m.Text() == "" && len(m.ToolCalls) == 0 {
			return invalid("messages[%d]: an assistant message must have either 'content' or 'tool_calls'", i)
		}
	default:
		return invalid("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'tool', and 'developer'. (messages[%d].role)", m.Role, i)
	}
	if m.Role != "tool" && m.ToolCallID != "" {
		return invalid("messages[%d].tool_call_id: only a tool message answers a call", i)
	}
	return validateCalls(i, m.ToolCalls)
}

func validateCalls(i int, calls []ToolCall) *problem {
	seen := map[string]bool{}
	for _, call := range calls {
		switch {
		case call.ID == "" || seen[call.ID]:
			return invalid("messages[%d].tool_calls: id %q is empty or not unique", i, call.ID)
		case call.Type != "function":
			return invalid("messages[%d].tool_calls: type %q is not 'function'", i, call.Type)
		case !functionName.MatchString(call.Function.Name):
			return invalid("messages[%d].tool_calls: function name %q does not match %s", i, call.Function.Name, functionName)
		}
		seen[call.ID] = true
	}
	return nil
}
