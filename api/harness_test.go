package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/api"
	"parley/api/apitest"
	"parley/drafts"
	"parley/internal/secret"
	"parley/sessions"
	"parley/sqlitestore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "the-owner-token-of-these-tests"

// harness is a real HTTP server over a small gateway.
type harness struct {
	t       *testing.T
	gateway *apitest.Gateway
	store   sessions.Store
	api     *api.Server
	url     string
	client  *http.Client // no cookies, no redirects
}

func start(t *testing.T, model apitest.Model, change ...func(*api.Config)) *harness {
	t.Helper()
	return startOn(t, openStore(t), model, change...)
}

// startOn is start over a store that is there.
func startOn(t *testing.T, store sessions.Store, model apitest.Model, change ...func(*api.Config)) *harness {
	t.Helper()
	written := drafts.Over(store, 0)
	gateway := apitest.NewGateway(written, model)
	config := api.Config{Store: written, Drafts: written, Operations: gateway, Token: secret.New(token), Shown: apitest.Shown,
		Logger: discard(), Page: api.Page{Commands: apitest.Commands()}, Version: "test"}
	for _, change := range change {
		change(&config)
	}
	server, err := api.New(config)
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(server)
	h := &harness{t: t, gateway: gateway, store: store, api: server, url: listener.URL, client: newClient(t)}
	t.Cleanup(func() { server.Close(); gateway.Close(); listener.Close() })
	return h
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func openStore(t *testing.T) sessions.Store {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), sqlitestore.Config{Path: sqlitestore.Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func newClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// browser is a client that keeps cookies.
func (h *harness) browser() *http.Client {
	client := newClient(h.t)
	client.Jar, _ = cookiejar.New(nil)
	return client
}

func loopbackOwner(c *api.Config) { c.Local, c.Open = true, true }

// answer is an HTTP answer, read whole.
type answer struct {
	status int
	header http.Header
	body   string
}

// into decodes the body; nothing of what value held before stays.
func (a answer) into(t *testing.T, value any) {
	t.Helper()
	reflect.ValueOf(value).Elem().SetZero()
	if err := json.Unmarshal([]byte(a.body), value); err != nil {
		t.Fatalf("%v in %d %s", err, a.status, a.body)
	}
}

func (a answer) code(t *testing.T) string {
	t.Helper()
	var problem struct{ Type, Title, Detail, Code string }
	a.into(t, &problem)
	if problem.Detail == "" || problem.Title == "" || a.header.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("not a problem: %v %s", a.header, a.body)
	}
	return problem.Code
}

type option func(*http.Request)

func header(name, value string) option {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func host(name string) option { return func(r *http.Request) { r.Host = name } }

func bearer(token string) option { return header("Authorization", "Bearer "+token) }

// send makes one request. A body that begins with { is sent as JSON.
func send(t *testing.T, client *http.Client, method, url, body string, options ...option) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(body, "{") {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, option := range options {
		option(r)
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := answer{status: response.StatusCode, header: response.Header, body: string(content)}
	checkExchange(t, r, body, got)
	return got
}

// do is send with the owner's token.
func (h *harness) do(method, path, body string, options ...option) answer {
	h.t.Helper()
	return send(h.t, h.client, method, h.url+path, body, append([]option{bearer(token)}, options...)...)
}

type said struct {
	Session, Reason, Reply string
	ReplyHTML              string `json:"reply_html"`
	Seq                    int64
	Turn, Duplicate        bool
	Entries                []api.EntryView
}

func (h *harness) say(session, text string, options ...option) said {
	h.t.Helper()
	body, _ := json.Marshal(map[string]string{"text": text})
	got := h.do("POST", "/v1/sessions/"+session+"/messages?wait=1m", string(body), options...)
	if got.status != http.StatusOK {
		h.t.Fatalf("%d %s", got.status, got.body)
	}
	var said said
	got.into(h.t, &said)
	return said
}

// event is one server-sent event.
type event struct {
	name, id, data string
}

// events opens a stream. Its events come in order until cancel or the end,
// when the channel closes; comments come as events called ":".
func (h *harness) events(path string, options ...option) (events <-chan event, cancel func()) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	h.t.Cleanup(cancel)
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, h.url+path, nil)
	bearer(token)(r)
	for _, option := range options {
		option(r)
	}
	response, err := h.client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		h.t.Fatalf("%d %v", response.StatusCode, response.Header)
	}
	out := make(chan event, 4096)
	go func() {
		defer close(out)
		defer response.Body.Close()
		readEvents(h.t, response.Body, out)
	}()
	return out, cancel
}

func readEvents(t *testing.T, body io.Reader, out chan<- event) {
	t.Helper()
	var next event
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "event":
			next.name = value
		case "id":
			next.id = value
		case "data":
			next.data = value
		case "":
			if strings.HasPrefix(lines.Text(), ":") {
				next.name = ":"
			}
			if next.data != "" {
				checkEvent(t, next)
			}
			if next.name != "" {
				out <- next
			}
			next = event{}
		}
	}
}

const patience = time.Minute // only ever reached by a failing test

// until takes events until one is called name.
func until(t *testing.T, events <-chan event, name string) (last event, before []event) {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case e, open := <-events:
			if !open {
				t.Fatalf("the stream ended before %s; it had %v", name, before)
			}
			if e.name == name {
				return e, before
			}
			before = append(before, e)
		case <-timeout:
			t.Fatalf("no %s came, but %v", name, before)
		}
	}
}
