package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/agent/endpoint"
	"parley/agent/openai"
)

// transportFunc answers without a network, so that time can be synthetic.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// streamed answers with the body that write writes, until the request is over.
func streamed(write func(ctx context.Context, body io.Writer)) transportFunc {
	return func(r *http.Request) (*http.Response, error) {
		reader, writer := io.Pipe()
		context.AfterFunc(r.Context(), func() { writer.CloseWithError(r.Context().Err()) })
		go func() {
			write(r.Context(), writer)
			writer.Close()
		}()
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: reader, Request: r,
		}, nil
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
	return `data: {"choices":[{"index":0,"delta":{"content":"` + text + `"}}]}` + "\n\n"
}

func local(t *testing.T, transport http.RoundTripper, change func(*openai.Config)) *openai.Model {
	t.Helper()
	config := openai.Config{Model: "m", BaseURL: "http://model.test/v1", Transport: transport}
	change(&config)
	model, err := openai.New(config)
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
		"comments for ever": {streamed(func(ctx context.Context, body io.Writer) {
			for after(ctx, 50*time.Second) {
				_, _ = io.WriteString(body, ": wait\n\n")
			}
		}), endpoint.TotalDefault, "not complete within 10m0s", ""},
		"half a line": {streamed(func(ctx context.Context, body io.Writer) {
			_, _ = io.WriteString(body, word("hel")+"data: {\"choi")
			<-ctx.Done()
		}), endpoint.IdleDefault, "nothing more came within 1m0s", "hel"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				model := local(t, c.transport, func(*openai.Config) {})
				begun := time.Now()
				answer, shown, err := complete(t.Context(), model, ask("hi"))
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

func TestSlowStreamIsNotIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := local(t, streamed(func(ctx context.Context, body io.Writer) {
			for range 9 {
				if after(ctx, 59*time.Second) {
					_, _ = io.WriteString(body, word("x"))
				}
			}
			_, _ = io.WriteString(body, "data: [DONE]\n\n")
		}), func(*openai.Config) {})
		answer, _, err := complete(t.Context(), model, ask("hi"))
		if err != nil || answer.Text != "xxxxxxxxx" {
			t.Fatalf("%q, %v", answer.Text, err)
		}
	})
}

func TestCallersDeadlineIsHisOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := local(t, streamed(func(ctx context.Context, _ io.Writer) { <-ctx.Done() }), func(*openai.Config) {})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := complete(ctx, model, ask("hi")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// A server that keeps the connection open behind the last event holds the
// answer back for no longer than the drain.
func TestOpenEndIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := local(t, streamed(func(ctx context.Context, body io.Writer) {
			_, _ = io.WriteString(body, word("x")+"data: [DONE]\n\n")
			<-ctx.Done()
		}), func(*openai.Config) {})
		begun := time.Now()
		answer, _, err := complete(t.Context(), model, ask("hi"))
		if err != nil || answer.Text != "x" || time.Since(begun) > 100*time.Millisecond {
			t.Fatalf("%q, %v, after %s", answer.Text, err, time.Since(begun))
		}
	})
}
