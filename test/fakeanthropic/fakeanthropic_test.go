package fakeanthropic_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/test/fakeanthropic"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asking is a good request with this body.
func asking(ctx context.Context, t *testing.T, server *fakeanthropic.Server, body string) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL()+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Api-Key", server.Key())
	request.Header.Set("Anthropic-Version", "2023-06-01")
	request.Header.Set("Content-Type", "application/json")
	return request
}

func do(t *testing.T, request *http.Request) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

const good = `{"model":"claude-fake","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`

func TestRefusesWhatTheRealOneRefuses(t *testing.T) {
	t.Parallel()
	const (
		user      = `{"role":"user","content":"hi"}`
		assistant = `{"role":"assistant","content":[{"type":"text","text":"yes"}]}`
		call      = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`
		result    = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}`
		late      = `{"role":"user","content":[{"type":"text","text":"and"},{"type":"tool_result","tool_use_id":"a","content":"x"}]}`
		tools     = `"tools":[{"name":"f","input_schema":{"type":"object"}}],`
	)
	chat := func(messages string) string {
		return `{"model":"claude-fake","max_tokens":9,` + tools + `"messages":[` + messages + `]}`
	}
	cases := map[string]struct {
		body   string
		status int
		says   string
	}{
		"good":                      {good, 200, `"text":"You said: hi"`},
		"good tools":                {chat(user + "," + call + "," + result), 200, "You said: x"},
		"no JSON":                   {`{`, 400, "invalid_request_error"},
		"two objects":               {good + "{}", 400, "follows"},
		"unknown field":             {`{"model":"claude-fake","colour":1}`, 400, "colour"},
		"unknown in a block":        {chat(`{"role":"user","content":[{"type":"text","text":"x","size":1}]}`), 400, "size"},
		"no model":                  {`{"max_tokens":9,"messages":[` + user + `]}`, 400, "model: Field required"},
		"wrong model":               {strings.Replace(good, "claude-fake", "gone", 1), 404, "not_found_error"},
		"no max_tokens":             {strings.Replace(good, `"max_tokens":9,`, "", 1), 400, "max_tokens: Field required"},
		"max_tokens 0":              {strings.Replace(good, `:9`, ":0", 1), 400, "greater than"},
		"max_tokens too high":       {strings.Replace(good, `:9`, ":1000", 1), 400, "maximum allowed"},
		"no messages":               {chat(""), 400, "at least one"},
		"empty message":             {chat(`{"role":"user","content":[]}`), 400, "non-empty content"},
		"empty block":               {chat(`{"role":"user","content":""}`), 400, "must be non-empty"},
		"blank block":               {chat(`{"role":"user","content":" \n"}`), 400, "non-whitespace"},
		"empty system":              {`{"model":"claude-fake","max_tokens":9,"system":"","messages":[` + user + `]}`, 400, "must be non-empty"},
		"system role":               {chat(`{"role":"system","content":"x"}`), 400, "must alternate"},
		"assistant first":           {chat(assistant + "," + user), 400, "must alternate"},
		"user twice":                {chat(user + "," + user), 400, "must alternate"},
		"prefill":                   {chat(user + "," + assistant), 400, "prefill"},
		"image":                     {chat(`{"role":"user","content":[{"type":"image"}]}`), 400, "image"},
		"orphan result":             {chat(result), 400, "unexpected `tool_use_id`"},
		"result missing":            {chat(user + "," + call + "," + user), 400, "without `tool_result`"},
		"result behind text":        {chat(user + "," + call + "," + late), 400, "before any other"},
		"call of a user":            {chat(`{"role":"user","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`), 400, "tool_use"},
		"call id":                   {chat(user + "," + strings.Replace(call, `"a"`, `"a.1"`, 1) + "," + result), 400, "tool_use.id"},
		"input no object":           {chat(user + "," + strings.Replace(call, `{}`, `"x"`, 1) + "," + result), 400, "dictionary"},
		"tool that is not declared": {strings.Replace(chat(user+","+call+","+result), tools, "", 1), 400, "must define tools"},
		"choice without tools":      {strings.Replace(good, `"max`, `"tool_choice":{"type":"none"},"max`, 1), 400, "tool_choice"},
		"too long":                  {chat(`{"role":"user","content":"` + strings.Repeat("x", 101) + `"}`), 400, "prompt is too long"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakeanthropic.Start(t, fakeanthropic.Config{ContextMax: 100, TokensMax: 99})
			status, answer := do(t, asking(t.Context(), t, server, c.body))
			if status != c.status || !strings.Contains(answer, c.says) || !json.Valid([]byte(answer)) {
				t.Errorf("%d: %s", status, answer)
			}
			if refused := server.Calls()[0].Refused != ""; refused != (c.status != 200) {
				t.Errorf("the log says %+v", server.Calls()[0])
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	server := fakeanthropic.Start(t, fakeanthropic.Config{})
	cases := map[string]struct {
		change func(*http.Request)
		status int
	}{
		"good":         {func(*http.Request) {}, 200},
		"no key":       {func(r *http.Request) { r.Header.Del("X-Api-Key") }, 401},
		"wrong key":    {func(r *http.Request) { r.Header.Set("X-Api-Key", "x") }, 401},
		"wrong bearer": {func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, 401},
		"bearer": {func(r *http.Request) {
			r.Header.Del("X-Api-Key")
			r.Header.Set("Authorization", "Bearer "+server.Key())
		}, 200},
		"no version":   {func(r *http.Request) { r.Header.Del("Anthropic-Version") }, 400},
		"content type": {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 400},
		"method":       {func(r *http.Request) { r.Method = http.MethodPut }, 405},
		"path":         {func(r *http.Request) { r.URL.Path = "/messages" }, 404},
	}
	for name, c := range cases {
		request := asking(t.Context(), t, server, good)
		c.change(request)
		if status, answer := do(t, request); status != c.status || !json.Valid([]byte(answer)) {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
}

func TestStreamOnTheWire(t *testing.T) {
	t.Parallel()
	server := fakeanthropic.Start(t, fakeanthropic.Config{})
	reply := fakeanthropic.Text("one two three four")
	reply.ToolCalls = []fakeanthropic.ToolCall{{ID: "a", Name: "f", Input: `{"x":1}`}}
	server.Script(reply)
	_, answer := do(t, asking(t.Context(), t, server, strings.Replace(good, `"max`, `"stream":true,"max`, 1)))
	events := strings.Split(strings.TrimSuffix(answer, "\n\n"), "\n\n")
	want := []string{
		"message_start", "ping", "content_block_start", "content_block_delta", "content_block_delta", "content_block_stop",
		"content_block_start", "content_block_delta", "content_block_delta", "content_block_delta", "content_block_stop", "message_delta", "message_stop",
	}
	if len(events) != len(want) {
		t.Fatalf("%d events:\n%s", len(events), answer)
	}
	for i, event := range events {
		name, data, _ := strings.Cut(event, "\ndata: ")
		if name != "event: "+want[i] || !json.Valid([]byte(data)) || !strings.Contains(data, `"type":"`+want[i]+`"`) {
			t.Errorf("event %d is %s, want %s", i, event, want[i])
		}
	}
}

func TestCloseEndsAHang(t *testing.T) {
	t.Parallel()
	server := fakeanthropic.Start(t, fakeanthropic.Config{})
	server.Script(fakeanthropic.Hang())
	request := asking(context.Background(), t, server, good)
	ended := make(chan error, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		_, err := client.Do(request)
		ended <- err
	}()
	server.AwaitRequests(t, 1)
	server.Close()
	if err := <-ended; err == nil {
		t.Error("a call that hung was answered")
	}
	server.Close()
}

func TestLogKeepsTheNewest(t *testing.T) {
	t.Parallel()
	server := fakeanthropic.Start(t, fakeanthropic.Config{LogMax: 2})
	for _, text := range []string{"a", "b", "c"} {
		do(t, asking(t.Context(), t, server, strings.Replace(good, `"hi"`, `"`+text+`"`, 1)))
	}
	requests := server.Requests()
	if server.Count() != 3 || len(requests) != 2 || requests[0].Last().Content.Text() != "b" {
		t.Errorf("%d counted, %+v kept", server.Count(), requests)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if _, err := server.Await(ctx, func([]fakeanthropic.Call) bool { return false }); err == nil {
		t.Error("a wait in vain must fail")
	}
}
