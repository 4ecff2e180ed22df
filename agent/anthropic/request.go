package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	api "github.com/anthropics/anthropic-sdk-go/v2"

	"parley/agent"
	"parley/sessions"
)

// Texts that stand where the API insists on one and the conversation has none.
const (
	textEarlier  = "(What was said before is left out.)"
	textGoOn     = "(Go on.)"
	textNoOutput = "(no output)"
)

// params is request in the API's words. It has no messages if request has none
// that say anything.
func (m *Model) params(request agent.Request) api.MessageNewParams {
	out := api.MessageNewParams{Model: m.config.Model, MaxTokens: AnswerTokensDefault, Messages: messages(request.Messages)}
	if request.MaxTokens > 0 {
		out.MaxTokens = int64(request.MaxTokens)
	}
	if strings.TrimSpace(request.System) != "" {
		out.System = []api.TextBlockParam{{Text: request.System}}
	}
	if out.Tools = calledTools(request.Messages); len(out.Tools) > 0 {
		none := api.NewToolChoiceNoneParam()
		out.ToolChoice = api.ToolChoiceUnionParam{OfNone: &none}
	}
	return out
}

// turn is consecutive messages of one role.
type turn struct {
	assistant bool
	blocks    []api.ContentBlockParamUnion
}

// messages joins consecutive messages of one role, puts a turn of the user at
// both ends, and leaves out what says nothing: the API refuses all three.
func messages(from []agent.Message) []api.MessageParam {
	var turns []turn
	for _, message := range from {
		blocks := blocksOf(message)
		if len(blocks) == 0 {
			continue
		}
		assistant := message.Role == sessions.RoleAssistant
		if last := len(turns) - 1; last >= 0 && turns[last].assistant == assistant {
			turns[last].blocks = append(turns[last].blocks, blocks...)
			continue
		}
		turns = append(turns, turn{assistant, blocks})
	}
	if len(turns) == 0 {
		return nil
	}
	if turns[0].assistant {
		turns = slices.Insert(turns, 0, userTurn(textEarlier))
	}
	if turns[len(turns)-1].assistant {
		turns = append(turns, userTurn(textGoOn))
	}
	out := make([]api.MessageParam, len(turns))
	for i, t := range turns {
		out[i] = t.param()
	}
	return out
}

func userTurn(text string) turn {
	return turn{blocks: []api.ContentBlockParamUnion{api.NewTextBlock(text)}}
}

func (t turn) param() api.MessageParam {
	if t.assistant {
		return api.NewAssistantMessage(t.blocks...)
	}
	return api.NewUserMessage(t.blocks...)
}

// blocksOf are the parts of one message; none if it says nothing.
func blocksOf(message agent.Message) []api.ContentBlockParamUnion {
	said := strings.TrimSpace(message.Text) != ""
	if message.Role == sessions.RoleTool {
		text := textNoOutput
		if said {
			text = message.Text
		}
		return []api.ContentBlockParamUnion{api.NewToolResultBlock(callID(message.CallID), text, message.IsError)}
	}
	var out []api.ContentBlockParamUnion
	if said {
		out = append(out, api.NewTextBlock(message.Text))
	}
	for _, call := range message.ToolCalls {
		out = append(out, api.NewToolUseBlock(callID(call.ID), arguments(call.Arguments), call.Name))
	}
	return out
}

// arguments are a call's, which the API reads as an object only. What a model
// wrote that is none goes along as a text.
func arguments(written string) any {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(written), &object) == nil && object != nil {
		return object
	}
	if strings.TrimSpace(written) == "" {
		return struct{}{}
	}
	return map[string]string{"arguments": written}
}

// callID is an id as the API reads it. Another provider's may hold more.
func callID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
}

// calledTools declares the tools of calls in the conversation, each once: the
// API refuses calls of tools that the request does not know.
func calledTools(from []agent.Message) []api.ToolUnionParam {
	var out []api.ToolUnionParam
	seen, anyObject := map[string]bool{}, api.ToolInputSchemaParam{Type: "object"}
	for _, message := range from {
		for _, call := range message.ToolCalls {
			if !seen[call.Name] {
				seen[call.Name] = true
				out = append(out, api.ToolUnionParamOfTool(anyObject, call.Name))
			}
		}
	}
	return out
}
