package slack

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/adapters"
	"parley/internal/lanes"
	"parley/internal/pause"
	"parley/internal/secret"
)

const signingSecret = "8f742231b10e8888abcd99yyyzzz85a5"

// hooked is an adapter whose webhook is open, with a sink that can refuse,
// and nothing else: it asks nobody for names.
type hooked struct {
	*Adapter
	refuse atomic.Bool
	hold   chan struct{} // the sink waits for it to be closed; nil: it does not wait
	mu     sync.Mutex
	ids    []string
}

func newHooked(tb testing.TB) *hooked {
	tb.Helper()
	a, err := newAdapter(Config{BotToken: secret.New("xoxb-x"), SigningSecret: secret.New(signingSecret), APIURL: "http://127.0.0.1:1"}, defaultTiming())
	if err != nil {
		tb.Fatal(err)
	}
	a.times.answer, a.times.offer = patience, pause.Range{Min: time.Millisecond, Max: 5 * time.Millisecond}
	none := errors.New("not looked up")
	a.people = newDirectory(
		func(context.Context, string) (string, error) { return "", none },
		func(context.Context, string) (channel, error) { return channel{}, none }, time.Now)
	h := &hooked{Adapter: a}
	a.me.Store(&self{User: "U0BOT", Bot: "B0BOT", Name: "parley", Team: "T0TEAM"})
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &run{Adapter: a, sink: h.sink, ctx: ctx, refuse: cancel, lanes: lanes.New(ctx, sinksMax, waitingMax), doubts: make(chan struct{}, 1)}
	a.active.Store(r)
	tb.Cleanup(func() {
		cancel(nil)
		r.lanes.Wait()
	})
	return h
}

func (h *hooked) sink(ctx context.Context, event adapters.Event) error {
	if h.hold != nil {
		if err := until(ctx, h.hold); err != nil {
			return err
		}
	}
	if h.refuse.Load() {
		return errors.New("the store is away")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids = append(h.ids, event.ID)
	return nil
}

func (h *hooked) taken() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.ids...)
}

func (h *hooked) serve(request *http.Request) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	h.Webhook().ServeHTTP(recorder, request)
	return recorder
}

// signed is a request as Slack would make it at a time.
func signed(contentType string, body []byte, when time.Time, key string) *http.Request {
	request := httptest.NewRequest(http.MethodPost, "/slack/events", bytes.NewReader(body))
	timestamp := strconv.FormatInt(when.Unix(), 10)
	request.Header.Set(headerTimestamp, timestamp)
	request.Header.Set(headerSignature, "v0="+hex.EncodeToString(sign(key, timestamp, body)))
	request.Header.Set("Content-Type", contentType)
	return request
}

func event(ts string) []byte {
	return wrapped(`{"type":"message","channel":"C0GEN","user":"U0ALICE","text":"hi","ts":"` + ts + `"}`).payload
}

// TestSignatureOfSlack checks the construction against the worked example of
// Slack's documentation.
func TestSignatureOfSlack(t *testing.T) {
	t.Parallel()
	const body = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
	const want = "a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
	if got := hex.EncodeToString(sign(signingSecret, "1531420618", []byte(body))); got != want {
		t.Errorf("got %s", got)
	}
}

func TestWebhookRefusesForgeries(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	now := time.Now()
	h.now = func() time.Time { return now }
	body := event(tsA)
	header := func(key, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(key, value) }
	}
	timestamp := strconv.FormatInt(now.Unix(), 10)
	right := hex.EncodeToString(sign(signingSecret, timestamp, body))
	for name, forge := range map[string]func(*http.Request){
		"another secret":  func(r *http.Request) { *r = *signed("application/json", body, now, "another secret, as long as it is") },
		"an empty secret": func(r *http.Request) { *r = *signed("application/json", body, now, "") },
		"too old": func(r *http.Request) {
			*r = *signed("application/json", body, now.Add(-301*time.Second), signingSecret)
		},
		"too new":              func(r *http.Request) { *r = *signed("application/json", body, now.Add(301*time.Second), signingSecret) },
		"no signature":         func(r *http.Request) { r.Header.Del(headerSignature) },
		"no time":              func(r *http.Request) { r.Header.Del(headerTimestamp) },
		"two signatures":       func(r *http.Request) { r.Header.Add(headerSignature, "v0="+right) },
		"two times":            func(r *http.Request) { r.Header.Add(headerTimestamp, timestamp) },
		"time with a sign":     header(headerTimestamp, "+"+timestamp),
		"time with a space":    header(headerTimestamp, " "+timestamp),
		"time with zeros":      header(headerTimestamp, "0"+timestamp),
		"time that is a word":  header(headerTimestamp, "now"),
		"time that overflows":  header(headerTimestamp, "99999999999999999999"),
		"time of the far past": header(headerTimestamp, "-9223372036854775808"),
		"another version":      header(headerSignature, "v1="+right),
		"no version":           header(headerSignature, right),
		"short":                header(headerSignature, "v0="+right[:62]),
		"long":                 header(headerSignature, "v0="+right+"00"),
		"not hexadecimal":      header(headerSignature, "v0="+strings.Repeat("zz", 32)),
		"empty":                header(headerSignature, "v0="),
		"another body": func(r *http.Request) {
			other := signed("application/json", event(tsB), now, signingSecret)
			r.Header = other.Header
		},
	} {
		t.Run(name, func(t *testing.T) {
			request := signed("application/json", body, now, signingSecret)
			forge(request)
			if answer := h.serve(request); answer.Code != http.StatusUnauthorized {
				t.Errorf("answered with %d", answer.Code)
			}
		})
	}
	if taken := h.taken(); len(taken) > 0 {
		t.Errorf("forged, and taken: %v", taken)
	}
	for _, apart := range []time.Duration{-300 * time.Second, 300 * time.Second} {
		if answer := h.serve(signed("application/json", body, now.Add(apart), signingSecret)); answer.Code != http.StatusOK {
			t.Errorf("%s apart: %d", apart, answer.Code)
		}
	}
}

func TestWebhookAnswers(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	form := func(values url.Values) []byte { return []byte(values.Encode()) }
	const isForm, isJSON = "application/x-www-form-urlencoded", "application/json"
	for name, test := range map[string]struct {
		contentType string
		body        []byte
		code        int
		text        string
		taken       string
	}{
		"event":        {isJSON, event(tsA), http.StatusOK, "", "m:C0GEN:" + tsA},
		"challenge":    {isJSON, []byte(`{"type":"url_verification","challenge":"abc"}`), http.StatusOK, "abc", ""},
		"no challenge": {isJSON, []byte(`{"type":"url_verification"}`), http.StatusOK, "", ""},
		"command": {isForm, form(url.Values{"command": {"/new"}, "channel_id": {"C1"}, "user_id": {"U1"}, "trigger_id": {"9"}}),
			http.StatusOK, "", "c:9"},
		"button": {isForm + "; charset=utf-8", form(url.Values{"payload": {`{"type":"block_actions","user":{"id":"U1"},"container":{"channel_id":"C1","message_ts":"` + tsA + `"},"actions":[{"action_id":"a","action_ts":"` + tsB + `"}]}`}}),
			http.StatusOK, "", "b:C1:" + tsA + ":U1:a:" + tsB},
		"unknown event":   {isJSON, wrapped(`{"type":"novelty"}`).payload, http.StatusOK, "", ""},
		"not JSON":        {isJSON, []byte(`{`), http.StatusOK, "", ""},
		"empty":           {isJSON, nil, http.StatusOK, "", ""},
		"form of nothing": {isForm, form(url.Values{"x": {"y"}}), http.StatusOK, "", ""},
		"trying":          {isForm, form(url.Values{"ssl_check": {"1"}}), http.StatusOK, "", ""},
		"too long":        {isJSON, bytes.Repeat([]byte{' '}, requestMax+1), http.StatusRequestEntityTooLarge, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(h.taken())
			answer := h.serve(signed(test.contentType, test.body, time.Now(), signingSecret))
			if answer.Code != test.code || test.text != "" && answer.Body.String() != test.text {
				t.Errorf("answered with %d %q", answer.Code, answer.Body)
			}
			after := h.taken()[before:]
			if got := strings.Join(after, " "); got != test.taken {
				t.Errorf("taken %q, want %q", got, test.taken)
			}
			if answer.Header().Get("X-Slack-No-Retry") != "" {
				t.Error("Slack is told not to try again")
			}
		})
	}
	if answer := h.serve(httptest.NewRequest(http.MethodGet, "/slack/events", nil)); answer.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET is answered with %d", answer.Code)
	}
}

// TestWebhookWaitsForTheSink: 503 while the sink refuses, 200 to a later
// attempt, and no second offer while the first is under way.
func TestWebhookWaitsForTheSink(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	h.refuse.Store(true)
	h.times.answer = 50 * time.Millisecond
	if answer := h.serve(signed("application/json", event(tsA), time.Now(), signingSecret)); answer.Code != http.StatusServiceUnavailable {
		t.Fatalf("not taken, and answered with %d", answer.Code)
	}
	h.refuse.Store(false)
	h.times.answer = patience
	request := signed("application/json", event(tsA), time.Now(), signingSecret)
	request.Header.Set("X-Slack-Retry-Num", "1")
	if answer := h.serve(request); answer.Code != http.StatusOK {
		t.Errorf("taken, and answered with %d", answer.Code)
	}
	for _, id := range h.taken() {
		if id != "m:C0GEN:"+tsA {
			t.Errorf("taken %q", id)
		}
	}
	h.active.Store(nil)
	if answer := h.serve(signed("application/json", event(tsB), time.Now(), signingSecret)); answer.Code != http.StatusServiceUnavailable {
		t.Errorf("not running, and answered with %d", answer.Code)
	}
}

// TestDeliveredAgainWhileItWaits: what comes again while the sink has it, is
// not offered again, and everyone who brought it is told.
func TestDeliveredAgainWhileItWaits(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	h.hold = make(chan struct{})
	r := h.active.Load()
	told := make(chan error, 3)
	in := incoming{kind: kindEvents, payload: event(tsA)}
	for range cap(told) {
		r.take(in, func(err error) { told <- err })
	}
	close(h.hold)
	for range cap(told) {
		if err := <-told; err != nil {
			t.Errorf("told %v", err)
		}
	}
	other := incoming{kind: kindEvents, payload: bytes.Replace(event(tsB), []byte("Ev1"), []byte("Ev2"), 1)}
	r.take(other, func(err error) { told <- err })
	<-told
	if got := strings.Join(h.taken(), " "); got != "m:C0GEN:"+tsA+" m:C0GEN:"+tsB {
		t.Errorf("taken %s", got)
	}
}

// TestWebhookReplay: the very same request again is the same event for the
// sink, and answered with 200.
func TestWebhookReplay(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	when := time.Now()
	for range 3 {
		if answer := h.serve(signed("application/json", event(tsA), when, signingSecret)); answer.Code != http.StatusOK {
			t.Errorf("answered with %d", answer.Code)
		}
	}
	for _, id := range h.taken() {
		if id != "m:C0GEN:"+tsA {
			t.Errorf("taken %q", id)
		}
	}
}

func TestWebhookIsOffWithoutASecret(t *testing.T) {
	t.Parallel()
	a, err := New(Config{BotToken: secret.New("xoxb-x"), AppToken: secret.New("xapp-x")})
	if err != nil {
		t.Fatal(err)
	}
	if a.Webhook() != nil {
		t.Error("there is a handler that nobody could sign for")
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]Config{
		"no bot token":          {AppToken: secret.New("xapp-x")},
		"app token as bot":      {BotToken: secret.New("xapp-x"), AppToken: secret.New("xapp-x")},
		"bot token as app":      {BotToken: secret.New("xoxb-x"), AppToken: secret.New("xoxb-x")},
		"white space":           {BotToken: secret.New("xoxb-x "), AppToken: secret.New("xapp-x")},
		"nothing to hear by":    {BotToken: secret.New("xoxb-x")},
		"blank signing secret":  {BotToken: secret.New("xoxb-x"), SigningSecret: secret.New(strings.Repeat(" ", 40))},
		"short signing secret":  {BotToken: secret.New("xoxb-x"), SigningSecret: secret.New(signingSecret[:31])},
		"API without a host":    {BotToken: secret.New("xoxb-x"), AppToken: secret.New("xapp-x"), APIURL: "slack.com/api"},
		"API of another scheme": {BotToken: secret.New("xoxb-x"), AppToken: secret.New("xapp-x"), APIURL: "ftp://slack.com/api"},
	} {
		a, err := New(config)
		if err == nil || a != nil {
			t.Errorf("%s is accepted", name)
		} else if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "xoxb-x") || !strings.HasPrefix(err.Error(), "slack: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzWebhook throws arbitrary requests at the handler. Nobody but Slack knows
// the secret, so none of them is taken; nor does a signed one bring it down.
func FuzzWebhook(f *testing.F) {
	now := time.Unix(1_716_000_000, 0)
	right := signed("application/json", event(tsA), now, "a secret that is not Slack's at all").Header
	f.Add("1716000000", right.Get(headerSignature), "application/json", event(tsA))
	f.Add("", "v0=", "application/x-www-form-urlencoded", []byte("payload=%7B%7D"))
	f.Add("1716000000", "v0="+strings.Repeat("0", 64), "", []byte("command=/new"))
	h := newHooked(f)
	h.now = func() time.Time { return now }
	f.Fuzz(func(t *testing.T, timestamp, signature, contentType string, body []byte) {
		request := httptest.NewRequest(http.MethodPost, "/slack/events", bytes.NewReader(body))
		request.Header = http.Header{headerTimestamp: {timestamp}, headerSignature: {signature}, "Content-Type": {contentType}}
		if answer := h.serve(request); answer.Code != http.StatusUnauthorized {
			t.Errorf("forged, and answered with %d", answer.Code)
		}
		if taken := h.taken(); len(taken) > 0 {
			t.Fatalf("forged, and taken: %v", taken)
		}
		if in, challenge, err := readRequest(contentType, body); err == nil && challenge == "" && in.kind != "" {
			_, _ = normalize(in, known())
		}
	})
}
