package fakeopenai

import (
	"encoding/json"
	"maps"
	"net/http"

	"parley/test/fakemodel"
)

// created is the time of every answer: replies are deterministic.
const created = 1_700_000_000

const completionID = "chatcmpl-fake"

// exchange is the answering of one valid chat request.
type exchange struct {
	*fakemodel.Answer

	request Request
	reply   Reply
	change  func(func(*Call))
}

func (x *exchange) run() {
	x.CRLF, x.NoSpace = x.reply.CRLF, x.reply.NoSpace
	ended := false
	defer func() {
		aborted := x.R.Context().Err() != nil && !ended
		x.change(func(call *Call) { call.Ended, call.Aborted = true, aborted })
	}()
	if !x.Held(x.reply.Hold) || !x.Pause(x.reply.Delay) {
		return
	}
	if x.reply.After == fakemodel.BeforeHeader && x.reply.Fault != fakemodel.FaultNone {
		x.fail()
		return
	}
	ended = x.answer()
}

// answer reports whether the reply was sent to its end.
func (x *exchange) answer() bool {
	status := x.reply.Status
	if status == 0 {
		status = http.StatusOK
	}
	x.change(func(call *Call) { call.Status = status })
	switch {
	case x.reply.Status != 0:
		x.scripted()
		return true
	case x.request.Stream:
		return x.stream()
	}
	x.whole()
	return true
}

// scripted sends status, header and body as they stand.
func (x *exchange) scripted() {
	maps.Copy(x.W.Header(), x.reply.Header)
	x.W.WriteHeader(x.reply.Status)
	_, _ = x.W.Write([]byte(x.reply.Body))
}

// whole is an answer that is not streamed.
func (x *exchange) whole() {
	message := map[string]any{"role": "assistant", "content": x.reply.text()}
	if len(x.reply.ToolCalls) > 0 {
		message["tool_calls"] = x.reply.ToolCalls
	}
	fakemodel.WriteJSON(x.W, http.StatusOK, map[string]any{
		"id": completionID, "object": "chat.completion", "created": created, "model": x.request.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": x.reply.finish()}},
		"usage":   x.reply.usage(x.request),
	})
}

// stream sends the pieces as events. Without pauses and faults everything goes
// out in one write.
func (x *exchange) stream() bool {
	x.W.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	if !x.reply.OmitRole {
		x.event(chunkOf(x, map[string]any{"role": "assistant", "content": ""}, ""))
	}
	for i, piece := range x.reply.Pieces {
		if x.reply.Fault != fakemodel.FaultNone && x.reply.After == i {
			x.fail()
			return false
		}
		x.event(chunkOf(x, map[string]any{"content": piece}, ""))
		if x.reply.Between > 0 && (!x.Flush() || !x.Pause(x.reply.Between)) {
			return false
		}
	}
	if x.reply.Fault != fakemodel.FaultNone {
		x.fail()
		return false
	}
	x.ending()
	return x.Flush()
}

// ending is all that follows the text.
func (x *exchange) ending() {
	for i, call := range x.reply.ToolCalls {
		x.toolCall(i, call)
	}
	if !x.reply.OmitFinish {
		x.event(chunkOf(x, map[string]any{}, x.reply.finish()))
	}
	asked := x.request.StreamOptions != nil && x.request.StreamOptions.IncludeUsage
	if usage := x.reply.usage(x.request); asked && !x.reply.OmitUsage {
		x.event(chunk{ID: completionID, Object: chunkObject, Created: created, Model: x.request.Model, Choices: []choice{}, Usage: &usage})
	}
	if !x.reply.OmitDone {
		x.Data([]byte("[DONE]"))
	}
}

// toolCall sends a call as real endpoints do: its head, then its arguments in
// two pieces.
func (x *exchange) toolCall(index int, call ToolCall) {
	arguments := call.Function.Arguments
	half := len(arguments) / 2
	x.callPiece(map[string]any{"index": index, "id": call.ID, "type": call.Type,
		"function": map[string]any{"name": call.Function.Name, "arguments": ""}})
	for _, part := range []string{arguments[:half], arguments[half:]} {
		x.callPiece(map[string]any{"index": index, "function": map[string]any{"arguments": part}})
	}
}

func (x *exchange) callPiece(piece map[string]any) {
	x.event(chunkOf(x, map[string]any{"tool_calls": []any{piece}}, ""))
}

// fail lets the fault happen. What was written before reaches the client first.
func (x *exchange) fail() {
	if x.reply.After != fakemodel.BeforeHeader {
		x.Flush()
	}
	x.Fail(x.reply.Fault, x.reply.Between, func(fault fakemodel.Fault) {
		switch fault {
		case fakemodel.FaultError:
			x.Data([]byte(errorBody(problem{message: "The server had an error while processing your request.", kind: "server_error"})))
		case fakemodel.FaultGarbage:
			x.Data([]byte(`{"choices": [`))
		default:
			x.Line(": still here")
			x.Line("")
		}
	})
}

const chunkObject = "chat.completion.chunk"

type chunk struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *Usage   `json:"usage,omitempty"`
}

type choice struct {
	Index        int            `json:"index"`
	Delta        map[string]any `json:"delta"`
	FinishReason *string        `json:"finish_reason"`
}

func chunkOf(x *exchange, delta map[string]any, finish string) chunk {
	c := choice{Delta: delta}
	if finish != "" {
		c.FinishReason = &finish
	}
	return chunk{ID: completionID, Object: chunkObject, Created: created, Model: x.request.Model, Choices: []choice{c}}
}

func (x *exchange) event(c chunk) {
	if x.reply.Comments {
		x.Line(": OPENROUTER PROCESSING")
		x.Line("")
		x.Line("event: message")
		x.Line("id: 1")
	}
	encoded, _ := json.Marshal(c)
	x.Data(encoded)
}
