package cli

import (
	"context"

	"parley/cmd/gateway/client"
	"parley/internal/secret"
)

// WithClient connects to a gateway for as long as hold takes.
func WithClient(ctx context.Context, address string, token secret.String, welcome string, hold HoldFunc) error {
	c, err := client.New(address, token)
	if err != nil {
		return err
	}
	defer c.Close()
	return hold(ctx, c, welcome)
}

// HoldFunc does something with a gateway. welcome is what to tell the person
// first; empty: nothing.
type HoldFunc func(ctx context.Context, c *client.Client, welcome string) error
