package anthropic_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/anthropic"
	"parley/agent/endpoint"
	"parley/internal/secret"
	"parley/sessions"
	"parley/test/fakeanthropic"
	"parley/test/fakemodel"
)

// connect gives a model on server whose idle connections end with the test.
func connect(tb testing.TB, server *fakeanthropic.Server, change ...func(*anthropic.Config)) *anthropic.Model {
	tb.Helper()
	config := anthropic.Config{BaseURL: server.URL(), APIKey: secret.New(server.Key()), Model: fakeanthropic.ModelDefault}
	for _, c := range change {
		c(&config)
	}
	model, err := anthropic.New(config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(model.Close)
	return model
}

func user(text string) agent.Message { return agent.Message{Role: sessions.RoleUser, Text: text} }

func assistant(text string) agent.Message {
	return agent.Message{Role: sessions.RoleAssistant, Text: text}
}

func ask(text string) agent.Request {
	return agent.Request{System: "Be brief.", Messages: []agent.Message{user(text)}}
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
	shapes := map[string]func(*fakeanthropic.Reply){
		"plain":           func(*fakeanthropic.Reply) {},
		"crlf":            func(r *fakeanthropic.Reply) { r.CRLF = true },
		"pings":           func(r *fakeanthropic.Reply) { r.Pings = true },
		"crlf, pings":     func(r *fakeanthropic.Reply) { r.CRLF, r.Pings = true, true },
		"no space":        func(r *fakeanthropic.Reply) { r.NoSpace = true },
		"no stop":         func(r *fakeanthropic.Reply) { r.OmitStop = true },
		"open end":        func(r *fakeanthropic.Reply) { r.OpenEnd = true },
		"no stop, open":   func(r *fakeanthropic.Reply) { r.OmitStop, r.OpenEnd = true, true },
		"thinking":        func(r *fakeanthropic.Reply) { r.Thinking = "hm" },
		"pauses":          func(r *fakeanthropic.Reply) { r.Between = time.Microsecond },
		"one long silent": func(r *fakeanthropic.Reply) { r.Delay = time.Millisecond },
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakeanthropic.Start(t, fakeanthropic.Config{})
			reply := fakeanthropic.Text(long)
			reply.Usage = &fakeanthropic.Usage{Input: 11, CacheRead: 100, CacheCreation: 1000, Output: 7}
			shape(&reply)
			server.Script(reply)
			answer, shown, err := complete(t.Context(), connect(t, server), ask("hello"))
			if err != nil {
				t.Fatal(err)
			}
			if answer.Text != long || shown != long {
				t.Errorf("answer %q, shown %q", answer.Text, shown)
			}
			if answer.Tokens == nil || *answer.Tokens != (sessions.Tokens{Prompt: 1111, Completion: 7}) {
				t.Errorf("tokens %v", answer.Tokens)
			}
			if answer.Model != fakeanthropic.ModelDefault || answer.FinishReason != "end_turn" {
				t.Errorf("answer %+v", answer)
			}
			server.AssertNoRefusals(t)
			got := server.Requests()[0]
			if got.System.Text() != "Be brief." || got.Last().Content.Text() != "hello" || !got.Stream || *got.MaxTokens != anthropic.AnswerTokensDefault {
				t.Errorf("the endpoint read %+v", got)
			}
		})
	}
}

func TestStopReasonIsHandedOn(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"max_tokens", "stop_sequence", "pause_turn", "model_context_window_exceeded", "something_new"} {
		server := fakeanthropic.Start(t, fakeanthropic.Config{})
		reply := fakeanthropic.Text("so far")
		reply.StopReason = reason
		server.Script(reply)
		answer, _, err := complete(t.Context(), connect(t, server), ask("hello"))
		if err != nil || answer.FinishReason != reason || answer.Text != "so far" {
			t.Errorf("%s: %+v, %v", reason, answer, err)
		}
	}
}

// Whatever the order of the conversation, the strict endpoint accepts it.
func TestConversationsAreBroughtIntoOrder(t *testing.T) {
	t.Parallel()
	call := func(id, name, args string) sessions.ToolCall {
		return sessions.ToolCall{ID: id, Name: name, Arguments: args}
	}
	result := func(id, text string) agent.Message {
		return agent.Message{Role: sessions.RoleTool, CallID: id, Text: text}
	}
	cases := map[string]struct {
		messages []agent.Message
		want     string
	}{
		"alternating":     {[]agent.Message{user("a"), assistant("b"), user("c")}, "user text: a|assistant text: b|user text: c"},
		"user twice":      {[]agent.Message{user("a"), user("b")}, "user text: a|user text: b"},
		"assistant twice": {[]agent.Message{user("a"), assistant("b"), assistant("c"), user("d")}, "user text: a|assistant text: b|assistant text: c|user text: d"},
		"assistant first": {[]agent.Message{assistant("a"), user("b")}, "user text: (What was said before is left out.)|assistant text: a|user text: b"},
		"assistant last":  {[]agent.Message{user("a"), assistant("b ")}, "user text: a|assistant text: b |user text: (Go on.)"},
		"empty ones":      {[]agent.Message{user(" \n"), user("a"), assistant(""), user("b")}, "user text: a|user text: b"},
		"calls": {
			[]agent.Message{user("a"), {Role: sessions.RoleAssistant, Text: "let me see", ToolCalls: []sessions.ToolCall{call("x.1", "f", `{"n": 12345678901234567890}`), call("y", "g", "")}},
				result("x.1", ""), {Role: sessions.RoleTool, CallID: "y", Text: "boom", IsError: true}, user("and?")},
			`user text: a|assistant text: let me see|assistant tool_use: x_1 f {"n":12345678901234567890}|assistant tool_use: y g {}|` +
				`user tool_result: x_1 (no output)|user tool_result: y boom (error)|user text: and?`,
		},
		"arguments that are no object": {
			[]agent.Message{user("a"), {Role: sessions.RoleAssistant, ToolCalls: []sessions.ToolCall{call("x", "f", "{oops"), call("y", "f", "[1]"), call("z", "f", "null")}},
				result("x", "1"), result("y", "2"), result("z", "3")},
			`user text: a|assistant tool_use: x f {"arguments":"{oops"}|assistant tool_use: y f {"arguments":"[1]"}|assistant tool_use: z f {"arguments":"null"}|` +
				`user tool_result: x 1|user tool_result: y 2|user tool_result: z 3`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakeanthropic.Start(t, fakeanthropic.Config{})
			if _, _, err := complete(t.Context(), connect(t, server), agent.Request{Messages: c.messages, MaxTokens: 9}); err != nil {
				t.Fatal(err)
			}
			got := server.Requests()[0]
			if transcript := strings.Join(got.Transcript(), "|"); transcript != c.want {
				t.Errorf("the endpoint read\n%s\nwant\n%s", transcript, c.want)
			}
			if *got.MaxTokens != 9 || len(got.System) != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestNothingToAsk(t *testing.T) {
	t.Parallel()
	server := fakeanthropic.Start(t, fakeanthropic.Config{})
	for _, messages := range [][]agent.Message{nil, {user(" ")}} {
		_, _, err := complete(t.Context(), connect(t, server), agent.Request{Messages: messages})
		if got := failure(t, err); got.Kind != agent.KindRefused || got.Temporary {
			t.Errorf("got %+v", got)
		}
	}
	if server.Count() != 0 {
		t.Error("the endpoint was asked")
	}
}

func TestToolCallsComeIn(t *testing.T) {
	t.Parallel()
	server := fakeanthropic.Start(t, fakeanthropic.Config{})
	reply := fakeanthropic.Text("let me see")
	reply.ToolCalls = []fakeanthropic.ToolCall{{ID: "a1", Name: "weather", Input: `{"city":"Rome"}`}, {ID: "a2", Name: "time"}}
	server.Script(reply)
	answer, shown, err := complete(t.Context(), connect(t, server), ask("weather?"))
	if err != nil || shown != "let me see" || answer.FinishReason != "tool_use" {
		t.Fatalf("%+v, %q, %v", answer, shown, err)
	}
	want := []sessions.ToolCall{{ID: "a1", Name: "weather", Arguments: `{"city":"Rome"}`}, {ID: "a2", Name: "time", Arguments: `{}`}}
	if len(answer.ToolCalls) != 2 || answer.ToolCalls[0] != want[0] || answer.ToolCalls[1] != want[1] {
		t.Fatalf("calls %+v", answer.ToolCalls)
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
	event := func(kind, message string) fakeanthropic.Reply {
		return fakeanthropic.Raw("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"" + kind + "\",\"message\":\"" + message + "\"}}\n\n")
	}
	invalid := func(message string) fakeanthropic.Reply {
		return fakeanthropic.Error(400, "invalid_request_error", message)
	}
	cases := map[string]struct {
		reply fakeanthropic.Reply
		want  result
	}{
		"401":            {fakeanthropic.Error(401, "authentication_error", "invalid x-api-key"), result{agent.KindUnauthorized, false, false, "ANTHROPIC_API_KEY"}},
		"403":            {fakeanthropic.Error(403, "permission_error", "not here"), result{agent.KindUnauthorized, false, false, "not here"}},
		"402":            {fakeanthropic.Error(402, "billing_error", "pay"), result{agent.KindQuota, false, false, "credit"}},
		"credit":         {invalid("Your credit balance is too low to access the Anthropic API."), result{agent.KindQuota, false, false, "too low"}},
		"404":            {fakeanthropic.Error(404, "not_found_error", "model: x"), result{agent.KindNotFound, false, false, "ANTHROPIC_MODEL"}},
		"404 page":       {fakeanthropic.HTML(404, "Not Found"), result{agent.KindNotFound, false, false, "HTML page: Not Found"}},
		"429":            {fakeanthropic.RateLimited(7), result{agent.KindRateLimited, true, false, "rate limit"}},
		"500":            {fakeanthropic.Error(500, "api_error", "Internal server error"), result{agent.KindUnavailable, true, false, "Internal"}},
		"500 page":       {fakeanthropic.HTML(500, "Internal Server Error"), result{agent.KindUnavailable, true, false, "HTML page: Internal Server Error"}},
		"503 text":       {fakeanthropic.Reply{Status: 503, Body: "upstream connect error"}, result{agent.KindUnavailable, true, false, "upstream"}},
		"504":            {fakeanthropic.Error(504, "timeout_error", "too slow"), result{agent.KindTimeout, true, false, "too slow"}},
		"529":            {fakeanthropic.Overloaded(), result{agent.KindUnavailable, true, false, "Overloaded"}},
		"too long":       {invalid("prompt is too long: 208310 tokens > 200000 maximum"), result{agent.KindContextLength, false, false, "208310"}},
		"too long limit": {invalid("input length and `max_tokens` exceed context limit: 1 + 2 > 3"), result{agent.KindContextLength, false, false, "exceed"}},
		"too large":      {fakeanthropic.Error(413, "request_too_large", "Request exceeds the maximum size"), result{agent.KindContextLength, false, false, "maximum size"}},
		"filter":         {invalid("Output blocked by content filtering policy"), result{agent.KindFiltered, false, false, "policy"}},
		"400":            {invalid("temperature: Input should be less than 1"), result{agent.KindRefused, false, false, "temperature"}},
		"422":            {fakeanthropic.Reply{Status: 422, Body: `{"detail":"n"}`}, result{agent.KindRefused, false, false, "detail"}},
		"no body":        {fakeanthropic.Reply{Status: 500}, result{agent.KindUnavailable, true, false, "500"}},
		"redirect":       {fakeanthropic.Reply{Status: 307, Header: http.Header{"Location": {"http://127.0.0.1:1/"}}}, result{agent.KindNotFound, false, false, "redirects"}},
		"page, 200":      {fakeanthropic.HTML(200, "Welcome"), result{agent.KindNotFound, false, false, "base URL"}},
		"json, 200":      {fakeanthropic.Reply{Status: 200, Body: `{"content":[]}`, Header: http.Header{"Content-Type": {"application/json"}}}, result{agent.KindNotFound, false, false, "application/json"}},
		"drop":           {fakeanthropic.Drop(), result{agent.KindUnavailable, true, false, "cannot reach"}},
		"break":          {fakeanthropic.Faulty(text, fakemodel.FaultBreak, 2), result{agent.KindBrokenStream, true, true, "ended before"}},
		"break early":    {fakeanthropic.Faulty(text, fakemodel.FaultBreak, 0), result{agent.KindBrokenStream, true, false, "ended before"}},
		"cut":            {fakeanthropic.Faulty(text, fakemodel.FaultCut, 2), result{agent.KindBrokenStream, true, true, "ended before"}},
		"garbage":        {fakeanthropic.Faulty(text, fakemodel.FaultGarbage, 1), result{agent.KindBrokenStream, true, true, "not JSON"}},
		"error event":    {fakeanthropic.Faulty(text, fakemodel.FaultError, 2), result{agent.KindUnavailable, true, true, "Overloaded"}},
		"error event 0":  {fakeanthropic.Faulty(text, fakemodel.FaultError, 0), result{agent.KindUnavailable, true, false, "Overloaded"}},
		"rate event":     {event("rate_limit_error", "slow down"), result{agent.KindRateLimited, true, false, "slow down"}},
		"invalid event":  {event("invalid_request_error", "prompt is too long: 3"), result{agent.KindContextLength, false, false, "3"}},
		"new event":      {event("something_new", "odd"), result{agent.KindUnavailable, true, false, "odd"}},
		"garbled event":  {fakeanthropic.Raw("event: error\ndata: oops\n\n"), result{agent.KindUnavailable, true, false, "oops"}},
		"no events":      {fakeanthropic.Raw(""), result{agent.KindBrokenStream, true, false, "ended before"}},
		"endless line":   {fakeanthropic.Raw("data: " + strings.Repeat("x", endpoint.LineMax)), result{agent.KindTooLong, false, false, "longer"}},
		"endless text":   {fakeanthropic.Text(strings.Repeat("x ", endpoint.AnswerMax/2+9)), result{agent.KindTooLong, false, true, "longer"}},
		"refusal":        {fakeanthropic.Reply{Pieces: []string{"so "}, StopReason: "refusal"}, result{agent.KindFiltered, false, true, "refus"}},
		"window":         {fakeanthropic.Reply{StopReason: "model_context_window_exceeded"}, result{agent.KindContextLength, false, false, "window"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakeanthropic.Start(t, fakeanthropic.Config{})
			server.Script(c.reply)
			answer, shown, err := complete(t.Context(), connect(t, server), ask("hello"))
			got := failure(t, err)
			if (result{got.Kind, got.Temporary, got.Started, c.want.reason}) != c.want || !strings.Contains(got.Reason, c.want.reason) {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
			if answer.Text != shown {
				t.Errorf("the partial answer is %q, but %q was shown", answer.Text, shown)
			}
			if server.Count() != 1 {
				t.Errorf("%d requests: trying again is not this package's", server.Count())
			}
		})
	}
}

func TestTooManyCalls(t *testing.T) {
	t.Parallel()
	server := fakeanthropic.Start(t, fakeanthropic.Config{})
	server.Script(fakeanthropic.Calls(make([]fakeanthropic.ToolCall, endpoint.CallsMax+1)...))
	_, _, err := complete(t.Context(), connect(t, server), ask("hello"))
	if got := failure(t, err); got.Kind != agent.KindTooLong {
		t.Errorf("got %+v", got)
	}
}

func TestRetryAfterIsHandedOn(t *testing.T) {
	t.Parallel()
	server := fakeanthropic.Start(t, fakeanthropic.Config{})
	server.Script(fakeanthropic.RateLimited(7))
	_, _, err := complete(t.Context(), connect(t, server), ask("hello"))
	if got := failure(t, err); got.RetryAfter != 7*time.Second {
		t.Errorf("again after %s", got.RetryAfter)
	}
}

func TestNothingListens(t *testing.T) {
	t.Parallel()
	server := fakeanthropic.Start(t, fakeanthropic.Config{})
	server.Close()
	_, _, err := complete(t.Context(), connect(t, server), ask("hello"))
	if got := failure(t, err); got.Kind != agent.KindUnavailable || !got.Temporary || !strings.Contains(got.Reason, "127.0.0.1") {
		t.Errorf("got %+v", got)
	}
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	t.Parallel()
	const key, password = "sk-ant-canary-4711", "canary%2Fpass"
	server := fakeanthropic.Start(t, fakeanthropic.Config{})
	server.Script(fakeanthropic.HTML(502, "x-api-key: "+key))
	withUser := strings.Replace(server.URL(), "http://", "http://canaryuser:"+password+"@", 1)
	dead := "http://canaryuser:" + password + "@127.0.0.1:1"
	for _, base := range []string{withUser, dead} {
		model := connect(t, server, func(c *anthropic.Config) { c.BaseURL, c.APIKey = base, secret.New(key) })
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
	quoting := connect(t, server)
	server.Script(fakeanthropic.Error(401, "authentication_error", "invalid key "+server.Key()))
	if _, _, err := complete(t.Context(), quoting, ask("hello")); strings.Contains(err.Error(), server.Key()) {
		t.Errorf("a quoted key shows: %v", err)
	}
}

// The environment of the process is none of the library's business.
func TestEnvironmentIsNotRead(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"} {
		t.Setenv(name, "sk-ant-other")
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "Anthropic-Version: broken")
	server := fakeanthropic.Start(t, fakeanthropic.Config{})
	if _, _, err := complete(t.Context(), connect(t, server), ask("hello")); err != nil {
		t.Fatal(err)
	}
	keyless := connect(t, server, func(c *anthropic.Config) { c.APIKey = secret.String{} })
	_, _, err := complete(t.Context(), keyless, ask("hello"))
	if got := failure(t, err); got.Kind != agent.KindUnauthorized || !strings.Contains(got.Reason, "header is required") {
		t.Errorf("got %+v", got)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	cases := map[string]anthropic.Config{
		"no name":        {},
		"not begin with": {Model: "m", BaseURL: "ftp://h"},
		"no host":        {Model: "m", BaseURL: "http:///v1"},
		"query":          {Model: "m", BaseURL: "http://h/v1?x=1"},
		"leave that out": {Model: "m", BaseURL: "https://h/v1/messages/"},
		"white space":    {Model: "m", APIKey: secret.New("sk x")},
		"negative":       {Model: "m", Limits: endpoint.Limits{Idle: -1}},
	}
	for want, config := range cases {
		if _, err := anthropic.New(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q in it", config, err, want)
		}
	}
	if _, err := anthropic.New(anthropic.Config{BaseURL: "https://u:canary@h:bad/"}); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("%v", err)
	}
}

func TestBaseURLMayNameTheVersion(t *testing.T) {
	t.Parallel()
	server := fakeanthropic.Start(t, fakeanthropic.Config{})
	for _, end := range []string{"", "/", "/v1", "/v1/"} {
		model := connect(t, server, func(c *anthropic.Config) { c.BaseURL += end })
		if _, _, err := complete(t.Context(), model, ask("hello")); err != nil {
			t.Errorf("%q: %v", end, err)
		}
	}
}

func TestCancelWhileHanging(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]fakeanthropic.Reply{
		"before the header": fakeanthropic.Hang(),
		"after one piece":   fakeanthropic.Faulty("one two three four five", fakemodel.FaultHang, 1),
		"pings":             fakeanthropic.Faulty("one two three four five", fakemodel.FaultKeepAlive, 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakeanthropic.Start(t, fakeanthropic.Config{})
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

func TestProbe(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		config fakeanthropic.Config
		change func(*anthropic.Config)
		calls  int
		kind   agent.ErrorKind
	}{
		"described":      {fakeanthropic.Config{}, func(*anthropic.Config) {}, 1, ""},
		"no description": {fakeanthropic.Config{NoModelList: true}, func(*anthropic.Config) {}, 2, ""},
		"no model":       {fakeanthropic.Config{}, func(c *anthropic.Config) { c.Model = "gone" }, 2, agent.KindNotFound},
		"wrong key":      {fakeanthropic.Config{}, func(c *anthropic.Config) { c.APIKey = secret.New("sk-wrong") }, 1, agent.KindUnauthorized},
		"wrong place":    {fakeanthropic.Config{}, func(c *anthropic.Config) { c.BaseURL += "/deeper" }, 2, agent.KindNotFound},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakeanthropic.Start(t, c.config)
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
