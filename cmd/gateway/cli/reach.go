package cli

import (
	"context"
	"fmt"
	"time"

	"parley/cmd/gateway/client"
	"parley/cmd/gateway/config"
	"parley/internal/secret"
)

// askTimeout bounds what the gateway that runs here is asked.
const askTimeout = 5 * time.Second

// Reach does something where the things of this data folder are: through the
// gateway that runs here, or at rest where none does.
func (p *Env) Reach(ctx context.Context, flags *Flags, live func(context.Context, *client.Client) error, atRest func(config.Config) error) error {
	loaded, err := p.Load(flags)
	if err != nil {
		return err
	}
	running, found, err := p.Running(ctx, loaded.Config.Data)
	if err != nil {
		return err
	}
	if !found {
		return atRest(loaded.Config)
	}
	return WithClient(ctx, running.Address, running.Secret(), "", func(ctx context.Context, c *client.Client, _ string) error { return live(ctx, c) })
}

// Ask asks the gateway that runs here something that takes no time.
func (p *Env) Ask(ctx context.Context, flags *Flags, ask func(context.Context, *client.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return p.Reach(ctx, flags, ask, func(c config.Config) error {
		return fmt.Errorf("no gateway answers for %s; start it with `gateway run`", c.Data)
	})
}

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
