package openai

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"parley/agent"
	"parley/agent/endpoint"
	"parley/sessions"
)

// chunk is what is read of one event. Everything else in it, and everything
// that is missing, is of no account.
type chunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content   content     `json:"content"`
			Refusal   string      `json:"refusal"`
			ToolCalls []callPiece `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
	} `json:"usage"`
}

type callPiece struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// content is a piece of text, which most endpoints send as a string and some
// as a list of parts.
type content string

// UnmarshalJSON reads a string, null, or a list of which it takes the texts.
func (c *content) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] != '[' {
		return json.Unmarshal(raw, (*string)(c))
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	for _, part := range parts {
		if part.Type == "text" {
			*c += content(part.Text)
		}
	}
	return nil
}

// gatherer puts an answer together from its events.
type gatherer struct {
	onText  func(string)
	started bool // onText was called

	text   strings.Builder
	size   int // bytes of text and of arguments
	calls  []gatheredCall
	model  string
	finish string
	tokens *sessions.Tokens
}

type gatheredCall struct {
	index    int
	id, name string
	args     strings.Builder
}

// take adds one event.
func (g *gatherer) take(event []byte) error {
	var c chunk
	if err := json.Unmarshal(event, &c); err != nil {
		return fmt.Errorf("an event of the stream: %w", err)
	}
	if c.Model != "" {
		g.model = c.Model
	}
	if c.Usage != nil {
		g.tokens = &sessions.Tokens{Prompt: c.Usage.Prompt, Completion: c.Usage.Completion}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		if choice.FinishReason != "" {
			g.finish = choice.FinishReason
		}
		if err := g.say(string(choice.Delta.Content) + choice.Delta.Refusal); err != nil {
			return err
		}
		for _, piece := range choice.Delta.ToolCalls {
			if err := g.call(piece); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *gatherer) say(piece string) error {
	if piece == "" {
		return nil
	}
	if g.size += len(piece); g.size > endpoint.AnswerMax {
		return endpoint.ErrTooLong
	}
	g.text.WriteString(piece)
	if g.onText != nil {
		g.started = true
		g.onText(piece)
	}
	return nil
}

func (g *gatherer) call(piece callPiece) error {
	at := g.find(piece)
	if g.size += len(piece.Function.Arguments) + len(piece.Function.Name) + len(piece.ID); g.size > endpoint.AnswerMax || at < 0 {
		return endpoint.ErrTooLong
	}
	call := &g.calls[at]
	if call.id == "" {
		call.id = piece.ID
	}
	if call.name == "" {
		call.name = piece.Function.Name
	}
	call.args.WriteString(piece.Function.Arguments)
	return nil
}

// find is the place of the call that piece belongs to, which may be new; -1
// when there are too many. Without an index a new id begins a new call.
func (g *gatherer) find(piece callPiece) int {
	last := len(g.calls) - 1
	index := last
	switch {
	case piece.Index != nil:
		index = *piece.Index
	case last < 0 || piece.ID != "" && piece.ID != g.calls[last].id:
		index = last + 1
	}
	for at := range g.calls {
		if g.calls[at].index == index {
			return at
		}
	}
	if len(g.calls) == endpoint.CallsMax {
		return -1
	}
	g.calls = append(g.calls, gatheredCall{index: index})
	return len(g.calls) - 1
}

// answer is what has been gathered so far.
func (g *gatherer) answer(model string) agent.Answer {
	out := agent.Answer{Text: g.text.String(), Model: model, Tokens: g.tokens, FinishReason: g.finish}
	if g.model != "" {
		out.Model = g.model
	}
	for at := range g.calls {
		call := &g.calls[at]
		if call.id == "" {
			call.id = "call_" + strconv.Itoa(at+1)
		}
		out.ToolCalls = append(out.ToolCalls, sessions.ToolCall{ID: call.id, Name: call.name, Arguments: call.args.String()})
	}
	return out
}

// verdict is the error of a stream that is complete but ended for a bad reason.
func (g *gatherer) verdict() error {
	var failure *agent.ModelError
	switch g.finish {
	case "content_filter":
		failure = endpoint.Permanent(agent.KindFiltered, "a content filter ended the answer")
	case "error":
		failure = endpoint.Temporary(agent.KindBrokenStream, "the endpoint ended the answer with an error")
	default:
		return nil
	}
	failure.Started = g.started
	return failure
}
