package anthropic_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"parley/agent"
	"parley/agent/anthropic"
	"parley/agent/endpoint"
)

// transportFunc answers without a network, so that time can be synthetic.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func sending(body io.ReadCloser) transportFunc {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r,
		}, nil
	}
}

// streamed answers with the body that write writes, until the request is over.
func streamed(write func(ctx context.Context, body io.Writer)) transportFunc {
	return func(r *http.Request) (*http.Response, error) {
		reader, writer := io.Pipe()
		context.AfterFunc(r.Context(), func() { writer.CloseWithError(r.Context().Err()) })
		go func() {
			write(r.Context(), writer)
			writer.Close()
		}()
		return sending(reader)(r)
	}
}

func after(ctx context.Context, wait time.Duration) bool {
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}

func word(text string) string {
	return "event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + text + `"}}` + "\n\n"
}

const (
	ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n"
	stop = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
)

func local(t *testing.T, transport http.RoundTripper) *anthropic.Model {
	t.Helper()
	model, err := anthropic.New(anthropic.Config{Model: "m", BaseURL: "http://model.test", Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func TestTimeLimits(t *testing.T) {
	t.Parallel()
	never := func(ctx context.Context, _ io.Writer) { <-ctx.Done() }
	cases := map[string]struct {
		transport transportFunc
		after     time.Duration
		reason    string
		text      string
	}{
		"no header": {func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, endpoint.FirstDefault, "nothing came within 3m0s", ""},
		"no event": {streamed(never), endpoint.FirstDefault, "nothing came within 3m0s", ""},
		"silence after a word": {streamed(func(ctx context.Context, body io.Writer) {
			if after(ctx, 2*time.Minute) {
				_, _ = io.WriteString(body, word("hello"))
			}
			<-ctx.Done()
		}), 3 * time.Minute, "nothing more came within 1m0s", "hello"},
		"pings for ever": {streamed(func(ctx context.Context, body io.Writer) {
			for after(ctx, 50*time.Second) {
				_, _ = io.WriteString(body, ping)
			}
		}), endpoint.TotalDefault, "not complete within 10m0s", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				answer, shown, err := complete(t.Context(), local(t, c.transport), ask("hi"))
				got := failure(t, err)
				if got.Kind != agent.KindTimeout || !got.Temporary || !strings.Contains(got.Reason, c.reason) || got.Started != (c.text != "") {
					t.Errorf("got %+v", got)
				}
				if waited := time.Since(begun); waited != c.after {
					t.Errorf("gave up after %s, want %s", waited, c.after)
				}
				if answer.Text != c.text || shown != c.text {
					t.Errorf("answer %q, shown %q", answer.Text, shown)
				}
			})
		})
	}
}

// A server that keeps the connection open behind the last event holds the
// answer back for no longer than the drain.
func TestOpenEndIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := local(t, streamed(func(ctx context.Context, body io.Writer) {
			_, _ = io.WriteString(body, word("x")+stop)
			<-ctx.Done()
		}))
		begun := time.Now()
		answer, _, err := complete(t.Context(), model, ask("hi"))
		if err != nil || answer.Text != "x" || time.Since(begun) > 100*time.Millisecond {
			t.Fatalf("%q, %v, after %s", answer.Text, err, time.Since(begun))
		}
	})
}

func TestCallersDeadlineIsHisOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		model := local(t, streamed(func(ctx context.Context, _ io.Writer) { <-ctx.Done() }))
		if _, _, err := complete(ctx, model, ask("hi")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// endless repeats one line for ever.
type endless string

func (e endless) Read(p []byte) (int, error) { return copy(p, e), nil }

func TestEndlessBodyIsBounded(t *testing.T) {
	t.Parallel()
	padding := strings.Repeat(" ", 1000)
	for _, line := range []endless{endless(":" + padding + "\n"), endless("event: x" + padding + "\n"), endless("junk" + padding + "\n"), "x"} {
		_, _, err := complete(t.Context(), local(t, sending(io.NopCloser(line))), ask("hi"))
		if got := failure(t, err); got.Kind != agent.KindTooLong || got.Temporary {
			t.Errorf("%.9q for ever: %+v", string(line), got)
		}
	}
}

// Whatever an endpoint sends, a call ends with an answer or a *ModelError, what
// was shown is the answer, the answer is bounded and valid text, and how the
// bytes arrive does not matter.
func FuzzStream(f *testing.F) {
	f.Add(word("hello") + stop)
	f.Add(ping + "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":3}}}\n\n" + stop)
	f.Add("event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{\"a\":1}}}\n\n" + stop)
	f.Add("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":7,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\r\n\r\n" + stop)
	f.Add("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":[1]}}\n\n")
	f.Add("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\"},\"usage\":null}")
	f.Add("<html>\n<title>x</title>")
	f.Fuzz(func(t *testing.T, text string) {
		var first agent.Answer
		var firstErr error
		for i, reader := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			answer, shown, err := complete(t.Context(), local(t, sending(io.NopCloser(reader))), ask("hi"))
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
