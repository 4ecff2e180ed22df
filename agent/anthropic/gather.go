package anthropic

import (
	"encoding/json"
	"strings"

	api "github.com/anthropics/anthropic-sdk-go/v2"

	"parley/agent"
	"parley/agent/endpoint"
	"parley/sessions"
)

// gatherer puts an answer together from its events. Kinds of events and blocks
// it does not know, and what a model thinks aloud, are passed over.
type gatherer struct {
	onText  func(string)
	started bool // onText was called

	text   strings.Builder
	size   int // bytes of text and of arguments
	calls  []gatheredCall
	model  string
	stop   api.StopReason
	tokens *sessions.Tokens
	ended  bool // the stream said that it is complete
}

type gatheredCall struct {
	index    int64 // of its block
	id, name string
	input    string // as it stood in the block's beginning
	args     strings.Builder
}

// take adds one event.
func (g *gatherer) take(event api.MessageStreamEventUnion) error {
	switch event.Type {
	case "message_start":
		g.model = event.Message.Model
		u := event.Message.Usage
		g.count(u.InputTokens+u.CacheCreationInputTokens+u.CacheReadInputTokens, u.OutputTokens)
	case "message_delta":
		g.stop = event.Delta.StopReason
		u := event.Usage
		g.count(u.InputTokens+u.CacheCreationInputTokens+u.CacheReadInputTokens, u.OutputTokens)
	case "content_block_start":
		return g.begin(event.Index, event.ContentBlock)
	case "content_block_delta":
		return g.grow(event.Index, event.Delta)
	case "message_stop":
		g.ended = true
	}
	return nil
}

// count keeps the highest numbers, which later events say anew or leave out.
func (g *gatherer) count(prompt, completion int64) {
	if g.tokens == nil {
		if prompt == 0 && completion == 0 {
			return
		}
		g.tokens = &sessions.Tokens{}
	}
	g.tokens.Prompt = max(g.tokens.Prompt, prompt)
	g.tokens.Completion = max(g.tokens.Completion, completion)
}

func (g *gatherer) begin(index int64, block api.ContentBlockStartEventContentBlockUnion) error {
	switch block.Type {
	case "text":
		return g.say(block.Text)
	case "tool_use":
		if len(g.calls) == endpoint.CallsMax {
			return endpoint.ErrTooLong
		}
		input, _ := json.Marshal(block.Input)
		g.calls = append(g.calls, gatheredCall{index: index, id: block.ID, name: block.Name, input: string(input)})
		return g.grown(len(block.ID) + len(block.Name) + len(input))
	}
	return nil
}

func (g *gatherer) grow(index int64, delta api.MessageStreamEventUnionDelta) error {
	switch delta.Type {
	case "text_delta":
		return g.say(delta.Text)
	case "input_json_delta":
		for at := range g.calls {
			if g.calls[at].index == index {
				g.calls[at].args.WriteString(delta.PartialJSON)
			}
		}
		return g.grown(len(delta.PartialJSON))
	}
	return nil
}

func (g *gatherer) grown(by int) error {
	if g.size += by; g.size > endpoint.AnswerMax {
		return endpoint.ErrTooLong
	}
	return nil
}

func (g *gatherer) say(piece string) error {
	if piece == "" {
		return nil
	}
	if err := g.grown(len(piece)); err != nil {
		return err
	}
	g.text.WriteString(piece)
	if g.onText != nil {
		g.started = true
		g.onText(piece)
	}
	return nil
}

// answer is what has been gathered so far.
func (g *gatherer) answer(model string) agent.Answer {
	out := agent.Answer{Text: g.text.String(), Model: model, Tokens: g.tokens, FinishReason: string(g.stop)}
	if g.model != "" {
		out.Model = g.model
	}
	for at := range g.calls {
		out.ToolCalls = append(out.ToolCalls, g.calls[at].call())
	}
	return out
}

func (c *gatheredCall) call() sessions.ToolCall {
	out := sessions.ToolCall{ID: c.id, Name: c.name, Arguments: c.args.String()}
	if out.Arguments == "" {
		out.Arguments = c.input
	}
	if out.Arguments == "" || out.Arguments == "null" {
		out.Arguments = "{}"
	}
	return out
}

// verdict is the error of a stream that is complete but ended for a bad reason.
func (g *gatherer) verdict() error {
	var failure *agent.ModelError
	switch {
	case g.stop == api.StopReasonRefusal:
		failure = endpoint.Permanent(agent.KindFiltered, "the model refused to answer this (stop reason refusal)")
	case g.stop == api.StopReasonModelContextWindowExceeded && g.text.Len() == 0:
		failure = endpoint.Permanent(agent.KindContextLength, "the request fills the model's context window")
	default:
		return nil
	}
	failure.Started = g.started
	return failure
}
