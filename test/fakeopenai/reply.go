package fakeopenai

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"parley/test/fakemodel"
)

// Usage is what a call cost, in tokens.
type Usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// Reply is how one chat request is answered. The zero value is an empty answer.
type Reply struct {
	Pieces       []string // each is one event of a stream
	ToolCalls    []ToolCall
	FinishReason string          // empty: stop, or tool_calls
	Usage        *Usage          // nil: a quarter of the characters
	Delay        time.Duration   // before the first byte
	Hold         <-chan struct{} // nothing is sent before it is closed; nil: at once
	Between      time.Duration   // between two pieces

	Fault fakemodel.Fault
	After int // pieces sent before the fault

	// Status, unless 0 or 200, makes the reply an error with these headers and
	// this body. A 200 with a Body sends just that.
	Status int
	Header http.Header
	Body   string

	// Ways in which servers differ.
	CRLF       bool // lines end with \r\n
	Comments   bool // comments and empty lines between events, other fields beside them
	NoSpace    bool // "data:{" instead of "data: {"
	OmitRole   bool
	OmitUsage  bool // although it was asked for
	OmitFinish bool
	OmitDone   bool
}

// Text is an answer, a few words to the piece. Joined, the pieces are text.
func Text(text string) Reply { return Reply{Pieces: fakemodel.Pieces(text)} }

// Calls is an answer that only calls tools.
func Calls(calls ...ToolCall) Reply { return Reply{ToolCalls: calls} }

// CallOf makes a ToolCall.
func CallOf(id, name, arguments string) ToolCall {
	return ToolCall{ID: id, Type: "function", Function: ToolFunction{Name: name, Arguments: arguments}}
}

// Hang never sends a byte.
func Hang() Reply { return Reply{Fault: fakemodel.FaultHang, After: fakemodel.BeforeHeader} }

// Drop breaks the connection before the first byte.
func Drop() Reply { return Reply{Fault: fakemodel.FaultBreak, After: fakemodel.BeforeHeader} }

// Faulty is Text that fails after so many pieces.
func Faulty(text string, fault fakemodel.Fault, after int) Reply {
	reply := Text(text)
	reply.Fault, reply.After = fault, after
	return reply
}

// Error is an error in the endpoint's own form.
func Error(status int, kind, code, message string) Reply {
	return Reply{Status: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: errorBody(problem{status, message, kind, code})}
}

// Unauthorized refuses the key, quoting it as the real endpoint does.
func Unauthorized(key string) Reply {
	return Error(http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "Incorrect API key provided: "+key+".")
}

// RateLimited asks to come again after so many seconds.
func RateLimited(seconds int) Reply {
	reply := Error(http.StatusTooManyRequests, "requests", "rate_limit_exceeded", "Rate limit reached for requests")
	reply.Header.Set("Retry-After", strconv.Itoa(seconds))
	return reply
}

// HTML is a page, as proxies send it.
func HTML(status int, title string) Reply {
	return Reply{Status: status, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		Body: fakemodel.Page(title)}
}

// Raw is a 200 with this body, sent as an event stream.
func Raw(body string) Reply {
	return Reply{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}
}

func (r Reply) text() string { return strings.Join(r.Pieces, "") }

func (r Reply) finish() string {
	switch {
	case r.FinishReason != "":
		return r.FinishReason
	case len(r.ToolCalls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (r Reply) usage(request Request) Usage {
	if r.Usage != nil {
		return *r.Usage
	}
	const charsPerToken = 4
	u := Usage{Prompt: request.size() / charsPerToken, Completion: len(r.text()) / charsPerToken}
	u.Total = u.Prompt + u.Completion
	return u
}
