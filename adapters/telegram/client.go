package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/adapters"
	"parley/internal/secret"
	connection "parley/internal/transport"
)

const (
	connectTimeout = 10 * time.Second
	idleMax        = 32               // connections kept for later
	callTimeout    = 30 * time.Second // of a call whose context has no earlier deadline
	answerMax      = 32 << 20         // bytes of an answer
	errorBodyMax   = 64 << 10         // bytes of an answer with an error status
)

// client makes Bot API calls. It uses the library's request and answer
// handling and none of its parts that log, confirm early or ignore contexts.
type client struct {
	token    secret.String
	endpoint string // the library's format: token, then method
	http     *http.Client
}

func newClient(token secret.String, base string, transport http.RoundTripper) *client {
	if transport == nil {
		transport = connection.New(connectTimeout, idleMax)
	}
	return &client{
		token:    token,
		endpoint: strings.ReplaceAll(base, "%", "%%") + "/bot%s/%s",
		http: &http.Client{
			Transport: transport,
			// A redirect would carry the token to another host.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// callError is a failed call, without the token. Written is true when the
// request may have reached Telegram.
type callError struct {
	Method  string
	Written bool
	Err     error // *tgbotapi.Error, *statusError, or of the transport
}

func (e *callError) Error() string { return fmt.Sprintf("telegram %s: %v", e.Method, e.Err) }

func (e *callError) Unwrap() error { return e.Err }

// statusError is an answer that no Bot API server gives: some proxy's, or a
// server's that is down.
type statusError struct{ Code int }

func (e *statusError) Error() string {
	return fmt.Sprintf("HTTP %d without a Bot API answer", e.Code)
}

// call makes one request and decodes its result into result, unless nil. An
// error is a *callError.
func (c *client) call(ctx context.Context, timeout time.Duration, method string, params tgbotapi.Params, result any) error {
	if err := adapters.Late(ctx); err != nil {
		return &callError{Method: method, Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	doer := &doer{ctx: ctx, client: c}
	bot := &tgbotapi.BotAPI{Token: c.token.Reveal(), Client: doer}
	bot.SetAPIEndpoint(c.endpoint)
	answer, err := bot.MakeRequest(method, params)
	if err != nil {
		return &callError{Method: method, Written: doer.written.Load(), Err: c.scrub(err)}
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		return &callError{Method: method, Written: true, Err: fmt.Errorf("the result cannot be read: %w", err)}
	}
	return nil
}

// scrub takes the token out of an error's text and drops the URL.
func (c *client) scrub(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	if text := err.Error(); strings.Contains(text, c.token.Reveal()) {
		return errors.New(c.token.Scrub(text))
	}
	return err
}

// doer gives the library's requests a context, and notes whether one began to
// be written.
type doer struct {
	ctx     context.Context
	client  *client
	written atomic.Bool
}

// Do implements the library's HTTPClient.
func (d *doer) Do(request *http.Request) (*http.Response, error) {
	ctx := httptrace.WithClientTrace(d.ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { d.written.Store(true) },
	})
	response, err := d.client.http.Do(request.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return refusalOnly(response)
	}
	response.Body = body{Reader: io.LimitReader(response.Body, answerMax), whole: response.Body}
	return response, nil
}

// body is an answer's, bounded. Closing reads the little that the decoder
// leaves, without which the connection could not be used again.
type body struct {
	io.Reader
	whole io.ReadCloser
}

// Close implements io.Closer.
func (b body) Close() error {
	const leftMax = 4 << 10
	_, drained := io.CopyN(io.Discard, b.Reader, leftMax)
	if errors.Is(drained, io.EOF) {
		drained = nil
	}
	return errors.Join(drained, b.whole.Close())
}

// refusalOnly lets an answer with an error status pass if it is a Bot API
// server's, and turns any other into a *statusError.
func refusalOnly(response *http.Response) (*http.Response, error) {
	text, err := io.ReadAll(io.LimitReader(response.Body, errorBodyMax))
	response.Body.Close()
	var refusal struct {
		OK   *bool `json:"ok"`
		Code int   `json:"error_code"`
	}
	if err != nil || json.Unmarshal(text, &refusal) != nil || refusal.OK == nil || refusal.Code == 0 {
		return nil, &statusError{Code: response.StatusCode}
	}
	response.Body = io.NopCloser(bytes.NewReader(text))
	return response, nil
}

// refusal is Telegram's own answer in err, or nil.
func refusal(err error) *tgbotapi.Error {
	answer, _ := errors.AsType[*tgbotapi.Error](err)
	return answer
}

// tokenRefused reports whether Telegram does not know the token.
func tokenRefused(err error) bool {
	answer := refusal(err)
	return answer != nil && (answer.Code == http.StatusUnauthorized || answer.Code == http.StatusNotFound)
}
