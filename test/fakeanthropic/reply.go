package fakeanthropic

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"parley/test/fakemodel"
)

// Usage is what a call cost, in tokens.
type Usage struct {
	Input         int `json:"input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
	Output        int `json:"output_tokens"`
}

// Reply is how one request is answered. The zero value is an empty answer.
type Reply struct {
	Thinking   string   // what the model thinks aloud first
	Pieces     []string // each is one event of a stream
	ToolCalls  []ToolCall
	StopReason string        // empty: end_turn, or tool_use
	Usage      *Usage        // nil: a quarter of the characters
	Delay      time.Duration // before the first byte
	Between    time.Duration // between two pieces

	Fault fakemodel.Fault
	After int // pieces sent before the fault

	// Status, unless 0 or 200, makes the reply an error with these headers and
	// this body. A 200 with a Body sends just that.
	Status int
	Header http.Header
	Body   string

	// Ways in which servers differ.
	CRLF     bool // lines end with \r\n
	Pings    bool // ping events and unknown ones between the others
	NoSpace  bool // "data:{" instead of "data: {"
	OmitStop bool // the stream ends without message_stop
	OpenEnd  bool // the last event lacks the empty line behind it
}

// ToolCall is a call of a tool; Input is JSON.
type ToolCall struct {
	ID, Name, Input string
}

// Text is an answer, a few words to the piece. Joined, the pieces are text.
func Text(text string) Reply { return Reply{Pieces: fakemodel.Pieces(text)} }

// Calls is an answer that only calls tools.
func Calls(calls ...ToolCall) Reply { return Reply{ToolCalls: calls} }

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

// Error is an error in the API's own form.
func Error(status int, kind, message string) Reply {
	return Reply{Status: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: errorBody(problem{status, kind, message})}
}

// Overloaded is the API's answer when it has too much to do.
func Overloaded() Reply { return Error(529, "overloaded_error", "Overloaded") }

// RateLimited asks to come again after so many seconds.
func RateLimited(seconds int) Reply {
	reply := Error(http.StatusTooManyRequests, "rate_limit_error", "This request would exceed your organization's rate limit")
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

func (r Reply) stop() string {
	switch {
	case r.StopReason != "":
		return r.StopReason
	case len(r.ToolCalls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func (r Reply) usage(request Request) Usage {
	if r.Usage != nil {
		return *r.Usage
	}
	const charsPerToken = 4
	return Usage{Input: request.size()/charsPerToken + 1, Output: len(r.text())/charsPerToken + 1}
}
