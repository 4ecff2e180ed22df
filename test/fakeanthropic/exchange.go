package fakeanthropic

import (
	"encoding/json"
	"maps"
	"net/http"

	"parley/test/fakemodel"
)

const messageID = "msg_fake"

// exchange is the answering of one valid request.
type exchange struct {
	*fakemodel.Answer

	request Request
	reply   Reply
	change  func(func(*Call))
	blocks  int // begun and ended so far
}

func (x *exchange) run() {
	x.CRLF, x.NoSpace = x.reply.CRLF, x.reply.NoSpace
	ended := false
	defer func() {
		aborted := x.R.Context().Err() != nil && !ended
		x.change(func(call *Call) { call.Ended, call.Aborted = true, aborted })
	}()
	if !x.Pause(x.reply.Delay) {
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
	var content []any
	if text := x.reply.text(); text != "" {
		content = append(content, map[string]any{"type": "text", "text": text})
	}
	for _, call := range x.reply.ToolCalls {
		content = append(content, map[string]any{"type": "tool_use", "id": call.ID, "name": call.Name, "input": json.RawMessage(call.Input)})
	}
	fakemodel.WriteJSON(x.W, http.StatusOK, x.message(content, x.reply.stop(), x.reply.usage(x.request)))
}

func (x *exchange) message(content []any, stop string, usage Usage) map[string]any {
	out := map[string]any{
		"id": messageID, "type": "message", "role": "assistant", "model": x.request.Model,
		"content": append([]any{}, content...), "stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}
	if stop != "" {
		out["stop_reason"] = stop
	}
	return out
}

// stream sends the blocks as events. Without pauses and faults everything goes
// out in one write.
func (x *exchange) stream() bool {
	x.W.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	usage := x.reply.usage(x.request)
	usage.Output = 1
	x.event("message_start", map[string]any{"message": x.message(nil, "", usage)})
	x.event("ping", map[string]any{})
	if x.reply.Thinking != "" {
		x.block(map[string]any{"type": "thinking", "thinking": "", "signature": ""},
			map[string]any{"type": "thinking_delta", "thinking": x.reply.Thinking},
			map[string]any{"type": "signature_delta", "signature": "c2lnbmVk"})
	}
	if !x.text() {
		return false
	}
	for _, call := range x.reply.ToolCalls {
		half := len(call.Input) / 2
		x.block(map[string]any{"type": "tool_use", "id": call.ID, "name": call.Name, "input": map[string]any{}},
			map[string]any{"type": "input_json_delta", "partial_json": ""},
			map[string]any{"type": "input_json_delta", "partial_json": call.Input[:half]},
			map[string]any{"type": "input_json_delta", "partial_json": call.Input[half:]})
	}
	x.event("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": x.reply.stop(), "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": x.reply.usage(x.request).Output},
	})
	if !x.reply.OmitStop {
		x.event("message_stop", map[string]any{})
	}
	if x.reply.OpenEnd {
		x.TrimEnd()
	}
	return x.Flush()
}

// text sends the block of text, if there is one, and lets the fault happen.
// It reports whether the stream goes on.
func (x *exchange) text() bool {
	if len(x.reply.Pieces) == 0 && x.reply.Fault == fakemodel.FaultNone {
		return true
	}
	x.event("content_block_start", map[string]any{"index": x.blocks, "content_block": map[string]any{"type": "text", "text": ""}})
	for i, piece := range x.reply.Pieces {
		if x.reply.Fault != fakemodel.FaultNone && x.reply.After == i {
			x.fail()
			return false
		}
		x.event("content_block_delta", map[string]any{"index": x.blocks, "delta": map[string]any{"type": "text_delta", "text": piece}})
		if x.reply.Between > 0 && (!x.Flush() || !x.Pause(x.reply.Between)) {
			return false
		}
	}
	if x.reply.Fault != fakemodel.FaultNone {
		x.fail()
		return false
	}
	x.event("content_block_stop", map[string]any{"index": x.blocks})
	x.blocks++
	return true
}

// block sends a block with its deltas.
func (x *exchange) block(start map[string]any, deltas ...map[string]any) {
	x.event("content_block_start", map[string]any{"index": x.blocks, "content_block": start})
	for _, delta := range deltas {
		x.event("content_block_delta", map[string]any{"index": x.blocks, "delta": delta})
	}
	x.event("content_block_stop", map[string]any{"index": x.blocks})
	x.blocks++
}

// fail lets the fault happen. What was written before reaches the client first.
func (x *exchange) fail() {
	if x.reply.After != fakemodel.BeforeHeader {
		x.Flush()
	}
	x.Fail(x.reply.Fault, x.reply.Between, func(fault fakemodel.Fault) {
		switch fault {
		case fakemodel.FaultError:
			x.event("error", map[string]any{"error": map[string]string{"type": "overloaded_error", "message": "Overloaded"}})
		case fakemodel.FaultGarbage:
			x.Line("event: content_block_delta")
			x.Data([]byte(`{"type": "content_bl`))
		default:
			x.event("ping", map[string]any{})
		}
	})
}

// event sends one event and, if the reply is of that kind, others before it
// that say nothing.
func (x *exchange) event(kind string, payload map[string]any) {
	if x.reply.Pings {
		x.emit("ping", map[string]any{})
		x.emit("something_new", map[string]any{"index": 99})
		x.Line(": a comment")
	}
	x.emit(kind, payload)
}

// emit sends one event, whose data names its type too.
func (x *exchange) emit(kind string, payload map[string]any) {
	payload["type"] = kind
	encoded, _ := json.Marshal(payload)
	x.Line("event: " + kind)
	x.Data(encoded)
}
