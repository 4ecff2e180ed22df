package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"parley/api"
)

// Ready asks whether every part of the gateway hears and works.
func (c *Client) Ready(ctx context.Context) (api.Readiness, error) {
	var readiness api.Readiness
	ctx, cancel := context.WithTimeout(ctx, aliveTimeout)
	defer cancel()
	response, err := c.send(ctx, http.MethodGet, "/readyz", nil, http.Header{})
	if err != nil {
		return readiness, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusServiceUnavailable {
		return readiness, refusedBy(response)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, answerMax)).Decode(&readiness); err != nil {
		return readiness, fmt.Errorf("the gateway at %s sent an answer that cannot be read: %w", c.base, err)
	}
	return readiness, nil
}
