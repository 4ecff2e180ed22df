package fakeopenai_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/test/fakeopenai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// post sends body as it stands and gives status and answer.
func post(t *testing.T, server *fakeopenai.Server, key, contentType, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", contentType)
	return do(t, request)
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

func TestRefusesWhatARealOneRefuses(t *testing.T) {
	t.Parallel()
	const call = `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	const result = `{"role":"tool","tool_call_id":"a","content":"x"}`
	const user = `{"role":"user","content":"hi"}`
	chat := func(messages string) string { return `{"model":"fake-model","messages":[` + messages + `]}` }
	cases := map[string]struct {
		body   string
		status int
		says   string
	}{
		"good":                      {chat(user), 200, `"content":"You said: hi"`},
		"good tools":                {chat(user + "," + call + "," + result + "," + user), 200, "You said: hi"},
		"no JSON":                   {`{`, 400, "parse"},
		"two objects":               {chat(user) + "{}", 400, "follows"},
		"unknown field":             {`{"model":"fake-model","colour":1}`, 400, "colour"},
		"unknown in a message":      {chat(`{"role":"user","content":"x","sender":"y"}`), 400, "sender"},
		"no model":                  {`{"messages":[` + user + `]}`, 400, "model"},
		"wrong model":               {`{"model":"x","messages":[` + user + `]}`, 404, "model_not_found"},
		"no messages":               {chat(""), 400, "empty array"},
		"empty message":             {chat(`{"role":"user","content":""}`), 400, "must not be empty"},
		"null message":              {chat(`{"role":"user","content":null}`), 400, "must not be empty"},
		"strange role":              {chat(`{"role":"bot","content":"x"}`), 400, "Invalid value: 'bot'"},
		"silent assistant":          {chat(`{"role":"assistant"}`), 400, "either"},
		"orphan result":             {chat(user + "," + result), 400, "must be a response"},
		"result twice":              {chat(call + "," + result + "," + result), 400, "must be a response"},
		"missing result":            {chat(call + "," + user), 400, "must be followed"},
		"result missing at the end": {chat(user + "," + call), 400, "must be followed"},
		"call of a user":            {chat(`{"role":"user","content":"x","tool_calls":[{"id":"a"}]}`), 400, "only an assistant"},
		"call without id":           {chat(strings.Replace(call, `"id":"a"`, `"id":""`, 1) + "," + result), 400, "not unique"},
		"function name":             {chat(strings.Replace(call, `"f"`, `"f f"`, 1) + "," + result), 400, "does not match"},
		"max_tokens":                {`{"model":"fake-model","max_tokens":0,"messages":[` + user + `]}`, 400, "minimum"},
		"both limits":               {`{"model":"fake-model","max_tokens":1,"max_completion_tokens":1,"messages":[` + user + `]}`, 400, "same time"},
		"stream_options":            {`{"model":"fake-model","stream_options":{"include_usage":true},"messages":[` + user + `]}`, 400, "only allowed when"},
		"too long":                  {chat(`{"role":"user","content":"` + strings.Repeat("x", 101) + `"}`), 400, "context_length_exceeded"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakeopenai.Start(t, fakeopenai.Config{ContextMax: 100})
			status, answer := post(t, server, server.Key(), "application/json", c.body)
			if status != c.status || !strings.Contains(answer, c.says) || !json.Valid([]byte(answer)) {
				t.Errorf("%d: %s", status, answer)
			}
			if refused := server.Calls()[0].Refused != ""; refused != (c.status != 200) {
				t.Errorf("the log says %+v", server.Calls()[0])
			}
		})
	}
}

func TestKeyAndContentType(t *testing.T) {
	t.Parallel()
	server := fakeopenai.Start(t, fakeopenai.Config{})
	const body = `{"model":"fake-model","messages":[{"role":"user","content":"hi"}]}`
	if status, answer := post(t, server, "wrong", "application/json", body); status != 401 || !strings.Contains(answer, "invalid_api_key") {
		t.Errorf("%d: %s", status, answer)
	}
	if status, _ := post(t, server, server.Key(), "text/plain", body); status != 415 {
		t.Errorf("%d", status)
	}
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+"/chat/completions", nil)
	if status, _ := do(t, request); status != 405 {
		t.Errorf("%d", status)
	}
}

func TestStreamOnTheWire(t *testing.T) {
	t.Parallel()
	server := fakeopenai.Start(t, fakeopenai.Config{})
	reply := fakeopenai.Text("one two three four")
	reply.Usage = &fakeopenai.Usage{Prompt: 1, Completion: 2, Total: 3}
	server.Script(reply)
	const body = `{"model":"fake-model","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`
	_, answer := post(t, server, server.Key(), "application/json", body)
	events := strings.Split(strings.TrimSuffix(answer, "\n\n"), "\n\n")
	if len(events) != 6 || events[5] != "data: [DONE]" {
		t.Fatalf("%d events:\n%s", len(events), answer)
	}
	for i, want := range []string{`"role":"assistant"`, `"content":"one two three "`, `"content":"four"`, `"finish_reason":"stop"`, `"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}`} {
		if payload, found := strings.CutPrefix(events[i], "data: "); !found || !json.Valid([]byte(payload)) || !strings.Contains(payload, want) {
			t.Errorf("event %d is %s, want %s in it", i, events[i], want)
		}
	}
}

func TestCloseEndsAHang(t *testing.T) {
	t.Parallel()
	server := fakeopenai.Start(t, fakeopenai.Config{})
	server.Script(fakeopenai.Hang())
	ended := make(chan error, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		request, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL()+"/chat/completions",
			strings.NewReader(`{"model":"fake-model","messages":[{"role":"user","content":"hi"}]}`))
		request.Header.Set("Authorization", "Bearer "+server.Key())
		request.Header.Set("Content-Type", "application/json")
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
	server := fakeopenai.Start(t, fakeopenai.Config{LogMax: 2})
	for _, text := range []string{"a", "b", "c"} {
		post(t, server, server.Key(), "application/json", `{"model":"fake-model","messages":[{"role":"user","content":"`+text+`"}]}`)
	}
	requests := server.Requests()
	if server.Count() != 3 || len(requests) != 2 || requests[0].Last().Text() != "b" {
		t.Errorf("%d counted, %+v kept", server.Count(), requests)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if _, err := server.Await(ctx, func([]fakeopenai.Call) bool { return false }); err == nil {
		t.Error("a wait in vain must fail")
	}
}
