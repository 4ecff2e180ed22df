package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	slackapi "github.com/slack-go/slack"

	"parley/adapters"
	connection "parley/internal/transport"
)

const (
	connectTimeout = 10 * time.Second
	idleMax        = 16       // connections kept for later
	answerMax      = 16 << 20 // bytes of an answer
	// retryAfterDefault is how long to hold back when Slack asks for it without
	// saying how long.
	retryAfterDefault = 30 * time.Second
)

func newHTTPClient(transport http.RoundTripper, timeout time.Duration) *http.Client {
	if transport == nil {
		transport = connection.New(connectTimeout, idleMax)
	}
	return &http.Client{
		Transport: transport,
		Timeout:   timeout,
		// A redirect would carry the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// callError is a call that got no answer Slack gave. Written is false when
// the request certainly did not reach it.
type callError struct {
	Written bool
	Err     error
}

func (e *callError) Error() string { return e.Err.Error() }
func (e *callError) Unwrap() error { return e.Err }

// call makes one Web API call with the bot's token and decodes the answer into
// out. Errors are the library's *RateLimitedError, StatusCodeError and
// SlackErrorResponse, or a *callError, with no secret in their text.
//
// It stands beside the library's methods because those decode every block of
// every message in an answer and fail on one they do not know, which would
// make a delivered message one of unknown fate; and because they have no
// client_msg_id.
func (a *Adapter) call(ctx context.Context, method string, values url.Values, out any) (http.Header, error) {
	if err := adapters.Late(ctx); err != nil {
		return nil, &callError{Err: err}
	}
	var written atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { written.Store(false) }, // also when the transport tries again, which it does only unsent
		WroteHeaders: func() { written.Store(true) },
	})
	request, err := http.NewRequestWithContext(traced, http.MethodPost, a.base+method, strings.NewReader(values.Encode()))
	if err != nil {
		return nil, &callError{Err: a.config.clean(err)}
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Authorization", "Bearer "+a.config.BotToken.Reveal())
	response, err := a.http.Do(request)
	if err != nil {
		return nil, &callError{Written: written.Load(), Err: a.config.clean(err)}
	}
	defer response.Body.Close()
	if err := statusError(response); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, answerMax+1))
	if err == nil && len(body) > answerMax {
		err = fmt.Errorf("the answer to %s has more than %d bytes", method, answerMax)
	}
	if err != nil {
		return nil, &callError{Written: true, Err: a.config.clean(err)}
	}
	return response.Header, decodeAnswer(method, body, out)
}

func statusError(response *http.Response) error {
	if response.StatusCode == http.StatusOK {
		return nil
	}
	if response.StatusCode == http.StatusTooManyRequests {
		return &slackapi.RateLimitedError{RetryAfter: retryAfter(response.Header)}
	}
	return slackapi.StatusCodeError{Code: response.StatusCode, Status: response.Status}
}

func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(header.Get("Retry-After")))
	if err != nil || seconds <= 0 {
		return retryAfterDefault
	}
	return time.Duration(seconds) * time.Second
}

func decodeAnswer(method string, body []byte, out any) error {
	var verdict struct {
		OK       *bool                     `json:"ok"`
		Error    string                    `json:"error"`
		Needed   string                    `json:"needed"`
		Provided string                    `json:"provided"`
		Metadata slackapi.ResponseMetadata `json:"response_metadata"`
	}
	if err := json.Unmarshal(body, &verdict); err != nil || verdict.OK == nil {
		return &callError{Written: true, Err: fmt.Errorf("the answer to %s is none of Slack's (%d bytes)", method, len(body))}
	}
	if !*verdict.OK {
		return slackapi.SlackErrorResponse{
			Err: verdict.Error, Needed: verdict.Needed, Provided: verdict.Provided, ResponseMetadata: verdict.Metadata,
		}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return &callError{Written: true, Err: fmt.Errorf("the answer to %s does not have the fields it should have: %w", method, err)}
	}
	return nil
}

// refusal is the code with which Slack refused a call; empty for every other
// error and for none.
func refusal(err error) string {
	if answer, ok := errors.AsType[slackapi.SlackErrorResponse](err); ok {
		return answer.Err
	}
	return ""
}

// identify asks Slack who the bot is; the header lists the token's scopes.
func (a *Adapter) identify(ctx context.Context) (*self, http.Header, error) {
	var answer struct {
		UserID       string `json:"user_id"`
		BotID        string `json:"bot_id"`
		User         string `json:"user"`
		TeamID       string `json:"team_id"`
		EnterpriseID string `json:"enterprise_id"`
	}
	header, err := a.call(ctx, "auth.test", nil, &answer)
	if err != nil {
		return nil, header, err
	}
	if answer.UserID == "" {
		return nil, header, &callError{Written: true, Err: errors.New("auth.test names no user")}
	}
	return &self{User: answer.UserID, Bot: answer.BotID, Name: answer.User, Team: answer.TeamID, Enterprise: answer.EnterpriseID}, header, nil
}

func (a *Adapter) fetchUser(ctx context.Context, id string) (string, error) {
	var answer struct {
		User struct {
			Name    string `json:"name"`
			Real    string `json:"real_name"`
			Profile struct {
				Display string `json:"display_name"`
				Real    string `json:"real_name"`
			} `json:"profile"`
		} `json:"user"`
	}
	if _, err := a.call(ctx, "users.info", url.Values{"user": {id}}, &answer); err != nil {
		return "", err
	}
	user := answer.User
	for _, name := range []string{user.Profile.Display, user.Profile.Real, user.Real, user.Name} {
		if strings.TrimSpace(name) != "" {
			return name, nil
		}
	}
	return "", nil
}

func (a *Adapter) fetchChannel(ctx context.Context, id string) (channel, error) {
	var answer struct {
		Channel struct {
			Name string `json:"name"`
			IM   bool   `json:"is_im"`
			User string `json:"user"`
		} `json:"channel"`
	}
	if _, err := a.call(ctx, "conversations.info", url.Values{"channel": {id}}, &answer); err != nil {
		return channel{}, err
	}
	return channel{Name: answer.Channel.Name, Direct: answer.Channel.IM, With: answer.Channel.User}, nil
}
