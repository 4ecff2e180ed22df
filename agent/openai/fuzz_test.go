package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"parley/agent"
	"parley/agent/endpoint"
	"parley/agent/openai"
)

// sending answers every request with body as an event stream.
func sending(body io.ReadCloser) http.RoundTripper {
	return transportFunc(func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r,
		}, nil
	})
}

func body(text string, oneByte bool) http.RoundTripper {
	var reader io.Reader = strings.NewReader(text)
	if oneByte {
		reader = iotest.OneByteReader(reader)
	}
	return sending(io.NopCloser(reader))
}

// Whatever an endpoint sends, a call ends with an answer or a *ModelError, what
// was shown is the answer, the answer is bounded and valid text, and how the
// bytes arrive does not matter.
func FuzzStream(f *testing.F) {
	f.Add(word("hello") + "data: [DONE]\n\n")
	f.Add("data:" + `{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"x"}]},"finish_reason":"stop"}]}`)
	f.Add(`data: {"choices":[{"delta":{"tool_calls":[{"index":7,"id":"a","function":{"name":"f","arguments":"{"}}]}}]}` + "\r\n\r\n")
	f.Add(`data: {"choices":[{"delta":{"tool_calls":[{"id":"a"},{"function":{"arguments":"{}"}},{"id":"b"}]}}]}` + "\ndata: [DONE]")
	f.Add("data: {\"error\":{\"message\":[\"x\"],\"code\":4.5}}\n\n")
	f.Add(": ping\n\nevent: x\ndata: null\n\ndata: {\"usage\":{\"prompt_tokens\":1}}\n\ndata: [DONE]\n\n")
	f.Add("<html>\n<title>x</title>")
	f.Fuzz(func(t *testing.T, text string) {
		var first agent.Answer
		var firstErr error
		for i, oneByte := range []bool{false, true} {
			model := local(t, body(text, oneByte), func(*openai.Config) {})
			answer, shown, err := complete(t.Context(), model, ask("hi"))
			if _, ok := errors.AsType[*agent.ModelError](err); err != nil && !ok {
				t.Fatalf("not a *ModelError: %v", err)
			}
			if shown != answer.Text || len(shown) > endpoint.AnswerMax || !utf8.ValidString(shown) {
				t.Fatalf("shown %q, answer %q", shown, answer.Text)
			}
			if i == 0 {
				first, firstErr = answer, err
				continue
			}
			if answer.Text != first.Text || len(answer.ToolCalls) != len(first.ToolCalls) || (err == nil) != (firstErr == nil) {
				t.Fatalf("byte by byte: %+v, %v\nat once: %+v, %v", answer, err, first, firstErr)
			}
		}
	})
}
