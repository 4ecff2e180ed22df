package openai_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/openai"
	"parley/test/fakeopenai"
)

func TestRetryAfterForms(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		header http.Header
		status int
		least  time.Duration
		most   time.Duration
	}{
		"none":      {http.Header{}, 429, 0, 0},
		"fraction":  {http.Header{"Retry-After": {"1.5"}}, 429, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"millis":    {http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"9"}}, 503, 250 * time.Millisecond, 250 * time.Millisecond},
		"date":      {http.Header{"Retry-After": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}}, 503, 50 * time.Minute, time.Hour},
		"past":      {http.Header{"Retry-After": {"Mon, 02 Jan 2006 15:04:05 GMT"}}, 429, 0, 0},
		"negative":  {http.Header{"Retry-After": {"-3"}}, 429, 0, 0},
		"junk":      {http.Header{"Retry-After": {"soon"}}, 429, 0, 0},
		"nan":       {http.Header{"Retry-After": {"NaN"}}, 429, 0, 0},
		"endless":   {http.Header{"Retry-After": {"1e300"}}, 429, 24 * time.Hour, 24 * time.Hour},
		"permanent": {http.Header{"Retry-After": {"9"}}, 401, 0, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakeopenai.Start(t, fakeopenai.Config{})
			server.Script(fakeopenai.Reply{Status: c.status, Header: c.header, Body: "{}"})
			_, _, err := complete(t.Context(), connect(t, server), ask("hi"))
			if got := failure(t, err).RetryAfter; got < c.least || got > c.most {
				t.Errorf("again after %s", got)
			}
		})
	}
}

func TestToolCallsOfLooseServers(t *testing.T) {
	t.Parallel()
	piece := func(calls string) string {
		return `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + calls + `]}}]}` + "\n\n"
	}
	cases := map[string]struct{ body, want string }{
		"no index": {
			piece(`{"id":"a","function":{"name":"f","arguments":"{\"x\""}}`) + piece(`{"function":{"arguments":":1}"}}`) +
				piece(`{"id":"b","function":{"name":"g","arguments":"{}"}}`),
			`a f {"x":1}|b g {}`,
		},
		"no id": {piece(`{"index":0,"function":{"name":"f","arguments":"{}"}}`) + piece(`{"index":3,"function":{"name":"g"}}`), `call_1 f {}|call_2 g `},
		"repeated head": {
			piece(`{"index":0,"id":"a","function":{"name":"f","arguments":"1"}}`) + piece(`{"index":0,"id":"a","function":{"name":"f","arguments":"2"}}`),
			`a f 12`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakeopenai.Start(t, fakeopenai.Config{})
			server.Script(fakeopenai.Raw(c.body + "data: [DONE]\n\n"))
			answer, _, err := complete(t.Context(), connect(t, server), ask("hi"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, call := range answer.ToolCalls {
				got = append(got, call.ID+" "+call.Name+" "+call.Arguments)
			}
			if strings.Join(got, "|") != c.want {
				t.Errorf("got %q, want %q", strings.Join(got, "|"), c.want)
			}
		})
	}
	t.Run("too many", func(t *testing.T) {
		t.Parallel()
		server := fakeopenai.Start(t, fakeopenai.Config{})
		server.Script(fakeopenai.Raw(strings.Repeat(piece(`{"index":0}`), 2) + piece(strings.Repeat(`{"id":"a"},{"id":"b"},`, 99)+`{"id":"c"}`)))
		_, _, err := complete(t.Context(), connect(t, server), ask("hi"))
		if got := failure(t, err); got.Kind != agent.KindTooLong {
			t.Errorf("got %+v", got)
		}
	})
}

func TestUnknownCertificateIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	defer server.Close()
	model, err := openai.New(openai.Config{BaseURL: server.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = complete(t.Context(), model, ask("hi"))
	if got := failure(t, err); got.Kind != agent.KindUnavailable || got.Temporary || !strings.Contains(got.Reason, "certificate") {
		t.Errorf("got %+v", got)
	}
}

func TestProvidersQuoteOfTheKeyIsMasked(t *testing.T) {
	t.Parallel()
	const key = "canary-4711"
	server := fakeopenai.Start(t, fakeopenai.Config{Key: key})
	for _, quoted := range []string{key, "sk-proj-ab***************wxyz", "http://user:pass@host/", "Bearer wxyz"} {
		server.Script(fakeopenai.Unauthorized(quoted))
		_, _, err := complete(t.Context(), connect(t, server), ask("hi"))
		if reason := failure(t, err).Reason; strings.Contains(reason, quoted) || strings.Contains(reason, "wxyz") || strings.Contains(reason, "pass@") {
			t.Errorf("%s", reason)
		}
	}
}

// chunks gives one string per Read and remembers whether its end was read.
type chunks struct {
	left []string
	end  bool
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.left) == 0 {
		c.end = true
		return 0, io.EOF
	}
	n := copy(p, c.left[0])
	if c.left[0] = c.left[0][n:]; c.left[0] == "" {
		c.left = c.left[1:]
	}
	return n, nil
}

func (c *chunks) Close() error { return nil }

func TestBodyIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	body := &chunks{left: []string{word("x"), "data: [DONE]\n", "\n"}}
	model := local(t, sending(body), func(*openai.Config) {})
	if _, _, err := complete(t.Context(), model, ask("hi")); err != nil || !body.end {
		t.Errorf("read to the end: %v, %v; a connection whose body has an unread rest is lost", body.end, err)
	}
}

// endless repeats one line for ever.
type endless string

func (e endless) Read(p []byte) (int, error) { return copy(p, e), nil }

func TestEndlessBodyIsBounded(t *testing.T) {
	t.Parallel()
	padding := strings.Repeat(" ", 1000)
	for _, line := range []endless{endless(":" + padding + "\n"), endless("data: {}" + padding + "\n"), endless("junk" + padding + "\n"), "x"} {
		model := local(t, sending(io.NopCloser(line)), func(*openai.Config) {})
		_, _, err := complete(t.Context(), model, ask("hi"))
		if got := failure(t, err); got.Kind != agent.KindTooLong || got.Temporary {
			t.Errorf("%.9q for ever: %+v", string(line), got)
		}
	}
}
