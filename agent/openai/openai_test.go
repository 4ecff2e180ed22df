package openai_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/endpoint"
	"parley/agent/openai"
	"parley/internal/secret"
	"parley/sessions"
	"parley/test/fakemodel"
	"parley/test/fakeopenai"
)

// connect gives a model on server whose idle connections end with the test.
func connect(tb testing.TB, server *fakeopenai.Server, change ...func(*openai.Config)) *openai.Model {
	tb.Helper()
	config := openai.Config{BaseURL: server.URL(), APIKey: secret.New(server.Key()), Model: fakeopenai.ModelDefault}
	for _, c := range change {
		c(&config)
	}
	model, err := openai.New(config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(model.Close)
	return model
}

func ask(text string) agent.Request {
	return agent.Request{System: "Be brief.", Messages: []agent.Message{{Role: sessions.RoleUser, Text: text}}}
}

// complete joins the pieces that were streamed.
func complete(ctx context.Context, model agent.Model, request agent.Request) (agent.Answer, string, error) {
	var shown strings.Builder
	answer, err := model.Complete(ctx, request, func(piece string) {
		if piece == "" {
			panic("an empty piece")
		}
		shown.WriteString(piece)
	})
	return answer, shown.String(), err
}

func failure(t *testing.T, err error) *agent.ModelError {
	t.Helper()
	out, ok := errors.AsType[*agent.ModelError](err)
	if !ok {
		t.Fatalf("want a *ModelError, got %T: %v", err, err)
	}
	return out
}

const long = "The quick brown fox jumps over the lazy dog, naïvely: 犬は眠い。"

func TestStreamsAnAnswer(t *testing.T) {
	t.Parallel()
	shapes := map[string]func(*fakeopenai.Reply){
		"plain":           func(*fakeopenai.Reply) {},
		"crlf":            func(r *fakeopenai.Reply) { r.CRLF = true },
		"comments":        func(r *fakeopenai.Reply) { r.Comments = true },
		"crlf, comments":  func(r *fakeopenai.Reply) { r.CRLF, r.Comments = true, true },
		"no space":        func(r *fakeopenai.Reply) { r.NoSpace = true },
		"no role":         func(r *fakeopenai.Reply) { r.OmitRole = true },
		"no done":         func(r *fakeopenai.Reply) { r.OmitDone = true },
		"no finish":       func(r *fakeopenai.Reply) { r.OmitFinish = true },
		"pauses":          func(r *fakeopenai.Reply) { r.Between = time.Microsecond },
		"one long silent": func(r *fakeopenai.Reply) { r.Delay = time.Millisecond },
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakeopenai.Start(t, fakeopenai.Config{})
			reply := fakeopenai.Text(long)
			reply.Usage = &fakeopenai.Usage{Prompt: 11, Completion: 7, Total: 18}
			shape(&reply)
			server.Script(reply)
			answer, shown, err := complete(t.Context(), connect(t, server), ask("hello"))
			if err != nil {
				t.Fatal(err)
			}
			if answer.Text != long || shown != long {
				t.Errorf("answer %q, shown %q", answer.Text, shown)
			}
			if answer.Tokens == nil || *answer.Tokens != (sessions.Tokens{Prompt: 11, Completion: 7}) {
				t.Errorf("tokens %v", answer.Tokens)
			}
			if answer.Model != fakeopenai.ModelDefault || (answer.FinishReason == "stop") == reply.OmitFinish {
				t.Errorf("answer %+v", answer)
			}
			server.AssertNoRefusals(t)
			if got := server.Requests()[0]; got.System() != "Be brief." || got.Last().Text() != "hello" {
				t.Errorf("the endpoint read %+v", got)
			}
		})
	}
}

func TestAnswersWithoutUsage(t *testing.T) {
	t.Parallel()
	server := fakeopenai.Start(t, fakeopenai.Config{})
	reply := fakeopenai.Text("hi")
	reply.OmitUsage = true
	server.Script(reply)
	answer, _, err := complete(t.Context(), connect(t, server), ask("hello"))
	if err != nil || answer.Tokens != nil {
		t.Fatalf("tokens %v, %v", answer.Tokens, err)
	}
}

func TestEndpointThatRefusesToCountTokens(t *testing.T) {
	t.Parallel()
	server := fakeopenai.Start(t, fakeopenai.Config{RefuseStreamOptions: true})
	model := connect(t, server)
	for range 2 {
		if answer, _, err := complete(t.Context(), model, ask("hello")); err != nil || answer.Text != "You said: hello" {
			t.Fatalf("%+v, %v", answer, err)
		}
	}
	if count := server.Count(); count != 3 {
		t.Errorf("%d requests; the refusal has to be learned once: want 3", count)
	}
}

func TestToolCallsBothWays(t *testing.T) {
	t.Parallel()
	server := fakeopenai.Start(t, fakeopenai.Config{})
	server.Script(fakeopenai.Calls(fakeopenai.CallOf("a1", "weather", `{"city":"Rome"}`), fakeopenai.CallOf("a2", "time", `{}`)))
	model := connect(t, server)
	request := ask("weather?")
	answer, shown, err := complete(t.Context(), model, request)
	if err != nil || shown != "" || answer.FinishReason != "tool_calls" {
		t.Fatalf("%+v, %q, %v", answer, shown, err)
	}
	want := []sessions.ToolCall{{ID: "a1", Name: "weather", Arguments: `{"city":"Rome"}`}, {ID: "a2", Name: "time", Arguments: `{}`}}
	if len(answer.ToolCalls) != 2 || answer.ToolCalls[0] != want[0] || answer.ToolCalls[1] != want[1] {
		t.Fatalf("calls %+v", answer.ToolCalls)
	}
	request.Messages = append(request.Messages,
		agent.Message{Role: sessions.RoleAssistant, ToolCalls: answer.ToolCalls},
		agent.Message{Role: sessions.RoleTool, CallID: "a1", ToolName: "weather"},
		agent.Message{Role: sessions.RoleTool, CallID: "a2", ToolName: "time", Text: "no clock", IsError: true},
		agent.Message{Role: sessions.RoleAssistant}, // says nothing: left out
		agent.Message{Role: sessions.RoleUser, Text: "and?"})
	if _, _, err := complete(t.Context(), model, request); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(server.Requests()[1].Transcript(), "|")
	if got != "user: weather?|assistant: |tool: (no output)|tool: Error: no clock|user: and?" {
		t.Errorf("the endpoint read %s", got)
	}
}

func TestFailuresHaveTheirKind(t *testing.T) {
	t.Parallel()
	const text = "one two three four five six seven eight nine"
	type result struct {
		kind      agent.ErrorKind
		temporary bool
		started   bool
		reason    string // in Reason
	}
	cases := map[string]struct {
		reply fakeopenai.Reply
		want  result
	}{
		"401":           {fakeopenai.Unauthorized("sk-proj-abc***xyz"), result{agent.KindUnauthorized, false, false, "OPENAI_API_KEY"}},
		"403":           {fakeopenai.Error(403, "x", "unsupported_country", "not here"), result{agent.KindUnauthorized, false, false, "not here"}},
		"402":           {fakeopenai.Error(402, "", "", "pay"), result{agent.KindQuota, false, false, "pay"}},
		"404":           {fakeopenai.Error(404, "invalid_request_error", "model_not_found", "no such model"), result{agent.KindNotFound, false, false, "OPENAI_MODEL"}},
		"404 page":      {fakeopenai.HTML(404, "Not Found"), result{agent.KindNotFound, false, false, "HTML page: Not Found"}},
		"quota":         {fakeopenai.Error(429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota"), result{agent.KindQuota, false, false, "quota"}},
		"429":           {fakeopenai.RateLimited(7), result{agent.KindRateLimited, true, false, "Rate limit"}},
		"500 page":      {fakeopenai.HTML(500, "Internal Server Error"), result{agent.KindUnavailable, true, false, "HTML page: Internal Server Error"}},
		"503":           {fakeopenai.Error(503, "overloaded", "", "busy"), result{agent.KindUnavailable, true, false, "busy"}},
		"529":           {fakeopenai.HTML(529, "busy"), result{agent.KindUnavailable, true, false, "529"}},
		"too long":      {fakeopenai.Error(400, "invalid_request_error", "context_length_exceeded", "This model's maximum context length is 8192 tokens"), result{agent.KindContextLength, false, false, "8192"}},
		"too long 413":  {fakeopenai.Error(413, "", "", "large"), result{agent.KindContextLength, false, false, "large"}},
		"filter":        {fakeopenai.Error(400, "", "content_filter", "policy"), result{agent.KindFiltered, false, false, "policy"}},
		"400":           {fakeopenai.Error(400, "invalid_request_error", "", "bad temperature"), result{agent.KindRefused, false, false, "bad temperature"}},
		"422 detail":    {fakeopenai.Reply{Status: 422, Body: `{"detail":[{"loc":["body","n"]}]}`}, result{agent.KindRefused, false, false, `"loc"`}},
		"no body":       {fakeopenai.Reply{Status: 500}, result{agent.KindUnavailable, true, false, "500"}},
		"redirect":      {fakeopenai.Reply{Status: 307, Header: http.Header{"Location": {"http://127.0.0.1:1/"}}}, result{agent.KindNotFound, false, false, "redirects"}},
		"page, 200":     {fakeopenai.HTML(200, "Welcome"), result{agent.KindNotFound, false, false, "base URL"}},
		"json, 200":     {fakeopenai.Reply{Status: 200, Body: `{"choices":[]}`, Header: http.Header{"Content-Type": {"application/json"}}}, result{agent.KindNotFound, false, false, "application/json"}},
		"drop":          {fakeopenai.Drop(), result{agent.KindUnavailable, true, false, "cannot reach"}},
		"break":         {fakeopenai.Faulty(text, fakemodel.FaultBreak, 2), result{agent.KindBrokenStream, true, true, "ended before"}},
		"break early":   {fakeopenai.Faulty(text, fakemodel.FaultBreak, 0), result{agent.KindBrokenStream, true, false, "ended before"}},
		"cut":           {fakeopenai.Faulty(text, fakemodel.FaultCut, 2), result{agent.KindBrokenStream, true, true, "ended before"}},
		"garbage":       {fakeopenai.Faulty(text, fakemodel.FaultGarbage, 1), result{agent.KindBrokenStream, true, true, "not JSON"}},
		"error event":   {fakeopenai.Faulty(text, fakemodel.FaultError, 2), result{agent.KindUnavailable, true, true, "The server had an error"}},
		"error event 0": {fakeopenai.Faulty(text, fakemodel.FaultError, 0), result{agent.KindUnavailable, true, false, "The server had an error"}},
		"spaced event":  {fakeopenai.Raw("data: { \"error\" : \"boom\" }\n\n"), result{agent.KindUnavailable, true, false, "boom"}},
		"object event":  {fakeopenai.Raw("data: {\"object\":\"error\",\"message\":\"boom\",\"code\":400}\n\n"), result{agent.KindRefused, false, false, "boom"}},
		"numbered":      {fakeopenai.Raw("event: error\ndata: {\"error\":{\"message\":\"slow down\",\"code\":429}}\n\n"), result{agent.KindRateLimited, true, false, "slow down"}},
		"named":         {fakeopenai.Raw("data: {\"error\":{\"message\":\"slow\",\"type\":\"rate_limit_error\"}}\n\n"), result{agent.KindRateLimited, true, false, "slow"}},
		"length event":  {fakeopenai.Raw("data: {\"error\":{\"message\":\"x\",\"code\":\"context_length_exceeded\"}}\n\n"), result{agent.KindContextLength, false, false, "x"}},
		"no events":     {fakeopenai.Raw(""), result{agent.KindBrokenStream, true, false, "ended before"}},
		"endless line":  {fakeopenai.Raw("data: " + strings.Repeat("x", endpoint.LineMax)), result{agent.KindTooLong, false, false, "longer"}},
		"endless text":  {fakeopenai.Text(strings.Repeat("x ", endpoint.AnswerMax/2+9)), result{agent.KindTooLong, false, true, "longer"}},
		"filtered":      {fakeopenai.Reply{Pieces: []string{"so "}, FinishReason: "content_filter"}, result{agent.KindFiltered, false, true, "filter"}},
		"finish: error": {fakeopenai.Reply{FinishReason: "error"}, result{agent.KindBrokenStream, true, false, "error"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakeopenai.Start(t, fakeopenai.Config{})
			server.Script(c.reply)
			answer, shown, err := complete(t.Context(), connect(t, server), ask("hello"))
			got := failure(t, err)
			if (result{got.Kind, got.Temporary, got.Started, c.want.reason}) != c.want || !strings.Contains(got.Reason, c.want.reason) {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
			if answer.Text != shown {
				t.Errorf("the partial answer is %q, but %q was shown", answer.Text, shown)
			}
			if strings.Contains(got.Error(), "sk-") {
				t.Errorf("a key shows: %v", got)
			}
		})
	}
}

func TestRetryAfterIsHandedOn(t *testing.T) {
	t.Parallel()
	server := fakeopenai.Start(t, fakeopenai.Config{})
	server.Script(fakeopenai.RateLimited(7))
	_, _, err := complete(t.Context(), connect(t, server), ask("hello"))
	if got := failure(t, err); got.RetryAfter != 7*time.Second {
		t.Errorf("again after %s", got.RetryAfter)
	}
}

func TestNothingListens(t *testing.T) {
	t.Parallel()
	server := fakeopenai.Start(t, fakeopenai.Config{})
	server.Close()
	_, _, err := complete(t.Context(), connect(t, server), ask("hello"))
	if got := failure(t, err); got.Kind != agent.KindUnavailable || !got.Temporary || !strings.Contains(got.Reason, "127.0.0.1") {
		t.Errorf("got %+v", got)
	}
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	t.Parallel()
	const key, password = "sk-canary-4711", "canary%2Fpass"
	server := fakeopenai.Start(t, fakeopenai.Config{})
	withUser := strings.Replace(server.URL(), "http://", "http://canaryuser:"+password+"@", 1)
	dead := "http://canaryuser:" + password + "@127.0.0.1:1/v1"
	for _, base := range []string{withUser, dead} {
		model := connect(t, server, func(c *openai.Config) { c.BaseURL, c.APIKey = base, secret.New(key) })
		_, _, err := complete(t.Context(), model, ask("hello"))
		for _, text := range []string{err.Error(), failure(t, err).ForPeople(), model.Name()} {
			if strings.Contains(text, "canary") {
				t.Errorf("a secret shows: %s", text)
			}
		}
		if err := model.Probe(t.Context()); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("probe: %v", err)
		}
	}
	if len(server.Calls()) != 2 {
		t.Errorf("%d calls", len(server.Calls()))
	}
}

func TestNoKeyNoHeader(t *testing.T) {
	t.Parallel()
	server := fakeopenai.Start(t, fakeopenai.Config{})
	model := connect(t, server, func(c *openai.Config) { c.APIKey = secret.String{} })
	_, _, err := complete(t.Context(), model, ask("hello"))
	if got := failure(t, err); got.Kind != agent.KindUnauthorized || !strings.Contains(got.Reason, "didn't provide") {
		t.Errorf("got %+v", got)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	cases := map[string]openai.Config{
		"no name":        {},
		"not begin with": {Model: "m", BaseURL: "ftp://h/v1"},
		"no host":        {Model: "m", BaseURL: "http:///v1"},
		"query":          {Model: "m", BaseURL: "http://h/v1?x=1"},
		"leave that out": {Model: "m", BaseURL: "https://h/v1/chat/completions/"},
		"white space":    {Model: "m", APIKey: secret.New("sk x")},
		"negative":       {Model: "m", Limits: endpoint.Limits{Idle: -1}},
	}
	for want, config := range cases {
		if _, err := openai.New(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q in it", config, err, want)
		}
	}
	if _, err := openai.New(openai.Config{BaseURL: "https://u:canary@h:bad/"}); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("%v", err)
	}
}

func TestLongestAnswerHasTheNameTheModelKnows(t *testing.T) {
	t.Parallel()
	for name, completion := range map[string]bool{"llama-3": false, "gpt-5-mini": true, "o3": true} {
		server := fakeopenai.Start(t, fakeopenai.Config{Models: []string{name}})
		request := ask("hello")
		request.MaxTokens = 99
		model := connect(t, server, func(c *openai.Config) { c.Model = name })
		if _, _, err := complete(t.Context(), model, request); err != nil {
			t.Fatal(err)
		}
		got := server.Requests()[0]
		limit, other := got.MaxTokens, got.MaxCompletionTokens
		if completion {
			limit, other = other, limit
		}
		if limit == nil || *limit != 99 || other != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestCancelWhileHanging(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]fakeopenai.Reply{
		"before the header": fakeopenai.Hang(),
		"after one piece":   fakeopenai.Faulty("one two three four five", fakemodel.FaultHang, 1),
		"keep-alives":       fakeopenai.Faulty("one two three four five", fakemodel.FaultKeepAlive, 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakeopenai.Start(t, fakeopenai.Config{})
			server.Script(reply)
			ctx, cancel := context.WithCancel(t.Context())
			model := connect(t, server)
			ended := make(chan error, 1)
			heard := make(chan struct{}, 9)
			go func() {
				_, err := model.Complete(ctx, ask("hello"), func(string) { heard <- struct{}{} })
				ended <- err
			}()
			server.AwaitRequests(t, 1)
			if reply.After > 0 {
				<-heard
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			server.AwaitAborted(t, 1)
		})
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	t.Parallel()
	server := fakeopenai.Start(t, fakeopenai.Config{})
	dials := 0
	inner := &http.Transport{}
	t.Cleanup(inner.CloseIdleConnections)
	model := connect(t, server, func(c *openai.Config) { c.Transport = countDials(inner, &dials) })
	for range 20 {
		if _, _, err := complete(t.Context(), model, ask("hello")); err != nil {
			t.Fatal(err)
		}
	}
	if dials != 1 {
		t.Errorf("%d connections for 20 calls one after the other", dials)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		config fakeopenai.Config
		change func(*openai.Config)
		calls  int
		kind   agent.ErrorKind
	}{
		"listed":      {fakeopenai.Config{}, func(*openai.Config) {}, 1, ""},
		"no list":     {fakeopenai.Config{NoModelList: true}, func(*openai.Config) {}, 2, ""},
		"no model":    {fakeopenai.Config{}, func(c *openai.Config) { c.Model = "gone" }, 2, agent.KindNotFound},
		"wrong key":   {fakeopenai.Config{}, func(c *openai.Config) { c.APIKey = secret.New("sk-wrong") }, 1, agent.KindUnauthorized},
		"wrong place": {fakeopenai.Config{}, func(c *openai.Config) { c.BaseURL += "/deeper" }, 2, agent.KindNotFound},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakeopenai.Start(t, c.config)
			err := connect(t, server, c.change).Probe(t.Context())
			if (err == nil) != (c.kind == "") || err != nil && failure(t, err).Kind != c.kind {
				t.Errorf("got %v", err)
			}
			if got := server.Count(); got != c.calls {
				t.Errorf("%d requests, want %d", got, c.calls)
			}
		})
	}
}

func BenchmarkComplete(b *testing.B) {
	server := fakeopenai.Start(b, fakeopenai.Config{LogMax: -1})
	model := connect(b, server)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := model.Complete(b.Context(), ask("hello"), nil); err != nil {
				b.Error(err)
			}
		}
	})
}
