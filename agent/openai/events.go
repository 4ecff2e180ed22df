package openai

import (
	"bytes"
	"encoding/json"
	"io"

	"parley/agent/endpoint"
)

const (
	dataField = "data:"
	doneMark  = "[DONE]"
)

// eventBody hands the library nothing but the data lines of an event stream,
// each ended by one line break. It drops comments and other fields, which the
// library would count against the stream and mix into its errors; it ends the
// stream at an error event, after which the library would wait for one line
// more.
type eventBody struct {
	lines *endpoint.Lines
	body  io.Closer

	pending []byte // of the present line, not yet handed on
	count   int    // data lines handed on
	done    bool   // [DONE] was seen
}

func newEventBody(body io.ReadCloser, heard func()) *eventBody {
	return &eventBody{lines: endpoint.NewLines(body, heard), body: body}
}

// Read gives the next data line or part of it.
func (b *eventBody) Read(p []byte) (int, error) {
	for len(b.pending) == 0 {
		if b.done {
			return 0, io.EOF
		}
		if err := b.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.pending)
	b.pending = b.pending[n:]
	return n, nil
}

// Close closes the body it reads.
func (b *eventBody) Close() error { return b.body.Close() }

// next reads one line and keeps it if it is data.
func (b *eventBody) next() error {
	line, err := b.lines.Next()
	if err != nil {
		return err
	}
	payload, isData := bytes.CutPrefix(line, []byte(dataField))
	if !isData {
		return nil
	}
	payload = bytes.TrimSpace(payload)
	if failure := readErrorEvent(payload); failure != nil {
		return failure
	}
	b.count++
	b.done = string(payload) == doneMark
	b.pending = append(append(append(b.pending[:0], dataField...), payload...), '\n')
	return nil
}

// eventError is an error that came as an event of the stream.
type eventError struct {
	message, code, kind string
}

// Error is the provider's message.
func (e *eventError) Error() string { return e.message }

// readErrorEvent finds {"error": {…}}, {"error": "…"} and {"object": "error", …}.
func readErrorEvent(payload []byte) *eventError {
	if !bytes.Contains(payload, []byte(`"error"`)) {
		return nil
	}
	var event struct {
		Error  json.RawMessage `json:"error"`
		Object string          `json:"object"`
	}
	valid := json.Unmarshal(payload, &event) == nil
	if event.Object == "error" && len(event.Error) == 0 {
		event.Error = payload
	}
	if !valid || len(event.Error) == 0 || string(event.Error) == "null" {
		return nil
	}
	return parseError(event.Error)
}

// parseError reads an error object or an error that is only a text.
func parseError(raw json.RawMessage) *eventError {
	var object struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"` // a string or a number
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return &eventError{message: text}
	}
	if json.Unmarshal(raw, &object) != nil || object.Message == "" {
		object.Message = string(raw)
	}
	return &eventError{message: object.Message, kind: object.Type, code: string(bytes.Trim(object.Code, `"`))}
}
