package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"parley/sessions"
)

// DeadLetters lists parked turns, newest first, at most limit.
func (c *Client) DeadLetters(ctx context.Context, limit int) ([]sessions.DeadLetter, error) {
	var answer struct {
		DeadLetters []sessions.DeadLetter `json:"dead_letters"`
	}
	err := c.call(ctx, http.MethodGet, "/v1/deadletters?limit="+strconv.Itoa(limit), "", nil, &answer)
	return answer.DeadLetters, err
}

// Replay has a parked turn run once more. sessions.ErrNotFound.
func (c *Client) Replay(ctx context.Context, id string) error {
	return c.settle(ctx, http.MethodPost, "/v1/deadletters/"+url.PathEscape(id)+"/replay")
}

// DropDead forgets a parked turn. sessions.ErrNotFound.
func (c *Client) DropDead(ctx context.Context, id string) error {
	return c.settle(ctx, http.MethodDelete, "/v1/deadletters/"+url.PathEscape(id))
}

// settle makes a call that answers with nothing but success.
func (c *Client) settle(ctx context.Context, method, path string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	response, err := c.do(ctx, method, path, nil, http.Header{})
	if isNotFound(err) {
		return sessions.ErrNotFound
	}
	if err != nil {
		return err
	}
	return response.Body.Close()
}
