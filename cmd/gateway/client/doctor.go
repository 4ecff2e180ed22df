package client

import (
	"context"
	"net/http"

	"parley/api"
)

// Doctor is what the gateway finds of itself.
func (c *Client) Doctor(ctx context.Context) ([]api.Check, error) {
	var answer struct {
		Checks []api.Check `json:"checks"`
	}
	err := c.call(ctx, http.MethodGet, "/v1/doctor", "", nil, &answer)
	return answer.Checks, err
}
