package fakeopenai

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"time"
)

// created is the time of every answer: replies are deterministic.
const created = 1_700_000_000

const completionID = "chatcmpl-fake"

// exchange is the answering of one valid chat request.
type exchange struct {
	server  *Server
	w       http.ResponseWriter
	r       *http.Request
	request Request
	reply   Reply
	change  func(func(*Call))
	buffer  bytes.Buffer // written but not flushed
}

func (x *exchange) run() {
	ended := false
	defer func() {
		aborted := x.r.Context().Err() != nil && !ended
		x.change(func(call *Call) { call.Ended, call.Aborted = true, aborted })
	}()
	if !x.held() || !x.pause(x.reply.Delay) {
		return
	}
	if x.reply.After == BeforeHeader && x.reply.Fault != FaultNone {
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
	maps.Copy(x.w.Header(), x.reply.Header)
	x.w.WriteHeader(x.reply.Status)
	_, _ = x.w.Write([]byte(x.reply.Body))
}

// whole is an answer that is not streamed.
func (x *exchange) whole() {
	message := map[string]any{"role": "assistant", "content": x.reply.text()}
	if len(x.reply.ToolCalls) > 0 {
		message["tool_calls"] = x.reply.ToolCalls
	}
	writeJSON(x.w, http.StatusOK, map[string]any{
		"id": completionID, "object": "chat.completion", "created": created, "model": x.request.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": x.reply.finish()}},
		"usage":   x.reply.usage(x.request),
	})
}

// stream sends the pieces as events. Without pauses and faults everything goes
// out in one write.
func (x *exchange) stream() bool {
	x.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	if !x.reply.OmitRole {
		x.event(chunkOf(x, map[string]any{"role": "assistant", "content": ""}, ""))
	}
	for i, piece := range x.reply.Pieces {
		if x.reply.Fault != FaultNone && x.reply.After == i {
			x.fail()
			return false
		}
		x.event(chunkOf(x, map[string]any{"content": piece}, ""))
		if x.reply.Between > 0 && (!x.flush() || !x.pause(x.reply.Between)) {
			return false
		}
	}
	if x.reply.Fault != FaultNone {
		x.fail()
		return false
	}
	x.ending()
	return x.flush()
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
		x.data([]byte("[DONE]"))
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
	if x.reply.After != BeforeHeader {
		x.flush()
	}
	switch x.reply.Fault {
	case FaultHang:
		x.hang()
	case FaultBreak:
		panic(http.ErrAbortHandler)
	case FaultError:
		x.data([]byte(errorBody(problem{message: "The server had an error while processing your request.", kind: "server_error"})))
		x.flush()
		x.hang()
	case FaultGarbage:
		x.data([]byte(`{"choices": [`))
		x.flush()
	case FaultKeepAlive:
		for x.pause(max(x.reply.Between, time.Millisecond)) {
			x.line(": still here")
			x.line("")
			x.flush()
		}
	case FaultCut, FaultNone:
	}
}

// hang waits until the client goes away. The end of the server breaks the connection.
func (x *exchange) hang() {
	select {
	case <-x.r.Context().Done():
	case <-x.server.stop.Done():
		panic(http.ErrAbortHandler)
	}
}

// held waits until the reply may be sent; false: the client has gone. The end
// of the server breaks the connection.
func (x *exchange) held() bool {
	if x.reply.Hold == nil {
		return true
	}
	select {
	case <-x.reply.Hold:
		return true
	case <-x.r.Context().Done():
		return false
	case <-x.server.stop.Done():
		panic(http.ErrAbortHandler)
	}
}

// pause waits; false: the client has gone. The end of the server breaks the connection.
func (x *exchange) pause(wait time.Duration) bool {
	if wait <= 0 {
		return true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-x.r.Context().Done():
		return false
	case <-x.server.stop.Done():
		panic(http.ErrAbortHandler)
	}
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
		x.line(": OPENROUTER PROCESSING")
		x.line("")
		x.line("event: message")
		x.line("id: 1")
	}
	encoded, _ := json.Marshal(c)
	x.data(encoded)
}

func (x *exchange) data(payload []byte) {
	x.buffer.WriteString("data:")
	if !x.reply.NoSpace {
		x.buffer.WriteByte(' ')
	}
	x.line(string(payload))
	x.line("")
}

func (x *exchange) line(text string) {
	x.buffer.WriteString(text)
	if x.reply.CRLF {
		x.buffer.WriteByte('\r')
	}
	x.buffer.WriteByte('\n')
}

// flush sends what is buffered; false: the client has gone.
func (x *exchange) flush() bool {
	_, err := x.w.Write(x.buffer.Bytes())
	x.buffer.Reset()
	if err != nil {
		return false
	}
	return http.NewResponseController(x.w).Flush() == nil
}
