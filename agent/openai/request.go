package openai

import (
	"errors"

	api "github.com/sashabaranov/go-openai"

	"parley/agent"
	"parley/sessions"
)

// chatRequest is request in the endpoint's words.
func (m *Model) chatRequest(request agent.Request, withUsage bool) api.ChatCompletionRequest {
	out := api.ChatCompletionRequest{Model: m.config.Model, Messages: chatMessages(request)}
	if withUsage {
		out.StreamOptions = &api.StreamOptions{IncludeUsage: true}
	}
	limitAnswer(&out, request.MaxTokens, m.config.BaseURL == BaseURLDefault)
	return out
}

// limitAnswer sets the longest answer under the name the model knows it by:
// OpenAI's newer models refuse max_tokens, and many other servers know no other.
func limitAnswer(out *api.ChatCompletionRequest, limit int, official bool) {
	if limit <= 0 {
		return
	}
	out.MaxTokens = limit //nolint:staticcheck // deprecated by OpenAI only
	err := api.NewReasoningValidator().Validate(*out)
	if official || errors.Is(err, api.ErrReasoningModelMaxTokensDeprecated) {
		out.MaxTokens, out.MaxCompletionTokens = 0, limit //nolint:staticcheck // as above
	}
}

// chatMessages leaves out messages that say nothing, which endpoints refuse.
func chatMessages(request agent.Request) []api.ChatCompletionMessage {
	out := make([]api.ChatCompletionMessage, 0, len(request.Messages)+1)
	if request.System != "" {
		out = append(out, api.ChatCompletionMessage{Role: api.ChatMessageRoleSystem, Content: request.System})
	}
	for _, message := range request.Messages {
		if message.Role == sessions.RoleTool {
			out = append(out, toolResult(message))
		} else if message.Text != "" || len(message.ToolCalls) > 0 {
			out = append(out, spoken(message))
		}
	}
	return out
}

func spoken(message agent.Message) api.ChatCompletionMessage {
	out := api.ChatCompletionMessage{Role: string(message.Role), Content: message.Text}
	for _, call := range message.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, api.ToolCall{
			ID: call.ID, Type: api.ToolTypeFunction,
			Function: api.FunctionCall{Name: call.Name, Arguments: call.Arguments},
		})
	}
	return out
}

func toolResult(message agent.Message) api.ChatCompletionMessage {
	text := message.Text
	if text == "" {
		text = "(no output)"
	}
	if message.IsError {
		text = "Error: " + text
	}
	return api.ChatCompletionMessage{Role: api.ChatMessageRoleTool, Content: text, ToolCallID: message.CallID}
}
