package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/adapters"
	"parley/api"
	"parley/conversations"
	"parley/internal/secret"
	"parley/sessions"
)

// Limits of an exchange.
const (
	callTimeout  = 30 * time.Second
	aliveTimeout = 3 * time.Second
	answerMax    = 64 << 20 // bytes of one answer that is not a stream
	problemMax   = 64 << 10
)

// Client calls one gateway. It is safe for use by many goroutines.
type Client struct {
	base  string
	token secret.String
	http  *http.Client

	place     string
	workspace string
}

// New makes a client of the gateway at base, as in http://127.0.0.1:8080.
func New(base string, token secret.String) (*Client, error) {
	parsed, err := url.Parse(base)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the address of a gateway; use for example http://127.0.0.1:8080", base)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // the standard library's own
	return &Client{base: strings.TrimRight(base, "/"), token: token, http: &http.Client{
		Transport: transport,
		// A redirect would carry the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// From names the place that messages are said at and events are followed from,
// whichever conversation it has, and the workspace of those that begin there:
// before anything is said. Without it the session's id tells.
func (c *Client) From(surface adapters.Surface, workspace string) {
	c.place, c.workspace = surface.Key(), workspace
}

// Address is where the gateway is, as in http://127.0.0.1:8080.
func (c *Client) Address() string { return c.base }

// Close frees idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// RefusedError is an answer of the gateway that is not success.
type RefusedError struct {
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail"` // what to do, for people

	// Of the code state.
	Session       string          `json:"session"`
	State         sessions.State  `json:"state"`
	SessionStatus sessions.Status `json:"session_status"`
	Attempted     string          `json:"attempted"`

	Current string `json:"current"` // of the code moved: the session that the place has now
}

// Error is the gateway's own sentence.
func (r *RefusedError) Error() string {
	if r.Detail == "" {
		return fmt.Sprintf("the gateway answered %d %s", r.Status, http.StatusText(r.Status))
	}
	return r.Detail
}

// Is makes a refusal the error that the gateway's own store gave.
func (r *RefusedError) Is(target error) bool {
	switch {
	case errors.Is(target, sessions.ErrNotFound):
		return r.Status == http.StatusNotFound
	case errors.Is(target, sessions.ErrConflict):
		return r.Code == "conflict"
	case errors.Is(target, sessions.ErrGroup):
		return r.Code == "group"
	}
	return false
}

// As makes a refusal of the code state a sessions.StateError, and every other
// one what the gateway's own verb gave.
func (r *RefusedError) As(target any) bool {
	if refusal, ok := target.(**conversations.Refusal); ok && r.Code != "state" && (r.Status < http.StatusInternalServerError || r.Code == string(conversations.NoNotes)) {
		*refusal = &conversations.Refusal{Code: conversations.Code(r.Code), Detail: r.Detail, Current: r.Current}
		return true
	}
	state, ok := target.(**sessions.StateError)
	if ok = ok && r.Code == "state"; ok {
		*state = &sessions.StateError{Session: r.Session, State: r.State, Status: r.SessionStatus, Attempted: r.Attempted}
	}
	return ok
}

// temporary reports whether the same request may succeed later.
func (r *RefusedError) temporary() bool {
	return r.Status >= http.StatusInternalServerError || r.Status == http.StatusTooManyRequests
}

// Sender is on whose behalf something is said.
type Sender struct {
	ID   adapters.Identity `json:"id,omitempty"`
	Name string            `json:"name,omitempty"`
}

// Said is what became of a message.
type Said struct {
	Session string `json:"session"`
	MovedTo string `json:"moved_to,omitempty"` // the session that the place has now, if a command changed that
	Seq     int64  `json:"seq"`
	Reason  string `json:"reason"`
	Turn    bool   `json:"turn"`            // an answer will be written to the log
	Reply   string `json:"reply,omitempty"` // the gateway's own answer, as Markdown
}

// Say says text in a session. key makes repeating safe: the same key said
// twice is one message.
func (c *Client) Say(ctx context.Context, session, text, key string, sender Sender) (Said, error) {
	body := struct {
		Text      string  `json:"text"`
		Sender    *Sender `json:"sender,omitempty"`
		Surface   string  `json:"surface,omitempty"`
		Workspace string  `json:"workspace,omitempty"`
	}{Text: text, Surface: c.place, Workspace: c.workspace}
	if sender != (Sender{}) {
		body.Sender = &sender
	}
	var said Said
	return said, c.call(ctx, http.MethodPost, sessionPath(session, "/messages"), key, body, &said)
}

// Stop asks the running turn to stop; false: none runs.
func (c *Client) Stop(ctx context.Context, session string) (bool, error) {
	var answer struct {
		Stopping bool `json:"stopping"`
	}
	err := c.call(ctx, http.MethodPost, sessionPath(session, "/stop"), "", nil, &answer)
	return answer.Stopping, err
}

// Recent reads the newest entries of a session, at most limit, oldest first,
// and the seq of the newest. A session that nobody has spoken in has none.
func (c *Client) Recent(ctx context.Context, session string, limit int) (entries []api.EntryView, newest int64, err error) {
	var answer struct {
		Entries []api.EntryView `json:"entries"`
		Newest  int64           `json:"newest"`
	}
	err = c.call(ctx, http.MethodGet, sessionPath(session, "/entries?before=0&limit="+strconv.Itoa(limit)), "", nil, &answer)
	if isNotFound(err) {
		return nil, 0, nil
	}
	return answer.Entries, answer.Newest, err
}

// Resolve finds the current session of a terminal name: the one called
// cli:name, or its successor after /new.
func (c *Client) Resolve(ctx context.Context, name string) (string, error) {
	surface := adapters.Surface{Platform: adapters.CLI, Account: adapters.Local, Chat: name}.Key()
	session := sessions.BareID(surface)
	var record sessions.Record
	err := c.call(ctx, http.MethodGet, sessionPath(session, ""), "", nil, &record)
	if isNotFound(err) || err == nil && slices.Contains(record.Surfaces, surface) {
		return session, nil
	}
	if err != nil {
		return "", err
	}
	return c.successor(ctx, session, record.Seq)
}

// successor asks the event stream, which says where a named place has moved.
func (c *Client) successor(ctx context.Context, session string, seq int64) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	moved := ""
	err := c.stream(ctx, session, seq, func(event Event) bool {
		if event.Kind == KindMoved {
			moved = event.To
		}
		return moved == ""
	})
	if moved != "" {
		return moved, nil
	}
	if err == nil {
		err = errors.New("the event stream ended")
	}
	return "", fmt.Errorf("cannot find the present conversation of %s: %w", session, err)
}

// MovedTo is the session that the place has now, of a refusal because it has
// left the one that was meant; empty: err is none.
func MovedTo(err error) string {
	if refusal, ok := errors.AsType[*RefusedError](err); ok && refusal.Code == "moved" {
		return refusal.Current
	}
	return ""
}

func isNotFound(err error) bool {
	refusal, ok := errors.AsType[*RefusedError](err)
	return ok && refusal.Status == http.StatusNotFound
}

func sessionPath(session, rest string) string {
	return "/v1/sessions/" + url.PathEscape(session) + rest
}

func (c *Client) call(ctx context.Context, method, path, key string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	response, err := c.do(ctx, method, path, body, http.Header{"Idempotency-Key": headerValues(key)})
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // read to its end, or given up
	return c.decode(response, into)
}

func headerValues(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// do sends a request and gives its answer if it is success.
func (c *Client) do(ctx context.Context, method, path string, body any, header http.Header) (*http.Response, error) {
	return succeeded(c.send(ctx, method, path, body, header))
}

// succeeded is an answer, if it is success.
func succeeded(response *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusMultipleChoices {
		defer func() { _ = response.Body.Close() }()
		return nil, refusedBy(response)
	}
	return response, nil
}

// send sends a request and gives its answer, whatever it is.
func (c *Client) send(ctx context.Context, method, path string, body any, header http.Header) (*http.Response, error) {
	var content io.Reader = http.NoBody
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(encoded)
		header.Set("Content-Type", "application/json")
	}
	return c.transmit(ctx, method, path, content, header)
}

// transmit is send for content that is encoded already.
func (c *Client) transmit(ctx context.Context, method, path string, content io.Reader, header http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return nil, err
	}
	request.Header = header
	if !c.token.IsZero() {
		request.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the gateway at %s: %w; is it running?", c.base, reason(err))
	}
	return response, nil
}

// reason takes the address and method off a transport's error.
func reason(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}

func refusedBy(response *http.Response) error {
	refusal := &RefusedError{}
	// A body that is no problem document leaves only the status to say.
	_ = json.NewDecoder(io.LimitReader(response.Body, problemMax)).Decode(refusal)
	refusal.Status = response.StatusCode
	return refusal
}

// Alive asks whether a gateway answers at all.
func (c *Client) Alive(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, aliveTimeout)
	defer cancel()
	response, err := c.do(ctx, http.MethodGet, "/healthz", nil, http.Header{})
	if err != nil {
		return err
	}
	return response.Body.Close()
}
