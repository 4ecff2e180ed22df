package client

import (
	"context"
	"net/http"
)

// LoginLink makes a link that signs one browser in, once. It is a secret.
func (c *Client) LoginLink(ctx context.Context) (string, error) {
	var answer struct {
		Path string `json:"path"`
	}
	err := c.call(ctx, http.MethodPost, "/v1/login-links", "", nil, &answer)
	return c.base + answer.Path, err
}
